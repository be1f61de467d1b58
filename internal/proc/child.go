package proc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// leftoverGrace is how long the rest of a group may take to end after its leader.
	leftoverGrace = 300 * time.Millisecond
	// stderrGrace is how long Done waits for the last of stderr.
	stderrGrace = 200 * time.Millisecond
	// stdoutGrace is how long stdout may stay open after Done.
	stdoutGrace = 500 * time.Millisecond
)

// child is a process that leads a group.
type child struct {
	cmd    *exec.Cmd
	group  group
	stdin  *os.File
	stdout *output
	stderr *os.File
	tail   tail
	done   chan struct{} // closed by wait

	mu     sync.Mutex // guards what follows; held while a signal is sent
	reaped bool       // or about to be: the group's number may be somebody else's
	exit   string
}

// start uses pipes of its own: with those of exec.Cmd its Wait would last as long
// as any grandchild holds them.
func start(spec Spec) (*child, error) {
	var p pipes
	if err := p.open(); err != nil {
		return nil, err
	}
	c := &child{
		cmd:    &exec.Cmd{Path: spec.Path, Args: append([]string{spec.Path}, spec.Args...), Dir: spec.Dir, Env: spec.Env},
		stdin:  p.stdin[1],
		stdout: &output{p.stdout[0]},
		stderr: p.stderr[0],
		done:   make(chan struct{}),
	}
	if c.cmd.Env == nil {
		c.cmd.Env = []string{} // nil would mean ours
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = p.stdin[0], p.stdout[1], p.stderr[1]
	err := c.group.start(c.cmd)
	p.closeTheirs()
	if err != nil {
		p.closeOurs()
		return nil, startError(spec.Path, err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		c.tail.drain(c.stderr)
	}()
	go c.wait(drained)
	return c, nil
}

// startError tells a program that cannot be executed from other failures. The
// program itself was seen before: what is missing is what its first line names.
func startError(path string, err error) error {
	for _, e := range []error{syscall.ENOENT, syscall.EACCES, syscall.ENOEXEC} {
		if errors.Is(err, e) {
			return &NotFoundError{path, errors.New("its interpreter is missing or it has the wrong format: " + e.Error())}
		}
	}
	return err
}

// wait owns the end of the child: it ends the rest of the group, reaps, and waits
// a bounded time for stderr. It also waits for the goroutine that drains stderr.
func (c *child) wait(drained <-chan struct{}) {
	c.group.awaitLeader(c.cmd)
	c.group.endLeftovers(leftoverGrace)
	c.mu.Lock()
	c.reaped = true
	c.mu.Unlock()
	_ = c.cmd.Wait() // its error is the exit status
	c.group.release(leftoverGrace)
	_ = c.stderr.SetReadDeadline(time.Now().Add(stderrGrace))
	<-drained
	_ = c.stderr.Close()
	_ = c.stdout.file.SetReadDeadline(time.Now().Add(stdoutGrace))
	c.mu.Lock()
	c.exit = c.cmd.ProcessState.String()
	c.mu.Unlock()
	close(c.done)
}

func (c *child) Stdin() io.WriteCloser { return input{c.stdin} }
func (c *child) Stdout() io.ReadCloser { return c.stdout }
func (c *child) PID() int              { return c.cmd.Process.Pid }
func (c *child) Stderr() string        { return c.tail.text() }
func (c *child) Done() <-chan struct{} { return c.done }

func (c *child) Exit() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exit
}

func (c *child) Terminate() { c.unlessReaped(c.group.terminate) }
func (c *child) Kill()      { c.unlessReaped(c.group.kill) }

func (c *child) unlessReaped(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		f()
	}
}

func (c *child) CPU() int64 {
	cpu, _ := c.usage()
	return cpu
}

func (c *child) Memory() int64 {
	_, memory := c.usage()
	return memory
}

func (c *child) usage() (cpu, memory int64) {
	c.mu.Lock()
	reaped := c.reaped
	c.mu.Unlock()
	if reaped {
		return -1, -1
	}
	return c.group.usage()
}

// output is our end of stdout. Its deadline means that nobody we know writes there
// any more.
type output struct{ file *os.File }

func (o *output) Read(p []byte) (int, error) {
	n, err := o.file.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

func (o *output) Close() error { return o.file.Close() }

// pipes are the three streams of a child, each as read end and write end.
type pipes struct{ stdin, stdout, stderr [2]*os.File }

func (p *pipes) open() (err error) {
	for _, ends := range []*[2]*os.File{&p.stdin, &p.stdout, &p.stderr} {
		if ends[0], ends[1], err = os.Pipe(); err != nil {
			p.closeTheirs()
			p.closeOurs()
			return err
		}
	}
	return nil
}

func (p *pipes) closeTheirs() { closeAll(p.stdin[0], p.stdout[1], p.stderr[1]) }
func (p *pipes) closeOurs()   { closeAll(p.stdin[1], p.stdout[0], p.stderr[0]) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
