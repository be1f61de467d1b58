package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

var errUnread = errors.New("the peer does not read its input")

// outgoing is a message on its way to the writer.
type outgoing struct {
	message
	sent chan error // told when it was written, where somebody waits for that
}

// writer is the way to the peer's input. Callers pass one message at a time: who
// holds the token may put one into out, and the writer gives the token back when
// it has written it. What nobody waits for (replies, cancellations) lies in a list
// and goes behind the message that was passed before it, so that no cancellation
// overtakes its request.
type writer struct {
	w io.Writer
	// quick is w where it can write without waiting, else nil.
	quick quickWriter
	// writing holds a value while somebody writes.
	writing chan struct{}
	token   chan struct{} // 1-buffered
	out     chan outgoing // 1-buffered; never closed
	wake    chan struct{} // 1-buffered; never closed
	limit   int           // bytes in late

	mu    sync.Mutex // guards what follows
	late  []message
	bytes int
}

// quickWriter writes all of p at once or, where that is not possible without
// waiting, nothing.
type quickWriter interface {
	TryWrite(p []byte) (done bool)
}

func newWriter(w io.Writer, limit int) *writer {
	quick, _ := w.(quickWriter)
	x := &writer{
		w: w, quick: quick, limit: limit, writing: make(chan struct{}, 1),
		token: make(chan struct{}, 1), out: make(chan outgoing, 1), wake: make(chan struct{}, 1),
	}
	x.token <- struct{}{}
	return x
}

// acquire waits for the turn to send. The order of turns is that of the calls.
func (x *writer) acquire(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-x.token:
		return nil
	default:
	}
	select {
	case <-x.token:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-done:
		return ErrClosed
	}
}

// pass sends the message of whoever holds the token: at once where the peer takes
// it, which spares a change of goroutine, else by the writer, who also meets errors.
func (x *writer) pass(o outgoing) {
	if !x.try(o.message) {
		x.out <- o
		return
	}
	o.message.free()
	if o.sent != nil {
		o.sent <- nil
	}
	x.token <- struct{}{}
}

func (x *writer) try(m message) bool {
	if x.quick == nil {
		return false
	}
	select {
	case x.writing <- struct{}{}:
	default:
		return false // the writer is at it
	}
	defer func() { <-x.writing }()
	return x.quick.TryWrite(m.bytes())
}

// later queues m without waiting.
func (x *writer) later(m message) error {
	x.mu.Lock()
	x.late = append(x.late, m)
	x.bytes += m.size()
	over := x.bytes > x.limit
	x.mu.Unlock()
	select {
	case x.wake <- struct{}{}:
	default:
	}
	if over {
		return errUnread
	}
	return nil
}

// run writes until done is closed or a write fails.
func (x *writer) run(done <-chan struct{}) error {
	for {
		var o outgoing
		select {
		case <-done:
			return nil
		case <-x.wake:
		case o = <-x.out:
		}
		if o.buf == nil {
			select {
			case o = <-x.out:
			default:
			}
		}
		if err := x.writeCaller(o); err != nil {
			return err
		}
		if err := x.writeLate(); err != nil {
			return err
		}
	}
}

// writeCaller writes what a caller passed, if anything, and gives the token back.
func (x *writer) writeCaller(o outgoing) error {
	if o.buf == nil {
		return nil
	}
	err := x.write(o.message)
	if o.sent != nil {
		o.sent <- err
	}
	if err == nil {
		x.token <- struct{}{}
	}
	return err
}

func (x *writer) writeLate() error {
	x.mu.Lock()
	late := x.late
	x.late, x.bytes = nil, 0
	x.mu.Unlock()
	for _, m := range late {
		if err := x.write(m); err != nil {
			return err
		}
	}
	return nil
}

func (x *writer) write(m message) error {
	x.writing <- struct{}{} // others only try
	_, err := x.w.Write(m.bytes())
	<-x.writing
	m.free()
	if err != nil {
		return fmt.Errorf("write to the peer: %w", err)
	}
	return nil
}
