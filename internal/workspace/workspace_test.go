package workspace

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dragoman-dev/dragoman/internal/intel"
	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/query"
)

func TestMain(m *testing.M) {
	proc.GuardMain()
	lsptest.Main()
	goleak.VerifyTestMain(m)
}

// open opens a workspace whose only programs are those in its bin folder beside it.
func open(t *testing.T, archive string, o Options, env ...string) *Workspace {
	t.Helper()
	o.Dir = lsptest.Workspace(t, archive)
	return openDir(t, o, env...)
}

func openDir(t *testing.T, o Options, env ...string) *Workspace {
	t.Helper()
	home := t.TempDir()
	if o.UserConfig == "" {
		o.UserConfig = "-"
	}
	if o.StateDir == "" {
		o.StateDir = filepath.Join(home, "state")
	}
	o.Env = append([]string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin")}, env...)
	w, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// tools makes a folder with empty programs.
func tools(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func find(cs []intel.Candidate) []string {
	var out []string
	for _, c := range cs {
		out = append(out, c.Name+"@"+filepath.Base(c.Server.Root())+" "+c.LanguageID)
	}
	return out
}

func TestRouting(t *testing.T) {
	path := "PATH=" + tools(t, "gopls", "go", "clangd")
	w := open(t, "-- a/go.mod --\nmodule a\n-- a/x.go --\n-- b/go.mod --\nmodule b\n-- b/x.go --\n-- c/x.h --\n-- c/x.c --\n-- d/x.py --\n-- e/x.xyz --\n", Options{}, path)
	ask := func(rel, server string) ([]intel.Candidate, error) {
		if rel != "" {
			rel = filepath.Join(w.Root, rel)
		}
		return w.Candidates(t.Context(), rel, server)
	}
	t.Run("C106 a second root gets an instance of its own, the same root the same", func(t *testing.T) {
		one, err := ask("a/x.go", "")
		if err != nil {
			t.Fatal(err)
		}
		two, err := ask("b/x.go", "")
		if err != nil {
			t.Fatal(err)
		}
		again, _ := ask("a/new.go", "")
		if one[0].Server == two[0].Server || one[0].Server != again[0].Server {
			t.Errorf("%v %v %v", find(one), find(two), find(again))
		}
		if one[0].Server.Root() != filepath.Join(w.Root, "a") || one[0].LanguageID != "go" {
			t.Errorf("%v", find(one))
		}
	})
	t.Run("C106 a library file goes to the instance that led there", func(t *testing.T) {
		lib := filepath.Join(t.TempDir(), "fmt", "print.go")
		if _, err := ask("b/x.go", ""); err != nil {
			t.Fatal(err)
		}
		b, _ := ask("b/x.go", "")
		w.Led(lib, b[0])
		got, err := w.Candidates(t.Context(), lib, "")
		if err != nil || len(got) != 1 || got[0].Server != b[0].Server {
			t.Errorf("%v %v", find(got), err)
		}
		if _, err := w.Candidates(t.Context(), filepath.Join(filepath.Dir(lib), "other.go"), ""); query.KindOf(err) != query.NoServer {
			t.Errorf("a file that nobody led to: %v", err)
		}
	})
	t.Run("C52 a header is of the language beside it", func(t *testing.T) {
		got, err := ask("c/x.h", "")
		if err != nil || got[0].LanguageID != "c" {
			t.Errorf("%v %v", find(got), err)
		}
	})
	t.Run("not installed, with what to run", func(t *testing.T) {
		_, err := ask("d/x.py", "")
		if query.KindOf(err) != query.NotInstalled || !strings.Contains(err.Error(), "pyright") ||
			!strings.Contains(err.(*query.Error).Hint, "npm install -g pyright") {
			t.Errorf("%v", err)
		}
	})
	t.Run("no server known", func(t *testing.T) {
		if _, err := ask("e/x.xyz", ""); query.KindOf(err) != query.NoServer || !strings.Contains(err.Error(), "e/x.xyz") {
			t.Errorf("%v", err)
		}
	})
	t.Run("the whole workspace: installed servers whose language occurs", func(t *testing.T) {
		got, err := ask("", "")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"gopls@a ", "gopls@b ", "clangd@" + filepath.Base(w.Root) + " "}, sortedCopy(find(got))); d != "" {
			t.Error(d)
		}
		if _, err := ask("", "rust-analyzer"); query.KindOf(err) != query.NoServer {
			t.Errorf("a language that does not occur: %v", err)
		}
	})
	t.Run("files are counted below the root", func(t *testing.T) {
		got, _ := ask("a/x.go", "")
		if n := w.CountFiles(t.Context(), got[0]); n != 2 { // x.go and go.mod
			t.Errorf("%d files", n)
		}
	})
}

// sortedCopy orders gopls@a before gopls@b whichever was asked last.
func sortedCopy(s []string) []string {
	if len(s) > 1 && s[0] > s[1] && strings.HasPrefix(s[0], "gopls") {
		s[0], s[1] = s[1], s[0]
	}
	return s
}

func TestUnavailable(t *testing.T) {
	const text = "LSP is unavailable (LSP disabled or not initialized)"
	user := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(user, []byte(`{"settings": {"lsp.enabled": false}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, archive string
		o             Options
		path, hint    string
	}{
		{"switched off", "-- a.go --\n", Options{UserConfig: user}, "a.go", "lsp.enabled"},
		{"none allowed", "-- a.go --\n", Options{AllowedNames: []string{"nobody"}}, "a.go", "not among the allowed"},
		{"no known language", "-- a.txt --\n", Options{}, "", "no file of a language with a known server"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t, tt.archive, tt.o)
			path := tt.path
			if path != "" {
				path = filepath.Join(w.Root, path)
			}
			_, err := w.Candidates(t.Context(), path, "")
			if err == nil || err.Error() != text || !strings.Contains(err.(*query.Error).Hint, tt.hint) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestUntrustedWorkspaceStartsNothingOfItsOwn(t *testing.T) {
	t.Run("C109 trustRequired false in the workspace's own file", func(t *testing.T) {
		dir := lsptest.Workspace(t, "-- a.foo --\n-- bin/evil --\n#!/bin/sh\ntouch \"$(dirname \"$0\")/../ran\"\n")
		if err := os.Chmod(filepath.Join(dir, "bin", "evil"), 0o755); err != nil {
			t.Fatal(err)
		}
		conf := `{"evil": {"command": "./bin/evil", "trustRequired": false, "extensionToLanguage": {".foo": "foo"}}}`
		if err := os.WriteFile(filepath.Join(dir, ".lsp.json"), []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		w := openDir(t, Options{Dir: dir})
		_, err := w.Candidates(t.Context(), filepath.Join(dir, "a.foo"), "")
		if e := (*query.Error)(nil); !errors.As(err, &e) || e.Kind != query.NotAdmitted || e.Hint != trustHint {
			t.Errorf("%v", err)
		}
		want := []query.SkippedServer{{Name: "evil", Reason: "server_trust_required",
			Detail: "configured by .lsp.json of a workspace that is not trusted", Hint: trustHint}}
		if d := cmp.Diff(want, w.Skipped()); d != "" {
			t.Error(d)
		}
		if notes := w.Warn(); len(notes) != 1 || !strings.Contains(notes[0].Text, "1 server of .lsp.json is not used") {
			t.Errorf("notes %v", notes)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Fatal("the workspace's program was run")
		}
	})
	t.Run("a settings file that would lift the restriction", func(t *testing.T) {
		w := open(t, "-- Cargo.toml --\n[package]\n-- src/a.rs --\n-- rust-analyzer.toml --\n", Options{}, "PATH="+tools(t, "rust-analyzer", "cargo"))
		_, err := w.Candidates(t.Context(), filepath.Join(w.Root, "src", "a.rs"), "")
		if query.KindOf(err) != query.NotAdmitted || !strings.Contains(err.Error(), "rust-analyzer.toml") {
			t.Errorf("%v", err)
		}
	})
}

func TestConfiguredServerStartsAtOpen(t *testing.T) {
	fake := lsptest.NewProgram(t, `on hover reply {"contents": "hello"}`)
	dir := lsptest.Workspace(t, "-- a.foo --\nx\n")
	user := filepath.Join(t.TempDir(), "config.json")
	conf := `{"servers": {"fake": {"command": "` + fake.Path + `", "args": ["` + strings.Join(fake.Args, `","`) + `"],
		"extensionToLanguage": {".foo": "foo"}, "trustRequired": false}}}`
	if err := os.WriteFile(user, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	w := openDir(t, Options{Dir: dir, UserConfig: user}, fake.Env...)
	fake.Await(t, 1, "initialized", 1)
	got, err := w.Candidates(t.Context(), filepath.Join(dir, "a.foo"), "")
	if err != nil || len(got) != 1 || got[0].Name != "fake" {
		t.Fatalf("%v %v", find(got), err)
	}
	live := w.Live()
	if len(live) != 1 || live[0].Command[0] != fake.Path {
		t.Errorf("%+v", live)
	}
	start := time.Now()
	if err := w.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("Close took %v", d)
	}
}

func TestMentions(t *testing.T) {
	w := open(t, `
-- a.go --
total := computeTotal()
-- b.go --
computeTotals() + xcomputeTotal + écomputeTotal
-- c.go --
// computeTotal at the end: computeTotal
-- d.py --
computeTotal
-- skip.txt --
computeTotal
-- sub/e.go --
x.computeTotal
`, Options{})
	files, done := w.Mentions(t.Context(), "computeTotal", "go")
	var got []string
	for _, f := range files {
		rel, _ := filepath.Rel(w.Root, f)
		got = append(got, filepath.ToSlash(rel))
	}
	if d := cmp.Diff([]string{"a.go", "c.go", "sub/e.go"}, got); d != "" || !done {
		t.Error(d, done)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, done := w.Mentions(ctx, "computeTotal", "go"); done {
		t.Error("a scan that was cut counts as done")
	}
}

func TestFilesSeeWhatGitSees(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := lsptest.Workspace(t, "-- .gitignore --\nignored/\n-- a.go --\n-- ignored/b.go --\n-- inner/.gitignore --\n*.skip.go\n-- inner/c.go --\n-- inner/d.skip.go --\n")
	for _, d := range []string{dir, filepath.Join(dir, "inner")} {
		if out, err := exec.Command("git", "-C", d, "init", "-q").CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	w := openDir(t, Options{Dir: dir})
	list := func() []string {
		files, whole := w.files.list(t.Context())
		if !whole {
			t.Error("cut")
		}
		var out []string
		for _, f := range files {
			if strings.HasSuffix(f, ".go") {
				rel, _ := filepath.Rel(dir, f)
				out = append(out, filepath.ToSlash(rel))
			}
		}
		return out
	}
	if d := cmp.Diff([]string{"a.go", "inner/c.go"}, list()); d != "" {
		t.Error(d)
	}
	wt := w.Watcher(t.Context())
	list() // subscribes
	if err := os.WriteFile(filepath.Join(dir, "new.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := wt.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a.go", "inner/c.go", "new.go"}, list()); d != "" {
		t.Error("a file made just now:", d)
	}
}

func TestNearRootPrefersSources(t *testing.T) {
	w := open(t, "-- deep/x/y/a.cpp --\n-- a_test.cpp --\n-- a.h --\n-- main.cpp --\n-- z/gen.pb.cpp --\n-- go.txt --\n", Options{})
	clangd := indexOf(w, "clangd")
	var got []string
	for _, f := range w.nearRoot(t.Context(), &w.admitted[clangd], w.Root, 3) {
		rel, _ := filepath.Rel(w.Root, f)
		got = append(got, filepath.ToSlash(rel))
	}
	if d := cmp.Diff([]string{"main.cpp", "deep/x/y/a.cpp", "a_test.cpp"}, got); d != "" {
		t.Error(d)
	}
}

func TestReadableOutside(t *testing.T) {
	home := t.TempDir()
	lib := filepath.Join(home, "lib", "python3.11", "x.py")
	if err := os.MkdirAll(filepath.Dir(lib), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{lib, filepath.Join(home, "secret.py")} {
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(home, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"pyright-langserver", "python3"} {
		if err := os.WriteFile(filepath.Join(bin, n), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := open(t, "-- a.py --\n", Options{}, "PATH="+bin)
	if !w.ReadableOutside(lib) {
		t.Error("the library of the interpreter may not be read")
	}
	link := filepath.Join(filepath.Dir(lib), "link.py")
	if err := os.Symlink(filepath.Join(home, "secret.py"), link); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{filepath.Join(home, "secret.py"), "/etc/passwd", link} {
		if w.ReadableOutside(p) {
			t.Errorf("%s may be read", p)
		}
	}
}

func TestOverlay(t *testing.T) {
	got := overlay([]string{"A=1", "B=2", "A=3"}, []string{"A=9", "C=4", "C=5"})
	if d := cmp.Diff([]string{"B=2", "A=9", "C=5"}, got); d != "" {
		t.Error(d)
	}
}

func TestInstalledPackagesRestartTheServer(t *testing.T) {
	fake := lsptest.NewProgram(t, "")
	bin := t.TempDir()
	if err := os.Symlink(fake.Path, filepath.Join(bin, "pyright-langserver")); err != nil {
		t.Skip(err)
	}
	dir := lsptest.Workspace(t, "-- a.py --\n-- .venv/pyvenv.cfg --\n-- .venv/lib/python3.11/site-packages/one/x.py --\n")
	w := openDir(t, Options{Dir: dir}, append(fake.Env, "PATH="+bin)...)
	w.admitted[indexOf(w, "pyright")].Args = fake.Args
	ask := func() {
		t.Helper()
		c, err := w.Candidates(t.Context(), filepath.Join(dir, "a.py"), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c[0].Server.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	ask()
	if n := fake.Generations(); n != 1 {
		t.Fatalf("%d processes before anything was installed", n)
	}
	if err := os.Mkdir(filepath.Join(dir, ".venv/lib/python3.11/site-packages/two"), 0o755); err != nil {
		t.Fatal(err)
	}
	lsptest.Eventually(t, func() bool { ask(); return fake.Generations() == 2 }, "a new process after a package was installed")
}

func indexOf(w *Workspace, name string) int {
	for i := range w.admitted {
		if w.admitted[i].Name == name {
			return i
		}
	}
	return -1
}

func BenchmarkCandidates(b *testing.B) {
	dir := b.TempDir()
	deep := filepath.Join(dir, "a", "b", "c", "d", "e")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		b.Fatal(err)
	}
	bin := b.TempDir()
	for _, n := range []string{"gopls", "go", "pyright-langserver"} {
		if err := os.WriteFile(filepath.Join(bin, n), nil, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	w, err := Open(b.Context(), Options{Dir: dir, UserConfig: "-", StateDir: bin, Env: []string{"PATH=" + bin}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = w.Close(context.Background()) }()
	for _, name := range []string{"x.go", "x.py"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := w.Candidates(b.Context(), filepath.Join(deep, name), ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestMissingInputThatAppears(t *testing.T) {
	w := open(t, "-- a.cpp --\n", Options{}, "PATH="+tools(t, "clangd"))
	ask := func() intel.Candidate {
		t.Helper()
		c, err := w.Candidates(t.Context(), filepath.Join(w.Root, "a.cpp"), "")
		if err != nil {
			t.Fatal(err)
		}
		return c[0]
	}
	before := ask()
	if !strings.Contains(before.Missing, "compile_commands.json") {
		t.Fatalf("missing %q", before.Missing)
	}
	if err := os.WriteFile(filepath.Join(w.Root, "compile_commands.json"), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	lsptest.Eventually(t, func() bool { return ask().Missing == "" }, "the new database is seen")
	if ask().Server != before.Server {
		t.Error("a database where clangd looks by itself needs no other server")
	}
	if err := os.Remove(filepath.Join(w.Root, "compile_commands.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(w.Root, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	lsptest.Eventually(t, func() bool { return ask().Missing != "" }, "it is gone")
	if err := os.WriteFile(filepath.Join(w.Root, "out", "compile_commands.json"), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	lsptest.Eventually(t, func() bool { return ask().Missing == "" }, "the one in out is seen")
	if ask().Server == before.Server {
		t.Error("clangd has to be told where it is")
	}
}

func TestMoreRootsThanInstances(t *testing.T) {
	archive := ""
	for _, d := range []string{"a", "b", "c", "d", "e", "f"} {
		archive += "-- " + d + "/go.mod --\nmodule " + d + "\n-- " + d + "/x.go --\npackage " + d + "\n"
	}
	w := open(t, archive, Options{}, "PATH="+tools(t, "gopls"))
	got, err := w.Candidates(t.Context(), "", "")
	if err != nil || len(got) != 4 {
		t.Fatalf("%d candidates, %v", len(got), err)
	}
	if d := cmp.Diff([]string{"e", "f"}, got[0].Unasked); d != "" {
		t.Error(d)
	}
	// One that was asked about counts before the others.
	if _, err := w.Candidates(t.Context(), filepath.Join(w.Root, "f", "x.go"), ""); err != nil {
		t.Fatal(err)
	}
	if got, err = w.Candidates(t.Context(), "", ""); err != nil || len(got) != 4 || slices.Contains(got[0].Unasked, "f") {
		t.Errorf("%v, %+v", err, got)
	}
}
