//go:build linux

package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	modes["stubborn"] = func() { // neither TERM nor the end of stdin impresses it
		signal.Ignore(unix.SIGTERM, unix.SIGHUP, unix.SIGINT)
		fmt.Println(os.Getpid())
		_, _ = io.Copy(os.Stdout, os.Stdin)
		forever()
	}
	modes["polite"] = func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, unix.SIGTERM)
		fmt.Println(os.Getpid())
		<-c
		os.Exit(7)
	}
	modes["runaway"] = func() { // leaves a process of another session that holds stdout
		exe, _ := os.Executable()
		cmd := exec.Command(exe)
		cmd.Env = []string{modeVariable + "=stubborn"}
		cmd.Stdout = os.Stdout
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
}

func forever() { <-time.After(time.Hour) }

// lives reports whether pid runs; a zombie that nobody has reaped does not.
func lives(pid int) bool {
	s, ok := readStat(pid)
	return ok && s.state != 'Z' && s.state != 'X'
}

func number(t *testing.T, r *bufio.Reader) int {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func shell(script string) Spec {
	return Spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: os.Environ()}
}

func TestGroups(t *testing.T) {
	// readAll must come to an end on its own.
	readAll := func(t *testing.T, r io.Reader) {
		t.Helper()
		end := make(chan error, 1)
		go func() { _, err := io.Copy(io.Discard, r); end <- err }()
		select {
		case err := <-end:
			if err != nil {
				t.Errorf("stdout ended with %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("stdout did not end")
		}
	}
	t.Run("C21 kill ends a wrapper and its child that holds stdout", func(t *testing.T) {
		h := begin(t, shell("sleep 1000 & echo $!; wait"))
		r := bufio.NewReader(h.Stdout())
		child := number(t, r)
		h.Kill()
		ended(t, h)
		if h.Exit() != "signal: killed" || lives(child) {
			t.Errorf("%q, child lives: %v", h.Exit(), lives(child))
		}
		readAll(t, r)
	})
	t.Run("C21 a wrapper that ends leaves no child behind", func(t *testing.T) {
		h := begin(t, shell("sleep 1000 & echo $!; exit 4"))
		r := bufio.NewReader(h.Stdout())
		child := number(t, r)
		ended(t, h)
		if h.Exit() != "exit status 4" || lives(child) {
			t.Errorf("%q, child lives: %v", h.Exit(), lives(child))
		}
		readAll(t, r)
	})
	t.Run("C21 a child that ignores TERM is killed after its wrapper", func(t *testing.T) {
		h := begin(t, shell("(trap '' TERM; echo ready; while :; do sleep 1; done) & echo $!; read x; exit 0"))
		r := bufio.NewReader(h.Stdout())
		first, err := r.ReadString('\n')
		second, err2 := r.ReadString('\n')
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		child, err := strconv.Atoi(strings.TrimSpace(strings.Replace(first+second, "ready\n", "", 1)))
		if err != nil {
			t.Fatal(err)
		}
		_ = h.Stdin().Close()
		ended(t, h)
		eventually(t, "the child's end", func() bool { return !lives(child) })
	})
	t.Run("C21 a process that left the group does not hold us up", func(t *testing.T) {
		h := run(t, "runaway")
		r := bufio.NewReader(h.Stdout())
		pid := number(t, r)
		defer func() { _ = unix.Kill(pid, unix.SIGKILL) }()
		ended(t, h)
		if !lives(pid) {
			t.Fatal("the test needs it to live")
		}
		readAll(t, r)
	})
	t.Run("terminate asks", func(t *testing.T) {
		h := run(t, "polite")
		number(t, bufio.NewReader(h.Stdout()))
		h.Terminate()
		ended(t, h)
		if h.Exit() != "exit status 7" {
			t.Errorf("%q", h.Exit())
		}
	})
	t.Run("terminate reaches a stopped process", func(t *testing.T) {
		h := run(t, "polite")
		pid := number(t, bufio.NewReader(h.Stdout()))
		_ = unix.Kill(pid, unix.SIGSTOP)
		h.Terminate()
		ended(t, h)
		if h.Exit() != "exit status 7" {
			t.Errorf("%q", h.Exit())
		}
	})
	t.Run("what ignores TERM is killed", func(t *testing.T) {
		h := run(t, "stubborn")
		r := bufio.NewReader(h.Stdout())
		pid := number(t, r)
		h.Terminate()
		h.Terminate()
		_, _ = io.WriteString(h.Stdin(), "4711\n")
		if n := number(t, r); n != 4711 {
			t.Fatal("the test needs it to ignore TERM")
		}
		_ = unix.Kill(pid, unix.SIGSTOP)
		h.Kill()
		ended(t, h)
		if h.Exit() != "signal: killed" {
			t.Errorf("%q", h.Exit())
		}
	})
	t.Run("processor time and memory are those of the group", func(t *testing.T) {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		spec := shell(exe + " & cat >/dev/null")
		spec.Env = []string{modeVariable + "=busy", "PATH=" + os.Getenv("PATH")}
		h := begin(t, spec)
		if line, err := bufio.NewReader(h.Stdout()).ReadString('\n'); err != nil || line != "worked\n" {
			t.Fatalf("%q %v", line, err)
		}
		if cpu := h.CPU(); cpu < int64(50*time.Millisecond) || cpu > int64(time.Minute) {
			t.Errorf("processor time %v", time.Duration(cpu))
		}
		if m := h.Memory(); m < 30<<20 || m > 1<<30 {
			t.Errorf("%d bytes", m)
		}
		h.Kill()
		ended(t, h)
		if h.CPU() != -1 || h.Memory() != -1 {
			t.Errorf("after the end: %d, %d", h.CPU(), h.Memory())
		}
	})
}

func TestParseStat(t *testing.T) {
	line := "42 (a) b ) c) S 1 77 77 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 5 0 100 1000000 256 18446744073709551615 1 1"
	s, ok := parseStat(42, []byte(line))
	if want := (stat{pid: 42, group: 77, state: 'S', ticks: 100, pages: 256}); !ok || s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	for _, bad := range []string{"", "42", "42 (x) S 1"} {
		if _, ok := parseStat(42, []byte(bad)); ok {
			t.Errorf("%q accepted", bad)
		}
	}
}
