package intel

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dragoman-dev/dragoman/query"
)

const mentioned = `
-- a.go --
package a

func timeout() {}
-- b.go --
package a

var _ = timeout
-- c.go --
package a // timeout
-- d.go --
package a // timeout
`

func place(file string, line, from, to int) string {
	return `{"uri":"${uri:` + file + `}","range":` + rangeJSON(line, from, to) + `}`
}

func TestCrosscheck(t *testing.T) {
	mentions := func(f *fixture, files ...string) {
		f.d.Mentions = func(_ context.Context, word, language string) ([]string, bool) {
			if word != "timeout" || language != "go" {
				t.Errorf("scanned for %q in %q", word, language)
			}
			var paths []string
			for _, file := range files {
				paths = append(paths, filepath.Join(f.root, file))
			}
			return paths, true
		}
	}
	ask := at(query.References, "a.go", 3, 6)
	t.Run("files without a result are opened and the question is asked again", func(t *testing.T) {
		script := `
on references n=1 reply []
on references reply [` + place("b.go", 2, 8, 15) + `]
expect didOpen b.go
expect didOpen c.go
expect count references 2
`
		bubble(t, mentioned, lone(script), func(f *fixture) {
			mentions(f, "a.go", "b.go", "c.go", "d.go")
			a := f.ask(ask)
			want(t, "places", placesOf(a), "b.go:3:9")
			if !hasNote(a, "crosscheck", `2 more files mention "timeout"; the server does not count them.`) {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
	t.Run("other instances of the server are asked for their files", func(t *testing.T) {
		servers := []scripted{
			{name: "one", traits: self, script: `on references reply []`},
			{name: "two", traits: self, script: `
on references reply [` + place("b.go", 2, 8, 15) + `]
expect references a.go
expect count references 1
`},
			{name: "three", traits: self, script: `expect none references`},
		}
		bubble(t, mentioned, servers, func(f *fixture) {
			mentions(f, "a.go", "b.go", "c.go")
			one, two, three := f.cands[0], f.cands[1], f.cands[2]
			two.Name = "one" // an instance with another root
			f.d.Candidates = func(_ context.Context, path, _ string) ([]Candidate, error) {
				if filepath.Base(path) == "a.go" {
					return []Candidate{one}, nil
				}
				return []Candidate{two, three}, nil
			}
			a := f.ask(ask)
			want(t, "places", placesOf(a), "b.go:3:9")
			if !hasNote(a, "crosscheck", `1 more file mentions "timeout"; the server does not count it.`) {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
	t.Run("what was open already is not asked again", func(t *testing.T) {
		script := `
on references reply [` + place("b.go", 2, 8, 15) + `]
expect count references 3
`
		bubble(t, mentioned, lone(script), func(f *fixture) {
			mentions(f, "a.go", "b.go", "c.go")
			for range 2 {
				if a := f.ask(ask); !hasNote(a, "crosscheck", `1 more file mentions "timeout"; the server does not count it.`) {
					t.Errorf("notes %v", a.Notes)
				}
			}
		})
	})
	t.Run("more files than are opened at once cost one second question, not one each time", func(t *testing.T) {
		var archive strings.Builder
		archive.WriteString(mentioned)
		var files []string
		for i := range 3 * openedForCheck {
			files = append(files, fmt.Sprintf("f%02d.go", i))
			fmt.Fprintf(&archive, "-- f%02d.go --\npackage a // timeout\n", i)
		}
		script := `
on references reply []
expect count references 3
`
		bubble(t, archive.String(), lone(script), func(f *fixture) {
			mentions(f, files...)
			for range 2 {
				if a := f.ask(ask); !hasNote(a, "crosscheck", `48 more files mention "timeout"`) {
					t.Errorf("notes %v", a.Notes)
				}
			}
		})
	})
	t.Run("a declaration is no missing result", func(t *testing.T) {
		script := `
on references reply []
on definition reply ` + place("a.go", 2, 5, 12) + `
expect count references 1
`
		bubble(t, mentioned, lone(script), func(f *fixture) {
			mentions(f, "a.go", "b.go")
			if a := f.ask(at(query.References, "b.go", 3, 9)); len(a.Notes) != 0 {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
	t.Run("all explained", func(t *testing.T) {
		bubble(t, mentioned, lone("on references reply ["+place("b.go", 2, 8, 15)+"]\nexpect none definition"), func(f *fixture) {
			mentions(f, "a.go", "b.go")
			if a := f.ask(ask); len(a.Notes) != 0 {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
	t.Run("a scan that is too slow is cut, and the answer says so", func(t *testing.T) {
		bubble(t, mentioned, lone("on references reply ["+place("b.go", 2, 8, 15)+"]"), func(f *fixture) {
			f.d.Mentions = func(ctx context.Context, _, _ string) ([]string, bool) {
				<-ctx.Done()
				return nil, false
			}
			began := time.Now()
			a := f.ask(ask)
			if took := time.Since(began); took > scanGrace || !hasNote(a, "crosscheck", "not cross-checked") {
				t.Errorf("after %v: %v", took, a.Notes)
			}
		})
	})
	t.Run("short words and keywords are not scanned for", func(t *testing.T) {
		bubble(t, "-- a.go --\npackage a\n\nvar ab = func() {}\n", lone(""), func(f *fixture) {
			f.d.Mentions = func(context.Context, string, string) ([]string, bool) {
				t.Error("scanned")
				return nil, true
			}
			f.ask(at(query.References, "a.go", 3, 5))
			f.ask(at(query.References, "a.go", 3, 10))
		})
	})
}
