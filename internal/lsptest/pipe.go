package lsptest

import (
	"io"
	"os"
	"sync"
)

// pipe is a pipe in memory like that of an operating system: writes of up to limit
// bytes do not wait for the reader. Waiting is by sync.Cond, which is durably
// blocking. A Read returns bytes of one Write only, so that pieces stay pieces.
type pipe struct {
	mu       sync.Mutex // guards all below
	cond     *sync.Cond
	chunks   [][]byte
	size     int
	limit    int  // 0: no limit
	closed   bool // by the writer: EOF after what is there
	broken   bool // by the reader: writes fail
	consumed int64
}

func newPipe(limit int) *pipe {
	p := &pipe{limit: limit}
	p.cond = sync.NewCond(&p.mu)
	return p
}

// Write waits while the pipe is full.
func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	written := 0
	for len(b) > 0 {
		for p.limit > 0 && p.size >= p.limit && !p.broken && !p.closed {
			p.cond.Wait()
		}
		if p.broken {
			return written, io.ErrClosedPipe
		}
		if p.closed {
			return written, os.ErrClosed
		}
		n := len(b)
		if p.limit > 0 {
			n = min(n, p.limit-p.size)
		}
		p.chunks = append(p.chunks, append([]byte(nil), b[:n]...))
		p.size += n
		written += n
		b = b[n:]
		p.cond.Broadcast()
	}
	return written, nil
}

// Read waits while the pipe is empty and open.
func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.chunks) == 0 && !p.closed && !p.broken {
		p.cond.Wait()
	}
	if p.broken {
		return 0, os.ErrClosed
	}
	if len(p.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.chunks[0])
	if p.chunks[0] = p.chunks[0][n:]; len(p.chunks[0]) == 0 {
		p.chunks = p.chunks[1:]
	}
	p.size -= n
	p.consumed += int64(n)
	p.cond.Broadcast()
	return n, nil
}

// closeWrite ends the stream after what was written.
func (p *pipe) closeWrite() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.cond.Broadcast()
	return nil
}

// closeRead makes reads and writes fail.
func (p *pipe) closeRead() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = true
	p.chunks, p.size = nil, 0
	p.cond.Broadcast()
	return nil
}

// writeEnd and readEnd are what the client holds.
type writeEnd struct{ *pipe }

func (w writeEnd) Close() error { return w.closeWrite() }

type readEnd struct{ *pipe }

func (r readEnd) Close() error { return r.closeRead() }
