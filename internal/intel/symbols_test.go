package intel

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dragoman-dev/dragoman/query"
)

const classFile = `
-- a.go --
// a service
class Service {
	start() {}
	stop() { let x }
}
func main() {}
`

// outline prints "depth name<container line:column".
func outline(a *query.Answer) string {
	var out []string
	for _, s := range a.Body.(*query.Outline).Items {
		out = append(out, fmt.Sprintf("%d %s %s<%s %s", s.Depth, s.Kind, s.Name, s.Container, point(s.Place.Span.Start)))
	}
	return strings.Join(out, "\n")
}

func block(fromLine, fromChar, toLine, toChar int) string {
	return fmt.Sprintf(`{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}`, fromLine, fromChar, toLine, toChar)
}

func TestOutline(t *testing.T) {
	nested := `[
{"name":"Service","kind":5,"range":` + block(1, 0, 4, 1) + `,"selectionRange":` + rangeJSON(1, 6, 13) + `,"children":[
 {"name":"start","kind":6,"range":` + block(2, 1, 2, 11) + `,"selectionRange":` + rangeJSON(2, 1, 6) + `},
 {"name":"stop","kind":6,"range":` + block(3, 1, 3, 17) + `,"selectionRange":` + rangeJSON(3, 1, 5) + `,"children":[
  {"name":"x","kind":13,"range":` + block(3, 10, 3, 15) + `,"selectionRange":` + rangeJSON(3, 14, 15) + `}]}]},
{"name":"main","kind":12,"range":` + block(5, 0, 5, 14) + `,"selectionRange":` + rangeJSON(5, 5, 9) + `}]`
	flat := `[
{"name":"main","kind":12,"location":{"uri":"${uri:a.go}","range":` + block(5, 0, 5, 14) + `}},
{"name":"stop","kind":6,"containerName":"Service","location":{"uri":"${uri:a.go}","range":` + block(3, 1, 3, 17) + `}},
{"name":"Service","kind":5,"location":{"uri":"${uri:a.go}","range":` + block(0, 0, 4, 1) + `}},
{"name":"x","kind":13,"location":{"uri":"${uri:a.go}","range":` + block(3, 10, 3, 15) + `}},
{"name":"start","kind":6,"containerName":"Service","location":{"uri":"${uri:a.go}","range":` + block(2, 1, 2, 11) + `}}]`
	for name, reply := range map[string]string{"nested": nested, "flat": flat} {
		t.Run("C60 one outline of "+name+" symbols", func(t *testing.T) {
			bubble(t, classFile, lone("on documentSymbol reply @s\n-- s --\n"+reply), func(f *fixture) {
				a := f.ask(query.Request{Op: query.DocumentSymbol, Target: query.Target{Path: "a.go"}})
				want(t, "outline", outline(a), `0 Class Service< 2:7
1 Method start<Service 3:2
1 Method stop<Service 4:2
2 Variable x<stop 4:15
0 Function main< 6:6`)
				r := query.Request{Op: query.DocumentSymbol, Target: query.Target{Path: "a.go"}, Limit: 2}
				if cut := f.ask(r); len(cut.Body.(*query.Outline).Items) != 2 || cut.Total.N != 5 || !cut.Basis.Truncated {
					t.Errorf("cut to %d of %v", len(cut.Body.(*query.Outline).Items), cut.Total)
				}
			})
		})
	}
}

func TestHoverForms(t *testing.T) {
	for _, tc := range []struct{ name, reply, want string }{
		{"a string", `{"contents":"plain"}`, "plain"},
		{"a marked string", `{"contents":{"language":"go","value":"func f()"}}`, "```go\nfunc f()\n```"},
		{"a list", `{"contents":[{"language":"go","value":"func f()"},"doc"]}`, "```go\nfunc f()\n```\n\ndoc"},
		{"markup", `{"contents":{"kind":"markdown","value":"**x**"},"range":` + rangeJSON(2, 5, 8) + `}`, "**x**"},
		{"empty", `{"contents":[]}`, ""},
		{"null", `null`, ""},
	} {
		t.Run("C62 hover as "+tc.name, func(t *testing.T) {
			bubble(t, twoFiles, lone("on hover reply "+tc.reply), func(f *fixture) {
				a := f.ask(at(query.Hover, "a.go", 3, 6))
				prose := a.Body.(*query.Prose)
				want(t, "markdown", strings.TrimSpace(prose.Markdown), tc.want)
				if tc.name == "markup" && (prose.Span == nil || point(prose.Span.Start) != "3:6") {
					t.Errorf("range %v", prose.Span)
				}
			})
		})
	}
}

func TestWorkspaceSymbols(t *testing.T) {
	t.Run("C61 symbols without range are resolved for printed ones only", func(t *testing.T) {
		script := `
capabilities {"workspaceSymbolProvider":{"resolveProvider":true}}
on symbol reply [{"name":"stop","kind":12,"location":{"uri":"${uri:b.go}"},"data":7},{"name":"stopAll","kind":12,"location":{"uri":"${uri:a.go}"}}]
on workspaceSymbol/resolve reply {"name":"stop","kind":12,"location":{"uri":"${uri:b.go}","range":` + block(2, 0, 2, 14) + `}}
on references reply [{"uri":"${uri:a.go}","range":` + rangeJSON(2, 13, 17) + `}]
expect count workspaceSymbol/resolve 1
expect workspaceSymbol/resolve when="\"data\":7"
expect references when="\"character\":5"
`
		bubble(t, twoFiles, lone(script), func(f *fixture) {
			a := f.ask(query.Request{Op: query.WorkspaceSymbol, Query: " stop ", Limit: 1})
			want(t, "symbols", placesOf(a), "b.go:3:6")
			found := a.Body.(*query.Found)
			if a.Query != "stop" || a.Total.N != 2 || found.Top == nil || found.Top.Name != "stop" || found.RefTotal.N != 1 {
				t.Errorf("query %q, total %v, top %v, references %v", a.Query, a.Total, found.Top, found.RefTotal)
			}
			want(t, "references", shownPlaces(found.References), "a.go:3:14")
		})
	})
	t.Run("C61 without resolve the file's start and a note", func(t *testing.T) {
		script := `on symbol reply [{"name":"stop","kind":12,"location":{"uri":"${uri:b.go}"}}]`
		bubble(t, twoFiles, lone(script), func(f *fixture) {
			a := f.ask(query.Request{Op: query.WorkspaceSymbol, Query: "stop"})
			want(t, "symbols", placesOf(a), "b.go:1:1")
			if !hasNote(a, "partial", "no positions") {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
	t.Run("C61 a tsserver is asked about all projects", func(t *testing.T) {
		script := `
capabilities {"executeCommandProvider":{"commands":["typescript.tsserverRequest"]}}
on workspace/executeCommand reply {"type":"response","body":[{"name":"stop","kind":"getter","file":"${root}/b.go","start":{"line":3,"offset":1},"end":{"line":3,"offset":15}}]}
expect workspace/executeCommand when="\"navto\",{\"searchValue\":\"stop\"}"
expect none symbol
`
		servers := lone(script)
		servers[0].tune = func(c *Candidate) { c.TSServer = true }
		bubble(t, twoFiles, servers, func(f *fixture) {
			a := f.ask(query.Request{Op: query.WorkspaceSymbol, Query: "stop"})
			want(t, "symbols", placesOf(a), "b.go:3:6")
			if kind := a.Body.(*query.Found).Items[0].Kind; kind != "Method" {
				t.Errorf("kind %q", kind)
			}
		})
		servers[0].script = `
capabilities {"executeCommandProvider":{"commands":["other"]}}
on workspace/executeCommand error -32603 "unknown command"
on symbol reply [{"name":"stop","kind":12,"location":{"uri":"${uri:b.go}","range":` + block(2, 0, 2, 14) + `}}]
`
		bubble(t, twoFiles, servers, func(f *fixture) {
			a := f.ask(query.Request{Op: query.WorkspaceSymbol, Query: "stop"})
			want(t, "symbols where it does not pass questions on", placesOf(a), "b.go:3:6")
		})
	})
	t.Run("what is found in some folders only is no claim about all", func(t *testing.T) {
		const text = "one was not asked in 4 of its folders (s4, s5, s6, …)."
		for reply, empty := range map[string]bool{
			"[]": true,
			`[{"name":"stop","kind":12,"location":{"uri":"${uri:b.go}","range":` + block(2, 0, 2, 14) + `}}]`: false,
		} {
			servers := lone("on symbol reply " + reply)
			servers[0].tune = func(c *Candidate) { c.Unasked = []string{"s4", "s5", "s6", "s7"} }
			bubble(t, twoFiles, servers, func(f *fixture) {
				a := f.ask(query.Request{Op: query.WorkspaceSymbol, Query: "stop"})
				if empty && a.Unsure != text+" Ask about a file there first." || !empty && !hasNote(a, "partial", text) {
					t.Errorf("unsure %q, notes %v", a.Unsure, a.Notes)
				}
			})
		}
	})
	t.Run("an unsettled instance is not outvoted by another of its name", func(t *testing.T) {
		servers := []scripted{
			{name: "one", script: "after initialized: progress begin t \"Loading\"\non symbol reply []", traits: loading},
			{name: "two", script: "on symbol reply []", traits: self, tune: func(c *Candidate) { c.Name = "one" }},
		}
		bubble(t, twoFiles, servers, func(f *fixture) {
			a := f.ask(query.Request{Op: query.WorkspaceSymbol, Query: "stop", Wait: query.WaitNow})
			if a.Basis.Settled || !strings.Contains(a.Unsure, "still loading") || len(a.Basis.Servers) != 2 {
				t.Errorf("unsure %q, basis %+v", a.Unsure, a.Basis)
			}
		})
	})
	t.Run("two servers merge, exact names first", func(t *testing.T) {
		symbol := func(name, file string) string {
			return `{"name":"` + name + `","kind":12,"location":{"uri":"${uri:` + file + `}","range":` + block(2, 0, 2, 14) + `}}`
		}
		servers := []scripted{
			{name: "one", traits: self, script: "on symbol reply [" + symbol("stopper", "a.go") + "]"},
			{name: "two", traits: self, script: "on symbol reply [" + symbol("stopper", "a.go") + "," + symbol("stop", "b.go") + "]"},
			{name: "three", traits: self, script: `on symbol error -32603 "broken"`},
		}
		bubble(t, twoFiles, servers, func(f *fixture) {
			a := f.ask(query.Request{Op: query.WorkspaceSymbol, Query: "stop"})
			var got []string
			for _, s := range a.Body.(*query.Found).Items {
				got = append(got, s.Name+" "+strings.Join(s.Place.Servers, ","))
			}
			want(t, "symbols", strings.Join(got, "; "), "stop two; stopper one,two")
			if !hasNote(a, "partial", "three could not answer: broken") {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
	t.Run("a silent server does not hold back what others found", func(t *testing.T) {
		servers := []scripted{
			{name: "one", traits: self, script: "on symbol hang"},
			{name: "two", traits: self, script: `on symbol reply [{"name":"stop","kind":12,"location":{"uri":"${uri:b.go}","range":` + block(2, 5, 2, 9) + `}}]
on references reply [{"uri":"${uri:a.go}","range":` + rangeJSON(2, 13, 17) + `}]`},
		}
		bubble(t, twoFiles, servers, func(f *fixture) {
			ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second)
			defer cancel()
			a, err := Do(ctx, f.d, query.Request{Op: query.WorkspaceSymbol, Query: "stop"})
			if err != nil {
				t.Fatal(err)
			}
			want(t, "symbols", placesOf(a)+" "+shownPlaces(a.Body.(*query.Found).References), "b.go:3:6 a.go:3:14")
			if !hasNote(a, "partial", "one could not answer: one did not answer in time.") {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
}
