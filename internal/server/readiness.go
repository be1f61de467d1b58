package server

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	// graceQuiet is the quiet time of servers without a signal of their own.
	graceQuiet = 300 * time.Millisecond
	// unbegunLife is how long a token that was created may stay without its begin.
	unbegunLife = 10 * time.Second
	maxTokens   = 1000
)

// progressValue is WorkDoneProgressBegin, Report or End.
type progressValue struct {
	Kind       string   `json:"kind"`
	Title      string   `json:"title"`
	Message    string   `json:"message"`
	Percentage *float64 `json:"percentage"`
}

// serverStatus is experimental/serverStatus.
type serverStatus struct {
	Health    string `json:"health"`
	Quiescent bool   `json:"quiescent"`
	Message   string `json:"message"`
}

// tracker listens to everything by which a server tells that it is at work, and
// judges whether it knows the project.
type tracker struct {
	rd       Readiness
	loads    []LoadPattern
	pushes   *regexp.Regexp
	onChange func() // called without mu; must not block

	mu      sync.Mutex // guards everything below; never held over I/O
	changed chan struct{}
	tokens  map[string]*token
	order   uint64    // of the last begin
	started time.Time // the signal's trigger; zero until it happened
	ended   time.Time // when the last token that counts ended; zero before
	signal  bool      // the log signal was seen
	quiet   *serverStatus
	// reload is when the last change came that makes the server load again;
	// busyUntil is when it is settled without a signal.
	reload, busyUntil time.Time
	loadLog           string // load error said in passing; stands until the next load
	check             checks
	// building holds the documents that the server has still to build; queued is the
	// number of changed files that it was not told yet.
	building map[string]build
	queued   int
	unopened bool // the marked projects are not opened
}

// token is one work-done progress.
type token struct {
	title, message string
	percent        int
	begun          bool
	counts         bool // its end is the signal
	checks         bool // its end means that everything is pushed
	load           string
	order          uint64
	at             time.Time // of its last sign of life
}

// checks follows the progress whose end means that everything is pushed.
type checks struct {
	changed, saved time.Time // last text or file change, last save sent
	begun, ended   time.Time
	done           chan struct{} // closed and replaced at each end
}

func newTracker(t Traits, onChange func()) *tracker {
	return &tracker{
		rd: t.Readiness, loads: t.LoadErrors, pushes: t.PushProgress, onChange: onChange,
		changed: make(chan struct{}), tokens: map[string]*token{}, building: map[string]build{},
		check:    checks{done: make(chan struct{})},
		unopened: len(t.Readiness.OpenPerMarker) > 0,
	}
}

// update changes the state and wakes the waiters.
func (t *tracker) update(f func(now time.Time)) {
	t.mu.Lock()
	f(time.Now())
	close(t.changed)
	t.changed = make(chan struct{})
	t.mu.Unlock()
	t.onChange()
}

// initialized starts the time of servers that need no open file.
func (t *tracker) initialized() {
	t.update(func(now time.Time) {
		if !t.rd.NeedsOpenFile && t.started.IsZero() {
			t.started = now
		}
	})
}

// opened starts the time of servers that need an open file.
func (t *tracker) opened() {
	t.mu.Lock()
	first := t.started.IsZero()
	t.check.changed = time.Now()
	t.mu.Unlock()
	if first {
		t.restart()
	}
}

// restart lets the time in which the signal must appear begin now.
func (t *tracker) restart() { t.update(func(now time.Time) { t.started = now }) }

// changedText notes a change that the server was told.
func (t *tracker) changedText() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.check.changed = time.Now()
}

// saved notes a didSave.
func (t *tracker) saved() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.check.saved = time.Now()
}

// reloads notes a change after which the server loads again, and for how long it
// is unsettled without a signal.
func (t *tracker) reloads(within time.Duration) {
	if within <= 0 {
		return
	}
	t.update(func(now time.Time) {
		t.reload = now
		if until := now.Add(within); until.After(t.busyUntil) {
			t.busyUntil = until
		}
	})
}

// forgetLoadErrors lets the next load speak for itself.
func (t *tracker) forgetLoadErrors() { t.update(func(time.Time) { t.loadLog = "" }) }

// settledBySignal ends the waiting after a reload; mu is held.
func (t *tracker) settledBySignal(now time.Time) {
	if !t.reload.IsZero() && now.After(t.reload) {
		t.busyUntil = time.Time{}
	}
}

func (t *tracker) created(key string) {
	t.update(func(now time.Time) {
		if t.tokens[key] == nil && len(t.tokens) < maxTokens {
			t.tokens[key] = &token{percent: -1, at: now, counts: t.rd.Progress == nil || t.rd.Progress.MatchString(unquoted(key))}
		}
	})
}

func (t *tracker) progress(key string, v progressValue) {
	t.update(func(now time.Time) {
		switch v.Kind {
		case "begin":
			t.begin(key, v, now)
		case "report":
			t.report(key, v, now)
		case "end":
			t.end(key, v, now)
		}
	})
}

func (t *tracker) begin(key string, v progressValue, now time.Time) {
	if t.tokens[key] == nil && len(t.tokens) >= maxTokens {
		return
	}
	t.order++
	tok := &token{title: clip(v.Title), message: clip(v.Message), percent: -1, begun: true, order: t.order, at: now}
	if v.Percentage != nil {
		tok.percent = int(*v.Percentage)
	}
	matches := func(re *regexp.Regexp) bool {
		return re != nil && (re.MatchString(v.Title) || re.MatchString(unquoted(key)))
	}
	tok.counts = t.rd.Progress == nil || matches(t.rd.Progress)
	tok.load = t.findLoad(strings.TrimSpace(v.Title + " " + v.Message))
	if tok.checks = matches(t.pushes); tok.checks {
		t.check.begun = now
	}
	t.tokens[key] = tok
}

func (t *tracker) report(key string, v progressValue, now time.Time) {
	tok := t.tokens[key]
	if tok == nil {
		return
	}
	tok.at = now
	if v.Message != "" {
		tok.message = clip(v.Message)
	}
	if v.Percentage != nil {
		tok.percent = int(*v.Percentage)
	}
}

func (t *tracker) end(key string, v progressValue, now time.Time) {
	tok := t.tokens[key]
	delete(t.tokens, key)
	if load := t.findLoad(v.Message); load != "" {
		t.loadLog = load
	}
	if tok == nil {
		return
	}
	t.retire(tok, now)
	byProgress := t.rd.Mode == ReadyProgress || t.rd.Mode == ReadyGrace
	if byProgress && tok.counts && tok.load == "" {
		t.settledBySignal(now)
	}
}

// retire notes the end of a token; mu is held.
func (t *tracker) retire(tok *token, now time.Time) {
	if tok.checks {
		t.check.ended = now
		close(t.check.done)
		t.check.done = make(chan struct{})
	}
	if tok.counts && tok.load == "" {
		t.ended = now
	}
}

func (t *tracker) said(text string) {
	load := ""
	t.mu.Lock()
	load = t.findLoad(text)
	hit := t.rd.Log != nil && t.rd.Log.MatchString(text)
	t.mu.Unlock()
	if load == "" && !hit {
		return
	}
	t.update(func(now time.Time) {
		if load != "" {
			t.loadLog = load
		}
		if hit {
			t.signal, t.ended = true, now
			t.settledBySignal(now)
		}
	})
}

func (t *tracker) status(st serverStatus) {
	t.update(func(now time.Time) {
		was := t.quiet
		st.Message = clip(st.Message)
		t.quiet = &st
		if st.Quiescent && (was == nil || !was.Quiescent) {
			t.settledBySignal(now)
		}
	})
}

// findLoad returns the sentence of the first load pattern that matches.
func (t *tracker) findLoad(text string) string {
	if text == "" {
		return ""
	}
	for _, p := range t.loads {
		if p.Match == nil || !p.Match.MatchString(text) {
			continue
		}
		return orElse(p.Say, clip(text))
	}
	return ""
}

// unquoted is the text of a token key.
func unquoted(key string) string { return strings.Trim(key, `"`) }
