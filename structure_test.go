package dragoman_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const module = "github.com/dragoman-dev/dragoman"

// layers gives the height of each room: imports point strictly downward, except
// among rooms of one layer that decide together.
var layers = map[string]int{
	"query":               0,
	"internal/text":       1,
	"internal/proc":       1,
	"internal/jsonrpc":    1,
	"internal/lsp":        1,
	"internal/lsptest":    1,
	"internal/diag":       2,
	"internal/mirror":     2,
	"internal/watch":      2,
	"internal/server":     2,
	"internal/catalog":    3,
	"internal/config":     3,
	"internal/trust":      3,
	"internal/state":      3,
	"internal/route":      3,
	"internal/fleet":      3,
	"internal/intel":      3,
	"internal/workspace":  3,
	"":                    4,
	"internal/render":     5,
	"internal/mcpserver":  5,
	"internal/cli":        5,
	"cmd/dragoman":        6,
	"integration/nothing": 6,
	"integration":         6,
}

// only names the rooms of this module that a room may see at the most.
var only = map[string][]string{
	"query":              {},
	"internal/render":    {"query"},
	"internal/mcpserver": {"query", "internal/render"},
	"internal/cli":       {"query", "internal/render", "internal/mcpserver", "", "internal/config", "internal/trust", "internal/catalog", "internal/state"},
	"cmd/dragoman":       {"internal/cli", "internal/proc"},
}

type pkg struct {
	ImportPath string
	Doc        string
	Dir        string
	Imports    []string
	GoFiles    []string
}

func packages(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Dir,Imports,GoFiles", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	ps := map[string]pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		ps[strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")] = p
	}
	if len(ps) < 10 {
		t.Fatalf("go list found %d packages", len(ps))
	}
	return ps
}

func TestImports(t *testing.T) {
	for name, p := range packages(t) {
		if strings.HasPrefix(name, "internal/lsptest/") {
			name = "internal/lsptest"
		}
		height, known := layers[name]
		if !known {
			t.Errorf("%q is in no layer", name)
			continue
		}
		for _, imp := range p.Imports {
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				continue
			}
			to := strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
			if layers[to] > height {
				t.Errorf("%s imports %s, which is above it", name, to)
			}
			if to == "internal/lsptest" && !strings.HasPrefix(p.ImportPath, module+"/internal/lsptest") {
				t.Errorf("%s imports the scripted server outside tests", name)
			}
			if allowed, bounded := only[name]; bounded && !contains(allowed, to) {
				t.Errorf("%s imports %s; it may see %q only", name, to, allowed)
			}
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestPackageComments(t *testing.T) {
	for name, p := range packages(t) {
		if p.Doc == "" {
			t.Errorf("%q has no package comment", name)
		}
	}
}

// goFiles calls f with each Go file of the repository.
func goFiles(t *testing.T, f func(path string, src []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "tools"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f(path, src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoFixedWaits: tests wait for conditions; time passes only in a synctest
// bubble, which a test opens itself or by a helper of its package.
func TestNoFixedWaits(t *testing.T) {
	bodies := map[string]map[string]string{} // folder → test function → source
	goFiles(t, func(path string, src []byte) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		dir := filepath.Dir(path)
		if bodies[dir] == nil {
			bodies[dir] = map[string]string{}
		}
		functions(t, path, src, func(name, body string) { bodies[dir][name] = body })
	})
	for dir, fns := range bodies {
		var bubbles []string
		for name, body := range fns {
			if strings.Contains(body, "synctest.") {
				bubbles = append(bubbles, name+"(")
			}
		}
		for name, body := range fns {
			if strings.Contains(body, "time.Sleep(") && !strings.Contains(body, "synctest.") && !containsAny(body, bubbles) {
				t.Errorf("%s: %s sleeps outside a synctest bubble", dir, name)
			}
		}
	}
}

// functions calls f with each function of a file.
func functions(t *testing.T, path string, src []byte, f func(name, body string)) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
			f(fn.Name.Name, string(src[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset]))
		}
	}
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// TestFileSizes: a file where everything goes is how good code gets ugly.
func TestFileSizes(t *testing.T) {
	goFiles(t, func(path string, src []byte) {
		if n := bytes.Count(src, []byte("\n")); n > 700 && !strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s has %d lines; split it by idea", path, n)
		}
	})
}

// TestGoroutinesAreWatched: a room that starts goroutines checks that none is left.
func TestGoroutinesAreWatched(t *testing.T) {
	starts, checks := map[string]bool{}, map[string]bool{}
	statement := regexp.MustCompile(`(?m)^\s*go (func\b|[a-zA-Z_.]+\()|\.Go\(func`)
	goFiles(t, func(path string, src []byte) {
		dir := filepath.Dir(path)
		if strings.HasSuffix(path, "_test.go") {
			checks[dir] = checks[dir] || bytes.Contains(src, []byte("goleak."))
			return
		}
		starts[dir] = starts[dir] || statement.Match(src)
	})
	for dir := range starts {
		if starts[dir] && !checks[dir] {
			t.Errorf("%s starts goroutines, but its tests do not check that none is left", dir)
		}
	}
}

// TestChecklistCovered: every row of the protocol checklist is the name of a
// sub-test or stands in the list of what is not due yet, and not both.
func TestChecklistCovered(t *testing.T) {
	table, err := os.ReadFile("docs/protocol-checklist.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("docs/checklist-pending.txt")
	if err != nil {
		t.Fatal(err)
	}
	pending := map[string]bool{}
	for _, id := range strings.Fields(string(list)) {
		pending[id] = true
	}
	tested := map[string]bool{}
	name := regexp.MustCompile(`"(C\d{2,3}) `)
	goFiles(t, func(path string, src []byte) {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range name.FindAllSubmatch(src, -1) {
				tested[string(m[1])] = true
			}
		}
	})
	rows := regexp.MustCompile(`(?m)^\| (C\d{2,3}) \|`).FindAllSubmatch(table, -1)
	if len(rows) != 113 {
		t.Errorf("the checklist has %d rows, want 113", len(rows))
	}
	for _, m := range rows {
		id := string(m[1])
		switch {
		case tested[id] && pending[id]:
			t.Errorf("%s has a test: take it out of checklist-pending.txt", id)
		case !tested[id] && !pending[id]:
			t.Errorf("%s has no sub-test and is not pending", id)
		}
	}
}
