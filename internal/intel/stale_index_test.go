package intel

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/query"
)

// TestResultsOfAnOldIndex: what a server remembers of files that are gone is not told.
func TestResultsOfAnOldIndex(t *testing.T) {
	gone := `{"uri":"${uri:gone.go}","range":` + rangeJSON(0, 0, 4) + `}`
	here := place("b.go", 2, 5, 9)
	for _, op := range []query.Op{query.Definition, query.References, query.Implementation} {
		script := "on definition reply [" + gone + "," + here + "]\non references reply [" + gone + "," + here + "]\non implementation reply [" + gone + "," + here + "]"
		bubble(t, twoFiles, lone(script), func(f *fixture) {
			a := f.ask(at(op, "a.go", 3, 14))
			want(t, string(op), placesOf(a), "b.go:3:6")
			want(t, string(op)+" total", a.Total.String(), "1")
		})
	}
}

// TestCountedMark: a server that reads a file with a byte order mark itself may
// count the mark as the first character of the first line.
func TestCountedMark(t *testing.T) {
	for name, columns := range map[string][2]int{"counted": {4, 8}, "not counted": {3, 7}} {
		bubble(t, twoFiles, lone("on definition reply "+place("m.go", 0, columns[0], columns[1])), func(f *fixture) {
			content := "\ufeff// stop here\nstop\n"
			if err := os.WriteFile(filepath.Join(f.root, "m.go"), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			want(t, name, placesOf(f.ask(at(query.Definition, "a.go", 3, 14))), "m.go:1:4")
		})
	}
}

// TestDeclarationTakenOut: the definition is taken out of references where the
// server's own flag cannot be relied on, and only where it is not wanted.
func TestDeclarationTakenOut(t *testing.T) {
	script := "on references reply [" + place("b.go", 2, 5, 9) + "," + place("a.go", 2, 13, 17) + "]\n" +
		"on definition reply " + place("b.go", 2, 5, 9)
	for declaration, wanted := range map[bool]string{false: "a.go:3:14", true: "a.go:3:14 b.go:3:6"} {
		bubble(t, twoFiles, lone(script), func(f *fixture) {
			f.cands[0].DeclarationByDefinition = true
			r := at(query.References, "a.go", 3, 14)
			r.IncludeDeclaration = declaration
			want(t, "places", placesOf(f.ask(r)), wanted)
		})
	}
}

// TestProbedFiles: a file that is opened for the cross-check is asked about, at its
// mention, before the references are asked for again.
func TestProbedFiles(t *testing.T) {
	script := `
on references n=1 reply []
on references reply [` + place("b.go", 2, 8, 15) + `]
on definition reply null
expect count definition 2
`
	bubble(t, mentioned, lone(script), func(f *fixture) {
		f.d.Mentions = func(context.Context, string, string) ([]string, bool) {
			return []string{filepath.Join(f.root, "b.go")}, true
		}
		want(t, "places", placesOf(f.ask(at(query.References, "a.go", 3, 6))), "b.go:3:9")
		if m := f.servers["one"].Received(1); len(m) > 0 {
			probed := false
			for _, x := range m {
				probed = probed || x.Method == "textDocument/definition" && containsAll(x.Params, "b.go", `"line":2`, `"character":8`)
			}
			if !probed {
				t.Errorf("the opened file was not asked about: %v", m)
			}
		}
	})
}

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
