// Package workspace is one folder with its servers: which are configured and
// admitted, which instance answers for a file, which files there are, and which
// files outside may be read. It starts servers when a question needs them.
//
// It never looks into an answer and never prints.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/config"
	"github.com/dragoman-dev/dragoman/internal/fleet"
	"github.com/dragoman-dev/dragoman/internal/state"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/internal/trust"
	"github.com/dragoman-dev/dragoman/internal/watch"
	"github.com/dragoman-dev/dragoman/query"
)

// Options of a workspace.
type Options struct {
	// Dir is the folder as the user named it.
	Dir string
	// Trust trusts it for this run only.
	Trust bool
	// AllowedNames bounds the servers from above; nil allows all.
	AllowedNames []string
	// UserConfig is the user's file; "" means the usual place, "-" none.
	UserConfig string
	// StateDir is where trust is remembered; "" means the usual place.
	StateDir string
	Env      []string
	Log      *slog.Logger
	Version  string
	// CallLimit bounds a question; the wait for a server to know its project ends
	// before it, so that an answer can say what is known. 0 means the setting.
	CallLimit time.Duration
	// MaxFileSize overrides the setting; 0 keeps it.
	MaxFileSize int64
}

// Workspace is safe for concurrent use.
type Workspace struct {
	// Dir is the absolute folder as named, Root the same with links resolved.
	Dir, Root string

	o        Options
	dirs     state.Dirs
	conf     *config.Config
	grounds  trust.Grounds
	admitted []config.Server
	skipped  []query.SkippedServer
	finder   *catalog.Finder
	fleet    *fleet.Fleet
	files    *lister
	markers  *markerCache
	variants *brief[string]
	routes   *brief[routed]
	led      *ledger

	ctx    context.Context // ends at Close; background work hangs on it
	cancel context.CancelFunc
	bg     sync.WaitGroup

	watchOnce  sync.Once
	watchReady chan struct{} // closed by the goroutine that makes the watcher
	watcher    *watch.Watcher

	mu        sync.Mutex // guards the fields below; never held over I/O
	resolved  map[resolveKey]*resolution
	headers   map[string]string // folder → language of its .h files
	fileSub   *watch.Subscription
	closeOnce sync.Once
	closeErr  error
}

// Open reads the configuration. It scans nothing and starts nothing that was not
// explicitly configured.
func Open(ctx context.Context, o Options) (*Workspace, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, &query.Error{Kind: query.BadRequest, Message: "The workspace folder is not usable.", Err: err}
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, &query.Error{
			Kind: query.BadRequest, Path: dir, Err: err,
			Message: fmt.Sprintf("The workspace %s is not a folder.", dir),
			Hint:    "Name an existing folder with --workspace.",
		}
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	w := &Workspace{
		Dir: dir, Root: catalog.Real(dir), o: o, dirs: state.Find(o.Env),
		fleet: fleet.New(0), led: newLedger(), watchReady: make(chan struct{}),
		resolved: map[resolveKey]*resolution{}, headers: map[string]string{},
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.files = newLister(w.Root, findGit(w.Root), w.fileEvents)
	w.markers = newMarkerCache()
	w.variants = newBrief[string]()
	w.routes = newBrief[routed]()
	w.configure()
	w.startExplicit()
	return w, nil
}

// configure reads the layers, decides on trust and admits.
func (w *Workspace) configure() {
	user := w.o.UserConfig
	switch {
	case user == "-":
		user = ""
	case user == "" && w.dirs.Config != "":
		user = filepath.Join(w.dirs.Config, "config.json")
	}
	stateDir := w.o.StateDir
	if stateDir == "" {
		stateDir = w.dirs.State
	}
	co := config.Options{
		Workspace: w.Root, WorkspaceFile: filepath.Join(w.Root, ".lsp.json"),
		UserFile: user, Env: w.o.Env,
	}
	conf := config.Load(co)
	store := trust.NewStore(stateDir)
	w.grounds = store.Decide(w.Root, w.o.Trust, conf.Settings.TrustedFolders, state.Getenv(w.o.Env, "HOME"))
	w.grounds.Stale = w.grounds.Pin != "" && w.grounds.Pin != conf.FileHash && conf.FileHash != ""
	if w.grounds.Trusted {
		co.Trusted = true
		conf = config.Load(co)
	}
	w.conf = conf
	policy := trust.Policy{
		WorkspaceTrusted:        w.grounds.Trusted,
		RequireTrustedWorkspace: conf.Settings.RequireTrustedWorkspace,
		AllowedNames:            w.o.AllowedNames, Stale: w.grounds.Stale,
	}
	if conf.Settings.Enabled {
		w.admitted, w.skipped = policy.Admit(conf.Servers)
	}
	for i := range conf.Untrusted {
		w.skipped = append(w.skipped, query.SkippedServer{
			Name: conf.Untrusted[i].Name, Reason: trust.ReasonTrust,
			Detail: "configured by .lsp.json of a workspace that is not trusted", Hint: trustHint,
		})
	}
	w.finder = &catalog.Finder{Env: w.o.Env, Servers: w.dirs.Servers()}
	if !w.grounds.Trusted {
		w.finder.Avoid = w.Root
	}
}

const trustHint = "Run `dragoman trust` in the workspace, or use --trust for this run."

// Settings are those in force.
func (w *Workspace) Settings() config.Settings { return w.conf.Settings }

// Trusted says whether, and why, the workspace is trusted.
func (w *Workspace) Trusted() trust.Grounds { return w.grounds }

// Problems are the faults of the configuration files.
func (w *Workspace) Problems() []config.Problem { return w.conf.Problems }

// Skipped are the servers that may not run.
func (w *Workspace) Skipped() []query.SkippedServer { return w.skipped }

// StateDir is where the trust of folders is remembered.
func (w *Workspace) StateDir() string {
	if w.o.StateDir != "" {
		return w.o.StateDir
	}
	return w.dirs.State
}

// Warn is what every answer has to say about the configuration.
func (w *Workspace) Warn() []query.Note {
	var notes []query.Note
	if n := len(w.conf.Untrusted); n > 0 {
		notes = append(notes, query.Note{Code: "limited", Text: fmt.Sprintf(
			"%s of .lsp.json %s not used: the workspace is not trusted. %s", plural(n, "server"), isAre(n), trustHint)})
	}
	if w.grounds.Stale {
		notes = append(notes, query.Note{Code: "limited",
			Text: ".lsp.json has changed since it was trusted; its servers wait for `dragoman trust --pin`."})
	}
	if n := len(w.conf.Problems); n > 0 {
		more := ""
		if n > 1 {
			more = fmt.Sprintf(" (and %d more, see `dragoman doctor`)", n-1)
		}
		notes = append(notes, query.Note{Code: "partial", Text: "Configuration: " + w.conf.Problems[0].String() + more + "."})
	}
	return notes
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// startExplicit starts the servers that a file names, in the background.
func (w *Workspace) startExplicit() {
	for i := range w.admitted {
		s := &w.admitted[i]
		if !s.Explicit {
			continue
		}
		w.bg.Go(func() {
			c, err := w.instance(w.ctx, s, w.eagerRoot(s), "", "")
			if err != nil {
				w.o.Log.Warn("configured server not started", "server", s.Name, "err", err)
				return
			}
			c.Server.Start()
		})
	}
}

// Watcher returns the workspace's watcher, made at the first call. It waits until
// every folder is watched, or ctx ends; nil when there is none.
func (w *Workspace) Watcher(ctx context.Context) *watch.Watcher {
	w.watchOnce.Do(func() {
		w.bg.Go(func() {
			defer close(w.watchReady)
			wt, err := watch.New(w.ctx, w.Root, watch.Options{Log: w.o.Log})
			if err != nil {
				w.o.Log.Warn("watching failed", "err", err)
				return
			}
			w.watcher = wt
		})
	})
	select {
	case <-w.watchReady:
		return w.watcher
	case <-ctx.Done():
		return nil
	}
}

// WatchState says how changes are found, for people.
func (w *Workspace) WatchState() string {
	select {
	case <-w.watchReady:
	default:
		return "not started"
	}
	switch {
	case w.watcher == nil:
		return "none; every open file is compared before each question"
	case w.watcher.Polling() != "":
		return "polling: " + w.watcher.Polling()
	}
	return "events"
}

// Close stops every server in parallel and waits for all background work. It is
// idempotent.
func (w *Workspace) Close(ctx context.Context) error {
	w.closeOnce.Do(func() {
		w.cancel()
		// Before the wait: a background start may be waiting for a server.
		err := w.fleet.Close(ctx)
		w.watchOnce.Do(func() { close(w.watchReady) })
		w.bg.Wait()
		if w.watcher != nil {
			err = errors.Join(err, w.watcher.Close())
		}
		w.closeErr = err
	})
	return w.closeErr
}

// Respell maps a path or file URI below the folder as named to the same below Root,
// where the two differ; anything else is returned as it is.
func (w *Workspace) Respell(given string) string {
	if w.Dir == w.Root {
		return given
	}
	path := given
	if p, ok := text.URIToPath(given); ok {
		path = p
	}
	if real := w.real(path); real != path {
		return real
	}
	return given
}

// real maps a path below the folder as named to the same below Root; other paths
// stay.
func (w *Workspace) real(path string) string {
	if w.Dir != w.Root && text.Within(w.Dir, path) {
		if rel, err := filepath.Rel(w.Dir, path); err == nil {
			return filepath.Join(w.Root, rel)
		}
	}
	return path
}
