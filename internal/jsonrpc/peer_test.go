package jsonrpc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// peer is the other end of a connection under test, with framing of its own.
type peer struct {
	t  testing.TB
	r  *bufio.Reader
	rw net.Conn
}

// wire is a message as the peer sees it.
type wire struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// read returns the next message from the connection.
func (p *peer) read() (wire, error) {
	n := 0
	for {
		line, err := p.r.ReadString('\n')
		if err != nil {
			return wire{}, err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if n, err = strconv.Atoi(v); err != nil {
				return wire{}, err
			}
		}
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(p.r, body); err != nil {
		return wire{}, err
	}
	var m wire
	return m, json.Unmarshal(body, &m)
}

func (p *peer) mustRead() wire {
	p.t.Helper()
	m, err := p.read()
	if err != nil {
		p.t.Fatalf("peer cannot read: %v", err)
	}
	return m
}

// raw writes bytes as they are.
func (p *peer) raw(s string) {
	p.t.Helper()
	if _, err := io.WriteString(p.rw, s); err != nil {
		p.t.Errorf("peer cannot write: %v", err)
	}
}

// send writes a framed body.
func (p *peer) send(body string) { p.t.Helper(); p.raw(framed(body)) }

func framed(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// reply answers m with a raw result.
func (p *peer) reply(m wire, result string) {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
}

// handler is a Handler made of functions; both may be nil.
type handler struct {
	notify func(ctx context.Context, method string, params json.RawMessage)
	answer func(ctx context.Context, method string, params json.RawMessage) (any, error)
}

func (h *handler) Notify(ctx context.Context, method string, params json.RawMessage) {
	if h.notify != nil {
		h.notify(ctx, method, params)
	}
}

func (h *handler) Answer(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if h.answer != nil {
		return h.answer(ctx, method, params)
	}
	return nil, MethodNotFound(method)
}

// record is a handler that remembers notifications.
type record struct {
	mu   sync.Mutex
	seen []string
}

func (r *record) add(s string) { r.mu.Lock(); r.seen = append(r.seen, s); r.mu.Unlock() }

func (r *record) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.seen...)
}

func (r *record) handler() *handler {
	return &handler{notify: func(_ context.Context, method string, params json.RawMessage) {
		r.add(method + " " + string(params))
	}}
}

// dial connects a Conn with a peer in memory. Both are closed at the test's end.
func dial(t testing.TB, h Handler, o Options) (*Conn, *peer) {
	t.Helper()
	ours, theirs := net.Pipe()
	c := NewConn(ours, ours, h, o)
	t.Cleanup(func() { theirs.Close(); c.Close() })
	return c, &peer{t: t, r: bufio.NewReader(theirs), rw: theirs}
}

// async runs a call and returns where its outcome will be.
func async(c *Conn, ctx context.Context, method string) chan outcome {
	ch := make(chan outcome, 1)
	go func() {
		r, err := c.Call(ctx, method, map[string]int{"x": 1})
		ch <- outcome{string(r), err}
	}()
	return ch
}

type outcome struct {
	result string
	err    error
}
