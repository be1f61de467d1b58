// Package server runs one language server: its life and generations, its
// capabilities, its readiness, and the questions that it asks us. It never reads
// configuration files and never decides which server a file needs.
//
// One loop (loop.go) is the only writer of a server's life; everybody else reads
// an immutable view. Requests go straight to the session of the view and never
// pass the loop.
package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dragoman-dev/dragoman/query"
)

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

// view is what the loop publishes.
type view struct {
	Snapshot
	session *Session // nil unless it can be asked
	// failures counts failed starts, so that a waiter knows a new failure from an old one.
	failures int
	// changed is closed by the loop when the next view is published.
	changed chan struct{}
}

// usable reports a session that can be asked; one that just died is still there
// until the loop took notice.
func (v *view) usable() bool { return v.session != nil && v.session.alive() == nil }

// Server is one server, started when first needed and restarted by its budget.
type Server struct {
	o    Options
	view atomic.Pointer[view]

	uses     atomic.Int32       // questions that need it to stay
	wake     chan struct{}      // capacity 1: somebody needs it
	restarts chan chan struct{} // answered by closing when the stop is done
	nudge    chan struct{}      // capacity 1: the session's readiness changed
	stopOnce sync.Once          // guards the closing of stop
	stop     chan struct{}      // closed by Close
	hurry    context.Context    // ends when a stop may not wait any longer
	hurryUp  context.CancelFunc
	done     chan struct{} // closed by the loop at its end
}

// New returns an idle server. Close must be called.
func New(o Options) *Server {
	s := &Server{
		o:        o.withDefaults(),
		wake:     make(chan struct{}, 1),
		restarts: make(chan chan struct{}),
		nudge:    make(chan struct{}, 1),
		stop:     make(chan struct{}),
		done:     make(chan struct{}),
	}
	s.hurry, s.hurryUp = context.WithCancel(context.Background())
	l := &life{s: s}
	l.publish()
	go l.run()
	return s
}

// Name is that of its options.
func (s *Server) Name() string { return s.o.Name }

// Root is that of its options.
func (s *Server) Root() string { return s.o.Root }

// Snapshot never blocks.
func (s *Server) Snapshot() Snapshot {
	v := s.view.Load()
	snap := v.Snapshot
	if v.usable() {
		b := v.session.track.judge(time.Now())
		snap.State = Warming
		if b.loaded {
			snap.State = Ready
		}
		snap.Working, snap.Percent, snap.LoadError = b.Working, b.Percent, b.LoadError
	}
	return snap
}

// Use tells that a question is being put to the server until done is called.
func (s *Server) Use() (done func()) {
	s.uses.Add(1)
	return func() { s.uses.Add(-1) }
}

// InUse reports a question that is not done.
func (s *Server) InUse() bool { return s.uses.Load() > 0 }

// Changed returns a channel that is closed at the next change of the snapshot.
func (s *Server) Changed() <-chan struct{} { return s.view.Load().changed }

// Start begins to start it if idle; it does not wait.
func (s *Server) Start() { signal(s.wake) }

// signal puts a token into a channel of capacity 1.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Open starts the server if needed and returns its live session once the handshake
// is done. Errors are *proc.NotFoundError, *StartError, *FusedError, ErrClosed and
// those of ctx.
func (s *Server) Open(ctx context.Context) (*Session, error) {
	v := s.view.Load()
	if v.usable() {
		return v.session, nil
	}
	from, began := v.failures, time.Now()
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	for {
		v = s.view.Load()
		switch {
		case v.usable():
			return v.session, nil
		case v.State == Fused:
			return nil, v.Err
		case v.State == Stopped, s.closing():
			return nil, ErrClosed
		case v.failures > from:
			return nil, v.Err
		case v.session == nil && (v.State == Idle || v.State == Failed):
			s.Start()
		}
		query.Report(ctx, query.Progress{Server: s.o.Name, Message: "starting", Percent: -1, Elapsed: time.Since(began)})
		select {
		case <-v.changed:
		case <-beat.C:
		case <-s.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *Server) closing() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// Restart stops and starts it with a fresh budget (explicit request), and returns
// when it runs again or why it does not.
func (s *Server) Restart(ctx context.Context) error {
	stopped := make(chan struct{})
	select {
	case s.restarts <- stopped:
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-stopped:
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err := s.Open(ctx)
	return err
}

// Close stops it for good: bounded, reaped, all goroutines gone when it returns.
// When ctx ends first, the process is killed instead of asked.
func (s *Server) Close(ctx context.Context) error {
	s.stopOnce.Do(func() { close(s.stop) })
	unhook := context.AfterFunc(ctx, s.hurryUp)
	defer unhook()
	<-s.done
	return nil
}
