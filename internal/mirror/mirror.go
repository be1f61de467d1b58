// Package mirror keeps the documents of one generation of one language server
// equal to the disk. It never decides when to ask, only that what was sent before
// a question is what the disk says.
package mirror

import (
	"context"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// Notifier sends notifications to the server in order.
type Notifier interface {
	Notify(ctx context.Context, method string, params any) error
}

// Options of a mirror.
type Options struct {
	Notifier Notifier
	Encoding text.Encoding
	// Sync tells what the server wants to hear about a document.
	Sync func(languageID, uri string) lsp.Sync
	// MaxOpen is the number of open documents kept; default 100.
	MaxOpen int
	// MaxFileSize in bytes; default 5 MB.
	MaxFileSize int64
	// URI makes the URI of a path in the server's spelling; default text.PathToURI.
	URI func(path string) string
	// Watched reports that changes of the path are reported through Changed, so
	// that an unchanged file needs no stat by Refresh. nil: nothing is watched.
	Watched func(path string) bool
	// OnClose is told when a document was closed (problems are then marked).
	OnClose func(uri string)
}

// Snapshot is the text that the server has, which was the disk's when it was taken.
type Snapshot struct {
	Path    string
	URI     string
	Version int32
	Map     *text.Mapper
	// BOM says that the file begins with a byte order mark (not part of Map's text).
	BOM bool
}

// FileError says why a file cannot be mirrored.
type FileError struct {
	Path   string
	Reason Reason
	Size   int64
	Err    error
}

// Reason is why.
type Reason int

// The reasons.
const (
	NotFound Reason = iota
	IsDirectory
	TooLarge
	Binary
	NotUTF8
	Unreadable
	NotRegular
)

func (e *FileError) Error() string { panic("unfilled") }
func (e *FileError) Unwrap() error { return e.Err }

// Mirror is safe for concurrent use.
type Mirror struct{}

// New returns an empty mirror.
func New(o Options) *Mirror { panic("unfilled") }

// Ensure makes the server's view of path equal to the disk: didOpen, didChange (+
// didSave), or nothing; didClose and a *FileError when it is gone or unfit. The
// path is absolute. It stats always (a file name that is asked about is cheap).
func (m *Mirror) Ensure(ctx context.Context, path, languageID string) (Snapshot, error) {
	panic("unfilled")
}

// Changed marks open documents as possibly different from the disk.
func (m *Mirror) Changed(paths ...string) { panic("unfilled") }

// ChangedAll marks all (events were lost).
func (m *Mirror) ChangedAll() { panic("unfilled") }

// Refresh brings every marked open document, and every open one that is not
// watched, up to date; it returns the paths whose text changed or that were closed
// because they are gone.
func (m *Mirror) Refresh(ctx context.Context) (changed []string, err error) { panic("unfilled") }

// Touch opens and closes (or, if open, changes and saves) path so that a server
// that ignores watched-file notices reads it again.
func (m *Mirror) Touch(ctx context.Context, path, languageID string) error { panic("unfilled") }

// Hold keeps a document open until release is called.
func (m *Mirror) Hold(path string) (release func()) { panic("unfilled") }

// Current is the snapshot of an open document without looking at the disk.
func (m *Mirror) Current(path string) (Snapshot, bool) { panic("unfilled") }

// Open lists the open documents, least recently used first.
func (m *Mirror) Open() []OpenDoc { panic("unfilled") }

// OpenDoc names an open document.
type OpenDoc struct{ Path, URI, LanguageID string }

// Replay opens in `to` (a mirror of a new generation) what is open here.
func (m *Mirror) Replay(ctx context.Context, to *Mirror) error { panic("unfilled") }
