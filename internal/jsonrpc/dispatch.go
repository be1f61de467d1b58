package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
)

// dispatch is the goroutine that runs the handlers. After the peer's end it
// finishes what had arrived, but no longer answers.
func (c *Conn) dispatch() {
	defer c.cancel()
	for {
		it := c.in.pop()
		switch {
		case it == nil:
			return
		case it.deliver != nil:
			it.deliver()
		case it.id != nil:
			c.answer(it)
		case it.method == "$/cancelRequest":
			c.cancelDeferred(it.params)
		default:
			c.notify(it)
		}
	}
}

func (c *Conn) notify(it *item) {
	if c.handler == nil {
		return
	}
	_ = c.guarded(it.method, func() error {
		c.handler.Notify(c.ctx, it.method, it.params)
		return nil
	})
}

func (c *Conn) answer(it *item) {
	if c.isEnded() {
		return
	}
	if c.handler == nil {
		c.later(reply(it.id, nil, MethodNotFound(it.method)))
		return
	}
	var result any
	err := c.guarded(it.method, func() (err error) {
		result, err = c.handler.Answer(c.ctx, it.method, it.params)
		return err
	})
	if f, ok := result.(Deferred); ok && err == nil {
		c.answerLater(it, f)
		return
	}
	c.later(reply(it.id, result, err))
}

// answerLater runs f on a goroutine that Close waits for.
func (c *Conn) answerLater(it *item, f Deferred) {
	ctx, cancel := context.WithCancel(context.WithValue(c.ctx, insideKey{}, nil))
	id := string(it.id)
	c.mu.Lock()
	if c.ended {
		cancel()
	}
	c.deferred[id] = cancel
	c.mu.Unlock()
	c.wg.Go(func() {
		defer cancel()
		var result any
		err := c.guarded(it.method, func() (err error) {
			result, err = f(ctx)
			return err
		})
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			err = &Error{Code: CodeRequestCancel, Message: "cancelled"}
		}
		c.mu.Lock()
		delete(c.deferred, id)
		ended := c.ended
		c.mu.Unlock()
		if !ended {
			c.later(reply(it.id, result, err))
		}
	})
}

func (c *Conn) cancelDeferred(params json.RawMessage) {
	var p cancelParams
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.deferred[string(p.ID)]; cancel != nil {
		cancel()
	}
}

func (c *Conn) isEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// guarded turns a panic of f into an error.
func (c *Conn) guarded(method string, f func() error) (err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		c.stats.panics.Add(1)
		if c.opts.OnPanic != nil {
			c.opts.OnPanic(method, v, debug.Stack())
		}
		err = &Error{Code: CodeInternal, Message: fmt.Sprintf("internal error while handling %s", method)}
	}()
	return f()
}
