package intel

import (
	"context"
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/query"
)

const brokenFile = `
-- a.go --
package a

func run() { stop( }
var x int = ""
-- b.go --
package a
`

func problem(line, from, to, severity int, code, source, message string) string {
	return `{"range":` + rangeJSON(line, from, to) + `,"severity":` + string(rune('0'+severity)) + `,"code":` + code +
		`,"source":"` + source + `","message":"` + message + `","data":{"fix":[` + code + `]}}`
}

var (
	syntaxError = problem(2, 19, 20, 1, "7", "go", "expected )")
	typeError   = problem(3, 12, 14, 1, `"T1"`, "types", "mismatched types")
	unused      = problem(3, 4, 5, 2, `"U1"`, "go", "unused x")
)

func pulls(items ...string) string {
	return `
capabilities {"diagnosticProvider":{"interFileDependencies":true,"workspaceDiagnostics":false}}
on diagnostic reply {"kind":"full","items":[` + strings.Join(items, ",") + `]}
`
}

// problems prints a body as "path line:col SEVERITY code [servers] message".
func problems(a *query.Answer) string {
	var out []string
	for _, f := range a.Body.(*query.Problems).Files {
		for _, p := range f.Problems {
			out = append(out, f.Path+" "+point(p.Span.Start)+" "+p.Severity+" "+p.Code+" ["+strings.Join(p.Servers, ",")+"] "+p.Message)
		}
	}
	return strings.Join(out, "\n")
}

func ofFile(op query.Op, path string) query.Request {
	return query.Request{Op: op, Target: query.Target{Path: path}}
}

func TestDiagnosticsMerge(t *testing.T) {
	servers := []scripted{
		{name: "one", traits: self, script: pulls(typeError, syntaxError)},
		{name: "lint", traits: self, script: pulls(unused, typeError), tune: func(c *Candidate) { c.Linter = true }},
	}
	bubble(t, brokenFile, servers, func(f *fixture) {
		a := f.ask(ofFile(query.Diagnostics, "a.go"))
		want(t, "problems", problems(a), `a.go 3:20 ERROR 7 [one] expected )
a.go 4:5 WARNING U1 [lint] unused x
a.go 4:13 ERROR T1 [one,lint] mismatched types`)
		if a.Total.N != 3 || a.Unsure != "" || a.Basis.Servers[0].Freshness != query.Fresh {
			t.Errorf("total %v, unsure %q, basis %+v", a.Total, a.Unsure, a.Basis)
		}
		r := ofFile(query.Diagnostics, "a.go")
		r.Limit = 1
		if cut := f.ask(r); cut.Total.N != 3 || len(cut.Body.(*query.Problems).Files[0].Problems) != 1 {
			t.Errorf("limit: %v", cut.Body)
		}
	})
}

func TestDiagnosticsFreshness(t *testing.T) {
	t.Run("a clean file", func(t *testing.T) {
		bubble(t, brokenFile, lone(pulls()), func(f *fixture) {
			a := f.ask(ofFile(query.Diagnostics, "b.go"))
			if a.Unsure != "" || a.Total.N != 0 {
				t.Errorf("unsure %q, total %v", a.Unsure, a.Total)
			}
		})
	})
	t.Run("nothing reported is not 0 issues", func(t *testing.T) {
		bubble(t, brokenFile, lone(""), func(f *fixture) {
			a := f.ask(ofFile(query.Diagnostics, "b.go"))
			if !strings.Contains(a.Unsure, "one has not reported anything about b.go") ||
				a.Basis.Servers[0].Freshness != query.NoneReported {
				t.Errorf("unsure %q, basis %+v", a.Unsure, a.Basis)
			}
		})
	})
	t.Run("one of two servers is silent", func(t *testing.T) {
		servers := []scripted{{name: "one", traits: self, script: pulls(unused)}, {name: "two", traits: self, script: ""}}
		bubble(t, brokenFile, servers, func(f *fixture) {
			if a := f.ask(ofFile(query.Diagnostics, "a.go")); !hasNote(a, "partial", "two has not reported") {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
}

func TestWorkspaceDiagnostics(t *testing.T) {
	script := `
after initialized: publish b.go [` + unused + `] | publish a.go [` + typeError + "," + syntaxError + `] | publish gone.go [` + unused + `]
`
	bubble(t, brokenFile, lone(script), func(f *fixture) {
		f.d.CountFiles = func(context.Context, Candidate) int { return 340 }
		f.ask(at(query.Hover, "b.go", 1, 1)) // the publishes have arrived
		a := f.ask(query.Request{Op: query.WorkspaceDiagnostics})
		want(t, "problems", problems(a), `a.go 3:20 ERROR 7 [one] expected )
a.go 4:13 ERROR T1 [one] mismatched types
b.go 2:1 WARNING U1 [one] unused x`)
		if body := a.Body.(*query.Problems); a.Total.N != 3 || body.FilesTotal != 2 {
			t.Errorf("%v issues in %d files", a.Total, body.FilesTotal)
		}
		if !hasNote(a, "partial", "Diagnostics known for 2 of 340 files.") {
			t.Errorf("notes %v", a.Notes)
		}
		cut := f.ask(query.Request{Op: query.WorkspaceDiagnostics, Limit: 1})
		if body := cut.Body.(*query.Problems); cut.Total.N != 3 || body.FilesTotal != 2 || len(body.Files) != 1 || !cut.Basis.Truncated {
			t.Errorf("limit: %+v", body)
		}
	})
}

func TestCodeActions(t *testing.T) {
	script := pulls(unused, typeError, syntaxError) + `
capabilities {"codeActionProvider":{"resolveProvider":true}}
on codeAction reply @actions
on codeAction/resolve when=Lazy reply {"title":"Lazy","kind":"quickfix.lazy","data":1,"edit":{"changes":{}}}
on codeAction/resolve hang
expect codeAction when="T1"
expect codeAction when="\"data\":{\"fix\":[\"T1\"]}"
expect none codeAction when="expected )"
expect codeAction when="\"only\":[\"quickfix\"]"
-- actions --
[
 {"title":"Fix","kind":"quickfix","isPreferred":true,"edit":{"changes":{}}},
 {"title":"Lazy","kind":"quickfix.lazy","data":1},
 {"title":"Never","kind":"quickfix","data":2},
 {"title":"Off","kind":"quickfix","disabled":{"reason":"not here"}},
 {"title":"Extract","kind":"refactor.extract","edit":{}},
 {"title":"Run","command":"x.run"}]
`
	bubble(t, brokenFile, lone(script), func(f *fixture) {
		r := at(query.CodeActions, "a.go", 4, 13)
		r.ActionKinds = []string{"quickfix"}
		a := f.ask(r)
		var got []string
		for _, x := range a.Body.(*query.Actions).Items {
			line := x.Title
			for word, yes := range map[string]bool{" preferred": x.Preferred, " edit": x.HasEdit, " resolve": x.EditOnResolve,
				" command": x.HasCommand, " " + x.Disabled: x.Disabled != ""} {
				if yes {
					line += word
				}
			}
			got = append(got, line)
		}
		shown := strings.Join(got, "; ")
		shown = strings.Replace(shown, "edit preferred", "preferred edit", 1)
		want(t, "actions", shown, "Fix preferred edit; Lazy edit; Never resolve; Off not here")
	})
}

func TestCodeActionContext(t *testing.T) {
	script := pulls(unused, typeError) + `
on codeAction reply []
expect codeAction when="\"data\":{\"fix\":[\"U1\"]}"
expect codeAction when="made up"
expect none codeAction when="T1"
`
	bubble(t, brokenFile, lone(script), func(f *fixture) {
		r := query.Request{Op: query.CodeActions, Target: query.Target{Path: "a.go",
			Span: &query.Span{Start: query.Point{Line: 4, Column: 1}, End: query.Point{Line: 4, Column: 15}}}}
		r.Problems = []query.ProblemRef{
			{Span: query.Span{Start: query.Point{Line: 4, Column: 5}, End: query.Point{Line: 4, Column: 6}}, Message: "unused x"},
			{Span: query.Span{Start: query.Point{Line: 4, Column: 1}, End: query.Point{Line: 4, Column: 2}}, Message: "made up", Severity: "warning"},
		}
		f.ask(r)
	})
}

// TestSpanToTheEnd: a span may end where the text ends, behind its final newline, as
// ends of ranges are printed.
func TestSpanToTheEnd(t *testing.T) {
	script := `on codeAction reply [{"title":"Tidy","kind":"source"}]
expect codeAction when="\"end\":{\"line\":3,\"character\":0}"`
	bubble(t, twoFiles, lone(script), func(f *fixture) {
		a := f.ask(query.Request{Op: query.CodeActions, Target: query.Target{Path: "a.go",
			Span: &query.Span{Start: query.Point{Line: 1, Column: 1}, End: query.Point{Line: 4, Column: 1}}}})
		if n := len(a.Body.(*query.Actions).Items); n != 1 {
			t.Errorf("%d actions", n)
		}
	})
}
