package lsptest

import (
	"io"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/proc"
)

// stdinSize is how much a client may write without being read, as with a pipe of
// an operating system.
const stdinSize = 64 << 10

// stderrKept is the part of stderr that is kept.
const stderrKept = 4 << 10

// Dial starts a process in memory. All its waits are durably blocking, so that it
// works inside a testing/synctest bubble; its goroutines end with the process.
func (s *Server) Dial() proc.Handle {
	h := &memory{stdin: newPipe(stdinSize), done: make(chan struct{})}
	h.run = s.newProcess(func(gen int) *run { return newRun(s, gen, h.stdin) })
	h.run.stderr = h.writeStderr
	h.run.onEnd = func() {
		h.stdin.closeRead()
		close(h.done)
	}
	h.run.wg.Go(h.run.serve)
	return h
}

// memory is a process in memory.
type memory struct {
	run   *run
	stdin *pipe
	done  chan struct{} // closed by run.end

	mu     sync.Mutex // guards stderr
	stderr []byte
}

func (h *memory) Stdin() io.WriteCloser { return writeEnd{h.stdin} }
func (h *memory) Stdout() io.ReadCloser { return readEnd{h.run.out} }
func (h *memory) PID() int              { return 0 }
func (h *memory) Done() <-chan struct{} { return h.done }
func (h *memory) Exit() string          { return h.run.exitText() }
func (h *memory) CPU() int64            { return h.run.cpu.now() }
func (h *memory) Memory() int64         { return h.run.memory.Load() }

func (h *memory) Stderr() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.stderr)
}

func (h *memory) writeStderr(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stderr = append(h.stderr, s...)
	if over := len(h.stderr) - stderrKept; over > 0 {
		h.stderr = append([]byte(nil), h.stderr[over:]...)
	}
}

func (h *memory) Terminate() {
	if h.run.isIgnored("term") {
		return
	}
	h.run.clientEnds("Terminate")
	h.run.end(terminated)
	h.run.out.closeWrite()
}

func (h *memory) Kill() {
	h.run.clientEnds("Kill")
	h.run.end("signal: killed")
	h.run.out.closeWrite()
}

// cpuTime is processor time as the script wants it.
type cpuTime struct {
	mu    sync.Mutex // guards all
	mode  string
	base  time.Duration
	since time.Time
}

func (c *cpuTime) set(mode string, d time.Duration) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode, c.since = mode, time.Now()
	if c.base = d; mode == "busy" || mode == "idle" {
		c.base = max(time.Duration(now), 0)
	}
}

func (c *cpuTime) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.mode {
	case "unknown":
		return -1
	case "busy":
		return int64(c.base + time.Since(c.since))
	}
	return int64(c.base)
}
