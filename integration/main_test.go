//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// binary is the dragoman under test, built once. scratch is removed at the end.
var binary, scratch string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "dragoman-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	if b := os.Getenv("DRAGOMAN_TEST_BINARY"); b != "" {
		binary = b
		return m.Run()
	}
	binary = filepath.Join(dir, "dragoman")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "github.com/dragoman-dev/dragoman/cmd/dragoman")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		return 1
	}
	return m.Run()
}

// serversDir is where scripts/test-servers.sh installs.
func serversDir() string {
	if d := os.Getenv("DRAGOMAN_TEST_SERVERS"); d != "" {
		return d
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "dragoman", "test-servers")
}

// serverPath is a PATH with the test servers in front; extra folders come first.
func serverPath(extra ...string) string {
	d := serversDir()
	dirs := append(extra,
		filepath.Join(d, "bin"),
		filepath.Join(d, "npm", "node_modules", ".bin"),
		filepath.Join(d, "venv", "bin"),
		os.Getenv("PATH"))
	return strings.Join(dirs, string(os.PathListSeparator))
}

// environ is the environment of a dragoman under test: its own home folders, no
// variables that would change what it does.
func environ(t testing.TB, path string) []string {
	t.Helper()
	home := t.TempDir()
	var env []string
	for _, kv := range os.Environ() {
		k, _, _ := strings.Cut(kv, "=")
		switch {
		case k == "PATH", strings.HasPrefix(k, "XDG_"), strings.HasPrefix(k, "DRAGOMAN_"), k == "CLAUDE_PROJECT_DIR", k == "VIRTUAL_ENV":
			continue
		}
		env = append(env, kv)
	}
	return append(env,
		"PATH="+path,
		"XDG_CONFIG_HOME="+filepath.Join(home, "config"),
		"XDG_DATA_HOME="+filepath.Join(home, "data"),
		"XDG_STATE_HOME="+filepath.Join(home, "state"),
		"XDG_RUNTIME_DIR="+filepath.Join(home, "run"))
}

// times is the number of cold starts: what the environment says, else the small number of CI.
func times(name string, ci int) int {
	if v := os.Getenv(name); v != "" {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			return n
		}
	}
	return ci
}

// require skips, or fails under DRAGOMAN_REQUIRE=all, when a program is missing.
func require(t testing.TB, path, program string) string {
	t.Helper()
	for _, d := range filepath.SplitList(path) {
		p := filepath.Join(d, program)
		if st, err := os.Stat(p); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
			return p
		}
	}
	if os.Getenv("DRAGOMAN_REQUIRE") == "all" {
		t.Fatalf("%s is not installed; run scripts/test-servers.sh", program)
	}
	t.Skipf("%s is not installed; run scripts/test-servers.sh", program)
	return ""
}
