package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

var (
	errPeerEnded = fmt.Errorf("the peer closed its output: %w", io.EOF)
	errBadRun    = errors.New("the peer's messages are not JSON")
)

// read is the reader goroutine.
func (c *Conn) read() {
	frames := newFrameReader(&traffic{c.r, c.opts.OnTraffic}, c.opts.MaxMessage, c.noise)
	bad := 0
	for {
		body, err := frames.next()
		if err != nil {
			c.end(readError(err))
			return
		}
		e, err := scanEnvelope(body)
		if err != nil {
			bad++
			c.invalid(body, &e)
		} else {
			bad = 0
			err = c.receive(&e, body)
		}
		if bad >= maxBadRun {
			err = errBadRun
		}
		if err != nil && (err == errBadRun || err == errBacklog) {
			c.end(err)
			return
		}
	}
}

func readError(err error) error {
	if err == io.EOF {
		return errPeerEnded
	}
	return fmt.Errorf("read from the peer: %w", err)
}

func (c *Conn) noise(line []byte) {
	c.stats.noise.Add(1)
	if c.opts.OnNoise != nil {
		c.opts.OnNoise(line)
	}
}

// invalid skips a body that is no JSON. The call it answers, if that much could be
// read, fails now and not at the end of the caller's patience.
func (c *Conn) invalid(body []byte, e *envelope) {
	c.noise(body[:min(len(body), 4096)])
	id, _, ok := e.callID()
	if !ok || e.method != "" {
		return
	}
	if k := c.take(id); k != nil {
		c.deliver(k, response{err: &Error{Code: CodeParse, Message: "the response is not valid JSON"}})
	}
}

// receive sorts a message by kind; its error ends the connection.
func (c *Conn) receive(e *envelope, body []byte) error {
	if !e.version || e.nulls {
		c.stats.repaired.Add(1)
	}
	switch {
	case e.method == "" && e.id == nil && e.err == nil:
		c.noise(body[:min(len(body), 4096)]) // an object that is no message
		return nil
	case e.method == "":
		c.response(e)
		return nil
	}
	it := &item{method: e.method, params: e.params, id: e.id}
	if e.id == nil && c.opts.Coalesce != nil {
		_ = c.guarded(e.method, func() error {
			it.key = c.opts.Coalesce(e.method, it.params)
			return nil
		})
	}
	dropped, err := c.in.push(it)
	if dropped {
		c.stats.coalesced.Add(1)
	}
	return err
}

func (c *Conn) response(e *envelope) {
	id, repaired, ok := e.callID()
	var k *call
	if ok {
		k = c.take(id)
	}
	if k == nil {
		c.stats.unknown.Add(1)
		return
	}
	r := response{result: json.RawMessage(e.result)}
	if e.err != nil {
		failure, loose := decodeError(e.err)
		r = response{err: failure}
		repaired = repaired || loose
	}
	if repaired {
		c.stats.repaired.Add(1)
	}
	c.deliver(k, r)
}

// deliver gives a call its answer, behind the notifications that came before it
// unless the dispatcher itself waits for it.
func (c *Conn) deliver(k *call, r response) {
	if k.inside {
		k.answer <- r
		return
	}
	c.in.deliver(func() { k.answer <- r })
}

// traffic tells of bytes that were read.
type traffic struct {
	r    io.Reader
	tell func()
}

func (t *traffic) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if n > 0 && t.tell != nil {
		t.tell()
	}
	return n, err
}
