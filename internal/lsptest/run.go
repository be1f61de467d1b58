package lsptest

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// run is one process: one play of the script.
type run struct {
	s      *Server
	sc     *script
	gen    int
	in     io.Reader
	out    *pipe
	dead   chan struct{} // closed by end
	wg     sync.WaitGroup
	onEnd  func() // called once by end, without locks
	cpu    cpuTime
	memory atomic.Int64
	stderr func(text string)
	spawn  func() // starts a grandchild that holds stdout; nil in memory

	outMu  sync.Mutex // guards style, corked, corks, and the order of messages on out
	style  frameStyle
	corked []byte
	corks  int

	mu      sync.Mutex // guards all below; taken before Server.mu
	exit    string     // "" while it runs
	holding bool
	ignored map[string]bool
	stopped bool // reading

	docs       map[string]*document
	requests   map[string]*request // of the client, by raw id
	asked      map[string]*question
	nextID     int
	idStyle    string
	registered []registration
	uses       map[*rule]int // how often an "on" rule was used
	seen       map[*rule]int // how many messages fitted its selector
	counts     map[string]int

	caps             rawObject
	sync             syncWish
	encoding         string
	root, rootURI    string
	initSeen         bool
	initReplied      bool
	initOK           bool
	initializedSeen  bool
	shutdownSeen     bool
	shutdownAnswered bool
	exitSeen         bool
	endChecked       bool
}

// request is one of the client's.
type request struct {
	m                   *inbound
	answered, cancelled bool
}

// question is one of ours.
type question struct {
	id, method     string
	params         string
	items          int // of workspace/configuration, else -1
	answered       bool
	beforeShutdown bool
	done           chan struct{} // closed when answered
	answer         *inbound
}

type registration struct{ id, method, options string }

// wanted is the answer that a script expects.
type wanted struct{ result, code string }

func newRun(s *Server, gen int, in io.Reader) *run {
	r := &run{
		s: s, sc: s.script, gen: gen, in: in, out: newPipe(0),
		dead: make(chan struct{}), ignored: map[string]bool{},
		docs: map[string]*document{}, requests: map[string]*request{}, asked: map[string]*question{},
		nextID: 1, uses: map[*rule]int{}, seen: map[*rule]int{}, counts: map[string]int{},
	}
	r.memory.Store(-1)
	r.cpu.set("idle", 0)
	return r
}

// serve plays until the input ends or the process does.
func (r *run) serve() {
	r.play(r.sc.start, nil, func() {})
	fr := &frameReader{r: bufio.NewReader(r.in), complain: func(fault string) { r.complain("framing", fault, nil) }}
	for {
		body, err := fr.next()
		if r.isDead() {
			return
		}
		if err != nil {
			r.eof()
			return
		}
		r.receive(body)
		if r.waitWhileStopped() {
			return
		}
	}
}

// waitWhileStopped ends reading for good after "stop reading".
func (r *run) waitWhileStopped() bool {
	r.mu.Lock()
	stopped := r.stopped
	r.mu.Unlock()
	if stopped {
		<-r.dead
	}
	return stopped || r.isDead()
}

// receive handles one body.
func (r *run) receive(body []byte) {
	m, faults := parseMessage(body)
	for _, f := range faults {
		r.complain("jsonrpc", f, &inbound{Message: Message{Method: string(body)}})
	}
	if m == nil {
		return
	}
	if m.isAnswer {
		r.answered(m)
		return
	}
	r.mu.Lock()
	r.check(m)
	r.counts[m.Method]++
	if m.ID != "" {
		r.requests[m.ID] = &request{m: m}
	}
	r.mu.Unlock()
	r.s.record(r.gen, m)
	if m.ID != "" {
		r.request(m)
		return
	}
	r.notified(m)
}

// notified reacts to a notification.
func (r *run) notified(m *inbound) {
	switch m.Method {
	case "$/cancelRequest":
		r.cancel(m)
	case "exit":
		if !r.isIgnored("exit") {
			r.leave("exit")
			return
		}
	}
	if h := r.s.handler(m.Method); h != nil {
		h(r.gen, m.Message)
	}
	r.hooks(m)
}

// request answers a request by its rule, a handler, or the default.
func (r *run) request(m *inbound) {
	if m.Method == "shutdown" && r.isIgnored("shutdown") {
		return
	}
	after := func() {
		r.defaultReply(m)
		r.hooks(m)
	}
	acts := r.ruleFor(m)
	if m.Method == "initialize" {
		r.play(slices.Concat(r.sc.beforeReply, acts), m, after)
		return
	}
	if acts != nil {
		r.play(acts, m, after)
		return
	}
	if h := r.s.handler(m.Method); h != nil {
		r.wg.Go(func() {
			r.apply(m, h(r.gen, m.Message))
			r.hooks(m)
		})
		return
	}
	after()
}

// apply performs the Reply of a handler.
func (r *run) apply(m *inbound, rep Reply) {
	if rep.Delay > 0 {
		r.sleep(rep.Delay)
	}
	switch {
	case rep.Crash:
		r.end("exit status 2")
	case rep.Hang:
	case rep.Error != nil:
		r.replyError(m, rep.Error.Code, rep.Error.Message, rep.Error.Data)
	default:
		r.reply(m, `"result":`+toJSON(rep.Result))
	}
}

// play runs actions here until one that may wait; the rest runs on a goroutine.
func (r *run) play(acts []action, m *inbound, then func()) {
	x := &turn{r: r, m: m}
	r.cork()
	defer r.uncork()
	for i, a := range acts {
		if r.isDead() {
			return
		}
		if a.blocks {
			r.wg.Go(func() { r.playRest(x, acts[i:], then) })
			return
		}
		a.do(x)
	}
	if !r.isDead() {
		then()
	}
}

func (r *run) playRest(x *turn, acts []action, then func()) {
	for _, a := range acts {
		if r.isDead() {
			return
		}
		a.do(x)
	}
	if !r.isDead() {
		then()
	}
}

// sleep waits for d or the end.
func (r *run) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.dead:
	}
}

// waitFor waits for the n-th message that fits (0: the next one).
func (r *run) waitFor(s selector, n int) {
	count := func() int {
		got := 0
		for _, m := range r.s.received(r.gen) {
			r.mu.Lock()
			if r.fits(&s, m) {
				got++
			}
			r.mu.Unlock()
		}
		return got
	}
	if n == 0 {
		n = count() + 1
	}
	for {
		changed := r.s.change()
		if count() >= n {
			return
		}
		select {
		case <-changed:
		case <-r.dead:
			return
		}
	}
}

// variable gives the templates about the process.
func (r *run) variable(name, arg string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case name == "root":
		return r.root, true
	case name == "rooturi":
		return r.rootURI, true
	case name == "generation":
		return strconv.Itoa(r.gen), true
	case name == "uri" && arg != "":
		return fileURI(r.abs(arg)), true
	case name == "version" && arg != "":
		v, _ := r.find(arg)
		return strconv.Itoa(v), true
	case name == "text" && arg != "":
		_, text := r.find(arg)
		return toJSON(text), true
	case name == "count" && arg != "":
		return strconv.Itoa(r.counts[fullMethod(arg)]), true
	}
	return "", false
}

// find gives version and text of an open document by path, 0 when not open.
func (r *run) find(path string) (version int, text string) {
	for uri, d := range r.docs {
		if d.open && uriPath(uri) == r.abs(path) {
			return d.version, d.text
		}
	}
	return 0, ""
}

func (r *run) version(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, _ := r.find(path)
	return v
}

// complain reports a broken rule; m may be nil.
func (r *run) complain(rule, text string, m *inbound) {
	if m != nil {
		text += "\n\tmessage: " + m.String()
	}
	r.s.complain(rule, fmt.Sprintf("process %d: %s", r.gen, text))
}

func (r *run) isDead() bool {
	select {
	case <-r.dead:
		return true
	default:
		return false
	}
}

func (r *run) ignore(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ignored[what] = true
}

func (r *run) isIgnored(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ignored[what]
}

func (r *run) stopReading() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}

// eof is the end of input.
func (r *run) eof() {
	if r.isIgnored("eof") {
		return
	}
	r.leave("the end of input")
}

// leave ends the process in the way the protocol says.
func (r *run) leave(how string) {
	r.mu.Lock()
	code := r.sc.exitCode
	if code < 0 {
		code = 1
		if r.shutdownSeen {
			code = 0
		}
	}
	r.mu.Unlock()
	r.clientEnds(how)
	r.end(exitStatus(code))
}

// clientEnds checks, once, that the client may end the process like this.
func (r *run) clientEnds(how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.endChecked || r.exit != "" {
		return
	}
	r.endChecked = true
	r.checkEnd(how)
}

// end is the end of the process.
func (r *run) end(status string) {
	r.mu.Lock()
	if r.exit != "" {
		r.mu.Unlock()
		return
	}
	r.exit = status
	holding := r.holding
	r.mu.Unlock()
	close(r.dead)
	if !holding {
		r.out.closeWrite()
	}
	r.onEnd()
	r.s.touch()
}

func (r *run) exitText() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exit
}

func (r *run) writeStderr(text string) { r.stderr(text) }
