package catalog

import (
	"context"
	"encoding/json"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// chooseGo adds what the go command decides: where libraries lie, and, in an
// untrusted workspace, that it changes nothing.
func chooseGo(ctx context.Context, p *Place, e *Entry) (*Choice, error) {
	c, err := chooseFirst(ctx, p, e)
	if err != nil {
		return nil, err
	}
	goCmd, err := p.Finder.Look("go")
	if err != nil {
		c.Missing = "gopls needs the go command, which is not on PATH"
		return c, nil
	}
	c.Facts = append(c.Facts, Fact{"go", goCmd})
	if !hasGoMod(p) {
		c.Facts = append(c.Facts, Fact{"module", "none (no go.mod above the files)"})
	}
	if !p.Trusted {
		c.Env = append(c.Env, "GOFLAGS="+untrustedGoFlags(p.Root))
	}
	c.unaffected = !needsNewerGo(p.Root, goCmd)
	c.Dependencies = func(ctx context.Context) []string { return goDependencies(ctx, goCmd, p.Finder.Env) }
	return c, nil
}

var goLine = regexp.MustCompile(`(?m)^(?:go|toolchain go)\s*(\d+\.\d+(?:\.\d+)?)`)

// needsNewerGo reports that go.mod or go.work asks for a newer Go than the one at
// hand, so that another toolchain would have to be fetched.
func needsNewerGo(root, goCmd string) bool {
	have, _ := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(Real(goCmd))), "VERSION"))
	local := firstVersion.FindString(string(have))
	if local == "" {
		return false
	}
	for _, name := range []string{"go.work", "go.mod"} {
		b, _ := os.ReadFile(filepath.Join(root, name))
		for _, m := range goLine.FindAllSubmatch(b, -1) {
			if version.Compare("go"+string(m[1]), "go"+local) > 0 {
				return true
			}
		}
	}
	return false
}

var firstVersion = regexp.MustCompile(`\d+\.\d+(\.\d+)?`)

func hasGoMod(p *Place) bool {
	return isFile(filepath.Join(p.Root, "go.mod")) || isFile(filepath.Join(p.Root, "go.work"))
}

// untrustedGoFlags keeps go.mod as it is. A vendor folder decides for itself.
func untrustedGoFlags(root string) string {
	if isFile(filepath.Join(root, "vendor", "modules.txt")) {
		return "-buildvcs=false"
	}
	return "-mod=readonly -buildvcs=false"
}

// goDependencies asks the go command, outside the workspace, where GOROOT and the
// module cache are.
func goDependencies(ctx context.Context, goCmd string, env []string) []string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, goCmd, "env", "-json", "GOROOT", "GOMODCACHE", "GOPATH")
	cmd.Dir = os.TempDir()
	cmd.Env = append(append([]string{}, env...), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	var v struct{ GOROOT, GOMODCACHE, GOPATH string }
	if json.Unmarshal(out, &v) != nil {
		return nil
	}
	dirs := []string{v.GOROOT, v.GOMODCACHE}
	for _, d := range filepath.SplitList(v.GOPATH) {
		dirs = append(dirs, filepath.Join(d, "pkg", "mod"))
	}
	return realDirs(dirs...)
}

// realDirs keeps the folders that exist, links resolved, each once.
func realDirs(dirs ...string) []string {
	seen := map[string]bool{}
	var out []string
	for _, d := range dirs {
		if d == "" || !filepath.IsAbs(d) || !isDir(d) {
			continue
		}
		if d = Real(d); !seen[d] && strings.Trim(d, `\/`) != "" {
			seen[d] = true
			out = append(out, d)
		}
	}
	return out
}
