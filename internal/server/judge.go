package server

import (
	"regexp"
	"time"
)

// Basis tells what an answer given now rests on.
type Basis struct {
	Settled   bool
	LoadError string
	Working   string // what it is doing when not settled
	Percent   int
}

// verdict is the tracker's judgement at one moment.
type verdict struct {
	Basis
	// loaded is Settled but for the files that the opening rules have still to open.
	loaded bool
	// next is when it may change without an event; zero when only an event helps.
	next time.Time
	// changed is closed at the next event.
	changed <-chan struct{}
}

// judge says whether the server knows the project.
func (t *tracker) judge(now time.Time) verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	v := verdict{changed: t.changed}
	v.Settled, v.next = t.settled(now)
	if v.Settled && now.Before(t.busyUntil) {
		v.Settled, v.next = false, t.busyUntil
	}
	v.Working, v.Percent = t.work()
	v.LoadError = t.loadError()
	t.behind(now, &v)
	v.loaded = v.Settled
	v.Settled = v.Settled && !t.toOpen()
	return v
}

// settled judges by mode; mu is held.
func (t *tracker) settled(now time.Time) (ok bool, next time.Time) {
	switch t.rd.Mode {
	case ReadySelf:
		return true, time.Time{}
	case ReadyStatus:
		if t.quiet != nil {
			return t.quiet.Quiescent, time.Time{}
		}
	case ReadyProgress:
		if t.live() {
			return false, t.nextForget()
		}
		if !t.ended.IsZero() {
			return reached(now, t.ended.Add(t.rd.Quiet))
		}
	case ReadyLog:
		if t.signal {
			return reached(now, t.ended.Add(t.rd.Quiet))
		}
	default:
		return t.graceOver(now)
	}
	return t.absent(now)
}

// absent is the judgement before the signal was ever seen; mu is held.
func (t *tracker) absent(now time.Time) (bool, time.Time) {
	if t.started.IsZero() || t.rd.AppearWithin <= 0 {
		return false, time.Time{}
	}
	if t.live() {
		return false, t.nextForget()
	}
	return reached(now, t.started.Add(t.rd.AppearWithin))
}

// graceOver is the judgement of servers without a signal; mu is held.
func (t *tracker) graceOver(now time.Time) (bool, time.Time) {
	if t.started.IsZero() {
		return false, time.Time{}
	}
	if t.live() {
		return false, t.nextForget()
	}
	until := t.started.Add(t.rd.Grace)
	if !t.ended.IsZero() {
		until = later(until, t.ended.Add(orElse(t.rd.Quiet, graceQuiet)))
	}
	return reached(now, until)
}

func reached(now, at time.Time) (bool, time.Time) {
	if now.Before(at) {
		return false, at
	}
	return true, time.Time{}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// live reports whether a token that counts is at work; mu is held.
func (t *tracker) live() bool {
	for _, tok := range t.tokens {
		if tok.counts && tok.load == "" {
			return true
		}
	}
	return false
}

// busy reports whether any progress lives.
func (t *tracker) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(time.Now())
	for _, tok := range t.tokens {
		if tok.begun && tok.load == "" {
			return true
		}
	}
	return false
}

// patience is how long a token lives without a sign of life.
func (t *tracker) patience(tok *token) time.Duration {
	if !tok.begun {
		return unbegunLife
	}
	return t.rd.Ceiling
}

// forget retires tokens that never end; mu is held.
func (t *tracker) forget(now time.Time) {
	for key, tok := range t.tokens {
		if tok.load == "" && now.Sub(tok.at) > t.patience(tok) {
			delete(t.tokens, key)
			t.retire(tok, now)
		}
	}
}

// nextForget is when the first token will be forgotten; mu is held.
func (t *tracker) nextForget() (next time.Time) {
	for _, tok := range t.tokens {
		at := tok.at.Add(t.patience(tok)).Add(time.Millisecond)
		if tok.load == "" && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// work is what the server says that it does: its newest progress, else its status; mu is held.
func (t *tracker) work() (string, int) {
	var newest *token
	for _, tok := range t.tokens {
		if tok.begun && tok.load == "" && (newest == nil || tok.order > newest.order) {
			newest = tok
		}
	}
	switch {
	case newest != nil:
		return joined(newest.title, newest.message), newest.percent
	case t.quiet != nil && !t.quiet.Quiescent:
		return orElse(t.quiet.Message, "loading"), -1
	}
	return "", -1
}

func joined(title, message string) string {
	switch {
	case message == "" || message == title:
		return title
	case title == "":
		return message
	}
	return title + ": " + message
}

// namesFailure tells the warnings of a server status that are about loading.
var namesFailure = regexp.MustCompile(`(?i)fail|error|not found|could not|cannot|unable|missing`)

// loadError is why the project is not wholly loaded, "" when it is; mu is held.
func (t *tracker) loadError() string {
	for _, tok := range t.tokens {
		if tok.load != "" {
			return tok.load
		}
	}
	if st := t.quiet; st != nil && st.Message != "" && st.Health != "" && st.Health != "ok" {
		if load := t.findLoad(st.Message); load != "" {
			return load
		}
		if st.Health == "error" || namesFailure.MatchString(st.Message) {
			return st.Message
		}
	}
	return t.loadLog
}

// needsSave reports that something changed after the last save, and that no check
// began after the change.
func (t *tracker) needsSave() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &t.check
	return c.changed.After(c.saved) && !c.begun.After(c.changed)
}

// checkState is how far the check is that covers the last change.
type checkState struct {
	begun, live, over bool
	changed           <-chan struct{}
}

// checking tells how far the check is that covers the last change.
func (t *tracker) checking(now time.Time) checkState {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	st := checkState{changed: t.changed}
	c := &t.check
	st.begun = !c.begun.IsZero() && !c.begun.Before(c.changed)
	for _, tok := range t.tokens {
		st.live = st.live || tok.checks
	}
	st.over = st.begun && !st.live && !c.ended.Before(c.begun)
	return st
}

// toOpen reports that the opening rules are not fulfilled; mu is held.
func (t *tracker) toOpen() bool {
	return t.unopened || t.rd.NeedsOpenFile && t.started.IsZero()
}

// openDue notes that projects are still to be opened, openDone that they are.
func (t *tracker) openDue()  { t.update(func(time.Time) { t.unopened = true }) }
func (t *tracker) openDone() { t.update(func(time.Time) { t.unopened = false }) }

// isSettled and isLoaded are what is waited for.
func isSettled(v verdict) bool { return v.Settled }
func isLoaded(v verdict) bool  { return v.loaded }
