package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"time"

	"github.com/dragoman-dev/dragoman/internal/proc"
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
	// ReloadWithin: after a change that makes the server load again (a file of its
	// language created or deleted, or one of ProjectFiles) it is not settled until
	// its signal came and ended, or this time passed without one. 0: it is up to
	// date as soon as it was told.
	ReloadWithin time.Duration
	// ProjectFiles are base names whose change makes the server load again.
	ProjectFiles []string
}

// LoadPattern finds a failed project load in what a server says.
type LoadPattern struct {
	// Match is tried on showMessage, logMessage, serverStatus and progress texts.
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
	// OpenNewFolders: does not look into a new folder until one of its files is open
	// (gopls: a new package).
	OpenNewFolders bool
	// FileStatus: tells by textDocument/clangd.fileStatus when it is idle with a
	// document; before that its index does not know the text. A changed file is kept
	// open until then.
	FileStatus bool
	// OwnWatcher: watches the disk itself and needs this long to notice (typescript-language-server).
	OwnWatcher time.Duration
	// LFOnly: see text.Wire.
	LFOnly bool
	// SymbolCap and ReferenceCap are the server's own limits; 0 none.
	SymbolCap, ReferenceCap int
	// DeclarationByDefinition: what includeDeclaration false leaves out of references
	// is not the declaration (typescript-language-server keeps it, pyright leaves out
	// the name asked about, tsc --lsp imports), so the definition is taken out instead.
	DeclarationByDefinition bool
	// TSServer: stands in front of a tsserver and passes requests on by the command
	// typescript.tsserverRequest.
	TSServer bool
	// PullsSettings: asks workspace/configuration itself or has read the same in
	// initializationOptions, and loads the project again when told once more.
	PullsSettings bool
	// SectionDefaults answers workspace/configuration for sections without settings.
	SectionDefaults map[string]json.RawMessage
	LoadErrors      []LoadPattern
	// NoEmptyPush: a clean file never gets a publish, so silence after settling and
	// a probe round trip counts as clean. A server that also answers pulls pushes
	// problems of another kind then (rust-analyzer: cargo check).
	NoEmptyPush bool
	// FinalPush: a versioned push is the last word for that version.
	FinalPush bool
	// PushProgress matches the title or token of the progress whose end means that
	// everything is pushed (rust-analyzer: cargo check). It begins after a save.
	PushProgress *regexp.Regexp
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
	MaxRestarts  int           // default 3; negative: none
	MaxFileSize  int64
	Log          *slog.Logger
	Version      string // clientInfo.version
}

func (o Options) withDefaults() Options {
	if o.LanguageID == nil {
		o.LanguageID = func(string) string { return "" }
	}
	if o.Files == nil {
		o.Files = func(context.Context, int) []string { return nil }
	}
	o.StartTimeout = orElse(o.StartTimeout, 60*time.Second)
	o.StopTimeout = orElse(o.StopTimeout, 5*time.Second)
	o.MaxRestarts = orElse(o.MaxRestarts, 3)
	o.Traits.Readiness.Ceiling = orElse(o.Traits.Readiness.Ceiling, 60*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("server", o.Name)
	return o
}

func orElse[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}
