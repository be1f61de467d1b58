package intel

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/internal/lsp"
)

const sentItem = `{"name":"run","kind":12,"tags":[1],"detail":"a • b","uri":"file:///w/a.go",` +
	`"range":{"start":{"line":1,"character":0},"end":{"line":3,"character":1}},` +
	`"selectionRange":{"start":{"line":1,"character":5},"end":{"line":1,"character":8}},` +
	`"data":{"id":12345678901234567890,"f":1.0},"x":"kept"}`

func TestItemRoundTrip(t *testing.T) {
	items, err := lsp.DecodeHierarchyItems(json.RawMessage(sentItem))
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	shown := shownItem(items[0], "gopls")
	for _, want := range []string{`"kind":"function"`, `"data":{"id":12345678901234567890,"f":1.0}`,
		`"detail":"a • b"`, `"tags":[1]`, `"x":"kept"`, `"serverName":"gopls"}`} {
		if !strings.Contains(string(shown), want) {
			t.Errorf("%s lacks %s", shown, want)
		}
	}
	item, server, err := wireItem(shown)
	if err != nil {
		t.Fatal(err)
	}
	if server != "gopls" || strings.Contains(string(item.Raw), "serverName") {
		t.Errorf("server %q, sent %s", server, item.Raw)
	}
	if !strings.Contains(string(item.Raw), `"data":{"id":12345678901234567890,"f":1.0}`) ||
		!strings.Contains(string(item.Raw), `"kind":12`) {
		t.Errorf("sent %s", item.Raw)
	}
}

func TestWireItemRefuses(t *testing.T) {
	for _, tc := range []struct{ item, want string }{
		{`[1]`, "must be an object"},
		{`{"name":"x"}`, "lacks uri"},
		{`{"name":"x","uri":"file:///a","range":3,"selectionRange":4}`, "wrong type"},
	} {
		_, _, err := wireItem(json.RawMessage(tc.item))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.item, err, tc.want)
		}
	}
}

func TestPlainName(t *testing.T) {
	for name, want := range map[string]string{
		"run": "run", "(*T).Method": "Method", "pkg.Func": "Func", "A::b(int, char)": "b",
		"Box<T>": "Box", "größe": "größe", "<anonymous>": "anonymous", "": "",
	} {
		if got := plainName(name); got != want {
			t.Errorf("plainName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestNest(t *testing.T) {
	at := func(name string, from, to uint32) lsp.Symbol {
		r := lsp.Range{Start: lsp.Position{Line: from}, End: lsp.Position{Line: to}}
		return lsp.Symbol{Name: name, URI: "file:///a", Range: r, Selection: r, HasRange: true}
	}
	flat := []lsp.Symbol{at("C.m", 2, 4), at("C", 1, 9), at("x", 3, 4), at("after", 10, 12), at("C.n", 5, 6)}
	var got []string
	for _, r := range flatten(nest(flat), nil, "", 0) {
		got = append(got, strings.Repeat(" ", r.depth)+r.symbol.Name+"<"+r.container)
	}
	want := "C<|\u0020C.m<C|  x<C.m| C.n<C|after<"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

// FuzzWireItem fails when reading an item panics, or sends another data than came.
func FuzzWireItem(f *testing.F) {
	f.Add(sentItem)
	f.Add(`{"name":"x","uri":"file:///a","range":{},"selectionRange":{},"data":[1,"a",null],"serverName":3}`)
	f.Add(`"{}"`)
	f.Add(`{"kind":`)
	f.Fuzz(func(t *testing.T, s string) {
		item, _, err := wireItem(json.RawMessage(s))
		if err != nil {
			return
		}
		have, err := members(item.Raw)
		if err != nil {
			t.Fatalf("%q became %q: %v", s, item.Raw, err)
		}
		before, _ := members(unquotedObject(json.RawMessage(s)))
		if string(field(have, "data")) != string(field(before, "data")) {
			t.Errorf("data %s became %s", field(before, "data"), field(have, "data"))
		}
	})
}
