package server

import (
	"context"
	"errors"
	"time"

	"github.com/dragoman-dev/dragoman/internal/proc"
)

// The budget of restarts: at most Options.MaxRestarts in the short window, and
// perHour in the long one. A server that stayed up for the short window has its
// whole short budget again.
const (
	shortWindow = 3 * time.Minute
	longWindow  = time.Hour
	perHour     = 20
)

// backoff is the pause before restart n (0-based) of the short window.
func backoff(n int) time.Duration {
	return min(500*time.Millisecond<<min(n, 2), 2*time.Second)
}

// life is the state that only the loop reads and writes.
type life struct {
	s        *Server
	state    State
	gen      int
	since    time.Time
	session  *Session // lives, or nil
	previous *Session // the last one, whose documents are opened again
	err      error
	stderr   string

	start    *attempt
	timer    *time.Timer // runs out when the next start is due; nil when none is
	auto     bool        // the start that is due or runs is an automatic restart
	recent   []time.Time // of automatic restarts, within the long window
	restarts int
	failures int // failed starts in all
	inARow   int // failed starts since the last good one
	failedAt time.Time
}

// attempt is one start that runs on its own goroutine.
type attempt struct {
	cancel context.CancelFunc
	result chan started // capacity 1
}

type started struct {
	session *Session
	err     error
	stderr  string
}

// run is the loop. It ends after the stop, with everything released.
func (l *life) run() {
	defer close(l.s.done)
	defer l.s.hurryUp()
	for {
		select {
		case <-l.s.stop:
			l.shutDown()
			return
		case done := <-l.s.restarts:
			l.halt()
			l.recent, l.inARow, l.err, l.stderr = nil, 0, nil, ""
			l.begin()
			close(done)
		case <-l.s.wake:
			l.wanted()
		case r := <-l.results():
			l.finished(r)
		case <-l.due():
			l.timer = nil
			l.begin()
		case <-l.gone():
			l.crashed()
		case <-l.s.nudge:
			l.publish()
		}
	}
}

func (l *life) results() <-chan started {
	if l.start == nil {
		return nil
	}
	return l.start.result
}

func (l *life) due() <-chan time.Time {
	if l.timer == nil {
		return nil
	}
	return l.timer.C
}

func (l *life) gone() <-chan struct{} {
	if l.session == nil {
		return nil
	}
	return l.session.gone
}

// publish makes the state visible and wakes the waiters.
func (l *life) publish() {
	v := &view{
		Snapshot: Snapshot{
			State: l.state, Generation: l.gen, Since: l.since, Percent: -1,
			Err: l.err, Stderr: l.stderr, Restarts: l.restarts,
		},
		session:  l.session,
		failures: l.failures,
		changed:  make(chan struct{}),
	}
	if l.session != nil {
		v.PID = l.session.h.PID()
	}
	if old := l.s.view.Swap(v); old != nil {
		close(old.changed)
	}
}

// wanted starts an idle server; after a failed start only when the pause is over.
func (l *life) wanted() {
	if l.session != nil || l.start != nil || l.timer != nil || l.state == Fused {
		return
	}
	l.auto = false
	if pause := l.pause(); pause > 0 {
		l.timer = time.NewTimer(pause)
		return
	}
	l.begin()
}

// pause is what is left of the pause after failed starts. A missing command costs
// nothing to look for again.
func (l *life) pause() time.Duration {
	var missing *proc.NotFoundError
	if l.inARow == 0 || errors.As(l.err, &missing) {
		return 0
	}
	return time.Until(l.failedAt.Add(backoff(l.inARow - 1)))
}

// begin starts the next generation.
func (l *life) begin() {
	ctx, cancel := context.WithTimeout(context.Background(), l.s.o.StartTimeout)
	a := &attempt{cancel: cancel, result: make(chan started, 1)}
	l.gen++
	l.state, l.since, l.start = Starting, time.Now(), a
	l.publish()
	gen, previous := l.gen, l.previous
	go func() { a.result <- l.s.dial(ctx, gen, previous) }()
}

// finished takes the outcome of a start.
func (l *life) finished(r started) {
	l.start.cancel()
	l.start = nil
	if r.err == nil {
		l.session, l.previous = r.session, r.session
		l.state, l.err, l.stderr, l.inARow, l.auto = Warming, nil, "", 0, false
		l.publish()
		return
	}
	l.err, l.stderr = r.err, r.stderr
	l.failedAt = time.Now()
	l.inARow++
	l.s.o.Log.Warn("start failed", "generation", l.gen, "err", r.err)
	if l.auto {
		l.again()
		return
	}
	l.failures++
	l.state = Failed
	l.publish()
}

// crashed releases a session that died by itself and plans its restart.
func (l *life) crashed() {
	sess := l.session
	l.session = nil
	sess.release()
	gone := sess.reason()
	l.err, l.stderr = gone, gone.Stderr
	l.s.o.Log.Warn("server ended", "generation", l.gen, "exit", gone.Exit)
	l.again()
}

// again plans an automatic restart within the budget, or blows the fuse.
func (l *life) again() {
	now := time.Now()
	l.recent = after(l.recent, now.Add(-longWindow))
	short := len(after(l.recent, now.Add(-shortWindow)))
	if short >= l.s.o.MaxRestarts || len(l.recent) >= perHour {
		l.state, l.auto = Fused, false
		l.failures++
		l.err = &FusedError{Name: l.s.o.Name, Max: max(0, l.s.o.MaxRestarts), Stderr: l.stderr}
		l.publish()
		return
	}
	l.recent = append(l.recent, now)
	l.restarts++
	l.state, l.auto = Failed, true
	l.timer = time.NewTimer(backoff(short))
	l.publish()
}

// after keeps the times later than t; ts is in order.
func after(ts []time.Time, t time.Time) []time.Time {
	for i, at := range ts {
		if at.After(t) {
			return ts[i:]
		}
	}
	return nil
}

// halt stops whatever runs or is due; the loop is blocked for a bounded time, in
// which nothing else may happen to the server.
func (l *life) halt() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.auto = false
	if l.session == nil && l.start == nil {
		return
	}
	sess := l.session
	l.session, l.state = nil, Stopping
	l.publish()
	if l.start != nil {
		l.start.cancel()
		sess = (<-l.start.result).session
		l.start = nil
	}
	if sess != nil {
		sess.stop(l.s.hurry, l.s.o.StopTimeout)
	}
}

// shutDown ends the loop's life.
func (l *life) shutDown() {
	l.halt()
	l.state = Stopped
	l.publish()
}
