// Package server runs one language server: its life and generations, its
// capabilities, its readiness, and the questions that it asks us. It never reads
// configuration files and never decides which server a file needs.
package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"time"

	"github.com/dragoman-dev/dragoman/internal/diag"
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/mirror"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/internal/watch"
)

// Dialer starts a server or connects to one. It returns *proc.NotFoundError (wrapped
// or not) when the command is missing.
type Dialer func(ctx context.Context) (proc.Handle, error)

// ReadyMode is how a server tells that it knows the project.
type ReadyMode string

// The modes.
const (
	// ReadySelf: requests wait inside the server until they can be right (gopls).
	ReadySelf ReadyMode = "self"
	// ReadyStatus: experimental/serverStatus with quiescent true (rust-analyzer).
	ReadyStatus ReadyMode = "status"
	// ReadyProgress: work-done progress of the named titles or tokens ends.
	ReadyProgress ReadyMode = "progress"
	// ReadyLog: a log message that matches.
	ReadyLog ReadyMode = "log"
	// ReadyGrace: no signal; any progress ends and a grace time passes.
	ReadyGrace ReadyMode = "grace"
)

// Readiness is data from the catalogue (architecture B7).
type Readiness struct {
	Mode ReadyMode
	// Progress matches the title or token of the progress whose end means ready.
	Progress *regexp.Regexp
	// Log matches the log message that means ready.
	Log *regexp.Regexp
	// AppearWithin is how long after its trigger (the first open file, or
	// initialized) the signal must begin; after that the server counts as settled
	// (small projects send no progress).
	AppearWithin time.Duration
	// Grace is the time without a signal after which a ReadyGrace server is settled.
	Grace time.Duration
	// Quiet is how long no progress may live before settled; 0 where End is exact.
	Quiet time.Duration
	// Ceiling ends the wait for settled (default 60 s); the answer then says so.
	Ceiling time.Duration
	// NeedsOpenFile: the server knows nothing until a file of its language is open.
	NeedsOpenFile bool
	// OpenPerMarker: one file is opened below each folder that holds one of these
	// names (tsconfig.json), up to OpenLimit, before the project counts as loaded.
	OpenPerMarker []string
	OpenLimit     int
}

// LoadPattern finds a failed project load in what a server says.
type LoadPattern struct {
	// Match is tried on showMessage, logMessage, serverStatus and progress-end texts.
	Match *regexp.Regexp
	// Say is the sentence shown; "" shows the server's own text.
	Say string
}

// Traits is what the catalogue knows about a server.
type Traits struct {
	Readiness Readiness
	// SingleThreaded servers get one heavy request at a time.
	SingleThreaded bool
	// TellByOpening: ignores watched-file notices, so changed files are opened and closed (clangd, bash).
	TellByOpening bool
	// OwnWatcher: watches the disk itself and needs this long to notice (typescript-language-server).
	OwnWatcher time.Duration
	// LFOnly: see text.Wire.
	LFOnly bool
	// SymbolCap and ReferenceCap are the server's own limits; 0 none.
	SymbolCap, ReferenceCap int
	// SectionDefaults answers workspace/configuration for sections without settings.
	SectionDefaults map[string]json.RawMessage
	LoadErrors      []LoadPattern
	// PushOnly / NoEmptyPush: a clean file never gets a publish, so silence after
	// settling and a probe round trip counts as clean (see diagnostics rules).
	NoEmptyPush bool
	// FinalPush: a versioned push is the last word for that version.
	FinalPush bool
	// ExtraCapabilities is merged into the client capabilities.
	ExtraCapabilities json.RawMessage
	// IgnoresExit: does not end on exit, only when stdin is closed (tsc --lsp).
	IgnoresExit bool
}

// Options describe one server for one root.
type Options struct {
	Name string
	Root string // absolute folder
	Dial Dialer
	// InitializationOptions is sent verbatim; nil is {}.
	InitializationOptions json.RawMessage
	// Settings answers workspace/configuration (sections looked up by dots) and is
	// sent once by didChangeConfiguration when not empty.
	Settings json.RawMessage
	// LanguageID names the language of a path, "" when the server does not serve it.
	LanguageID func(path string) string
	Traits     Traits
	// Watcher reports changes below the workspace; nil: every open document is compared before each question.
	Watcher *watch.Watcher
	// Files lists up to n files of the workspace that the server serves, for opening rules and probes.
	Files func(ctx context.Context, n int) []string

	StartTimeout time.Duration // default 60 s
	StopTimeout  time.Duration // default 5 s
	MaxRestarts  int           // default 3
	MaxFileSize  int64
	Log          *slog.Logger
	Version      string // clientInfo.version
}

// Need is what a question needs of a server.
type Need int

// The needs.
const (
	Initialized Need = iota
	Settled
)

// State of the life of a server (architecture B6).
type State int

// The states.
const (
	Idle State = iota
	Starting
	Warming
	Ready
	Stopping
	Stopped
	Failed
	Fused
)

// Snapshot is an immutable view of a server's life.
type Snapshot struct {
	State      State
	Generation int
	PID        int
	Since      time.Time // of the current generation's start
	// Working is the server's own message of what it does, "" when quiet.
	Working string
	Percent int // -1 when unknown
	// LoadError is why the project is not wholly loaded.
	LoadError string
	// Err is why it failed; Stderr the tail of its stderr then.
	Err      error
	Stderr   string
	Restarts int
	// Crosschecks and the like are not here: life only.
}

// Server is one server, started when first needed and restarted by its budget.
type Server struct{}

// New returns an idle server. Close must be called.
func New(o Options) *Server { panic("unfilled") }

// Name and Root are those of its options.
func (s *Server) Name() string { panic("unfilled") }
func (s *Server) Root() string { panic("unfilled") }

// Snapshot never blocks.
func (s *Server) Snapshot() Snapshot { panic("unfilled") }

// Changed returns a channel that is closed at the next change of the snapshot.
func (s *Server) Changed() <-chan struct{} { panic("unfilled") }

// Start begins to start it if idle; it does not wait.
func (s *Server) Start() { panic("unfilled") }

// Restart stops and starts it with a fresh budget (explicit request).
func (s *Server) Restart(ctx context.Context) error { panic("unfilled") }

// Open starts the server if needed and returns its live session once the handshake
// is done. Errors are *query.Error kinds mapped by the caller from: *proc.NotFoundError,
// *StartError, *FusedError, ctx errors.
func (s *Server) Open(ctx context.Context) (*Session, error) { panic("unfilled") }

// Close stops it for good: bounded, reaped, all goroutines gone when it returns.
func (s *Server) Close(ctx context.Context) error { panic("unfilled") }

// StartError says why a start failed.
type StartError struct {
	Name   string
	Err    error
	Exit   string
	Stderr string
}

func (e *StartError) Error() string { panic("unfilled") }
func (e *StartError) Unwrap() error { return e.Err }

// FusedError says that the crash budget is spent.
type FusedError struct {
	Name   string
	Max    int
	Stderr string
}

// Error is "LSP server 'name' exceeded max crash recovery attempts (3)".
func (e *FusedError) Error() string { panic("unfilled") }

// GoneError says that the generation that was asked has died.
type GoneError struct {
	Name       string
	Generation int
	Exit       string
	Stderr     string
}

func (e *GoneError) Error() string { panic("unfilled") }

// Session is one generation of a server. After its process is gone every call
// fails with a *GoneError at once.
type Session struct{}

// Generation counts processes from 1.
func (s *Session) Generation() int { panic("unfilled") }

// Capabilities is the current view, with dynamic registrations.
func (s *Session) Capabilities() *lsp.Capabilities { panic("unfilled") }

// Wire is how this server counts positions; SetWire corrects it when the text
// proved the claim wrong (pylsp, jedi).
func (s *Session) Wire() text.Wire           { panic("unfilled") }
func (s *Session) SetWire(enc text.Encoding) { panic("unfilled") }

// Mirror holds its documents.
func (s *Session) Mirror() *mirror.Mirror { panic("unfilled") }

// Problems holds what it reported.
func (s *Session) Problems() *diag.Store { panic("unfilled") }

// Sync makes the server's view of everything equal to the disk: flushes the
// watcher, sends didChangeWatchedFiles (or opens, by Traits), refreshes open
// documents. It is called before every request; with nothing changed it costs one
// flush.
func (s *Session) Sync(ctx context.Context) error { panic("unfilled") }

// Ensure syncs and opens path.
func (s *Session) Ensure(ctx context.Context, path string) (mirror.Snapshot, error) {
	panic("unfilled")
}

// Basis tells what an answer given now rests on.
type Basis struct {
	Settled   bool
	LoadError string
	Working   string // what it is doing when not settled
	Percent   int
}

// Await waits for n, at most the ceiling; it opens files by the opening rules. The
// Basis says whether it was reached; only ctx and a *GoneError are errors. It
// reports to query.Report while waiting.
func (s *Session) Await(ctx context.Context, n Need) (Basis, error) { panic("unfilled") }

// Basis does not wait.
func (s *Session) Basis() Basis { panic("unfilled") }

// Call asks. Content-modified (-32801) is retried only while the server is not
// settled (it then awaits Settled) and up to three times otherwise, by calling
// params again so that positions can be re-mapped; server-cancelled is retried by
// rule. Heavy requests pass the gate. A method that was answered "not found" is
// remembered for the generation and fails with *UnsupportedError.
func (s *Session) Call(ctx context.Context, method string, params func() (any, error)) (json.RawMessage, error) {
	panic("unfilled")
}

// UnsupportedError says that the server does not know the method.
type UnsupportedError struct{ Name, Method string }

func (e *UnsupportedError) Error() string { panic("unfilled") }

// StaleError says that the content kept changing.
type StaleError struct{ Method string }

func (e *StaleError) Error() string { panic("unfilled") }

// Diagnose brings the problems of one document up to date (pull every matching
// provider with previous result ids, await push by architecture B10, or both) and
// returns them with their freshness.
func (s *Session) Diagnose(ctx context.Context, snap mirror.Snapshot, languageID string) ([]lsp.Diagnostic, diag.Freshness, error) {
	panic("unfilled")
}

// DiagnoseWorkspace pulls workspace/diagnostic where offered (complete is true
// then); otherwise it returns what is stored.
func (s *Session) DiagnoseWorkspace(ctx context.Context) (byURI map[string][]lsp.Diagnostic, complete bool, err error) {
	panic("unfilled")
}

// Status for people: open documents, memory, server info.
type Status struct {
	Snapshot
	ServerInfo    string
	Encoding      string
	OpenDocuments int
	MemoryBytes   int64
}

// Status never blocks on the server.
func (s *Server) Status() Status { panic("unfilled") }
