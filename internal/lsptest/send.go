package lsptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// body sends one framed message.
func (r *run) body(s string) {
	r.outMu.Lock()
	defer r.outMu.Unlock()
	r.put(r.style.frame([]byte(s)))
}

// write sends bytes as they are.
func (r *run) write(b []byte) {
	r.outMu.Lock()
	defer r.outMu.Unlock()
	r.put(b)
}

func (r *run) put(b []byte) {
	if r.style.join && r.corks > 0 {
		r.corked = append(r.corked, b...)
		return
	}
	for _, p := range r.style.pieces(b) {
		_, _ = r.out.Write(p) // the client may have closed its end
	}
}

func (r *run) cork() {
	r.outMu.Lock()
	defer r.outMu.Unlock()
	r.corks++
}

func (r *run) uncork() {
	r.outMu.Lock()
	defer r.outMu.Unlock()
	if r.corks--; r.corks == 0 && len(r.corked) > 0 {
		_, _ = r.out.Write(r.corked) // the client may have closed its end
		r.corked = nil
	}
}

func (r *run) restyle(f func(*frameStyle)) {
	r.outMu.Lock()
	defer r.outMu.Unlock()
	f(&r.style)
}

// notify sends a notification; params "" leaves them out.
func (r *run) notify(method, params string) {
	r.body(`{"jsonrpc":"2.0","method":` + toJSON(method) + withParams(params) + `}`)
}

func withParams(params string) string {
	if params == "" {
		return ""
	}
	return `,"params":` + params
}

// reply answers m with a member ("result":… or "error":…), if it was not answered.
func (r *run) reply(m *inbound, member string) {
	if m == nil || m.ID == "" {
		return
	}
	r.answerOnce(m, member, `{"jsonrpc":"2.0","id":`+m.ID+`,`+member+`}`)
}

func (r *run) replyError(m *inbound, code int, text string, data any) {
	e := map[string]any{"code": code, "message": text}
	if data != nil {
		e["data"] = data
	}
	r.reply(m, `"error":`+toJSON(e))
}

// replyRaw sends a whole body as the answer to m.
func (r *run) replyRaw(m *inbound, body string) {
	if m == nil || m.ID == "" {
		return
	}
	r.answerOnce(m, "", body)
}

// answerOnce sends body if m is still unanswered. The state changes before the
// bytes leave, so that what the client sends next is judged right.
func (r *run) answerOnce(m *inbound, member, body string) {
	r.mu.Lock()
	q := r.requests[m.ID]
	if q == nil || q.answered || q.m != m {
		r.mu.Unlock()
		return
	}
	q.answered = true
	switch m.Method {
	case "initialize":
		result, ok := strings.CutPrefix(member, `"result":`)
		r.initReplied, r.initOK = true, ok
		if ok {
			r.learn(result)
		}
	case "shutdown":
		r.shutdownAnswered = true
	}
	r.mu.Unlock()
	r.body(body)
}

// hang leaves m unanswered for good.
func (r *run) hang(m *inbound) {
	if m == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m.hung = true
}

// cancel answers a request that is being worked on.
func (r *run) cancel(m *inbound) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal([]byte(m.Params), &p) // checked by the rule "cancel"
	r.mu.Lock()
	q := r.requests[string(p.ID)]
	if q != nil {
		q.cancelled = true
	}
	silent := q == nil || r.ignored["cancel"]
	r.mu.Unlock()
	if !silent {
		r.replyError(q.m, -32800, "cancelled", nil)
	}
}

// defaultReply answers m when the script did not.
func (r *run) defaultReply(m *inbound) {
	r.mu.Lock()
	hung := m.hung
	r.mu.Unlock()
	if hung || m.ID == "" {
		return
	}
	switch m.Method {
	case "initialize":
		x := &turn{r: r, m: m}
		r.reply(m, `"result":`+x.expand(r.sc.initializeResult()))
	case "textDocument/diagnostic":
		r.reply(m, `"result":{"kind":"full","items":[]}`)
	case "workspace/diagnostic":
		r.reply(m, `"result":{"items":[]}`)
	default:
		if m.Method != "shutdown" && !knownMethod(m.Method) {
			r.replyError(m, -32601, "method not found: "+m.Method, nil)
			return
		}
		r.reply(m, `"result":null`)
	}
}

func knownMethod(m string) bool {
	prefix, _, _ := strings.Cut(m, "/")
	return slices.Contains([]string{"textDocument", "workspace", "callHierarchy", "typeHierarchy", "completionItem", "codeAction", "codeLens", "inlayHint", "workspaceSymbol", "documentLink"}, prefix)
}

// initializeResult is the script's, or the default with its changes.
func (sc *script) initializeResult() string {
	if sc.initialize != "" {
		return sc.initialize
	}
	caps := map[string]json.RawMessage{
		"textDocumentSync":      rawJSON(`{"openClose":true,"change":2,"save":true}`),
		"completionProvider":    rawJSON(`{}`),
		"signatureHelpProvider": rawJSON(`{}`),
	}
	for _, p := range providers {
		if p != "diagnosticProvider" && p != "executeCommandProvider" && caps[p] == nil {
			caps[p] = rawJSON(`true`)
		}
	}
	for _, more := range sc.capabilities {
		var m map[string]json.RawMessage
		_ = json.Unmarshal([]byte(more), &m) // checked when the script was read
		for k, v := range m {
			if caps[k] = v; string(v) == "null" {
				delete(caps, k)
			}
		}
	}
	return `{"capabilities":` + toJSON(caps) + `,"serverInfo":{"name":"lsptest","version":"1.0"}}`
}

func (r *run) setIDStyle(style string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idStyle = style
	if style == "zero" {
		r.nextID = 0
	}
}

// newQuestion makes an id for a request of ours.
func (r *run) newQuestion(method, params string) *question {
	q := &question{method: method, params: params, items: -1, done: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	var p struct{ Items []json.RawMessage }
	switch {
	case method == "client/registerCapability":
		r.noteRegistrations(params)
	case method != "workspace/configuration" || r.shutdownSeen: // whose client may answer null
	case json.Unmarshal([]byte(params), &p) == nil && p.Items != nil:
		q.items = len(p.Items)
	}
	q.id = strconv.Itoa(r.nextID)
	switch r.idStyle {
	case "string":
		q.id = `"s` + q.id + `"`
	case "digits":
		q.id = `"` + q.id + `"`
	}
	r.nextID++
	r.asked[q.id] = q
	return q
}

// ask sends a request to the client, waits for the answer, and compares it with
// what is wanted (nil: anything but an error).
func (r *run) ask(method, params string, want *wanted) {
	r.awaitAnswer(r.send(method, params), want)
}

// askLater is ask, but the waiting is done elsewhere.
func (r *run) askLater(method, params string, want *wanted) {
	q := r.send(method, params)
	r.wg.Go(func() { r.awaitAnswer(q, want) })
}

// send sends a request.
func (r *run) send(method, params string) *question {
	q := r.newQuestion(method, params)
	r.body(`{"jsonrpc":"2.0","id":` + q.id + `,"method":` + toJSON(method) + withParams(params) + `}`)
	return q
}

func (r *run) awaitAnswer(q *question, want *wanted) {
	select {
	case <-q.done:
		r.judge(q, want)
	case <-r.dead:
	}
}

// judge compares an answer with what the script wants.
func (r *run) judge(q *question, want *wanted) {
	if want == nil {
		want = &wanted{}
	}
	m := q.answer
	var e struct{ Code int }
	_ = json.Unmarshal(m.failure, &e) // absent without an error
	switch {
	case want.code != "":
		if !m.hasErr || strconv.Itoa(e.Code) != want.code {
			r.complain("answer", fmt.Sprintf("%s: error %s expected", q.method, want.code), m)
		}
	case m.hasErr:
		r.complain("answer", q.method+": an error", m)
	case want.result != "" && !sameJSON(want.result, string(m.result)):
		r.complain("answer", q.method+": expected "+clip(want.result), m)
	}
}

// answered takes an answer of the client.
func (r *run) answered(m *inbound) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.asked[m.ID]
	if q == nil {
		r.complain("answer", "there is no request of ours with this id token", m)
		return
	}
	if q.answered {
		r.complain("answer", "the request was answered before", m)
		return
	}
	if m.hasRes == m.hasErr {
		r.complain("answer", "an answer has either a result or an error", m)
	}
	var list []json.RawMessage
	if q.items >= 0 && !m.hasErr && (json.Unmarshal(m.result, &list) != nil || len(list) != q.items) {
		r.complain("configuration", fmt.Sprintf("%d items were asked for", q.items), m)
	}
	if q.method == "client/unregisterCapability" {
		r.noteUnregistrations(q.params)
	}
	q.answered, q.answer = true, m
	close(q.done)
}

// noteRegistrations takes note before the client is told: it may act at once.
// Called with mu held.
func (r *run) noteRegistrations(params string) {
	var p struct {
		Registrations []struct {
			ID, Method      string
			RegisterOptions json.RawMessage
		}
	}
	_ = json.Unmarshal([]byte(params), &p) // malformed params are what the script wants
	for _, g := range p.Registrations {
		r.registered = append(r.registered, registration{g.ID, g.Method, string(g.RegisterOptions)})
	}
}

// noteUnregistrations is called when the client has answered: until then it may
// act on what was registered. Called with mu held.
func (r *run) noteUnregistrations(params string) {
	var p struct {
		Unregisterations, Unregistrations []struct{ ID, Method string }
	}
	_ = json.Unmarshal([]byte(params), &p) // malformed params are what the script wants
	for _, g := range append(p.Unregisterations, p.Unregistrations...) {
		r.registered = slices.DeleteFunc(r.registered, func(old registration) bool {
			return old.id == g.ID && old.method == g.Method
		})
	}
}

// spawnHolder makes somebody keep stdout open after the end.
func (r *run) spawnHolder() {
	r.mu.Lock()
	r.holding = true
	r.mu.Unlock()
	if r.spawn != nil {
		r.spawn()
	}
}
