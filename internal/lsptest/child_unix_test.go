//go:build unix

package lsptest

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestGrandchildHoldsStdout(t *testing.T) {
	path, args, env := Command(t, "spawn child holding stdout | stderr ready")
	p := &process{cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.in, _ = p.cmd.StdinPipe()
	p.out, _ = p.cmd.StdoutPipe()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := -p.cmd.Process.Pid
	c := connect(t, p)
	p.in.Close()
	if state, err := p.cmd.Process.Wait(); err != nil || state.String() != "exit status 1" {
		t.Errorf("%v %v", state, err)
	}
	if err := syscall.Kill(group, 0); err != nil {
		t.Errorf("nobody is left of the group: %v", err)
	}
	select {
	case <-c.done:
		t.Error("stdout ended with the process")
	default:
	}
	if err := syscall.Kill(group, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	<-c.done
}

func TestChildProcessTerminated(t *testing.T) {
	for script, want := range map[string]string{"": "signal: terminated", "ignore term\nignore eof": "signal: killed"} {
		path, args, env := Command(t, "allow shutdown left-running\n"+script)
		h := startProcess(t, path, args, env)
		c := connect(t, h)
		c.request("1", "initialize", initParams("/w"))
		Eventually(t, func() bool { return c.reply(1) != "" }, "answer to initialize")
		if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if script != "" {
			c.request("2", "shutdown", "null")
			Eventually(t, func() bool { return c.reply(2) != "" }, "answer to shutdown, after SIGTERM")
			h.cmd.Process.Kill()
		}
		h.wait(c)
		if h.exit != want {
			t.Errorf("%q: %s", script, h.exit)
		}
	}
}
