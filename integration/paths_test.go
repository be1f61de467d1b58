//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOddPaths: blanks, percent signs, plus signs and foreign letters in the path
// of the root, and a root that is a symlink.
func TestOddPaths(t *testing.T) {
	for _, l := range langs() {
		t.Run(l.Name, func(t *testing.T) {
			path := serverPath(l.ExtraPath...)
			require(t, path, l.Program)
			parent := realTemp(t)
			real := filepath.Join(parent, "a b", "x%20y+z", "é世界#1")
			if err := os.MkdirAll(real, 0o755); err != nil {
				t.Fatal(err)
			}
			p := l.Make(t, real, 10)
			link := filepath.Join(parent, "link")
			if err := os.Symlink(real, link); err != nil {
				t.Fatal(err)
			}
			for _, root := range []string{real, link} {
				h := startHost(t, root, environ(t, path), l.Args...)
				for name, q := range questions(l, p) {
					if a := h.ask(q.args); q.check(a) != nil {
						t.Errorf("%s: %s after %s: %v\n%s", filepath.Base(root), name, a.Took.Round(time.Millisecond), q.check(a), clip(a.Text))
					}
				}
				absolute := questions(l, p)["definition"].args
				absolute["filePath"] = filepath.Join(root, p.Use.Path)
				if a := h.ask(absolute); has(a, p.Decl.String()) != nil {
					t.Errorf("absolute path: %s", clip(a.Text))
				}
				absolute["filePath"] = fileURI(filepath.Join(root, p.Use.Path))
				if a := h.ask(absolute); has(a, p.Decl.String()) != nil {
					t.Errorf("URI: %s", clip(a.Text))
				}
			}
		})
	}
}

// TestOddText: tabs, CRLF, a byte order mark and characters of every width before
// the name: right columns in and out.
func TestOddText(t *testing.T) {
	for _, l := range langs() {
		t.Run(l.Name, func(t *testing.T) {
			path := serverPath(l.ExtraPath...)
			require(t, path, l.Program)
			p := l.Make(t, realTemp(t), 30)
			for _, i := range []int{3, 13} {
				rel, src := p.refFile(i)
				src = strings.ReplaceAll(src, "\n", "\r\n")
				if i == 13 {
					src = "\ufeff" + src
				}
				p.rewrite(rel, src)
			}
			h := startHost(t, p.Root, environ(t, path), l.Args...)
			q := questions(l, p)["references"]
			if a := h.ask(q.args); q.check(a) != nil {
				t.Errorf("references: %v\n%s", q.check(a), clip(a.Text))
			}
			for _, m := range p.Refs {
				args := map[string]any{"operation": "goToDefinition", "filePath": m.Path, "line": m.Line, "character": m.Col}
				a := h.ask(args)
				if err := samePlaces(a, "Definitions for "+m.String()+":", []mark{p.Decl}, l.Label); err != nil {
					t.Errorf("definition at %s: %v\n%s", m, err, clip(a.Text))
				}
			}
		})
	}
}

// TestSymlinkedFile: a file asked about under the name of a symlink is answered, and
// the answer is about the text that it leads to.
func TestSymlinkedFile(t *testing.T) {
	eachLang(t, 10, func(t *testing.T, l lang, p *project, h *host) {
		ext := filepath.Ext(p.Use.Path)
		link := filepath.Join(filepath.Dir(p.Use.Path), "linked"+ext)
		if err := os.Symlink(filepath.Base(p.Use.Path), filepath.Join(p.Root, link)); err != nil {
			t.Fatal(err)
		}
		args := questions(l, p)["hover"].args
		args["filePath"] = link
		// Rust knows no file that no module names.
		if a := h.ask(args); l.Name != "rust-analyzer" && has(a, "Hover for "+link+":", p.HoverHas) != nil {
			t.Errorf("hover through a symlink: %s", clip(a.Text))
		}
		q := questions(l, p)["definition"]
		if a := h.ask(q.args); q.check(a) != nil {
			t.Errorf("definition beside a symlink: %v\n%s", q.check(a), clip(a.Text))
		}
	})
}
