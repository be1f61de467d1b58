package lsptest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// process is a child process as the tiny client's peer.
type process struct {
	memory // for the methods that are not needed here
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	err    strings.Builder
	done   chan struct{}
	exit   string
}

func (p *process) Stdin() io.WriteCloser { return p.in }
func (p *process) Stdout() io.ReadCloser { return p.out }
func (p *process) Done() <-chan struct{} { return p.done }

func startProcess(t *testing.T, path string, args, env []string) *process {
	p := &process{cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = &p.err
	p.in, _ = p.cmd.StdinPipe()
	p.out, _ = p.cmd.StdoutPipe()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// wait reaps after the client has read everything.
func (p *process) wait(c *client) {
	<-c.done
	_ = p.cmd.Wait() // the state tells
	p.exit = p.cmd.ProcessState.String()
	close(p.done)
}

func TestChildProcess(t *testing.T) {
	fake := &fakeTB{TB: t}
	p := NewProgram(fake, `
on hover reply {"contents":"${uri:a.go}"}
on symbol crash gen=1
on symbol reply [] gen=2
stderr "hello from ${generation}"
split 3
exit-code 4
expect didOpen a.go version=1 text="a" gen=1
expect count symbol 2
`)
	for gen := 1; gen <= 2; gen++ {
		h := startProcess(t, p.Path, p.Args, p.Env)
		c := connect(t, h)
		c.request("1", "initialize", initParams("/w"))
		Eventually(t, func() bool { return c.reply(1) != "" }, "answer to initialize")
		c.notify("initialized", "{}")
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.request("2", "textDocument/hover", docP)
		Eventually(t, func() bool { return strings.Contains(c.reply(2), "file:///w/a.go") }, "hover")
		c.request("3", "workspace/symbol", `{"query":""}`)
		if gen == 2 {
			Eventually(t, func() bool { return c.reply(3) != "" }, "symbol")
			c.request("4", "shutdown", "null")
			Eventually(t, func() bool { return c.reply(4) != "" }, "answer to shutdown")
			c.notify("exit", "null")
		}
		h.wait(c)
		if want := []string{"exit status 2", "exit status 4"}[gen-1]; h.exit != want {
			t.Errorf("process %d: %s, want %s", gen, h.exit, want)
		}
		if want := fmt.Sprintf("hello from %d\n", gen); !strings.HasPrefix(h.err.String(), want) {
			t.Errorf("stderr of process %d: %q", gen, h.err.String())
		}
	}
	p.Await(t, 2, "exit", 1)
	if got, want := strings.Join(p.Methods(2), " "), "initialize initialized textDocument/didOpen textDocument/hover workspace/symbol shutdown exit"; got != want || p.Generations() != 2 {
		t.Errorf("process 2 received %s of %d", got, p.Generations())
	}
	if m := p.Received(1); len(m) != 5 || m[4].Params != `{"query":""}` {
		t.Errorf("process 1 received %v", m)
	}
	if errs := fake.end(); len(errs) > 0 {
		t.Errorf("%q", errs)
	}
}

// What a child process finds broken or unmet fails the test that made it.
func TestChildProcessReports(t *testing.T) {
	fake := &fakeTB{TB: t}
	path, args, env := Command(fake, "expect didOpen\n")
	h := startProcess(t, path, args, env)
	c := connect(t, h)
	c.request("1", "initialize", initParams("/w"))
	Eventually(t, func() bool { return c.reply(1) != "" }, "answer to initialize")
	c.notify("$/setTrace", `{"value":"off"}`)
	h.in.Close()
	h.wait(c)
	errs := strings.Join(fake.end(), "\n")
	for _, want := range []string{`rule "before-initialized"`, `rule "trace"`, `rule "shutdown"`, "not met: expect didOpen"} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %s in %s", want, errs)
		}
	}
}

func TestChildProcessLeftRunning(t *testing.T) {
	fake := &fakeTB{TB: t}
	path, args, env := Command(fake, "ignore eof\n")
	h := startProcess(t, path, args, env)
	c := connect(t, h)
	c.request("1", "initialize", initParams("/w"))
	Eventually(t, func() bool { return c.reply(1) != "" }, "answer to initialize")
	if errs := fake.end(); len(errs) != 1 || !strings.Contains(errs[0], "left-running") {
		t.Errorf("%q", errs)
	}
	h.wait(c)
	if h.exit != "signal: killed" {
		t.Errorf("not killed: %s", h.exit)
	}
}

// Without a test that reads reports (the command), faults go to stderr.
func TestChildProcessByHand(t *testing.T) {
	path, args, env := Command(&fakeTB{TB: t}, "expect didOpen\n")
	h := startProcess(t, path, args, []string{env[0]})
	c := connect(t, h)
	c.request("1", "initialize", initParams("/w"))
	Eventually(t, func() bool { return c.reply(1) != "" }, "answer to initialize")
	c.notify("$/setTrace", `{"value":"off"}`)
	h.in.Close()
	h.wait(c)
	for _, want := range []string{`rule "trace"`, "not met: expect didOpen"} {
		if got := h.err.String(); !strings.Contains(got, want) || strings.Contains(got, "process-id") {
			t.Errorf("no %s in %s", want, got)
		}
	}
}
