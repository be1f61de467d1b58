package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// Conn is one connection.
type Conn struct {
	r       io.Reader
	w       io.WriteCloser
	handler Handler
	opts    Options
	out     *writer
	in      *queue
	lastID  atomic.Int64
	stats   counters

	ctx    context.Context // of handlers; ends with the connection
	cancel context.CancelFunc
	done   chan struct{} // closed by end
	wg     sync.WaitGroup

	closing  sync.Once
	closeErr error

	mu       sync.Mutex // guards what follows; never held over I/O
	ended    bool
	err      error // why, nil after Close
	pending  map[int64]*call
	deferred map[string]context.CancelFunc // peer's requests in work, by raw id
}

type counters struct{ noise, unknown, repaired, coalesced, panics atomic.Int64 }

// call is a request of ours that waits for its response.
type call struct {
	inside bool          // asked by a handler of this connection
	answer chan response // 1-buffered; whoever takes the call out of pending sends once
}

type response struct {
	result json.RawMessage
	err    error
}

// insideKey marks the context of a handler with its connection.
type insideKey struct{}

// NewConn starts reading from r at once; Close (or the end of r) ends it.
func NewConn(r io.Reader, w io.WriteCloser, h Handler, o Options) *Conn {
	if o.MaxMessage <= 0 {
		o.MaxMessage = defaultMaxMessage
	}
	backlog := maxBacklog * o.MaxMessage
	c := &Conn{
		r: r, w: w, handler: h, opts: o,
		out:      newWriter(w, backlog),
		in:       newQueue(backlog),
		done:     make(chan struct{}),
		pending:  map[int64]*call{},
		deferred: map[string]context.CancelFunc{},
	}
	ctx := context.WithValue(context.Background(), insideKey{}, c)
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.wg.Go(c.read)
	c.wg.Go(c.dispatch)
	c.wg.Go(func() {
		if err := c.out.run(c.done); err != nil {
			c.end(err)
		}
	})
	return c
}

// Call sends a request and waits. It returns the raw result (null as nil), a
// *Error of the peer, ctx.Err() at once when ctx ends ($/cancelRequest is then
// sent off the caller's path), or an error that wraps ErrClosed. Notifications
// that arrived before the response were dispatched before it returns, except when
// called inside a handler. Order on the wire is the order of calls.
func (c *Conn) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id := c.lastID.Add(1)
	m, err := request(id, method, params)
	if err != nil {
		return nil, fmt.Errorf("encode the params of %s: %w", method, err)
	}
	k := &call{inside: ctx.Value(insideKey{}) == c, answer: make(chan response, 1)}
	if err := c.start(ctx, id, k, m); err != nil {
		m.free()
		return nil, callError(method, err)
	}
	select {
	case r := <-k.answer:
		return r.result, callError(method, r.err)
	case <-ctx.Done():
		if c.take(id) != nil {
			c.later(cancelRequest(id))
		}
		return nil, ctx.Err()
	}
}

// start registers the call and hands its message to the writer.
func (c *Conn) start(ctx context.Context, id int64, k *call, m message) error {
	if err := c.out.acquire(ctx, c.done); err != nil {
		return c.reason(err)
	}
	c.mu.Lock()
	ended := c.ended
	if !ended {
		c.pending[id] = k
	}
	c.mu.Unlock()
	if ended {
		return c.reason(ErrClosed)
	}
	c.out.pass(outgoing{message: m})
	return nil
}

// Notify sends a notification; waiting for the writer respects ctx. It returns when
// the message was written. After ctx.Err() it may still be written, whole.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m, err := request(0, method, params)
	if err != nil {
		return fmt.Errorf("encode the params of %s: %w", method, err)
	}
	if err := c.out.acquire(ctx, c.done); err != nil {
		m.free()
		return callError(method, c.reason(err))
	}
	sent := make(chan error, 1)
	c.out.pass(outgoing{message: m, sent: sent})
	select {
	case err = <-sent:
		if err != nil {
			err = c.closedError(err)
		}
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		err = c.reason(ErrClosed)
	}
	return callError(method, err)
}

// callError adds the method to errors of the connection; those of the peer and of
// the context stay as they are.
func callError(method string, err error) error {
	if errors.Is(err, ErrClosed) {
		return fmt.Errorf("%s: %w", method, err)
	}
	return err
}

// later sends without waiting what nobody waits for.
func (c *Conn) later(m message) {
	if err := c.out.later(m); err != nil {
		c.end(err)
	}
}

func cancelRequest(id int64) message {
	m, _ := request(0, "$/cancelRequest", cancelParams{ID: json.RawMessage(fmt.Sprint(id))})
	return m
}

type cancelParams struct {
	ID json.RawMessage `json:"id"`
}

// take removes a call from pending; nil means that somebody else did.
func (c *Conn) take(id int64) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.pending[id]
	delete(c.pending, id)
	return k
}

// end is the only way to the ended state: the first reason stays, and every
// pending call fails with it at once.
func (c *Conn) end(reason error) {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return
	}
	c.ended, c.err = true, reason
	pending := c.pending
	c.pending = map[int64]*call{}
	for _, cancel := range c.deferred {
		cancel()
	}
	close(c.done)
	c.mu.Unlock()
	for _, k := range pending {
		k.answer <- response{err: c.closedError(reason)}
	}
	c.in.finish()
}

func (c *Conn) closedError(reason error) error {
	if reason == nil {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, reason)
}

// reason replaces a bare ErrClosed by one that says why.
func (c *Conn) reason(err error) error {
	if err != ErrClosed {
		return err
	}
	return c.closedError(c.Err())
}

// Done is closed when the connection ended; Err then says why (nil after Close).
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is the reason of the end.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close fails pending calls at once, closes the writer, and waits for the
// connection's goroutines (the caller must have ended the reader's other end or
// given a reader that Close unblocks: when r is an io.Closer it is closed).
// Handlers are told by their context. Close must not be called inside a handler.
func (c *Conn) Close() error {
	c.closing.Do(func() {
		c.end(nil)
		c.in.drop()
		c.cancel()
		c.closeErr = c.w.Close()
		if r, ok := c.r.(io.Closer); ok {
			_ = r.Close()
		}
	})
	c.wg.Wait()
	return c.closeErr
}

// Stats returns the counters.
func (c *Conn) Stats() Stats {
	return Stats{
		Noise:      c.stats.noise.Load(),
		UnknownIDs: c.stats.unknown.Load(),
		Repaired:   c.stats.repaired.Load(),
		Coalesced:  c.stats.coalesced.Load(),
		Panics:     c.stats.panics.Load(),
	}
}
