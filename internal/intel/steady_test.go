package intel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/query"
)

// The clock of the file system is real here, so that these tests run in real time.
func TestSteady(t *testing.T) {
	const (
		asking = "-- a.go --\npackage a\n\nvar y = target\n-- b.go --\npackage a\n\nfunc target() {}\n"
		moved  = "package a\n\n\n\n// target has moved.\nfunc target() {}\n"
	)
	place := func(f *fixture, line int) lsptest.Reply {
		return lsptest.Reply{Result: json.RawMessage(`[{"uri":"file://` + f.root + `/b.go","range":` + rangeJSON(line, 5, 11) + `}]`)}
	}
	for method, op := range map[string]query.Op{
		"textDocument/definition": query.Definition, "textDocument/references": query.References,
		"textDocument/implementation": query.Implementation,
	} {
		t.Run("a file of a result that changes after the answer: "+string(op), func(t *testing.T) {
			f := newFixture(t, asking, lone(""))
			asked := 0
			f.servers["one"].Handle(method, func(int, lsptest.Message) lsptest.Reply {
				if asked++; asked == 1 {
					f.edit("b.go", moved)
					return place(f, 2)
				}
				return place(f, 5)
			})
			a := f.ask(at(op, "a.go", 3, 9))
			want(t, "place", placesOf(a), "b.go:6:6")
			if a.Basis.Stale {
				t.Error("marked stale although it was asked again")
			}
		})
	}
	t.Run("a file of a result that goes and comes back", func(t *testing.T) {
		f := newFixture(t, asking, lone(""))
		asked := 0
		f.servers["one"].Handle("textDocument/definition", func(int, lsptest.Message) lsptest.Reply {
			if asked++; asked == 1 {
				if err := os.Remove(filepath.Join(f.root, "b.go")); err != nil {
					t.Error(err)
				}
				return place(f, 2)
			}
			f.edit("b.go", moved)
			return place(f, 5)
		})
		want(t, "place", placesOf(f.ask(at(query.Definition, "a.go", 3, 9))), "b.go:6:6")
	})
	t.Run("an answer about files that never rest says so", func(t *testing.T) {
		f := newFixture(t, asking, lone(""))
		asked := 0
		f.servers["one"].Handle("textDocument/definition", func(int, lsptest.Message) lsptest.Reply {
			asked++
			f.edit("b.go", "package a\n"+strings.Repeat("\n", asked)+"func target() {}\n")
			return place(f, 2)
		})
		a := f.ask(at(query.Definition, "a.go", 3, 9))
		if !a.Basis.Stale || len(a.Notes) != 1 || a.Notes[0].Code != "stale" {
			t.Errorf("stale %v, notes %v", a.Basis.Stale, a.Notes)
		}
		if asked != mostTries {
			t.Errorf("asked %d times, want %d", asked, mostTries)
		}
	})
	t.Run("a file dated in the future does not repeat the question", func(t *testing.T) {
		bubble(t, asking, lone(""), func(f *fixture) { // virtual time lies in the past of the file system
			asked := 0
			f.servers["one"].Handle("textDocument/definition", func(int, lsptest.Message) lsptest.Reply {
				asked++
				return place(f, 2)
			})
			if a := f.ask(at(query.Definition, "a.go", 3, 9)); a.Basis.Stale || asked != 1 {
				t.Errorf("stale %v, asked %d times", a.Basis.Stale, asked)
			}
		})
	})
}
