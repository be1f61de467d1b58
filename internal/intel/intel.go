// Package intel holds the operations: one file per question, each from request to
// answer. It asks sessions of servers that it is given; it never starts a process,
// reads configuration or prints.
package intel

import (
	"context"

	"github.com/dragoman-dev/dragoman/internal/lsp"
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
	// SymbolCap and ReferenceCap: the server's own limits, 0 none.
	SymbolCap, ReferenceCap int
}

// Deps is what operations are given.
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
}

// Do answers one question.
func Do(ctx context.Context, d *Deps, r query.Request) (*query.Answer, error) { panic("unfilled") }

// Ignore asks git which files are ignored.
type Ignore struct{}

// NewIgnore returns a filter for the workspace at root.
func NewIgnore(root string) *Ignore { panic("unfilled") }

// Ignored reports for each absolute path whether git ignores it. Files outside the
// repository are not ignored; without git go-git's matcher answers.
func (g *Ignore) Ignored(ctx context.Context, paths []string) ([]bool, error) { panic("unfilled") }

var _ = lsp.MethodHover
