package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

// Call is one call of the `lsp` tool: the question, and how to print its answer.
type Call struct {
	Request query.Request
	Render  render.Options
}

// parameters are the names that the tool knows.
func parameters() []string {
	return []string{
		"operation", "filePath", "line", "character", "endLine", "endCharacter",
		"includeDeclaration", "query", "callHierarchyItem", "serverName", "limit",
		"diagnostics", "codeActionKinds", "includeIgnored", "includeJson", "wait",
	}
}

// Parse reads the arguments of a call. Numeric strings, "true" and "false",
// JSON-encoded objects and arrays are taken for what they mean. The error is a
// *query.Error that names every fault.
func Parse(arguments json.RawMessage) (Call, error) {
	fields, err := object(arguments)
	if err != nil {
		return Call{}, bad("", err.Error(), `Send an object, for example `+example(query.WorkspaceSymbol)+`.`)
	}
	a := args{fields: fields}
	op := query.Op(a.text("operation"))
	if err := checkOp(op); err != nil {
		return Call{}, err
	}
	c := a.call(op)
	a.unknown()
	if len(a.faults) > 0 {
		return Call{}, bad(op, strings.Join(a.faults, "\n"), "For example: "+example(op))
	}
	return c, nil
}

func bad(op query.Op, message, hint string) error {
	return &query.Error{Kind: query.BadRequest, Op: op, Message: message, Hint: hint}
}

func checkOp(op query.Op) error {
	ops := query.Ops()
	if slices.Contains(ops, op) {
		return nil
	}
	names := make([]string, len(ops))
	for i, o := range ops {
		names[i] = string(o)
	}
	known := "Known operations: " + strings.Join(names, ", ") + "."
	if op == "" {
		return bad("", "operation is required.", known)
	}
	if near := nearest(string(op), names); near != "" {
		known = fmt.Sprintf("Did you mean %s? %s", near, known)
	}
	return bad("", fmt.Sprintf("Unknown operation %q.", clip(string(op))), known)
}

// args reads arguments and collects what is wrong with them.
type args struct {
	fields map[string]json.RawMessage
	faults []string
}

func (a *args) fault(format string, v ...any) { a.faults = append(a.faults, fmt.Sprintf(format, v...)) }

// call reads everything but the operation. The order of the checks is the order
// in which faults are reported: what is missing first, then what is wrong.
func (a *args) call(op query.Op) Call {
	a.required(op)
	r := query.Request{Op: op, Server: a.text("serverName"), Query: a.query()}
	r.Target.Path = a.path()
	at, end := a.points()
	r.Target.At = at
	if op == query.CodeActions && at != nil {
		r.Target.Span = &query.Span{Start: *at, End: end}
	}
	r.Limit = a.limit()
	r.IncludeDeclaration = a.flag("includeDeclaration")
	r.IncludeIgnored = a.flag("includeIgnored")
	r.Wait = a.wait()
	r.Item = a.item()
	r.Problems = a.problems()
	r.ActionKinds = a.kinds()
	return Call{Request: r, Render: render.Options{IncludeJSON: a.flag("includeJson")}}
}

// required checks that what the operation needs is there at all.
func (a *args) required(op query.Op) {
	switch op {
	case query.WorkspaceDiagnostics:
	case query.WorkspaceSymbol:
		if strings.TrimSpace(a.peek("query")) == "" {
			a.fault("query is required for %s.", op)
		}
	case query.DocumentSymbol, query.Diagnostics:
		a.requirePath(op)
	case query.IncomingCalls, query.OutgoingCalls:
		switch {
		case a.has("callHierarchyItem"):
		case !a.has("filePath") && !a.has("line"):
			a.fault("callHierarchyItem is required for %s.", op)
		default:
			a.requirePath(op)
			a.requireLine(op)
		}
	default:
		a.requirePath(op)
		a.requireLine(op)
	}
}

func (a *args) requirePath(op query.Op) {
	if strings.TrimSpace(a.peek("filePath")) == "" {
		a.fault("filePath is required for %s.", op)
	}
}

func (a *args) requireLine(op query.Op) {
	if !a.has("line") {
		a.fault("line is required for %s.", op)
	}
}

// unknown names the parameters that the tool does not have.
func (a *args) unknown() {
	known := parameters()
	var names []string
	for name := range a.fields {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if near := nearest(name, known); near != "" {
			a.fault("Unknown parameter %q: did you mean %s?", clip(name), near)
			continue
		}
		a.fault("Unknown parameter %q.", clip(name))
	}
}

func (a *args) path() string { return strings.TrimSpace(a.text("filePath")) }

func (a *args) query() string {
	q := a.text("query")
	if strings.TrimSpace(q) == "" {
		return ""
	}
	return q
}

// points reads the position and the end of the range, which defaults to it.
func (a *args) points() (at *query.Point, end query.Point) {
	line, hasLine := a.positive("line")
	column, hasColumn := a.positive("character")
	endLine, hasEndLine := a.positive("endLine")
	endColumn, hasEndColumn := a.positive("endCharacter")
	if !hasLine {
		return nil, end
	}
	if !hasColumn {
		column = 1
	}
	end = query.Point{Line: line, Column: column}
	if hasEndLine {
		end.Line = endLine
	}
	if hasEndColumn {
		end.Column = endColumn
	}
	if end.Line < line || end.Line == line && end.Column < column {
		a.fault("The end of the range must not lie before its start.")
	}
	return &query.Point{Line: line, Column: column}, end
}

func (a *args) wait() query.Wait {
	switch w := query.Wait(a.text("wait")); w {
	case "", query.WaitSettled, query.WaitComplete, query.WaitNow:
		return w
	}
	a.fault("wait must be settled, complete or now.")
	return ""
}

// item reads the call-hierarchy item; a list of one, as prepareCallHierarchy
// prints it, is taken for its element.
func (a *args) item() json.RawMessage {
	raw := a.decoded("callHierarchyItem")
	if raw == nil {
		return nil
	}
	if raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
			raw = bytes.TrimSpace(list[0])
		}
	}
	if raw[0] != '{' {
		a.fault("callHierarchyItem must be an object.")
		return nil
	}
	return raw
}

func (a *args) kinds() []string {
	raw := a.decoded("codeActionKinds")
	if raw == nil {
		return nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		a.fault("codeActionKinds must be an array of strings.")
		return nil
	}
	return list
}

// example is a call of op that works, for hints.
func example(op query.Op) string {
	const position = `, "filePath": "src/api.ts", "line": 10, "character": 8}`
	head := `{"operation": "` + string(op) + `"`
	switch op {
	case query.WorkspaceSymbol:
		return head + `, "query": "handleRequest"}`
	case query.WorkspaceDiagnostics:
		return head + `}`
	case query.DocumentSymbol, query.Diagnostics:
		return head + `, "filePath": "src/api.ts"}`
	}
	return head + position
}
