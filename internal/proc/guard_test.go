//go:build linux

package proc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// marker is in the environment of everything that one test starts below the middle
// process, so that nothing of it can hide.
const marker = "PROC_TEST_MARKER"

func init() {
	modes["middle"] = func() {
		for _, spec := range family() {
			mustStart(spec)
		}
		fmt.Println("ready")
		switch line, _ := bufio.NewReader(os.Stdin).ReadString('\n'); line {
		case "more\n":
			mustStart(family()[1])
			fmt.Println("ready")
			forever()
		case "exit\n":
			return
		}
		forever()
	}
	modes["starter"] = func() { // starts without end; it is killed in the midst of that
		fmt.Println("ready")
		for i := 0; ; i++ {
			h := mustStart(family()[1+i%2])
			fmt.Println("ready")
			if i%3 == 0 {
				h.Kill()
				<-h.Done()
			}
		}
	}
}

// family are servers of the kinds that survive their client.
func family() []Spec {
	exe, _ := os.Executable()
	env := []string{marker + "=" + os.Getenv(marker), "PATH=" + os.Getenv("PATH")}
	return []Spec{
		{Path: exe, Env: append(env, modeVariable+"=stubborn")},
		{Path: "/bin/sh", Args: []string{"-c", "sleep 1000 & wait"}, Env: env},
		{Path: "/bin/sh", Args: []string{"-c", "trap '' TERM; (sleep 1000; sleep 1000) & sleep 1000; sleep 1000"}, Env: env},
	}
}

func mustStart(spec Spec) Handle {
	h, err := Start(context.Background(), spec)
	if err != nil {
		panic(err)
	}
	return h
}

// middle runs the test binary as a dragoman that is going to die.
type middle struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	value string
}

func startMiddle(t *testing.T, mode string, env ...string) *middle {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := &middle{cmd: exec.Command(exe), value: fmt.Sprintf("%d-%s", os.Getpid(), filepath.Base(t.TempDir()+t.Name()))}
	m.value += strconv.FormatInt(time.Now().UnixNano(), 36)
	m.cmd.Env = append(env, modeVariable+"="+mode, marker+"="+m.value, "PATH="+os.Getenv("PATH"))
	m.in, _ = m.cmd.StdinPipe()
	out, _ := m.cmd.StdoutPipe()
	m.out = bufio.NewReader(out)
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = m.cmd.Process.Kill()
		_ = m.cmd.Wait()
		for _, pid := range m.marked() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	})
	m.ready(t)
	return m
}

func (m *middle) ready(t *testing.T) {
	t.Helper()
	if line, err := m.out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
}

// marked lists what runs of the middle's family, itself included.
func (m *middle) marked() []int {
	var pids []int
	for _, pid := range processes() {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if bytes.Contains(env, []byte(marker+"="+m.value)) && lives(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// guard is the middle's guard process, 0 when there is none.
func (m *middle) guard() int {
	for _, pid := range processes() {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		ours := strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", m.cmd.Process.Pid))
		if ours && bytes.HasSuffix(line, []byte("\x00"+guardArg+"\x00")) && lives(pid) {
			return pid
		}
	}
	return 0
}

// ignores reports whether the process ignores a signal.
func ignores(pid int, s unix.Signal) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "\nSigIgn:\t")
	mask, _, _ := strings.Cut(rest, "\n")
	bits, _ := strconv.ParseUint(mask, 16, 64)
	return bits&(1<<(s-1)) != 0
}

func (m *middle) gone(t *testing.T) {
	t.Helper()
	eventually(t, "the end of everything", func() bool { return len(m.marked()) == 0 })
}

func TestGuard(t *testing.T) {
	t.Run("nothing survives a SIGKILL", func(t *testing.T) {
		m := startMiddle(t, "middle")
		eventually(t, "a family of seven", func() bool { return len(m.marked()) >= 7 })
		guard := m.guard()
		_ = m.cmd.Process.Kill()
		m.gone(t)
		eventually(t, "the guard's end", func() bool { return !lives(guard) })
	})
	t.Run("nothing survives a normal end", func(t *testing.T) {
		m := startMiddle(t, "middle")
		_, _ = io.WriteString(m.in, "exit\n")
		m.gone(t)
	})
	t.Run("nothing survives a SIGKILL in the midst of a start", func(t *testing.T) {
		for round := range 4 {
			m := startMiddle(t, "starter")
			for range 2 + 3*round {
				m.ready(t)
			}
			_ = m.cmd.Process.Kill()
			_ = m.cmd.Wait()
			m.gone(t)
		}
	})
	t.Run("out of reach of the terminal and of polite signals", func(t *testing.T) {
		m := startMiddle(t, "middle")
		guard := m.guard()
		if sid, err := unix.Getsid(guard); err != nil || sid != guard {
			t.Errorf("session %d, %v", sid, err)
		}
		eventually(t, "the guard's readiness", func() bool { return ignores(guard, unix.SIGTERM) })
		for _, s := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} {
			_ = unix.Kill(guard, s)
		}
		_, _ = io.WriteString(m.in, "more\n")
		m.ready(t)
		if g := m.guard(); g != guard {
			t.Errorf("guard %d was replaced by %d", guard, g)
		}
	})
	t.Run("a lost guard is replaced and told of all", func(t *testing.T) {
		m := startMiddle(t, "middle")
		guard := m.guard()
		_ = unix.Kill(guard, unix.SIGKILL)
		eventually(t, "the guard's end", func() bool { return !lives(guard) })
		_, _ = io.WriteString(m.in, "more\n")
		m.ready(t)
		if g := m.guard(); g == 0 || g == guard {
			t.Fatalf("guard %d after %d", g, guard)
		}
		_ = m.cmd.Process.Kill()
		m.gone(t)
	})
	t.Run("a program that does not call GuardMain is not run again", func(t *testing.T) {
		m := startMiddle(t, "middle", unguarded+"=1")
		if g := m.guard(); g != 0 {
			t.Errorf("guard %d", g)
		}
	})
}

// TestWatched: a wrong line must never make the guard kill what it should not.
func TestWatched(t *testing.T) {
	w := watched{groups: map[int]bool{}, tickets: map[string]bool{}}
	for _, line := range []string{"", "+", "+0 1", "+1 1", "+-1 1", "+x 1", "-", "-x", "what", "?5", "?6", "?7", "+200 5", "!6", "+300 9", "-300"} {
		w.note(line)
	}
	if len(w.groups) != 1 || !w.groups[200] || len(w.tickets) != 1 || !w.tickets["7"] {
		t.Errorf("%+v", w)
	}
}
