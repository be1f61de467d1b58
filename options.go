package dragoman

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/state"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// DefaultCallLimit is the time within which a question is answered or refused.
const DefaultCallLimit = 50 * time.Second

// Options of a workspace. The zero value, and nil, are right for most.
type Options struct {
	// Trust trusts the workspace for this run: its own tools and its .lsp.json are
	// used. It is never remembered.
	Trust bool
	// AllowedNames bounds the servers that may run; nil allows all.
	AllowedNames []string
	// CallLimit is the time after which Do gives up; default: the user's setting,
	// else DefaultCallLimit.
	CallLimit time.Duration
	// Columns is the unit of columns: "codepoints" (default), "utf16" or "bytes".
	// "" takes the user's setting.
	Columns string
	// UserConfig is the user's configuration file; "" means the usual place, "-" none.
	UserConfig string
	// StateDir is where trust is remembered; "" means the usual place.
	StateDir string
	// Env is the environment in which servers are looked up and run; default os.Environ().
	Env []string
	// Log receives what happens; default: nothing.
	Log *slog.Logger
	// Version is told to servers.
	Version string
	// MaxFileSize is the size in bytes above which a file is not read; 0 means the
	// user's setting, else 5 MB.
	MaxFileSize int64
}

// FindWorkspace chooses the workspace folder for a program that was started in the
// folder start: $DRAGOMAN_WORKSPACE, else $CLAUDE_PROJECT_DIR, else the top of the
// version control above start, else the nearest folder above it with a root marker
// of a known language, else start. how names the rule in words.
//
// The root of the file system, the home folder and the temporary folder are never
// a workspace: then dir is "", how says so, and no error is returned (see OpenAuto).
// An error means that a variable names something that is no folder.
func FindWorkspace(start string, env []string) (dir, how string, err error) {
	for _, name := range []string{"DRAGOMAN_WORKSPACE", "CLAUDE_PROJECT_DIR"} {
		v := state.Getenv(env, name)
		if v == "" {
			continue
		}
		dir, err := folder(v)
		if err != nil {
			return "", "", fmt.Errorf("$%s: %w", name, err)
		}
		if NeverWorkspace(dir, env) {
			continue
		}
		return dir, "$" + name, nil
	}
	start, err = folder(start)
	if err != nil {
		return "", "", err
	}
	if dir := above(start, env, isVersioned); dir != "" {
		return dir, "version control", nil
	}
	if dir := above(start, env, hasMarker); dir != "" {
		return dir, "root marker", nil
	}
	if NeverWorkspace(start, env) {
		return "", "none: " + start + " is not a workspace", nil
	}
	return start, "current folder", nil
}

func folder(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("workspace %s: %w", path, err)
	}
	if st, err := os.Stat(abs); err != nil || !st.IsDir() {
		return "", fmt.Errorf("workspace %s is not a folder", path)
	}
	return abs, nil
}

// above finds the nearest folder from start upward that is, and that can be a
// workspace.
func above(start string, env []string, is func(dir string) bool) string {
	for dir := start; ; dir = filepath.Dir(dir) {
		if !NeverWorkspace(dir, env) && is(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func isVersioned(dir string) bool {
	for _, name := range []string{".git", ".hg", ".svn", ".jj"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

func hasMarker(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".lsp.json")); err == nil {
		return true
	}
	for _, e := range catalog.All() {
		for _, g := range e.Markers {
			for _, name := range g.Names {
				if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
					return true
				}
			}
		}
	}
	return false
}

// NeverWorkspace reports the root, the home and the temporary folder themselves:
// hosts start servers there, but nobody means the whole of them.
func NeverWorkspace(dir string, env []string) bool {
	dir = catalog.Real(dir)
	if dir == filepath.Dir(dir) {
		return true
	}
	for _, v := range []string{state.Getenv(env, "HOME"), state.Getenv(env, "USERPROFILE"),
		os.TempDir(), "/tmp", "/var/tmp", state.Getenv(env, "TMPDIR")} {
		if v != "" && catalog.Real(filepath.Clean(v)) == dir {
			return true
		}
	}
	return false
}

// workspaceOf chooses the folder for one absolute path: version control above it,
// else a root marker, else its own folder.
func workspaceOf(path string, env []string) string {
	dir := filepath.Dir(path)
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		dir = path
	}
	for _, is := range []func(string) bool{isVersioned, hasMarker} {
		if found := above(dir, env, is); found != "" {
			return found
		}
	}
	return dir
}

// columns maps the setting to text's units.
func columns(name string) (text.Columns, error) {
	switch strings.ToLower(name) {
	case "", "codepoints":
		return text.CodePoints, nil
	case "utf16":
		return text.ColumnsUTF16, nil
	case "bytes":
		return text.ColumnsBytes, nil
	}
	return 0, fmt.Errorf("columns must be codepoints, utf16 or bytes, not %q", name)
}
