//go:build integration

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOutsideEdits: after somebody else's edit the next answer is right, at once.
func TestOutsideEdits(t *testing.T) {
	eachLang(t, 30, func(t *testing.T, l lang, p *project, h *host) {
		expect := func(what string) {
			t.Helper()
			for _, name := range []string{"references", "definition", "diagnostics", "hover"} {
				q := questions(l, p)[name]
				if a := h.ask(q.args); q.check(a) != nil {
					t.Errorf("%s: %s after %s: %v\n%s", what, name, a.Took.Round(time.Millisecond), q.check(a), clip(a.Text))
				}
			}
		}
		expect("at first")

		rel, src := p.refFile(11)
		p.rewrite(rel, src)
		expect("an unopened file changed")

		rel, src = p.plainFile(11)
		p.rewrite(rel, src)
		expect("an unopened file changed back")

		if p.declare != nil {
			p.declare(1)
		}
		rel, src = p.refFile(101)
		if p.declare != nil {
			rel, src = rustNew(p)
		}
		p.rewrite(rel, src)
		expect("a file was created")

		p.remove(rel)
		if p.declare != nil {
			rustForget(p)
		}
		expect("a file was deleted")

		open, _ := p.refFile(7)
		h.ask(map[string]any{"operation": "documentSymbol", "filePath": open})
		_, src = p.refFile(7)
		p.rewrite(open, l.Comment+" moved\n"+l.Comment+" down\n"+src)
		expect("an open file that is not asked about changed")

		shiftDeclaration(p, l)
		expect("the declaration moved down")

		sameSizeAndTime(t, p, "ref")
		expect("same size, same time")
	})
}

// rustNew makes a module file that mod.rs declares already.
func rustNew(p *project) (string, string) {
	appendTo(p.b, "src/lib.rs", "pub mod added;\n")
	_, src := p.refFile(101)
	return "src/added.rs", src
}

func rustForget(p *project) {
	path := filepath.Join(p.Root, "src/lib.rs")
	old, err := os.ReadFile(path)
	if err != nil {
		p.b.t.Fatal(err)
	}
	p.b.put("src/lib.rs", strings.Replace(string(old), "pub mod added;\n", "", 1))
}

// shiftDeclaration puts two comment lines on top of the declaring file.
func shiftDeclaration(p *project, l lang) {
	rel := p.Decl.Path
	path := filepath.Join(p.Root, filepath.FromSlash(rel))
	old, err := os.ReadFile(path)
	if err != nil {
		p.b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(l.Comment+" one\n"+l.Comment+" two\n"+string(old)), 0o644); err != nil {
		p.b.t.Fatal(err)
	}
	for _, ms := range p.b.marks {
		for i := range ms {
			if ms[i].Path == rel {
				ms[i].Line += 2
			}
		}
	}
	p.collect()
}

// sameSizeAndTime swaps two lines' worth of blanks in the file of Use, so that the
// column moves, and puts the modification time back.
func sameSizeAndTime(t *testing.T, p *project, _ string) {
	t.Helper()
	rel := p.Use.Path
	path := filepath.Join(p.Root, filepath.FromSlash(rel))
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The odd text is shortened by its last character, four bytes in UTF-8, and four
	// blanks come in its place.
	changed := strings.Replace(string(old), "😀", "    ", 1)
	if len(changed) != len(old) || changed == string(old) {
		t.Fatalf("fixture has no 😀 in %s", rel)
	}
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	for _, ms := range p.b.marks {
		for i := range ms {
			if ms[i].Path == rel && ms[i].Line == p.Use.Line {
				ms[i].Col += 3
				ms[i].utf16 += 2
			}
		}
	}
	p.collect()
}

// TestCheckout: after git checkout of another revision the next answer is right.
func TestCheckout(t *testing.T) {
	eachLang(t, 30, func(t *testing.T, l lang, p *project, h *host) {
		git(t, p.Root, "init", "-q", "-b", "main")
		ignore := ".cache\ntarget\nnode_modules\nCargo.lock\n"
		if err := os.WriteFile(filepath.Join(p.Root, ".gitignore"), []byte(ignore), 0o644); err != nil {
			t.Fatal(err)
		}
		git(t, p.Root, "add", "-A")
		git(t, p.Root, "commit", "-q", "-m", "one")
		one := snapshot(p)
		shiftDeclaration(p, l)
		for _, i := range []int{3, 12, 21} {
			rel, src := p.refFile(i)
			p.rewrite(rel, src)
		}
		git(t, p.Root, "commit", "-q", "-a", "-m", "two")
		two := snapshot(p)
		for round, want := range []map[string][]mark{two, one, two, one} {
			if round > 0 {
				rev := "main"
				if round%2 == 1 {
					rev = "main~1"
				}
				git(t, p.Root, "checkout", "-q", rev)
			}
			p.b.marks = want
			p.collect()
			for _, name := range []string{"references", "definition"} {
				q := questions(l, p)[name]
				if a := h.ask(q.args); q.check(a) != nil {
					t.Errorf("round %d: %s after %s: %v\n%s", round, name, a.Took.Round(time.Millisecond), q.check(a), clip(a.Text))
				}
			}
		}
	})
}

func snapshot(p *project) map[string][]mark {
	out := map[string][]mark{}
	for k, v := range p.b.marks {
		out[k] = append([]mark(nil), v...)
	}
	return out
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// eachLang runs f for each installed server on a small project.
func eachLang(t *testing.T, n int, f func(t *testing.T, l lang, p *project, h *host)) {
	t.Helper()
	for _, l := range langs() {
		t.Run(l.Name, func(t *testing.T) {
			path := serverPath(l.ExtraPath...)
			require(t, path, l.Program)
			p := l.Make(t, realTemp(t), n)
			f(t, l, p, startHost(t, p.Root, environ(t, path), l.Args...))
		})
	}
}
