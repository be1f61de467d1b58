package lsptest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// awaitLimit bounds Await.
const awaitLimit = 10 * time.Second

// Server is a scripted server that ran or runs: one script, many processes.
type Server struct {
	script *script
	broke  func(rule, text string) // told once per rule
	// recorded is told about each message; nil in memory.
	recorded func(m *inbound)
	owner    int // the process id that initialize must name
	// first is the number of the first process.
	first int

	mu       sync.Mutex // guards all below; never held while calling out
	runs     []*run
	messages map[int][]*inbound
	broken   map[string]bool
	handlers map[string]func(int, Message) Reply
	changed  chan struct{} // nil: nobody waits; closed and forgotten by touch
}

// New parses script (see the package comment) and returns a server to be dialled.
// Each Dial is a new process (generation) that plays the script from the start. At
// the end of the test every unmet expectation is an error of t; a broken rule is
// one at once.
func New(t testing.TB, script string) *Server {
	t.Helper()
	s, err := newServer(script, os.Getpid(), 1, func(rule, text string) {
		t.Helper()
		t.Errorf("lsptest: rule %q: %s", rule, text)
	})
	if err != nil {
		t.Fatalf("lsptest: %v", err)
	}
	t.Cleanup(func() {
		s.finish()
		s.judge(t.Errorf)
	})
	return s
}

func newServer(src string, owner, first int, broke func(rule, text string)) (*Server, error) {
	sc, err := parseScript(src)
	if err != nil {
		return nil, err
	}
	return &Server{
		broke: broke, script: sc, owner: owner, first: first, messages: map[int][]*inbound{},
		broken: map[string]bool{}, handlers: map[string]func(int, Message) Reply{},
	}, nil
}

// Reply is what a handler answers; the zero value is the result null.
type Reply struct {
	Result any // encoded as JSON; json.RawMessage as it is
	Error  *Error
	Delay  time.Duration // before anything else
	Hang   bool
	Crash  bool
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
	Data    any
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Handle answers a method by f, where no "on" rule of the script does. For a
// request f runs on a goroutine of its own and may block; for a notification it
// runs before the next message is read, must not block, and its Reply is ignored.
func (s *Server) Handle(method string, f func(gen int, m Message) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[fullMethod(method)] = f
}

func (s *Server) handler(method string) func(int, Message) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handlers[method]
}

// Generations is how many processes were started.
func (s *Server) Generations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.runs)
}

// Send sends a notification from process gen.
func (s *Server) Send(gen int, method string, params any) {
	if r := s.run(gen); r != nil {
		r.notify(fullMethod(method), encode(params))
	}
}

// Publish sends diagnostics (a JSON list) for a path below the root; version 0 leaves it out.
func (s *Server) Publish(gen int, path string, version int, diagnostics string) {
	r := s.run(gen)
	if r == nil {
		return
	}
	uri, _ := r.variable("uri", path)
	p := map[string]any{"uri": uri, "diagnostics": rawJSON(diagnostics)}
	if version != 0 {
		p["version"] = version
	}
	r.notify("textDocument/publishDiagnostics", toJSON(p))
}

// Request asks the client from process gen and waits, at most 10 s, for its answer:
// the raw result, or an *Error.
func (s *Server) Request(gen int, method string, params any) (json.RawMessage, error) {
	r := s.run(gen)
	if r == nil {
		return nil, fmt.Errorf("there is no process %d", gen)
	}
	q := r.send(fullMethod(method), encode(params))
	limit := time.NewTimer(awaitLimit)
	defer limit.Stop()
	select {
	case <-q.done:
	case <-r.dead:
		return nil, fmt.Errorf("process %d has ended", gen)
	case <-limit.C:
		return nil, fmt.Errorf("%s was not answered within %v", method, awaitLimit)
	}
	if q.answer.hasErr {
		e := &Error{}
		_ = json.Unmarshal(q.answer.failure, e) // a malformed error is an error all the same
		return nil, e
	}
	return q.answer.result, nil
}

func encode(params any) string {
	if params == nil {
		return ""
	}
	return toJSON(params)
}

// Crash ends process gen as a crash does.
func (s *Server) Crash(gen int) {
	if r := s.run(gen); r != nil {
		r.writeStderr("panic: crash asked for by the test\n")
		r.end("exit status 2")
	}
}

// Received lists what the client sent to a process (1-based), in order, without
// its answers.
func (s *Server) Received(generation int) []Message {
	var out []Message
	for _, m := range s.received(generation) {
		out = append(out, m.Message)
	}
	return out
}

// Methods is Received, methods only.
func (s *Server) Methods(generation int) []string {
	var out []string
	for _, m := range s.received(generation) {
		out = append(out, m.Method)
	}
	return out
}

// Count is how many messages with that method a process has received.
func (s *Server) Count(generation int, method string) int {
	n := 0
	for _, m := range s.received(generation) {
		if m.Method == fullMethod(method) {
			n++
		}
	}
	return n
}

// Text is a document of a process as its client's messages give it; false when it
// is not open. The document is named by its URI or by a path below the root.
func (s *Server) Text(gen int, doc string) (string, bool) {
	text, _, ok := s.document(gen, doc)
	return text, ok
}

// Version is the version of an open document, 0 when it is not open.
func (s *Server) Version(gen int, doc string) int {
	_, v, _ := s.document(gen, doc)
	return v
}

func (s *Server) document(gen int, doc string) (text string, version int, ok bool) {
	r := s.run(gen)
	if r == nil {
		return "", 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for uri, d := range r.docs {
		if d.open && (uri == doc || !strings.Contains(doc, "://") && uriPath(uri) == r.abs(doc)) {
			return d.text, d.version, true
		}
	}
	return "", 0, false
}

// Await waits, at most 10 s, until the n-th message with that method has arrived at
// process gen (which need not have been started yet) and returns it.
func (s *Server) Await(t testing.TB, gen int, method string, n int) Message {
	t.Helper()
	method = fullMethod(method)
	limit := time.NewTimer(awaitLimit)
	defer limit.Stop()
	for {
		changed := s.change()
		got := 0
		for _, m := range s.received(gen) {
			if m.Method != method {
				continue
			}
			if got++; got == n {
				return m.Message
			}
		}
		select {
		case <-changed:
		case <-limit.C:
			t.Fatalf("lsptest: %s number %d did not arrive at process %d within %v; arrived: %v", method, n, gen, awaitLimit, s.Methods(gen))
			return Message{}
		}
	}
}

// SetCPU sets the processor time of process gen, in nanoseconds; -1 is unknown.
func (s *Server) SetCPU(gen int, ns int64) {
	if r := s.run(gen); r != nil {
		r.cpu.set("", time.Duration(ns))
	}
}

// SetMemory sets the resident size of process gen.
func (s *Server) SetMemory(gen int, bytes int64) {
	if r := s.run(gen); r != nil {
		r.memory.Store(bytes)
	}
}

func (s *Server) run(gen int) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := gen - s.first; i >= 0 && i < len(s.runs) {
		return s.runs[i]
	}
	return nil
}

// newProcess numbers a process.
func (s *Server) newProcess(make func(gen int) *run) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := make(s.first + len(s.runs))
	s.runs = append(s.runs, r)
	return r
}

func (s *Server) record(gen int, m *inbound) {
	s.mu.Lock()
	s.messages[gen] = append(s.messages[gen], m)
	s.mu.Unlock()
	if s.recorded != nil {
		s.recorded(m)
	}
	s.touch()
}

func (s *Server) received(gen int) []*inbound {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages[gen])
}

// change gives a channel that is closed at the next message or end. It is made by
// the waiter, so that it belongs to the waiter's synctest bubble.
func (s *Server) change() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

func (s *Server) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// complain reports a broken rule, once per rule.
func (s *Server) complain(rule, text string) {
	s.mu.Lock()
	quiet := s.script.allow[rule] || s.broken[rule]
	s.broken[rule] = true
	s.mu.Unlock()
	if !quiet {
		s.broke(rule, text)
	}
}

// finish ends all processes and judges the expectations.
func (s *Server) finish() {
	s.mu.Lock()
	runs := slices.Clone(s.runs)
	s.mu.Unlock()
	for _, r := range runs {
		if r.exitText() == "" {
			r.complain("left-running", "the test ended and nobody had ended the process", nil)
		}
		r.end("signal: killed")
		r.wg.Wait()
	}
}

// judge checks the expectations.
func (s *Server) judge(errorf func(format string, args ...any)) {
	for _, e := range s.script.expects {
		if fault := s.unmet(e); fault != "" {
			errorf("lsptest: not met: expect %s: %s", strings.TrimPrefix(e.source, "expect "), fault)
		}
	}
}
