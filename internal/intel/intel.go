// Package intel holds the operations: one file per question, each from request to
// answer. It asks sessions of servers that it is given; it never starts a process
// of a language server, reads configuration or prints.
package intel

import (
	"context"
	"time"

	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// Candidate is a server that may answer, already admitted, with its instance.
type Candidate struct {
	// Name is the configured name shown in brackets.
	Name string
	// LanguageID is that of the file asked about; "" for workspace questions.
	LanguageID string
	Server     *server.Server
	// Linter servers give diagnostics and code actions only and never end a fall-through.
	Linter bool
	// Limited is what trust left out ("build scripts are not run"), "" when nothing.
	Limited string
	// Missing is a needed input of the project that is absent ("there is no
	// compile_commands.json …"), as a sentence without full stop; the project then
	// does not count as wholly loaded. "" when nothing is missing.
	Missing string
	// Unasked are the roots of this server (as shown) that are not among the
	// candidates for the workspace, because so many instances are not kept.
	Unasked []string
	// SymbolCap and ReferenceCap: the server's own limits, 0 none.
	SymbolCap, ReferenceCap int
	// DeclarationByDefinition: includeDeclaration false is not to be relied on.
	DeclarationByDefinition bool
	// TSServer: stands in front of a tsserver, which can be asked directly.
	TSServer bool
}

// Deps is what operations are given. It is not copied after first use.
type Deps struct {
	// Root is the workspace folder as the user named it (maybe a symlink).
	Root string
	// RealRoot is Root with symlinks resolved.
	RealRoot string
	// Candidates finds the servers for a file (absolute path), or, with path "",
	// for the whole workspace, in the order in which they are to be asked. Its errors are *query.Error
	// (NoServer, NotAdmitted, NotInstalled with the install line, BadRequest for an unknown server name).
	Candidates func(ctx context.Context, path, serverName string) ([]Candidate, error)
	// ReadableOutside reports whether a file outside the workspace may be asked about.
	ReadableOutside func(path string) bool
	// Led tells that an answer of server led to a file outside the workspace, so
	// that questions about it go to that server.
	Led func(path string, c Candidate)
	// CountFiles is the number of files of the workspace that the candidate serves
	// (for "Diagnostics known for N of M files."), -1 when unknown.
	CountFiles func(ctx context.Context, c Candidate) int
	// Mentions scans the workspace's files of the same language for the identifier
	// word and returns the files (absolute) that mention it; done is false when the
	// scan was cut by ctx or its budget.
	Mentions    func(ctx context.Context, word, languageID string) (files []string, done bool)
	Ignore      *Ignore
	Columns     text.Columns
	AllowUNC    bool
	MaxFileSize int64

	texts   texts
	items   itemMemory
	checked checkMemory
}

// unboundedLimit bounds a question whose caller set no deadline: the budgets of
// start, settling and call together.
const unboundedLimit = 150 * time.Second

// question is one request on its way to an answer.
type question struct {
	d    *Deps
	r    query.Request
	file subject // zero for questions about the workspace
	// limit is the request's or the operation's default; 0 is none.
	limit int
	began time.Time
	book  book
	// touched are the files on whose text the answer rests.
	touched touched
}

// operation answers one kind of question.
type operation func(ctx context.Context, q *question) (*query.Answer, error)

// operations is the table of what can be asked.
var operations = map[query.Op]struct {
	run   operation
	limit int
}{
	query.Definition:           {definition, 20},
	query.References:           {references, 50},
	query.Hover:                {hover, 0},
	query.DocumentSymbol:       {documentSymbol, 50},
	query.WorkspaceSymbol:      {workspaceSymbol, 20},
	query.Implementation:       {implementation, 20},
	query.PrepareCallHierarchy: {prepareCallHierarchy, 20},
	query.IncomingCalls:        {incomingCalls, 20},
	query.OutgoingCalls:        {outgoingCalls, 20},
	query.Diagnostics:          {diagnostics, 0},
	query.WorkspaceDiagnostics: {workspaceDiagnostics, 50},
	query.CodeActions:          {codeActions, 20},
}

// Do answers one question. Errors are *query.Error or the caller's own
// context.Canceled.
func Do(ctx context.Context, d *Deps, r query.Request) (*query.Answer, error) {
	if err := validate(r); err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		bounded, cancel := context.WithTimeout(ctx, unboundedLimit)
		defer cancel()
		ctx = bounded
	}
	return steady(ctx, d, r)
}

// once answers the question as it is put, one time.
func (q *question) once(ctx context.Context) (*query.Answer, error) {
	if asksFile(q.r) {
		file, err := q.d.resolve(q.r.Target.Path)
		if err != nil {
			return nil, err
		}
		q.file = file
		q.touch(file.Path)
	}
	return operations[q.r.Op].run(ctx, q)
}

func newQuestion(d *Deps, r query.Request) *question {
	q := &question{d: d, r: r, limit: r.Limit, began: time.Now()}
	if q.limit == 0 {
		q.limit = operations[r.Op].limit
	}
	return q
}

// answer starts an answer with what the request tells.
func (q *question) answer(body query.Body) *query.Answer {
	return &query.Answer{Op: q.r.Op, Path: q.file.Shown, Server: q.r.Server, Body: body}
}
