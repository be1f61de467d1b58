package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dragoman-dev/dragoman/internal/diag"
	"github.com/dragoman-dev/dragoman/internal/jsonrpc"
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/mirror"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/internal/watch"
)

// dieWithin is how long the exit status of a process is waited for after its
// output ended.
const dieWithin = 200 * time.Millisecond

// Session is one generation of a server. After its process is gone every call
// fails with a *GoneError at once.
type Session struct {
	srv  *Server
	gen  int
	h    proc.Handle
	conn *jsonrpc.Conn

	capsMu sync.Mutex // serializes writers of caps
	caps   atomic.Pointer[lsp.Capabilities]
	// early holds registrations that came before the answer to initialize; capsMu guards it.
	early []capsEdit

	answered   bool          // initialize was answered; set during the handshake
	negotiated text.Encoding // set before the session is live
	wire       atomic.Uint32 // a text.Encoding

	mirror   *mirror.Mirror // nil until the handshake
	problems *diag.Store
	track    *tracker
	gate     *gate
	talk     *ring
	partials partials
	busy     activity
	sync     syncState
	opening  opener

	answers     map[string]answer
	unsupported sync.Map // method → struct{}
	sub         *watch.Subscription

	// ctx ends when the session can no longer be asked; its cause is a *GoneError.
	ctx      context.Context
	cancel   context.CancelCauseFunc
	stopping atomic.Bool
	gone     chan struct{} // closed by watch when the process or connection ended by itself
	owned    sync.WaitGroup
}

type capsEdit func(*lsp.Capabilities) *lsp.Capabilities

func newSession(srv *Server, gen int, h proc.Handle) *Session {
	s := &Session{
		srv: srv, gen: gen, h: h, answers: answers,
		problems: diag.New(diag.Options{PushApart: srv.o.Traits.NoEmptyPush}),
		gate:     newGate(srv.o.Traits.SingleThreaded),
		talk:     newRing(ringSize),
		gone:     make(chan struct{}),
	}
	s.track = newTracker(srv.o.Traits, func() { signal(srv.nudge) })
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.sync.init()
	s.opening.init()
	s.busy.init()
	s.conn = jsonrpc.NewConn(h.Stdout(), h.Stdin(), handler{s}, jsonrpc.Options{
		Coalesce:  coalesce,
		OnNoise:   func(line []byte) { srv.o.Log.Debug("noise on stdout", "bytes", len(line)) },
		OnTraffic: s.busy.heard,
		OnPanic: func(method string, value any, stack []byte) {
			srv.o.Log.Error("bug in dragoman: a handler panicked", "method", method, "panic", fmt.Sprint(value), "stack", string(stack))
		},
	})
	return s
}

// live starts what runs beside a session that can be asked.
func (s *Session) live() {
	if w := s.srv.o.Watcher; w != nil {
		s.sub = w.Subscribe()
		s.owned.Go(s.deliver)
	}
	s.owned.Go(s.watchHang)
	s.owned.Go(s.watch)
}

// watch waits for the end of the process or the connection.
func (s *Session) watch() {
	defer close(s.gone)
	select {
	case <-s.conn.Done():
	case <-s.h.Done():
	case <-s.ctx.Done():
		return
	}
	if s.stopping.Load() {
		return
	}
	exit := "it closed its output"
	if s.ended(dieWithin) {
		exit = s.h.Exit()
	} else if err := s.conn.Err(); err != nil && !errors.Is(err, jsonrpc.ErrClosed) {
		exit = err.Error()
	}
	s.fail(&GoneError{Name: s.srv.o.Name, Generation: s.gen, Exit: exit, Stderr: s.h.Stderr()})
}

// ended waits a bounded time for the process to be reaped.
func (s *Session) ended(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-s.h.Done():
		return true
	case <-timer.C:
		return false
	}
}

// fail makes every pending and later call fail with why.
func (s *Session) fail(why *GoneError) { s.cancel(why) }

// reason is why the session ended; it is only called then.
func (s *Session) reason() *GoneError {
	var gone *GoneError
	if errors.As(context.Cause(s.ctx), &gone) {
		return gone
	}
	return &GoneError{Name: s.srv.o.Name, Generation: s.gen}
}

// alive returns the *GoneError of an ended session.
func (s *Session) alive() error {
	if s.ctx.Err() != nil {
		return s.reason()
	}
	return nil
}

// release kills what is left of the group and returns when nothing of the session
// runs any more.
func (s *Session) release() {
	s.h.Kill()
	s.ended(2 * time.Second)
	if s.ctx.Err() == nil {
		s.fail(&GoneError{Name: s.srv.o.Name, Generation: s.gen, Exit: s.h.Exit(), Stderr: s.h.Stderr()})
	}
	_ = s.conn.Close()
	s.owned.Wait()
	if s.sub != nil {
		s.sub.Close()
	}
}

// Generation counts processes from 1.
func (s *Session) Generation() int { return s.gen }

// Capabilities is the current view, with dynamic registrations.
func (s *Session) Capabilities() *lsp.Capabilities { return s.caps.Load() }

// editCapabilities replaces the view; edits that come before the answer to
// initialize are kept until then.
func (s *Session) editCapabilities(edit capsEdit) {
	s.capsMu.Lock()
	defer s.capsMu.Unlock()
	old := s.caps.Load()
	if old != nil {
		s.caps.Store(edit(old))
		return
	}
	s.early = append(s.early, edit)
}

// setCapabilities takes the answer to initialize.
func (s *Session) setCapabilities(caps *lsp.Capabilities) {
	s.capsMu.Lock()
	defer s.capsMu.Unlock()
	for _, edit := range s.early {
		caps = edit(caps)
	}
	s.early = nil
	s.caps.Store(caps)
}

// Wire is how this server counts positions.
func (s *Session) Wire() text.Wire {
	return text.Wire{Encoding: text.Encoding(s.wire.Load()), LFOnly: s.srv.o.Traits.LFOnly}
}

// SetWire corrects the encoding when the text proved the claim wrong (pylsp, jedi).
// Changes are sent as whole texts from then on.
func (s *Session) SetWire(enc text.Encoding) { s.wire.Store(uint32(enc)) }

// documentSync tells the mirror what the server wants to hear.
func (s *Session) documentSync(languageID, uri string) lsp.Sync {
	sync := s.Capabilities().Sync(languageID, uri)
	if sync.Change == lsp.SyncIncremental && s.Wire().Encoding != s.negotiated {
		sync.Change = lsp.SyncFull
	}
	return sync
}

// Mirror holds its documents.
func (s *Session) Mirror() *mirror.Mirror { return s.mirror }

// Problems holds what it reported.
func (s *Session) Problems() *diag.Store { return s.problems }

// notify sends a notification and maps the errors of a dead session.
func (s *Session) notify(ctx context.Context, method string, params any) error {
	defer s.busy.begin()()
	if err := s.conn.Notify(ctx, method, params); err != nil {
		return s.translate(ctx, err)
	}
	return nil
}

// translate maps the errors of a connection: the caller's own end stays, an ended
// connection becomes a *GoneError, the server's errors pass.
func (s *Session) translate(ctx context.Context, err error) error {
	var rpc *jsonrpc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rpc):
		return err
	case s.ctx.Err() != nil:
		return s.reason()
	case ctx.Err() != nil:
		return ctx.Err()
	}
	// The connection ended a moment ago; watch finds out why.
	timer := time.NewTimer(2 * dieWithin)
	defer timer.Stop()
	select {
	case <-s.ctx.Done():
		return s.reason()
	case <-s.gone:
	case <-timer.C:
	case <-ctx.Done():
	}
	exit := s.h.Exit()
	if why := s.conn.Err(); exit == "" && why != nil && !errors.Is(why, jsonrpc.ErrClosed) && !errors.Is(why, io.EOF) {
		exit = why.Error()
	}
	return &GoneError{Name: s.srv.o.Name, Generation: s.gen, Exit: exit, Stderr: s.h.Stderr()}
}

// notifier is the mirror's way to the server. It takes note of what is sent before
// it is sent, so that no report about it can come first.
type notifier struct{ s *Session }

func (n notifier) Notify(ctx context.Context, method string, params any) error {
	if p, ok := params.(interface{ Document() (string, int32) }); ok {
		uri, version := p.Document()
		n.s.sent(method, uri, version)
	} else if method == "textDocument/didSave" {
		n.s.track.saved()
	}
	return n.s.notify(ctx, method, params)
}

// sent notes that a text is about to be written.
func (s *Session) sent(method, uri string, version int32) {
	if method == "textDocument/didOpen" {
		s.track.opened()
	} else {
		s.track.changedText()
		s.problems.MarkAll()
	}
	uri = text.CanonicalURI(uri)
	s.problems.Sent(uri, version)
	if s.srv.o.Traits.FileStatus {
		s.track.builds(uri)
	}
}
