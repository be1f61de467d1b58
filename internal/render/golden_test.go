package render

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/dragoman-dev/dragoman/query"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares named texts with the sections of testdata/NAME.txtar.
type golden struct {
	file string
	want map[string]string
	got  txtar.Archive
}

func openGolden(t *testing.T, name string) *golden {
	t.Helper()
	g := &golden{file: filepath.Join("testdata", name+".txtar"), want: map[string]string{}}
	if *update {
		t.Cleanup(func() { g.rewrite(t) })
		return g
	}
	a, err := txtar.ParseFile(g.file)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		g.want[f.Name] = string(f.Data)
	}
	return g
}

func (g *golden) rewrite(t *testing.T) {
	if err := os.MkdirAll("testdata", 0o777); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(g.file, txtar.Format(&g.got), 0o666); err != nil {
		t.Error(err)
	}
}

func (g *golden) check(t *testing.T, section, got string) {
	t.Helper()
	got += "\n"
	g.got.Files = append(g.got.Files, txtar.File{Name: section, Data: []byte(got)})
	if *update {
		return
	}
	want, ok := g.want[section]
	if !ok {
		t.Errorf("%s has no section %q", g.file, section)
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s %s (-want +got):\n%s", g.file, section, d)
	}
}

func pt(l, c int) query.Point { return query.Point{Line: l, Column: c} }

func at(l, c int) *query.Point { p := pt(l, c); return &p }

func span(l, c int) query.Span { return query.Span{Start: pt(l, c), End: pt(l, c+3)} }

func place(path string, l, c int, servers ...string) query.Place {
	if servers == nil {
		servers = []string{"typescript"}
	}
	return query.Place{Path: path, URI: "file:///workspace/" + path, Span: span(l, c), Servers: servers}
}

func symbol(name, kind, container string, p query.Place) query.Symbol {
	return query.Symbol{Name: name, Kind: kind, Container: container, Place: p}
}

func item(name, kind string, p query.Place) query.Item {
	raw := `{"name":"` + name + `","kind":"function","uri":"file:///workspace/` + p.Path +
		`","range":{"start":{"line":29,"character":0},"end":{"line":45,"character":1}},` +
		`"selectionRange":{"start":{"line":29,"character":9},"end":{"line":29,"character":20}},` +
		`"data":{"z":1e2,"a":9007199254740993},"serverName":"typescript"}`
	return query.Item{Symbol: symbol(name, kind, "", p), JSON: json.RawMessage(raw)}
}

func call(name, kind string, p query.Place, sites ...query.Point) query.Call {
	return query.Call{Item: item(name, kind, p), Sites: sites}
}

func problem(sev string, l, c int, code, msg string, servers ...string) query.Problem {
	if servers == nil {
		servers = []string{"typescript"}
	}
	return query.Problem{Span: span(l, c), Severity: sev, Code: code, Source: "typescript", Servers: servers, Message: msg}
}

var settled = query.Basis{Settled: true, Servers: []query.ServerBasis{{Name: "typescript", Generation: 1, Settled: true}}}

// subject fills what an answer of op is about.
func subject(op query.Op, path string, l, c int, body query.Body, n int) *query.Answer {
	a := &query.Answer{Op: op, Path: path, Body: body, Total: query.Count{N: n}, Basis: settled}
	if l > 0 {
		a.At = at(l, c)
	}
	return a
}

func withNotes(a *query.Answer, notes ...query.Note) *query.Answer {
	b := *a
	b.Notes = notes
	return &b
}

func unsure(a *query.Answer) *query.Answer {
	b := *a
	b.Unsure = "typescript is still loading the project (63 %), so nothing found means nothing yet."
	b.Basis = query.Basis{Servers: []query.ServerBasis{{Name: "typescript", Generation: 1}}}
	return &b
}

func of(a *query.Answer, n int, atLeast bool) *query.Answer {
	b := *a
	b.Total = query.Count{N: n, AtLeast: atLeast}
	b.Basis.Truncated = true
	return &b
}

func forced(a *query.Answer, server string) *query.Answer {
	b := *a
	b.Server = server
	return &b
}
