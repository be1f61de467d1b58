package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/state"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// denied are environment names that would load code into a server or its tools,
// upper case; a trailing * is a prefix.
var denied = []string{
	"NODE_OPTIONS", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_*",
	"BASH_ENV", "ENV", "PYTHONSTARTUP", "PYTHONHOME", "RUBYOPT", "PERL5OPT",
	"JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND",
}

// Denied reports an environment name that a configuration file may not set.
func Denied(name string) bool {
	name = strings.ToUpper(strings.TrimSpace(name))
	for _, d := range denied {
		if p, ok := strings.CutSuffix(d, "*"); ok && strings.HasPrefix(name, p) || d == name {
			return true
		}
	}
	return false
}

// check resolves placeholders, drops denied environment names, and keeps commands
// and folders where they belong.
func (p *patch) check(layer Layer, o Options, warn func(string, ...any)) {
	p.dropEnv(warn)
	if err := p.expand(o); err != nil {
		p.fail("%v", err)
		return
	}
	p.checkCommand(layer, o)
	p.checkFolder(o, warn)
}

func (p *patch) fail(format string, args ...any) {
	if p.Invalid == "" {
		p.Invalid = fmt.Sprintf(format, args...)
	}
}

func (p *patch) dropEnv(warn func(string, ...any)) {
	for _, k := range sortedKeys(p.Env) {
		switch {
		case Denied(k):
			delete(p.Env, k)
			warn("environment variable %s of %q is not passed on: it could load code", k, p.Name)
		case k == "" || strings.ContainsAny(k, "=\x00") || strings.Contains(p.Env[k], "\x00"):
			delete(p.Env, k)
			warn("environment variable %q of %q is not a valid name or value", k, p.Name)
		}
	}
}

// checkCommand refuses what leads out of the workspace, before anything on disk is
// touched where the path names another host.
func (p *patch) checkCommand(layer Layer, o Options) {
	cmd := p.Command
	switch {
	case cmd == "":
	case text.IsUNC(cmd):
		p.fail("command %q names another host", cmd)
	case !strings.ContainsAny(cmd, `/\`):
	case layer == User && filepath.IsAbs(cmd):
	case layer == User:
		p.fail("command %q must be a plain name or an absolute path", cmd)
	default:
		abs, err := inside(o.Workspace, cmd)
		if err != nil {
			p.fail("command %q is not inside the workspace", cmd)
			return
		}
		p.Command = abs
	}
}

func (p *patch) checkFolder(o Options, warn func(string, ...any)) {
	if p.WorkspaceFolder == "" {
		return
	}
	if text.IsUNC(p.WorkspaceFolder) {
		warn("workspaceFolder of %q names another host; the workspace itself is used", p.Name)
		p.WorkspaceFolder = o.Workspace
		return
	}
	dir, err := inside(o.Workspace, p.WorkspaceFolder)
	if err != nil {
		warn("workspaceFolder of %q is not inside the workspace; the workspace itself is used", p.Name)
		dir = o.Workspace
	}
	p.WorkspaceFolder = dir
}

// inside makes a path absolute and checks that, links resolved, it lies in root.
func inside(root, path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	if !text.Within(realRoot, real) {
		return "", fmt.Errorf("%s is outside %s", path, root)
	}
	return path, nil
}

var placeholder = regexp.MustCompile(`\$\{([^}]*)\}`)

// expand resolves placeholders in command, args, env, workspaceFolder,
// initializationOptions and settings.
func (p *patch) expand(o Options) error {
	var bad error
	ex := func(s string) string {
		return placeholder.ReplaceAllStringFunc(s, func(m string) string {
			v, ok := lookup(m[2:len(m)-1], o)
			if !ok && bad == nil {
				bad = fmt.Errorf("placeholder %s of server %q cannot be resolved", m, p.Name)
			}
			return v
		})
	}
	p.Command, p.WorkspaceFolder = ex(p.Command), ex(p.WorkspaceFolder)
	for i := range p.Args {
		p.Args[i] = ex(p.Args[i])
	}
	for k, v := range p.Env {
		p.Env[k] = ex(v)
	}
	p.InitializationOptions = expandJSON(p.InitializationOptions, ex)
	p.Settings = expandJSON(p.Settings, ex)
	return bad
}

func lookup(name string, o Options) (string, bool) {
	switch name {
	case "workspacePath", "CLAUDE_PROJECT_DIR":
		return o.Workspace, true
	case "/":
		return string(filepath.Separator), true
	}
	if key, ok := strings.CutPrefix(name, "env:"); ok {
		v := state.Getenv(o.Env, key)
		return v, v != ""
	}
	return "", false
}

func expandJSON(raw json.RawMessage, ex func(string) string) json.RawMessage {
	if !strings.Contains(string(raw), "${") {
		return raw
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	out, err := json.Marshal(expandValue(v, ex))
	if err != nil {
		return raw
	}
	return out
}

func expandValue(v any, ex func(string) string) any {
	switch v := v.(type) {
	case string:
		return ex(v)
	case []any:
		for i := range v {
			v[i] = expandValue(v[i], ex)
		}
	case map[string]any:
		for k := range v {
			v[k] = expandValue(v[k], ex)
		}
	}
	return v
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return sorted(out)
}

func sorted(s []string) []string {
	sort.Strings(s)
	return s
}
