package intel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/query"
)

const twoFiles = `
-- a.go --
package a

func run() { stop() }
-- b.go --
package a

func stop() {}
`

func TestDefinitionShapes(t *testing.T) {
	location := `{"uri":"${uri:b.go}","range":` + rangeJSON(2, 5, 9) + `}`
	link := `{"targetUri":"${uri:b.go}","targetRange":` + rangeJSON(2, 0, 14) + `,"targetSelectionRange":` + rangeJSON(2, 5, 9) + `}`
	for _, tc := range []struct{ name, reply, want string }{
		{"null", "null", ""},
		{"one location", location, "b.go:3:6"},
		{"a list", "[" + location + "]", "b.go:3:6"},
		{"links", "[" + link + "]", "b.go:3:6"},
		{"mixed, with the same place twice", "[" + link + "," + location + "]", "b.go:3:6"},
	} {
		t.Run("C57 definition as "+tc.name, func(t *testing.T) {
			bubble(t, twoFiles, lone("on definition reply "+tc.reply), func(f *fixture) {
				a := f.ask(at(query.Definition, "a.go", 3, 14))
				want(t, "places", placesOf(a), tc.want)
				want(t, "doubt", a.Unsure, "")
				if a.Total.N != strings.Count(tc.want, ".go") {
					t.Errorf("total %v", a.Total)
				}
			})
		})
	}
}

func TestPathsInAndOut(t *testing.T) {
	script := `on definition reply {"uri":"${uri:a.go}","range":` + rangeJSON(2, 5, 8) + `}`
	for _, spelled := range []string{"a.go", " ./a.go ", "sub/../a.go", "${root}/a.go", "file://${root}/a.go"} {
		bubble(t, twoFiles, lone(script), func(f *fixture) {
			a := f.ask(at(query.Definition, strings.ReplaceAll(spelled, "${root}", f.root), 3, 6))
			want(t, spelled, a.Path+" "+placesOf(a), "a.go a.go:3:6")
		})
	}
}

func TestSymlinkedRoot(t *testing.T) {
	for _, spelled := range []string{"relative", "linked", "real"} {
		for _, serverRoot := range []string{"linked", "real"} {
			t.Run(spelled+" path, "+serverRoot+" root of the server", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := &fixture{t: t, root: lsptest.Workspace(t, twoFiles), servers: map[string]*lsptest.Server{}}
					real, link := f.root, filepath.Join(t.TempDir(), "linked")
					if err := os.Symlink(real, link); err != nil {
						t.Fatal(err)
					}
					f.d = &Deps{Root: link, RealRoot: real, Candidates: f.candidates}
					if serverRoot == "linked" {
						f.root = link
					}
					// The server must see one spelling only, that of its own root, and
					// answers in the resolved one.
					f.add(lone("expect didOpen a.go\non definition reply " +
						`{"uri":"file://` + real + `/a.go","range":` + rangeJSON(2, 5, 8) + `}`)[0])
					path := map[string]string{"relative": "a.go", "linked": link + "/a.go", "real": real + "/a.go"}[spelled]
					a := f.ask(at(query.Definition, path, 3, 6))
					want(t, "answer", a.Path+" "+placesOf(a), "a.go a.go:3:6")
				})
			})
		}
	}
}

func TestRefusedPaths(t *testing.T) {
	bubble(t, twoFiles+"-- main_test.go --\n", lone(""), func(f *fixture) {
		outside := lsptest.Workspace(t, "-- lib.go --\npackage lib\n")
		for path, wanted := range map[string]string{
			`\\host\share\a.go`: "UNC paths are refused",
			"//host/share/a.go": "UNC paths are refused",
			outside + "/lib.go": "is outside the workspace",
			"../x.go":           "is outside the workspace",
			"main_tset.go":      "file not found: main_tset.go",
			".":                 "is a directory",
		} {
			e := f.refused(at(query.Hover, path, 1, 1))
			if e.Kind != query.BadRequest || !strings.Contains(e.Message, wanted) {
				t.Errorf("%s: %s: %s", path, e.Kind, e.Message)
			}
			if path == "main_tset.go" && !strings.Contains(e.Hint, "main_test.go") {
				t.Errorf("hint %q does not name the nearest file", e.Hint)
			}
		}
		if n := f.servers["one"].Generations(); n != 0 {
			t.Errorf("%d servers were started for files that cannot be asked about", n)
		}
		f.d.ReadableOutside = func(string) bool { return true }
		a := f.ask(at(query.Hover, outside+"/lib.go", 1, 9))
		want(t, "outside", a.Path, outside+"/lib.go")
	})
}

func TestLineBeyondTheEnd(t *testing.T) {
	bubble(t, twoFiles, lone(""), func(f *fixture) {
		e := f.refused(at(query.Hover, "a.go", 900, 1))
		want(t, "message", e.Message, "line 900 is beyond the end of a.go (3 lines).")
	})
}

func TestSnap(t *testing.T) {
	const text = `
-- a.go --
package a

func run() {
	stop( one, two )
	x.y
}
`
	symbols := `on documentSymbol reply [{"name":"stop","kind":12,"range":` + rangeJSON(3, 1, 5) + `,"selectionRange":` + rangeJSON(3, 1, 5) + `}]`
	for _, tc := range []struct {
		line, column      int
		asked, moved      string
		emptyAnswerSaysNo bool
	}{
		{4, 3, "4:3", "", false},                        // inside the identifier
		{4, 6, "4:2", `moved to "stop" at 4:2.`, false}, // right behind it
		{4, 7, "4:8", `moved to "one" at 4:8.`, false},  // right before it
		{5, 3, "5:3", "", true},                         // between two that touch
		{2, 1, "2:1", "", true},                         // an empty line
		{3, 1, "3:1", "", true},                         // a keyword
	} {
		t.Run(fmt.Sprintf("%d:%d", tc.line, tc.column), func(t *testing.T) {
			bubble(t, text, lone(symbols), func(f *fixture) {
				a := f.ask(at(query.Definition, "a.go", tc.line, tc.column))
				want(t, "asked at", point(*a.At), tc.asked)
				if tc.moved != "" && !hasNote(a, "moved", tc.moved) || tc.moved == "" && len(a.Notes) > 0 {
					t.Errorf("notes %v, want %q", a.Notes, tc.moved)
				}
				if got := strings.Contains(a.Unsure, "There is no identifier at"); got != tc.emptyAnswerSaysNo {
					t.Errorf("unsure %q", a.Unsure)
				}
			})
		})
	}
	t.Run("white space before the only declaration", func(t *testing.T) {
		const deep = "-- a.go --\npackage a\n\n    func run() {}\n"
		decl := `on documentSymbol reply [{"name":"run","kind":12,"range":` + rangeJSON(2, 4, 17) + `,"selectionRange":` + rangeJSON(2, 9, 12) + `}]`
		bubble(t, deep, lone(decl), func(f *fixture) {
			a := f.ask(at(query.Definition, "a.go", 3, 1))
			want(t, "asked at", point(*a.At), "3:10")
			if !hasNote(a, "moved", `moved to "run" at 3:10.`) {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
}

func TestPositionsInEncodings(t *testing.T) {
	const text = "-- a.go --\npackage a\n\nvar s, target = \"é 世界 😀\", s + target\n"
	for _, encoding := range []string{"utf-8", "utf-16", "utf-32"} {
		t.Run("C54 right column in and out with "+encoding, func(t *testing.T) {
			line := `var s, target = "é 世界 😀", s + target`
			column := len([]rune(line[:strings.LastIndex(line, "target")])) + 1
			want := map[string]int{
				"utf-8":  strings.LastIndex(line, "target"),
				"utf-16": column - 1 + 1, // one surrogate pair before it
				"utf-32": column - 1,
			}[encoding]
			script := fmt.Sprintf(`capabilities {"positionEncoding":%q}
on definition when=%q reply {"uri":"${uri:a.go}","range":%s}
`, encoding, fmt.Sprintf(`"character":%d}`, want), rangeJSON(2, want, want+6))
			bubble(t, text, lone(script), func(f *fixture) {
				a := f.ask(at(query.Definition, "a.go", 3, column))
				if got := placesOf(a); got != fmt.Sprintf("a.go:3:%d", column) {
					t.Errorf("got %q, want column %d", got, column)
				}
			})
		})
	}
}

func TestEncodingIsChecked(t *testing.T) {
	const text = "-- a.go --\npackage a\n\nvar 😀, target = 1, 2\nvar x = target\n"
	// The server claims UTF-16 (by silence) and counts code points.
	location := `{"uri":"${uri:a.go}","range":` + rangeJSON(2, 7, 13) + `}`
	t.Run("by a result", func(t *testing.T) {
		bubble(t, text, lone(`on definition reply `+location), func(f *fixture) {
			a := f.ask(at(query.Definition, "a.go", 4, 9))
			want(t, "place", placesOf(a), "a.go:3:8")
		})
	})
	t.Run("by asking elsewhere", func(t *testing.T) {
		script := `on definition when="\"character\":7}" reply ` + location + `
on definition reply null`
		bubble(t, text, lone(script), func(f *fixture) {
			a := f.ask(at(query.Definition, "a.go", 3, 8))
			want(t, "place", placesOf(a), "a.go:3:8")
			f.ask(at(query.Definition, "a.go", 3, 8))
			if n := f.servers["one"].Count(1, "textDocument/definition"); n != 3 {
				t.Errorf("asked %d times; the second question must know the unit", n)
			}
		})
	})
}

func TestFiltering(t *testing.T) {
	needGit(t)
	t.Run("C58 unique, ordered, filtered with a count, marked", func(t *testing.T) {
		const tree = `
-- .gitignore --
out/
-- .gitattributes --
pb.go linguist-generated
-- a.go --
package a // run
-- b.go --
package a // run
-- out/x.go --
package a // run
-- pb.go --
package a // run
-- aa_gen.go --
// Code generated by hand. DO NOT EDIT.
package a // run
`
		outside := lsptest.Workspace(t, "-- lib.go --\npackage lib\n")
		var list []string
		for _, uri := range []string{"${uri:pb.go}", "${uri:b.go}", "file://" + outside + "/lib.go", "${uri:out/x.go}",
			"${uri:b.go}", "${uri:aa_gen.go}", "${uri:a.go}"} {
			list = append(list, `{"uri":"`+uri+`","range":`+rangeJSON(0, 8, 9)+`}`)
		}
		reply := "[" + strings.Join(list, ",") + "]"
		script := "on references reply " + reply + "\non definition reply " + reply
		root := lsptest.Workspace(t, tree)
		gitIn(t, root, "init", "-q")
		f := newFixture(t, tree, lone(script))
		gitIn(t, f.root, "init", "-q")
		f.d.Ignore = NewIgnore(f.root)
		led := map[string]bool{}
		f.d.Led = func(path string, _ Candidate) { led[path] = true }

		a := f.ask(at(query.References, "a.go", 1, 9))
		lib := outside + "/lib.go:1:9"
		want(t, "references", placesOf(a), "a.go:1:9 b.go:1:9 "+lib+" aa_gen.go:1:9 pb.go:1:9")
		if a.Total.N != 5 || !hasNote(a, "hidden", "1 result in git-ignored files not shown.") ||
			!hasNote(a, "generated", "2 results") {
			t.Errorf("total %v, notes %v", a.Total, a.Notes)
		}
		places := a.Body.(*query.Places).Items
		if places[0].Outside || !places[2].Outside || len(led) != 1 {
			t.Errorf("outside not marked or not told: %+v, led %v", places, led)
		}
		r := at(query.References, "a.go", 1, 9)
		r.IncludeIgnored = true
		if a := f.ask(r); a.Total.N != 6 {
			t.Errorf("with ignored files: total %v", a.Total)
		}
		a = f.ask(at(query.Definition, "a.go", 1, 9))
		want(t, "definitions", placesOf(a), "pb.go:1:9 b.go:1:9 "+lib+" out/x.go:1:9 aa_gen.go:1:9 a.go:1:9")
	})
}

func TestLimit(t *testing.T) {
	t.Run("C59 5,000 references, limit 50", func(t *testing.T) {
		var list []json.RawMessage
		for i := range 5000 {
			line := i * 7919 % 5000 // every line once, unsorted
			list = append(list, json.RawMessage(`{"uri":"${uri:a.go}","range":`+rangeJSON(line, 0, 1)+`}`))
		}
		reply, _ := json.Marshal(list)
		archive := "-- a.go --\n" + strings.Repeat("x\n", 5000)
		bubble(t, archive, lone("on references reply @r\n-- r --\n"+string(reply)), func(f *fixture) {
			first := f.ask(at(query.References, "a.go", 1, 1))
			items := first.Body.(*query.Places).Items
			if len(items) != 50 || first.Total != (query.Count{N: 5000}) || !first.Basis.Truncated {
				t.Errorf("%d shown of %v, truncated %v", len(items), first.Total, first.Basis.Truncated)
			}
			if items[0].Span.Start.Line != 1 || items[49].Span.Start.Line != 50 {
				t.Errorf("shown %v to %v", items[0].Span, items[49].Span)
			}
			want(t, "again", placesOf(f.ask(at(query.References, "a.go", 1, 1))), placesOf(first))
		})
	})
	t.Run("a server's own cap", func(t *testing.T) {
		s := lone(`on references reply [{"uri":"${uri:a.go}","range":` + rangeJSON(2, 0, 1) + `}]`)
		s[0].tune = func(c *Candidate) { c.ReferenceCap = 1 }
		bubble(t, twoFiles, s, func(f *fixture) {
			want(t, "total", f.ask(at(query.References, "a.go", 3, 6)).Total.String(), "1+")
		})
	})
}

func TestOtherSchemes(t *testing.T) {
	script := `
allow request-not-open
on definition reply [{"uri":"jdt://contents/A.class?=x","range":` + rangeJSON(4, 2, 5) + `}]
expect definition when="jdt://contents"
expect definition when="\"character\":2"
`
	bubble(t, twoFiles, lone(script), func(f *fixture) {
		a := f.ask(at(query.Definition, "a.go", 3, 14))
		want(t, "place", placesOf(a), "jdt://contents/A.class?=x:5:3")
		if !hasNote(a, "partial", "unit of the server") || !a.Body.(*query.Places).Items[0].Outside {
			t.Errorf("notes %v", a.Notes)
		}
		a = f.ask(at(query.Definition, "jdt://contents/A.class?=x", 5, 3))
		want(t, "about it", a.Path+" "+point(*a.At)+" "+placesOf(a), "jdt://contents/A.class?=x 5:3 jdt://contents/A.class?=x:5:3")
	})
}

func TestUnopenedFileHasChanged(t *testing.T) {
	script := `on definition reply [{"uri":"${uri:b.go}","range":` + rangeJSON(0, 3, 4) + `}]`
	const text = "-- a.go --\npackage a\n\nvar x = z\n-- b.go --\nééyy\n"
	bubble(t, text, lone("capabilities {\"positionEncoding\":\"utf-8\"}\n"+script), func(f *fixture) {
		path := filepath.Join(f.root, "b.go")
		old := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		ask := at(query.Definition, "a.go", 3, 9)
		want(t, "before", placesOf(f.ask(ask)), "b.go:1:2")
		// Same size, same mtime.
		f.edit("b.go", "yyéé\n")
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		want(t, "after", placesOf(f.ask(ask)), "b.go:1:3")
	})
}
