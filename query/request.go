package query

import (
	"context"
	"encoding/json"
	"time"
)

// Op names an operation, in the spelling of the `lsp` tool.
type Op string

// The operations.
const (
	Definition           Op = "goToDefinition"
	References           Op = "findReferences"
	Hover                Op = "hover"
	DocumentSymbol       Op = "documentSymbol"
	WorkspaceSymbol      Op = "workspaceSymbol"
	Implementation       Op = "goToImplementation"
	PrepareCallHierarchy Op = "prepareCallHierarchy"
	IncomingCalls        Op = "incomingCalls"
	OutgoingCalls        Op = "outgoingCalls"
	Diagnostics          Op = "diagnostics"
	WorkspaceDiagnostics Op = "workspaceDiagnostics"
	CodeActions          Op = "codeActions"
)

// Ops lists the operations in the order in which they are documented.
func Ops() []Op {
	return []Op{
		Definition, References, Hover, DocumentSymbol, WorkspaceSymbol, Implementation,
		PrepareCallHierarchy, IncomingCalls, OutgoingCalls,
		Diagnostics, WorkspaceDiagnostics, CodeActions,
	}
}

// Point is a place in a text: 1-based line and 1-based column.
type Point struct {
	Line   int `json:"line"`
	Column int `json:"character"`
}

// Span is a range of text; End is exclusive.
type Span struct {
	Start Point `json:"start"`
	End   Point `json:"end"`
}

// Target is what a question is about: a file, a point in it, or a span of it.
type Target struct {
	// Path is workspace-relative, absolute, or a URI.
	Path string
	// At is the point asked about, if any.
	At *Point
	// Span is the range asked about (code actions), if any.
	Span *Span
}

// Wait says how long an answer may wait for a server to know the project.
type Wait string

const (
	// WaitSettled waits up to the limit, then answers with a note. It is the default.
	WaitSettled Wait = "settled"
	// WaitComplete waits up to the limit, then fails with NotReady.
	WaitComplete Wait = "complete"
	// WaitNow asks at once and says that the server was not settled.
	WaitNow Wait = "now"
)

// ProblemRef names a problem that was shown before, in the positions shown.
type ProblemRef struct {
	Span     Span            `json:"range"`
	Message  string          `json:"message"`
	Severity string          `json:"severity,omitempty"`
	Code     string          `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Raw      json.RawMessage `json:"-"`
}

// Request is one question.
type Request struct {
	Op     Op
	Target Target
	// Query is the text searched for by WorkspaceSymbol.
	Query string
	// Item is a call-hierarchy item as an earlier answer printed it; its
	// positions are those of LSP (0-based).
	Item json.RawMessage
	// IncludeDeclaration adds the declaration to references.
	IncludeDeclaration bool
	// IncludeIgnored shows results in git-ignored files.
	IncludeIgnored bool
	// Server forces one server: its name, catalogue id, command base name, or a
	// language that one server has.
	Server string
	// Limit caps the items shown; 0 means the operation's default.
	Limit int
	Wait  Wait
	// Problems are the problems sent with a request for code actions; nil means
	// those stored for the span.
	Problems []ProblemRef
	// ActionKinds filters code actions by dotted prefix.
	ActionKinds []string
}

// Progress is what is going on while an answer is awaited.
type Progress struct {
	Server  string
	Message string
	// Percent is 0 to 100, or -1 when unknown.
	Percent int
	Elapsed time.Duration
}

type progressKey struct{}

// WithProgress returns a context whose questions report to f what they wait
// for. f may be called from another goroutine, but never after Do returned.
func WithProgress(ctx context.Context, f func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Report calls the function given to WithProgress, if there is one.
func Report(ctx context.Context, p Progress) {
	if f, ok := ctx.Value(progressKey{}).(func(Progress)); ok && f != nil {
		f(p)
	}
}
