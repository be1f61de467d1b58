package mcpserver

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

func TestParse(t *testing.T) {
	point := func(l, c int) *query.Point { return &query.Point{Line: l, Column: c} }
	for _, c := range []struct {
		name, in string
		want     Call
	}{
		{"plain", `{"operation":"hover","filePath":" src/a.ts ","line":3,"character":7}`,
			Call{Request: query.Request{Op: query.Hover, Target: query.Target{Path: "src/a.ts", At: point(3, 7)}}}},
		{"character defaults to 1", `{"operation":"hover","filePath":"a","line":3}`,
			Call{Request: query.Request{Op: query.Hover, Target: query.Target{Path: "a", At: point(3, 1)}}}},
		{"strings for numbers and booleans", `{"operation":"findReferences","filePath":"a","line":"3","character":" 4 ","limit":"10","includeDeclaration":"TRUE","includeIgnored":"false"}`,
			Call{Request: query.Request{Op: query.References, Target: query.Target{Path: "a", At: point(3, 4)}, Limit: 10, IncludeDeclaration: true}}},
		{"fractions are floored", `{"operation":"hover","filePath":"a","line":3.9,"character":"2.5"}`,
			Call{Request: query.Request{Op: query.Hover, Target: query.Target{Path: "a", At: point(3, 2)}}}},
		{"huge numbers stay past the end", `{"operation":"hover","filePath":"a","line":1e300,"character":99999999999999999999}`,
			Call{Request: query.Request{Op: query.Hover, Target: query.Target{Path: "a", At: point(1<<31-1, 1<<31-1)}}}},
		{"null and empty are missing", `{"operation":"hover","filePath":"a","line":3,"serverName":null,"limit":"","query":""}`,
			Call{Request: query.Request{Op: query.Hover, Target: query.Target{Path: "a", At: point(3, 1)}}}},
		{"arguments in a string", `"{\"operation\":\"workspaceDiagnostics\",\"wait\":\"now\"}"`,
			Call{Request: query.Request{Op: query.WorkspaceDiagnostics, Wait: query.WaitNow}}},
		{"item in a string keeps its bytes", `{"operation":"incomingCalls","callHierarchyItem":"{\"name\":\"f\",\"data\":1e2}","includeJson":true}`,
			Call{Request: query.Request{Op: query.IncomingCalls, Item: json.RawMessage(`{"name":"f","data":1e2}`)}, Render: render.Options{IncludeJSON: true}}},
		{"list of one item", `{"operation":"outgoingCalls","callHierarchyItem":[{"name":"f"}]}`,
			Call{Request: query.Request{Op: query.OutgoingCalls, Item: json.RawMessage(`{"name":"f"}`)}}},
		{"calls by position", `{"operation":"incomingCalls","filePath":"a","line":5}`,
			Call{Request: query.Request{Op: query.IncomingCalls, Target: query.Target{Path: "a", At: point(5, 1)}}}},
		{"range defaults to its start", `{"operation":"codeActions","filePath":"a","line":5,"character":3,"codeActionKinds":"[\"quickfix\"]"}`,
			Call{Request: query.Request{Op: query.CodeActions, Target: query.Target{Path: "a", At: point(5, 3), Span: &query.Span{Start: *point(5, 3), End: *point(5, 3)}}, ActionKinds: []string{"quickfix"}}}},
		{"range and one kind", `{"operation":"codeActions","filePath":"a","line":5,"character":3,"endLine":6,"endCharacter":1,"codeActionKinds":"refactor"}`,
			Call{Request: query.Request{Op: query.CodeActions, Target: query.Target{Path: "a", At: point(5, 3), Span: &query.Span{Start: *point(5, 3), End: *point(6, 1)}}, ActionKinds: []string{"refactor"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse(json.RawMessage(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestParseDiagnostics(t *testing.T) {
	in := `{"operation":"codeActions","filePath":"a","line":1,"diagnostics":[
		{"range":{"start":{"line":"2","character":3},"end":{"line":2,"character":9}},"message":"m","severity":1,"code":2304,"source":"ts"},
		{"range":{"start":{"line":4,"character":1}},"message":"n","severity":"warning","code":"F401"}]}`
	c, err := Parse(json.RawMessage(in))
	if err != nil {
		t.Fatal(err)
	}
	p := c.Request.Problems
	if len(p) != 2 || p[0].Span != (query.Span{Start: query.Point{Line: 2, Column: 3}, End: query.Point{Line: 2, Column: 9}}) ||
		p[0].Severity != "ERROR" || p[0].Code != "2304" || p[0].Source != "ts" || p[0].Message != "m" {
		t.Errorf("first: %+v", p)
	}
	if p[1].Span.End != p[1].Span.Start || p[1].Severity != "WARNING" || p[1].Code != "F401" {
		t.Errorf("second: %+v", p[1])
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{}`, "operation is required."},
		{`[]`, "the arguments must be a JSON object"},
		{`{"operation":"hoover"}`, `Unknown operation "hoover".`},
		{`{"operation":"hover"}`, "filePath is required for hover.\nline is required for hover."},
		{`{"operation":"hover","filePath":"  ","line":2}`, "filePath is required for hover."},
		{`{"operation":"hover","filePath":"a"}`, "line is required for hover."},
		{`{"operation":"documentSymbol"}`, "filePath is required for documentSymbol."},
		{`{"operation":"diagnostics"}`, "filePath is required for diagnostics."},
		{`{"operation":"workspaceSymbol","query":" \t"}`, "query is required for workspaceSymbol."},
		{`{"operation":"incomingCalls"}`, "callHierarchyItem is required for incomingCalls."},
		{`{"operation":"outgoingCalls","filePath":"a"}`, "line is required for outgoingCalls."},
		{`{"operation":"hover","filePath":"a","line":0,"character":-1}`, "line must be a positive number.\ncharacter must be a positive number."},
		{`{"operation":"hover","filePath":"a","line":"x"}`, "line must be a positive number."},
		{`{"operation":"hover","filePath":"a","line":0.5}`, "line must be a positive number."},
		{`{"operation":"hover","filePath":"a","line":"NaN"}`, "line must be a positive number."},
		{`{"operation":"codeActions","filePath":"a","line":1,"endLine":0,"endCharacter":"?"}`, "endLine must be a positive number.\nendCharacter must be a positive number."},
		{`{"operation":"codeActions","filePath":"a","line":4,"endLine":3}`, "The end of the range must not lie before its start."},
		{`{"operation":"hover","filePath":"a","line":1,"limit":1.5}`, "limit must be a positive integer."},
		{`{"operation":"hover","filePath":"a","line":1,"limit":0}`, "limit must be a positive integer."},
		{`{"operation":"hover","filePath":"a","line":1,"includeDeclaration":"yes"}`, "includeDeclaration must be true or false."},
		{`{"operation":"hover","filePath":"a","line":1,"wait":"long"}`, "wait must be settled, complete or now."},
		{`{"operation":"hover","filePath":["a"],"line":1}`, "filePath must be a string."},
		{`{"operation":"incomingCalls","callHierarchyItem":"processData"}`, "callHierarchyItem must be an object."},
		{`{"operation":"codeActions","filePath":"a","line":1,"codeActionKinds":{"a":1}}`, "codeActionKinds must be an array of strings."},
		{`{"operation":"codeActions","filePath":"a","line":1,"diagnostics":[{"message":"m"}]}`, "diagnostics: range must be {start, end}."},
		{`{"operation":"hover","file_path":"a","line":1}`, "filePath is required for hover.\nUnknown parameter \"file_path\": did you mean filePath?"},
		{`{"operation":"hover","filePath":"a","line":1,"colour":true}`, `Unknown parameter "colour".`},
	} {
		_, err := Parse(json.RawMessage(c.in))
		var e *query.Error
		if !errors.As(err, &e) || e.Kind != query.BadRequest {
			t.Errorf("%s: error is %v", c.in, err)
			continue
		}
		if e.Message != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.in, e.Message, c.want)
		}
		if e.Hint == "" {
			t.Errorf("%s: no hint", c.in)
		}
	}
	_, err := Parse(json.RawMessage(`{"operation":"gotodefinition"}`))
	if text := render.Error(err); !strings.Contains(text, "Did you mean goToDefinition?") || !strings.Contains(text, "codeActions.") {
		t.Errorf("unknown operation: %s", text)
	}
}

// TestExamplesParse checks that the hints are calls that work.
func TestExamplesParse(t *testing.T) {
	for _, op := range query.Ops() {
		if _, err := Parse(json.RawMessage(example(op))); err != nil {
			t.Errorf("%s: %v", op, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"operation":"codeActions","filePath":"a","line":"1","diagnostics":"[{}]","codeActionKinds":"x","limit":1e9}`)
	f.Add(`{"operation":"incomingCalls","callHierarchyItem":"[{\"name\":\"f\"}]"}`)
	f.Add(`"\"{}\""`)
	f.Add(`{"operation":"hover","filePath":"a","line":-0.0,"character":1e999}`)
	f.Fuzz(func(t *testing.T, in string) {
		c, err := Parse(json.RawMessage(in))
		if err != nil {
			if query.KindOf(err) != query.BadRequest {
				t.Fatalf("kind %v for %q", query.KindOf(err), in)
			}
			return
		}
		r := c.Request
		if at := r.Target.At; at != nil && (at.Line < 1 || at.Column < 1) {
			t.Fatalf("%q gives the position %+v", in, at)
		}
		if s := r.Target.Span; s != nil && (s.End.Line < s.Start.Line || s.End.Line == s.Start.Line && s.End.Column < s.Start.Column) {
			t.Fatalf("%q gives the range %+v", in, s)
		}
		if r.Limit < 0 || r.Item != nil && !json.Valid(r.Item) {
			t.Fatalf("%q gives %+v", in, r)
		}
	})
}
