package catalog

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tsPackage is a copy of TypeScript on disk.
type tsPackage struct {
	Dir     string // the package folder
	Version string
	Major   int
	// Server is lib/tsserver.js, "" where there is none (TypeScript 7).
	Server string
}

func readTSPackage(dir string) *tsPackage {
	version := packageVersion(dir)
	if version == "" {
		return nil
	}
	p := &tsPackage{Dir: dir, Version: version, Major: major(version)}
	if s := filepath.Join(dir, "lib", "tsserver.js"); isFile(s) {
		p.Server = s
	}
	return p
}

// native reports that the package is its own language server.
func (p *tsPackage) native() bool { return p.Major >= 7 || p.Server == "" }

func packageVersion(dir string) string {
	var v struct {
		Version string `json:"version"`
	}
	if !readJSON(filepath.Join(dir, "package.json"), &v) {
		return ""
	}
	return v.Version
}

func readJSON(path string, v any) bool {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > 1<<20 {
		return false
	}
	b, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(b, v) == nil
}

var firstNumber = regexp.MustCompile(`\d+`)

func major(version string) int {
	n, _ := strconv.Atoi(firstNumber.FindString(version))
	return n
}

// projectTypeScript finds the project's own copy, or, where nothing is installed,
// the major version that package.json asks for.
func projectTypeScript(p *Place) (own *tsPackage, wanted int) {
	for _, dir := range upward(p.Root, p.Workspace) {
		if own := readTSPackage(filepath.Join(dir, "node_modules", "typescript")); own != nil {
			return own, own.Major
		}
	}
	for _, dir := range upward(p.Root, p.Workspace) {
		var v struct {
			Dependencies, DevDependencies map[string]string
		}
		if !readJSON(filepath.Join(dir, "package.json"), &v) {
			continue
		}
		for _, deps := range []map[string]string{v.DevDependencies, v.Dependencies} {
			if r := deps["typescript"]; r != "" {
				return nil, major(r)
			}
		}
	}
	return nil, 0
}

// chooseTypeScript lets the project's TypeScript version decide which server
// answers: 7 and newer is its own server, older ones need typescript-language-server.
func chooseTypeScript(_ context.Context, p *Place, e *Entry) (*Choice, error) {
	own, wanted := projectTypeScript(p)
	usable := own
	if !p.Trusted {
		usable = nil
	}
	old := func() *Choice { return tsLanguageServer(p, e, usable) }
	native := func() *Choice { return tsNative(p, e, usable) }
	order := []func() *Choice{old, native}
	if wanted >= 7 || own != nil && own.native() {
		order = []func() *Choice{native, old}
	}
	for i, try := range order {
		c := try()
		if c == nil {
			continue
		}
		c.Facts = append([]Fact{{"TypeScript of the project", describeTS(own, wanted)}}, c.Facts...)
		if i == 1 && wanted > 0 {
			c.Limited = joinSay(c.Limited, "the project's TypeScript "+describeTS(own, wanted)+" is not the one that answers")
		}
		c.Recheck = func() string { return nodeModulesMissing(p) }
		c.Missing = c.Recheck()
		c.Installed = nodeModules(p)
		c.unaffected = own == nil
		return c, nil
	}
	if wanted >= 7 {
		why := "the project wants TypeScript 7, which is not installed"
		if own != nil && !p.Trusted {
			why = "no TypeScript 7 outside the workspace was found, and the workspace's own is not run without trust"
		}
		return nil, &MissingError{Name: e.Name, Program: "tsc", Install: "npm install -g typescript@7.0.2", Why: why}
	}
	return nil, e.missing(p, "")
}

// olderThan compares the first three numbers of a version.
func olderThan(version string, want ...int) bool {
	for i, n := range firstNumber.FindAllString(version, len(want)) {
		if have, _ := strconv.Atoi(n); have != want[i] {
			return have < want[i]
		}
	}
	return false
}

func describeTS(own *tsPackage, wanted int) string {
	switch {
	case own != nil:
		return own.Version
	case wanted > 0:
		return strconv.Itoa(wanted)
	}
	return "none"
}

// tsLanguageServer is typescript-language-server with a tsserver that it may run.
func tsLanguageServer(p *Place, e *Entry, own *tsPackage) *Choice {
	prog := e.Programs[0]
	path, err := p.Finder.LookIn(p, prog.Name)
	if err != nil {
		return nil
	}
	ts := own
	if ts == nil || ts.Server == "" {
		if ts = outsideTSServer(p, path); ts == nil {
			return nil
		}
	}
	c := e.base("typescript-language-server", path, prog.Args)
	// Named always: left alone, the server takes the workspace's own copy.
	c.InitializationOptions = Merge(c.InitializationOptions,
		toJSON(map[string]any{"tsserver": map[string]any{"path": ts.Server}}))
	if olderThan(ts.Version, 5, 4, 4) { // cannot be told of changes; it watches the disk itself
		c.InitializationOptions = Merge(c.InitializationOptions, json.RawMessage(`{"tsserver":{"useClientFileWatcher":false}}`))
		c.Traits.OwnWatcher = 1500 * time.Millisecond
	}
	c.Facts = []Fact{{"tsserver", ts.Server + " (" + ts.Version + ")"}}
	c.Dependencies = func(context.Context) []string {
		return realDirs(filepath.Join(ts.Dir, "lib"), globalNodeModules(path))
	}
	return c
}

// outsideTSServer finds a TypeScript below 7 beside the server or on PATH.
func outsideTSServer(p *Place, server string) *tsPackage {
	var dirs []string
	if nm := globalNodeModules(server); nm != "" {
		dirs = append(dirs, filepath.Join(nm, "typescript"), filepath.Join(nm, "typescript-language-server", "node_modules", "typescript"))
	}
	for _, tool := range []string{"tsserver", "tsc"} {
		for _, path := range p.Finder.LookAll(tool) {
			dirs = append(dirs, packageOf(Real(path)))
		}
	}
	for _, dir := range dirs {
		if !p.Trusted && p.Finder.avoided(dir) {
			continue
		}
		if ts := readTSPackage(dir); ts != nil && ts.Server != "" {
			return ts
		}
	}
	return nil
}

// tsNative is TypeScript 7's own server: the project's copy, else one on PATH.
func tsNative(p *Place, e *Entry, own *tsPackage) *Choice {
	prog := e.Programs[1]
	var paths []string
	if own != nil && own.native() {
		paths = append(paths, filepath.Join(own.Dir, "bin", "tsc"))
	}
	for _, path := range append(paths, p.Finder.LookAll(prog.Name)...) {
		ts := readTSPackage(packageOf(Real(path)))
		if ts == nil || !ts.native() {
			continue
		}
		c := e.base("typescript-7", path, prog.Args)
		c.Traits, c.InitializationOptions = typescript7, nil
		c.Facts = []Fact{{"TypeScript that answers", ts.Dir + " (" + ts.Version + ")"}}
		c.Dependencies = func(context.Context) []string {
			return realDirs(ts.Dir, filepath.Join(filepath.Dir(ts.Dir), "@typescript"))
		}
		return c
	}
	return nil
}

// packageOf is the npm package folder that holds a file: the one below the last
// node_modules.
func packageOf(path string) string {
	const nm = string(filepath.Separator) + "node_modules" + string(filepath.Separator)
	i := strings.LastIndex(path, nm)
	if i < 0 {
		return filepath.Dir(filepath.Dir(path))
	}
	rest := strings.Split(path[i+len(nm):], string(filepath.Separator))
	n := 1
	if strings.HasPrefix(rest[0], "@") && len(rest) > 1 {
		n = 2
	}
	return path[:i+len(nm)] + filepath.Join(rest[:n]...)
}

// globalNodeModules is the node_modules folder that a program lies in, "" if none.
func globalNodeModules(program string) string {
	const nm = string(filepath.Separator) + "node_modules" + string(filepath.Separator)
	real := Real(program)
	if i := strings.LastIndex(real, nm); i >= 0 {
		return real[:i+len(nm)-1]
	}
	return ""
}

// nodeModulesMissing says that packages are declared but none is installed.
func nodeModulesMissing(p *Place) string {
	var v struct {
		Dependencies, DevDependencies, PeerDependencies map[string]string
	}
	if !readJSON(filepath.Join(p.Root, "package.json"), &v) {
		return ""
	}
	if len(v.Dependencies)+len(v.DevDependencies) == 0 {
		return ""
	}
	for _, dir := range upward(p.Root, p.Workspace) {
		if isDir(filepath.Join(dir, "node_modules")) || isFile(filepath.Join(dir, ".pnp.cjs")) {
			return ""
		}
	}
	return "package.json names dependencies but there is no node_modules (install them first)"
}
