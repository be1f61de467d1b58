package intel

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/query"
)

const callTree = `
-- a.go --
package a

func run() {
	stop()
	stop()
}
-- b.go --
package a

func stop() { é, x := 1, halt() }
func halt() {}
`

func hierarchyItem(name, file string, line, from, to int, data string) string {
	item := `{"name":"` + name + `","kind":12,"uri":"${uri:` + file + `}","range":` + rangeJSON(line, 0, to) +
		`,"selectionRange":` + rangeJSON(line, from, to)
	if data != "" {
		item += `,"data":` + data
	}
	return item + "}"
}

// calls prints groups as "of: caller path:line:col (sites)".
func calls(a *query.Answer) string {
	var out []string
	for _, g := range a.Body.(*query.Calls).Groups {
		line := g.Of.Name + ":"
		for _, c := range g.Calls {
			line += " " + c.Name + " " + c.Place.Path + ":" + point(c.Place.Span.Start) + " ("
			for i, s := range c.Sites {
				if i > 0 {
					line += ", "
				}
				line += point(s)
			}
			line += ")"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestCallHierarchyItems(t *testing.T) {
	for _, data := range []string{`12345678901234567890`, `{"b":1,"a":[1.50,null]}`, `null`, ``} {
		t.Run("C95 data goes out and back byte-equal: "+data, func(t *testing.T) {
			script := `
on prepareCallHierarchy reply [` + hierarchyItem("stop", "b.go", 2, 5, 9, data) + `]
on callHierarchy/incomingCalls reply []
expect none callHierarchy/incomingCalls when=serverName
expect callHierarchy/incomingCalls when="\"kind\":12"
`
			if data != "" {
				quoted, _ := json.Marshal(`"data":` + data)
				script += "expect callHierarchy/incomingCalls when=" + string(quoted) + "\n"
			} else {
				script += "expect none callHierarchy/incomingCalls when=\"\\\"data\\\"\"\n"
			}
			other := scripted{name: "other", traits: self, script: "capabilities {\"callHierarchyProvider\":null}\nexpect none callHierarchy/incomingCalls"}
			bubble(t, callTree, []scripted{other, {name: "one", script: script, traits: self}}, func(f *fixture) {
				items := f.ask(at(query.PrepareCallHierarchy, "b.go", 3, 6)).Body.(*query.Items).Items
				if len(items) != 1 || !strings.Contains(string(items[0].JSON), `"kind":"function"`) ||
					!strings.Contains(string(items[0].JSON), `"serverName":"one"`) {
					t.Fatalf("items %+v", items)
				}
				a := f.ask(query.Request{Op: query.IncomingCalls, Item: items[0].JSON})
				want(t, "calls", calls(a), "stop:")
				if n := f.servers["one"].Count(1, "textDocument/prepareCallHierarchy"); n != 1 {
					t.Errorf("prepared %d times", n)
				}
			})
		})
	}
}

func TestStaleItems(t *testing.T) {
	script := `
on prepareCallHierarchy n=1 reply [` + hierarchyItem("stop", "b.go", 2, 5, 9, "1") + `]
on prepareCallHierarchy when="\"line\":2" reply [` + hierarchyItem("halt", "b.go", 2, 5, 9, "8") + `,` + hierarchyItem("stop", "b.go", 2, 5, 9, "2") + `]
on callHierarchy/incomingCalls when="\"data\":2" reply [{"from":` + hierarchyItem("run", "a.go", 2, 5, 8, "") + `,"fromRanges":[` + rangeJSON(3, 1, 5) + `]}]
on callHierarchy/incomingCalls error -32603 "unknown item"
`
	prepared := func(f *fixture) json.RawMessage {
		return f.ask(at(query.PrepareCallHierarchy, "b.go", 3, 6)).Body.(*query.Items).Items[0].JSON
	}
	t.Run("C96 an item is prepared again after an edit", func(t *testing.T) {
		bubble(t, callTree, lone(script), func(f *fixture) {
			item := prepared(f)
			f.edit("b.go", "package a\n\nfunc stop() { }\n")
			a := f.ask(query.Request{Op: query.IncomingCalls, Item: item})
			want(t, "calls", calls(a), "stop: run a.go:3:6 (4:2)")
		})
	})
	t.Run("C96 an item is prepared again after a restart", func(t *testing.T) {
		again := strings.Replace(script, "on prepareCallHierarchy n=1", "on prepareCallHierarchy gen=1", 1)
		bubble(t, callTree, lone(again), func(f *fixture) {
			item := prepared(f)
			f.servers["one"].Crash(1)
			a := f.ask(query.Request{Op: query.IncomingCalls, Item: item})
			want(t, "calls", calls(a), "stop: run a.go:3:6 (4:2)")
		})
	})
	t.Run("C96 an item that is not found any more is stale", func(t *testing.T) {
		gone := "on prepareCallHierarchy n=1 reply [" + hierarchyItem("stop", "b.go", 2, 5, 9, "1") + "]\non prepareCallHierarchy reply null"
		bubble(t, callTree, lone(gone), func(f *fixture) {
			item := prepared(f)
			f.edit("b.go", "package a\n\n// moved\n")
			e := f.refused(query.Request{Op: query.IncomingCalls, Item: item})
			if e.Kind != query.StaleText || !strings.Contains(e.Message, `"stop" is stale: b.go has changed`) {
				t.Errorf("%s: %s", e.Kind, e.Message)
			}
		})
	})
	t.Run("an item made by hand is taken", func(t *testing.T) {
		made := "on callHierarchy/incomingCalls reply []\nexpect none prepareCallHierarchy"
		bubble(t, callTree, lone(made), func(f *fixture) {
			item := `{"name":"stop","kind":"Function","uri":"file://` + f.root + `/b.go","range":` + rangeJSON(2, 0, 9) +
				`,"selectionRange":` + rangeJSON(2, 5, 9) + `}`
			want(t, "calls", calls(f.ask(query.Request{Op: query.IncomingCalls, Item: json.RawMessage(item)})), "stop:")
		})
	})
}

func TestSeveralItems(t *testing.T) {
	script := `
on prepareCallHierarchy reply [` + hierarchyItem("stop", "b.go", 2, 5, 9, "1") + `,` + hierarchyItem("halt", "b.go", 3, 5, 9, "2") + `]
on callHierarchy/incomingCalls when="\"data\":1" reply [{"from":` + hierarchyItem("run", "a.go", 2, 5, 8, "") + `,"fromRanges":[` + rangeJSON(4, 1, 5) + `,` + rangeJSON(3, 1, 5) + `]}]
on callHierarchy/incomingCalls when="\"data\":2" reply [{"from":` + hierarchyItem("stop", "b.go", 2, 5, 9, "") + `,"fromRanges":[` + rangeJSON(2, 25, 29) + `]}]
`
	t.Run("C97 all prepared items are listed and asked by position, one by item", func(t *testing.T) {
		bubble(t, callTree, lone(script), func(f *fixture) {
			a := f.ask(at(query.IncomingCalls, "b.go", 3, 6))
			want(t, "calls", calls(a), "stop: run a.go:3:6 (4:2, 5:2)\nhalt: stop b.go:3:6 (3:26)")
			if a.Total.N != 2 {
				t.Errorf("total %v", a.Total)
			}
			items := f.ask(at(query.PrepareCallHierarchy, "b.go", 3, 6)).Body.(*query.Items).Items
			if len(items) != 2 {
				t.Fatalf("%d items", len(items))
			}
			a = f.ask(query.Request{Op: query.IncomingCalls, Item: items[1].JSON})
			want(t, "calls", calls(a), "halt: stop b.go:3:6 (3:26)")
		})
	})
}

func TestCallSites(t *testing.T) {
	// The server counts bytes, so that a site is mapped right only with the text of
	// its own file: é stands before the site in b.go, not in a.go.
	script := `
capabilities {"positionEncoding":"utf-8"}
on prepareCallHierarchy reply [` + hierarchyItem("stop", "b.go", 2, 5, 9, "") + `]
on callHierarchy/incomingCalls reply [{"from":` + hierarchyItem("run", "a.go", 2, 5, 8, "") + `,"fromRanges":[` + rangeJSON(4, 1, 5) + `]}]
on callHierarchy/outgoingCalls reply [{"to":` + hierarchyItem("halt", "b.go", 3, 5, 9, "") + `,"fromRanges":[` + rangeJSON(2, 26, 30) + `]}]
`
	t.Run("C98 incoming sites are in the caller, outgoing ones in the asked item's file", func(t *testing.T) {
		bubble(t, callTree, lone(script), func(f *fixture) {
			want(t, "incoming", calls(f.ask(at(query.IncomingCalls, "b.go", 3, 6))), "stop: run a.go:3:6 (5:2)")
			want(t, "outgoing", calls(f.ask(at(query.OutgoingCalls, "b.go", 3, 6))), "stop: halt b.go:4:6 (3:26)")
		})
	})
}
