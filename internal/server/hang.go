package server

import (
	"sync"
	"time"
)

// The rule of the hang detector: with something pending, no byte for silentFor and
// no processor time for idleFor means that the server hangs. Silent and busy is at
// work. A stand-in whose processor time is unknown hangs after unknownFor.
const (
	silentFor  = 30 * time.Second
	idleFor    = 10 * time.Second
	unknownFor = 2 * time.Minute
	hangTick   = 2 * time.Second
	// idleShare is the processor time per idleFor that still counts as none: idle
	// runtimes have timers.
	idleShare = 100 * time.Millisecond
)

// activity knows whether the server owes us something and when it was last heard.
type activity struct {
	mu      sync.Mutex // guards all; never held over I/O
	pending int
	last    time.Time     // the later of the first pending and the last bytes read
	woken   chan struct{} // capacity 1: something became pending
}

func (a *activity) init() { a.woken = make(chan struct{}, 1) }

// begin notes that something is asked or written; the result notes its end.
func (a *activity) begin() (end func()) {
	a.mu.Lock()
	a.pending++
	if a.pending == 1 {
		a.last = time.Now()
		signal(a.woken)
	}
	a.mu.Unlock()
	return a.end
}

func (a *activity) end() {
	a.mu.Lock()
	a.pending--
	a.mu.Unlock()
}

// heard notes bytes of the server.
func (a *activity) heard() {
	a.mu.Lock()
	a.last = time.Now()
	a.mu.Unlock()
}

// silence is for how long something is pending without a byte; 0 when nothing is.
func (a *activity) silence(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending == 0 {
		return 0
	}
	return now.Sub(a.last)
}

// watchHang fails the session of a server that hangs; its loop then treats it as
// crashed.
func (s *Session) watchHang() {
	for {
		select {
		case <-s.busy.woken:
			if s.hangs() {
				s.hung()
				return
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// hangs watches while something is pending and reports whether the server hung.
func (s *Session) hangs() bool {
	tick := time.NewTicker(hangTick)
	defer tick.Stop()
	var used processor
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return false
		}
		now := time.Now()
		silent := s.busy.silence(now)
		if silent == 0 {
			return false
		}
		if silent < silentFor-idleFor {
			continue
		}
		idle, known := used.idle(now, s.h.CPU())
		if silent >= silentFor && known && idle >= idleFor || silent >= unknownFor && !known {
			return true
		}
	}
}

// processor follows the processor time of the group.
type processor struct {
	at   time.Time
	used int64
}

// idle is for how long (almost) no processor time was used.
func (p *processor) idle(now time.Time, used int64) (d time.Duration, known bool) {
	if used < 0 {
		return 0, false
	}
	if p.at.IsZero() || time.Duration(used-p.used) > idleShare || used < p.used {
		p.at, p.used = now, used
	}
	return now.Sub(p.at), true
}

// hung ends the session; watch then sees the end of its context, so gone is closed.
func (s *Session) hung() {
	s.srv.o.Log.Warn("server hangs", "generation", s.gen, "pid", s.h.PID())
	s.fail(&GoneError{
		Name: s.srv.o.Name, Generation: s.gen, Stderr: s.h.Stderr(),
		Exit: "it did not answer for 30 s and used no processor time",
	})
	s.h.Kill()
}
