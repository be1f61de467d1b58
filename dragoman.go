package dragoman

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/intel"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/workspace"
	"github.com/dragoman-dev/dragoman/query"
)

// Workspace is an open folder. It is safe for concurrent use and implements
// query.Backend.
type Workspace struct {
	w         *workspace.Workspace
	deps      *intel.Deps
	callLimit time.Duration
}

var _ query.Backend = (*Workspace)(nil)

// Open opens the folder dir. It reads configuration and trust, scans nothing, and
// starts only what a configuration file names (in the background). o may be nil.
// Close must be called.
func Open(ctx context.Context, dir string, o *Options) (*Workspace, error) {
	if o == nil {
		o = &Options{}
	}
	limit := o.CallLimit
	w, err := workspace.Open(ctx, workspace.Options{
		Dir: dir, Trust: o.Trust, AllowedNames: o.AllowedNames, UserConfig: o.UserConfig,
		StateDir: o.StateDir, Env: o.Env, Log: o.Log, Version: o.Version,
		MaxFileSize: o.MaxFileSize, CallLimit: limit,
	})
	if err != nil {
		return nil, err
	}
	s := w.Settings()
	if limit <= 0 {
		limit = s.CallLimit
	}
	name := o.Columns
	if name == "" {
		name = s.Columns
	}
	cols, err := columns(name)
	if err != nil {
		return nil, errors.Join(&query.Error{Kind: query.BadRequest, Message: upper(err.Error()) + ".", Err: err}, w.Close(ctx))
	}
	ws := &Workspace{w: w, callLimit: limit}
	ws.deps = &intel.Deps{
		// Servers see the real spelling only: compile databases, cargo and git do too.
		Root: w.Root, RealRoot: w.Root,
		Candidates: w.Candidates, ReadableOutside: w.ReadableOutside, Led: w.Led,
		CountFiles: w.CountFiles, Mentions: w.Mentions,
		Ignore:  intel.NewIgnore(w.Root),
		Columns: cols, AllowUNC: s.UNCPaths == "allow", MaxFileSize: w.MaxFileSize(),
	}
	return ws, nil
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// Do answers one question within the call limit. Errors are *query.Error, or the
// error of ctx where the caller gave up.
func (ws *Workspace) Do(ctx context.Context, r query.Request) (*query.Answer, error) {
	limited, cancel := context.WithTimeout(ctx, ws.callLimit)
	defer cancel()
	start := time.Now()
	r.Target.Path = ws.w.Respell(r.Target.Path)
	watched, last := track(ctx, limited)
	a, err := intel.Do(watched, ws.deps, r)
	switch {
	case err == nil:
		a.Notes = append(a.Notes, ws.w.Warn()...)
		return a, nil
	case limited.Err() != nil && ctx.Err() == nil && timedOut(err):
		return nil, ws.overLimit(r.Op, err, last(), time.Since(start))
	}
	return nil, err
}

func timedOut(err error) bool {
	k := query.KindOf(err)
	return errors.Is(err, context.DeadlineExceeded) || k == query.Timeout || k == query.Canceled || k == query.NotReady
}

// track remembers the last progress while still telling the caller's function.
func track(caller, ctx context.Context) (context.Context, func() query.Progress) {
	var mu sync.Mutex
	last := query.Progress{Percent: -1}
	ctx = query.WithProgress(ctx, func(p query.Progress) {
		mu.Lock()
		last = p
		mu.Unlock()
		query.Report(caller, p)
	})
	return ctx, func() query.Progress {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

// overLimit says who is still at work when the call limit is reached.
func (ws *Workspace) overLimit(op query.Op, err error, p query.Progress, waited time.Duration) error {
	var from *query.Error
	if p.Server == "" && errors.As(err, &from) {
		p.Server = from.Server
	}
	e := &query.Error{Kind: query.NotReady, Op: op, Server: p.Server, Hint: "Ask again.", Err: context.DeadlineExceeded}
	state := server.Snapshot{State: server.Ready, Percent: -1}
	for _, in := range ws.w.Live() {
		if s := in.Server.Snapshot(); in.ID.Name == p.Server || p.Server == "" && s.State != server.Ready {
			e.Server, state = in.ID.Name, s
			break
		}
	}
	if p.Percent < 0 {
		p.Percent = state.Percent
	}
	if p.Elapsed > waited {
		waited = p.Elapsed
	}
	e.Message = stillAtWork(e.Server, state.State, p.Percent, waited)
	if e.Server == "" || state.State == server.Ready {
		e.Kind = query.Timeout
	}
	return e
}

// stillAtWork is "rust-analyzer is still indexing (63 %, 41 s so far)."
func stillAtWork(name string, state server.State, percent int, waited time.Duration) string {
	seconds := int(math.Round(waited.Seconds()))
	what := "indexing"
	switch {
	case name == "":
		return fmt.Sprintf("The answer was not ready after %d s.", seconds)
	case state == server.Starting || state == server.Idle:
		what = "starting"
	case state == server.Ready:
		what = "working on the answer"
	}
	if percent >= 0 && what == "indexing" {
		return fmt.Sprintf("%s is still indexing (%d %%, %d s so far).", name, percent, seconds)
	}
	return fmt.Sprintf("%s is still %s (%d s so far).", name, what, seconds)
}

// Status tells what runs and what does not, without starting anything.
func (ws *Workspace) Status(ctx context.Context) (*query.Status, error) {
	st := &query.Status{
		Workspace: ws.w.Dir, Trusted: ws.w.Trusted().Trusted,
		Servers: []query.ServerStatus{}, Skipped: ws.w.Skipped(),
	}
	for _, p := range ws.w.Problems() {
		st.Notes = append(st.Notes, p.String())
	}
	for _, in := range ws.w.Live() {
		st.Servers = append(st.Servers, serverStatus(in))
	}
	sort.Slice(st.Servers, func(i, j int) bool {
		a, b := st.Servers[i], st.Servers[j]
		if a.Name != b.Name {
			return a.Name < b.Name
		}
		return a.Root < b.Root
	})
	return st, nil
}

func serverStatus(in workspace.Live) query.ServerStatus {
	s := in.Server.Status()
	out := query.ServerStatus{
		Name: in.ID.Name, Root: in.ID.Root, Working: s.Working, Percent: s.Percent, PID: s.PID,
		Command: in.Command, ServerInfo: s.ServerInfo, Encoding: s.Encoding, Generation: s.Generation,
		Restarts: s.Restarts, OpenDocuments: s.OpenDocuments, MemoryBytes: s.MemoryBytes,
		LoadError: s.LoadError, Stderr: s.Stderr, Limited: in.Limited,
	}
	if out.LoadError == "" {
		out.LoadError = in.Missing
	}
	if s.Err != nil {
		out.LastError = s.Err.Error()
	}
	if !s.Since.IsZero() && s.PID != 0 {
		out.Uptime = time.Since(s.Since)
	}
	out.State, out.Detail = people(s.State)
	return out
}

// people maps a state to the two words that people see.
func people(s server.State) (state, detail string) {
	switch s {
	case server.Starting:
		return "IN_PROGRESS", "starting"
	case server.Warming:
		return "IN_PROGRESS", "warming up"
	case server.Ready:
		return "READY", "ready"
	case server.Stopping:
		return "READY", "stopping"
	case server.Failed, server.Fused:
		return "FAILED", "error"
	}
	return "NOT_STARTED", "stopped"
}

// Close stops every server; their processes are gone when it returns. It is
// idempotent.
func (ws *Workspace) Close(ctx context.Context) error { return ws.w.Close(ctx) }

// Root is the workspace folder as it was named, absolute.
func (ws *Workspace) Root() string { return ws.w.Dir }
