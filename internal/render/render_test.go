package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dragoman-dev/dragoman/query"
)

type golds struct {
	name string
	a    *query.Answer
	o    Options
}

var moved = query.Note{Code: "moved", Text: `moved to "handle" at 42:15.`}

func TestTextOfPlaces(t *testing.T) {
	defs := subject(query.Definition, "src/index.ts", 42, 15, &query.Places{Items: []query.Place{
		place("src/utils/helper.ts", 10, 9), place("types/index.d.ts", 5, 14)}}, 2)
	none := subject(query.Definition, "src/index.ts", 42, 15, &query.Places{}, 0)
	checkAll(t, "goToDefinition", []golds{
		{"found", defs, Options{}},
		{"forced server", forced(defs, "typescript"), Options{}},
		{"none", none, Options{}},
		{"unsure", unsure(none), Options{}},
		{"cut", of(defs, 7, false), Options{}},
		{"several servers", subject(query.Definition, "a.py", 1, 2, &query.Places{Items: []query.Place{
			place("b.py", 3, 4, "pyright", "ruff")}}, 1), Options{}},
		{"notes", withNotes(defs, moved, query.Note{Code: "limited", Text: "build scripts are off in an untrusted folder."}), Options{}},
	})
	impl := subject(query.Implementation, "src/interfaces/storage.ts", 5, 18, &query.Places{Items: []query.Place{
		place("src/storage/local.ts", 10, 7), place("src/storage/s3.ts", 8, 7), place("src/storage/memory.ts", 5, 7)}}, 3)
	noImpl := subject(query.Implementation, "src/interfaces/storage.ts", 5, 18, &query.Places{}, 0)
	checkAll(t, "goToImplementation", []golds{
		{"found", impl, Options{}},
		{"none", noImpl, Options{}},
		{"unsure", unsure(noImpl), Options{}},
		{"cut", of(impl, 30, true), Options{}},
	})
	refs := subject(query.References, "src/api.ts", 10, 8, &query.Places{Items: []query.Place{
		place("src/handlers/user.ts", 15, 3), place("src/routes.ts", 42, 20), place("tests/api.test.ts", 8, 12)}}, 3)
	noRefs := subject(query.References, "src/api.ts", 10, 8, &query.Places{}, 0)
	checkAll(t, "findReferences", []golds{
		{"found", refs, Options{}},
		{"none", noRefs, Options{}},
		{"unsure", unsure(noRefs), Options{}},
		{"cut", of(refs, 5000, false), Options{}},
		{"server's own cap", of(refs, 3, true), Options{}},
		{"notes", withNotes(noRefs, query.Note{Code: "hidden", Text: "12 results in git-ignored files not shown."}), Options{}},
	})
}

func TestC59CutReferences(t *testing.T) {
	t.Run("C59 a cut list says 50 of 5000 in the same words each time", func(t *testing.T) {
		items := make([]query.Place, 50)
		for i := range items {
			items[i] = place(fmt.Sprintf("src/f%02d.ts", i), i+1, 1)
		}
		a := of(subject(query.References, "src/api.ts", 1, 1, &query.Places{Items: items}, 0), 5000, false)
		got := Text(a, Options{})
		lines := strings.Split(got, "\n")
		if lines[1] != "Found 50 of 5000 references." || lines[len(lines)-1] != "… 4950 more (showing 50 of 5000)." {
			t.Errorf("got second line %q and last line %q", lines[1], lines[len(lines)-1])
		}
		if again := Text(a, Options{}); again != got {
			t.Error("the same answer was printed differently")
		}
		raw, err := JSON(a)
		var d struct {
			Truncated bool
			Total     int
		}
		if err != nil || json.Unmarshal(raw, &d) != nil || !d.Truncated || d.Total != 5000 {
			t.Errorf("JSON says %+v (%v)", d, err)
		}
	})
}

func TestTextOfHover(t *testing.T) {
	md := "\n```typescript\r\nfunction getUserById(id: string): Promise<User | null>\r\n```\n\nFetches a user by their unique identifier.\n\n@param id - The user's unique ID\n@returns A promise resolving to the User object or null if not found\n\n"
	found := subject(query.Hover, "src/models/user.ts", 25, 10, &query.Prose{Markdown: md}, 1)
	none := subject(query.Hover, "src/models/user.ts", 25, 10, &query.Prose{}, 0)
	checkAll(t, "hover", []golds{
		{"found", found, Options{}},
		{"none", none, Options{}},
		{"unsure", unsure(none), Options{}},
		{"escape sequences", subject(query.Hover, "a.ts", 1, 1, &query.Prose{Markdown: "red\x1b[31m \u202eabc\n\tnext"}, 1), Options{}},
		{"cut", subject(query.Hover, "a.ts", 1, 1, &query.Prose{Markdown: strings.Repeat("a line of prose\n", 40)}, 1), Options{MaxChars: 200}},
		{"notes", withNotes(found, moved), Options{}},
	})
}

func TestTextOfSymbols(t *testing.T) {
	outline := subject(query.DocumentSymbol, "src/service.ts", 0, 0, &query.Outline{Items: []query.Symbol{
		symbol("UserService", "Class", "", place("src/service.ts", 5, 7)),
		symbol("constructor", "Constructor", "UserService", place("src/service.ts", 8, 3)),
		symbol("getUser", "Method", "UserService", place("src/service.ts", 12, 9)),
	}}, 3)
	none := subject(query.DocumentSymbol, "src/service.ts", 0, 0, &query.Outline{}, 0)
	checkAll(t, "documentSymbol", []golds{
		{"found", outline, Options{}},
		{"none", none, Options{}},
		{"unsure", unsure(none), Options{}},
		{"cut", of(outline, 90, false), Options{}},
		{"control characters", subject(query.DocumentSymbol, "a\nb.ts", 0, 0, &query.Outline{Items: []query.Symbol{
			symbol("x\ty\x00", "Variable", "c\r", place("a\nb.ts", 1, 1))}}, 1), Options{}},
	})
	syms := []query.Symbol{
		symbol("handleRequest", "Function", "", place("src/api.ts", 10, 9)),
		symbol("handleRequestError", "Function", "", place("src/errors.ts", 5, 9)),
	}
	found := &query.Answer{Op: query.WorkspaceSymbol, Query: "handleRequest", Basis: settled, Total: query.Count{N: 2},
		Body: &query.Found{Items: syms, Top: &syms[0], RefTotal: query.Count{N: 2},
			References: []query.Place{place("src/routes.ts", 25, 3), place("src/app.ts", 40, 8)}}}
	manyRefs := *found
	manyRefs.Body = &query.Found{Items: syms, Top: &syms[0], RefTotal: query.Count{N: 99},
		References: []query.Place{place("src/routes.ts", 25, 3)}}
	noSyms := &query.Answer{Op: query.WorkspaceSymbol, Query: "handle\"Request\n", Basis: settled, Body: &query.Found{}}
	checkAll(t, "workspaceSymbol", []golds{
		{"found", found, Options{}},
		{"one", &query.Answer{Op: query.WorkspaceSymbol, Query: "x", Basis: settled, Total: query.Count{N: 1}, Body: &query.Found{Items: syms[:1]}}, Options{}},
		{"none", noSyms, Options{}},
		{"unsure", unsure(noSyms), Options{}},
		{"cut", of(&manyRefs, 45, false), Options{}},
		{"server's own cap", of(found, 100, true), Options{}},
	})
}

func TestTextOfCalls(t *testing.T) {
	asked := item("processData", "Function", place("src/utils.ts", 30, 10))
	detailed := asked
	detailed.Detail = "utils • async"
	prep := subject(query.PrepareCallHierarchy, "src/utils.ts", 30, 9, &query.Items{Items: []query.Item{asked}}, 1)
	none := subject(query.PrepareCallHierarchy, "src/utils.ts", 30, 9, &query.Items{}, 0)
	checkAll(t, "prepareCallHierarchy", []golds{
		{"found", prep, Options{}},
		{"detail and cut", of(subject(query.PrepareCallHierarchy, "src/utils.ts", 30, 9, &query.Items{Items: []query.Item{detailed}}, 0), 3, false), Options{}},
		{"none", none, Options{}},
		{"unsure", unsure(none), Options{}},
		{"JSON left out", prep, Options{MaxChars: 220}},
	})
	group := query.CallGroup{Of: asked, Total: query.Count{N: 2}, Calls: []query.Call{
		call("handleData", "Function", place("src/handlers.ts", 15, 5), pt(18, 3)),
		call("main", "Function", place("src/index.ts", 10, 9), pt(18, 3), pt(21, 1), pt(22, 1), pt(30, 1), pt(31, 2)),
	}}
	in := subject(query.IncomingCalls, "src/utils.ts", 30, 9, &query.Calls{Groups: []query.CallGroup{group}}, 2)
	noCalls := subject(query.IncomingCalls, "src/utils.ts", 30, 9, &query.Calls{Groups: []query.CallGroup{{Of: asked}}}, 0)
	checkAll(t, "incomingCalls", []golds{
		{"found", in, Options{}},
		{"JSON", in, Options{IncludeJSON: true}},
		{"none", noCalls, Options{}},
		{"no item", subject(query.IncomingCalls, "src/utils.ts", 30, 9, &query.Calls{}, 0), Options{}},
		{"unsure", unsure(noCalls), Options{}},
		{"cut", of(in, 12, false), Options{}},
	})
	out := subject(query.OutgoingCalls, "src/utils.ts", 30, 9, &query.Calls{Groups: []query.CallGroup{group, {Of: detailed}}}, 2)
	t.Run("C97 calls of several items stand in groups", func(t *testing.T) {
		checkAll(t, "outgoingCalls", []golds{
			{"several groups", out, Options{}},
			{"JSON", out, Options{IncludeJSON: true}},
		})
	})
}

func TestTextOfProblems(t *testing.T) {
	probs := []query.Problem{
		problem("ERROR", 15, 5, "2322", "Type 'string' is not assignable to type 'number'."),
		problem("WARNING", 22, 10, "6133", "'unusedVar' is declared but its value is never read."),
		problem("INFO", 30, 1, "", "File is a CommonJS module;\nit may be converted."),
	}
	body := &query.Problems{FilesTotal: 1, Files: []query.FileProblems{{Path: "src/buggy.ts", Problems: probs}}}
	found := subject(query.Diagnostics, "src/buggy.ts", 0, 0, body, 3)
	none := subject(query.Diagnostics, "src/buggy.ts", 0, 0, &query.Problems{}, 0)
	ra := problem("HINT", 1, 1, "E0308", "mismatched types", "rust-analyzer")
	ra.Source = "rustc"
	both := problem("ERROR", 2, 1, "F401", "unused import", "pyright", "ruff")
	both.Source = "Ruff"
	checkAll(t, "diagnostics", []golds{
		{"found", found, Options{}},
		{"one", subject(query.Diagnostics, "a.rs", 0, 0, &query.Problems{FilesTotal: 1, Files: []query.FileProblems{{Path: "a.rs", Problems: []query.Problem{ra}}}}, 1), Options{}},
		{"several servers", subject(query.Diagnostics, "a.py", 0, 0, &query.Problems{FilesTotal: 1, Files: []query.FileProblems{{Path: "a.py", Problems: []query.Problem{both, ra}}}}, 2), Options{}},
		{"none", none, Options{}},
		{"unsure", unsure(none), Options{}},
		{"cut", of(found, 240, false), Options{}},
		{"notes", withNotes(found, query.Note{Code: "stale", Text: "the file changed while it was checked; these problems belong to the text before."}), Options{}},
	})
	ws := &query.Problems{FilesTotal: 2, Files: []query.FileProblems{
		{Path: "src/app.ts", Problems: []query.Problem{
			problem("ERROR", 10, 3, "2304", "Cannot find name 'proces'. Did you mean 'process'?"),
			problem("WARNING", 25, 5, "6133", "'tempVar' is declared but its value is never read.")}},
		{Path: "src/a.py", Problems: []query.Problem{both, ra}},
	}}
	wsFound := subject(query.WorkspaceDiagnostics, "", 0, 0, ws, 4)
	wsNone := subject(query.WorkspaceDiagnostics, "", 0, 0, &query.Problems{}, 0)
	known := query.Note{Code: "partial", Text: "Diagnostics known for 12 of 340 files."}
	checkAll(t, "workspaceDiagnostics", []golds{
		{"found", wsFound, Options{}},
		{"none", wsNone, Options{}},
		{"unsure", unsure(wsNone), Options{}},
		{"cut", of(wsFound, 15, false), Options{}},
		{"notes", withNotes(wsNone, known), Options{}},
	})
}

func TestTextOfActions(t *testing.T) {
	acts := &query.Actions{Items: []query.Action{
		{Title: "Change spelling to 'process'", Kind: "quickfix", Preferred: true, HasEdit: true, Server: "typescript", JSON: json.RawMessage(`{"title":"Change spelling","edit":{"changes":{}}}`)},
		{Title: "Add all missing imports", Kind: "quickfix", EditOnResolve: true, HasCommand: true, Server: "typescript", JSON: json.RawMessage(`{"title":"Add"}`)},
		{Title: "Extract to function", Disabled: "no selection", Server: "typescript", JSON: json.RawMessage(`{"title":"Extract"}`)},
	}}
	found := subject(query.CodeActions, "src/app.ts", 10, 3, acts, 3)
	none := subject(query.CodeActions, "src/app.ts", 10, 3, &query.Actions{}, 0)
	checkAll(t, "codeActions", []golds{
		{"found", found, Options{}},
		{"JSON", found, Options{IncludeJSON: true}},
		{"none", none, Options{}},
		{"unsure", unsure(none), Options{}},
		{"cut", of(found, 9, false), Options{}},
	})
}

func checkAll(t *testing.T, file string, gs []golds) {
	t.Helper()
	g := openGolden(t, file)
	for _, c := range gs {
		g.check(t, c.name+".txt", Text(c.a, c.o))
		g.check(t, c.name+".title", Title(c.a))
	}
	raw, err := JSON(gs[0].a)
	if err != nil {
		t.Fatal(err)
	}
	g.check(t, gs[0].name+".json", string(raw))
}

func TestErrors(t *testing.T) {
	g := openGolden(t, "errors")
	for _, c := range []struct {
		name string
		err  error
	}{
		{"whole", &query.Error{Kind: query.NotInstalled, Op: query.Hover, Server: "gopls", Path: "a.go", Message: "gopls is not installed.", Hint: "go install golang.org/x/tools/gopls@latest"}},
		{"no hint", &query.Error{Kind: query.NotAdmitted, Message: "the server eslint runs code of this workspace, which is not trusted"}},
		{"several lines", &query.Error{Kind: query.BadRequest, Message: "filePath is required for hover.\nline is required for hover.", Hint: "give both"}},
		{"only kind", &query.Error{Kind: query.Timeout}},
		{"wrapped", fmt.Errorf("asking: %w", &query.Error{Kind: query.ServerGone, Message: "gopls ended (exit status 2) while it was asked."})},
		{"cancelled", context.Canceled},
		{"deadline", fmt.Errorf("call: %w", context.DeadlineExceeded)},
		{"unknown", errors.New("index out of range\x1b[0m")},
	} {
		g.check(t, c.name+".txt", Error(c.err))
		raw, err := JSONError(c.err)
		if err != nil {
			t.Fatal(err)
		}
		g.check(t, c.name+".json", string(raw))
	}
}

// TestBudget checks that a text never grows beyond its budget, is cut between
// lines, counts what it drops and keeps its notes.
func TestBudget(t *testing.T) {
	items := make([]query.Place, 4000)
	for i := range items {
		items[i] = place(fmt.Sprintf("src/世界/%04d.ts", i), i+1, 1)
	}
	a := withNotes(subject(query.References, "src/api.ts", 1, 1, &query.Places{Items: items}, 9000), moved)
	got := Text(a, Options{})
	if n := utf8.RuneCountInString(got); n > DefaultMaxChars || n < DefaultMaxChars-300 {
		t.Errorf("text has %d characters", n)
	}
	lines := strings.Split(got, "\n")
	last := lines[len(lines)-3]
	shown := strings.Count(got, " [typescript]")
	if want := fmt.Sprintf("… %d more. Narrow the query or raise limit.", 9000-shown); last != want {
		t.Errorf("end note is %q, want %q", last, want)
	}
	if lines[len(lines)-1] != "Note: "+moved.Text {
		t.Errorf("note was lost: %q", lines[len(lines)-1])
	}
	if !strings.HasSuffix(lines[len(lines)-4], "[typescript]") {
		t.Errorf("cut inside a line: %q", lines[len(lines)-4])
	}
}

func TestEscapeIsPrintable(t *testing.T) {
	for _, s := range []string{"", "plain", "世界 😀", "tab\there", "\xff\xfe", "a\u2028b", "\x7f", "\u009b31m"} {
		got := Escape(s)
		if strings.ContainsFunc(got, isControl) || !utf8.ValidString(got) {
			t.Errorf("Escape(%q) = %q", s, got)
		}
	}
	if got := Escape("世界 😀 é"); got != "世界 😀 é" {
		t.Errorf("Escape changed printable text: %q", got)
	}
}

func BenchmarkHover(b *testing.B) {
	a := subject(query.Hover, "a.go", 1, 1, &query.Prose{Markdown: strings.Repeat("some words of documentation\n", 20)}, 1)
	b.ReportAllocs()
	for b.Loop() {
		Text(a, Options{})
	}
}
