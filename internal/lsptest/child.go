package lsptest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The environment that makes a program a scripted server.
const (
	envScript = "DRAGOMAN_LSPTEST_SCRIPT" // file with the script
	envReport = "DRAGOMAN_LSPTEST_REPORT" // folder for reports, may be absent
	envOwner  = "DRAGOMAN_LSPTEST_OWNER"  // process id that initialize must name
	envHold   = "DRAGOMAN_LSPTEST_HOLD"   // only hold stdout
)

// flushLimit is how long a process that ends waits for its output to be read.
const flushLimit = 2 * time.Second

// holdLimit ends a grandchild that nobody killed.
const holdLimit = 30 * time.Second

// Main plays a script on stdin and stdout and exits, when this program was started
// by a Command; otherwise it returns at once. Call it at the top of TestMain (after
// proc.GuardMain).
func Main() {
	if os.Getenv(envHold) != "" {
		time.Sleep(holdLimit)
		os.Exit(0)
	}
	file := os.Getenv(envScript)
	if file == "" {
		return
	}
	src, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lsptest:", err)
		os.Exit(70)
	}
	owner, err := strconv.Atoi(os.Getenv(envOwner))
	if err != nil {
		owner = os.Getppid()
	}
	rep, err := newReport(os.Getenv(envReport))
	if err != nil {
		fmt.Fprintln(os.Stderr, "lsptest:", err)
		os.Exit(70)
	}
	os.Exit(playProcess(string(src), owner, rep))
}

// PlayFile plays the script in a file on stdin and stdout until it ends, writes
// what the client broke on stderr, and returns the exit code.
func PlayFile(file string) int {
	src, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lsptest:", err)
		return 70
	}
	return playProcess(string(src), os.Getppid(), &report{gen: 1})
}

// playProcess is the life of a child process.
func playProcess(src string, owner int, rep *report) int {
	s, err := newServer(src, owner, rep.gen, rep.broke)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lsptest:", err)
		return 70
	}
	s.recorded = rep.message
	r := s.newProcess(func(gen int) *run { return newRun(s, gen, os.Stdin) })
	r.stderr = func(text string) { _, _ = io.WriteString(os.Stderr, text) } // nobody may be reading
	r.onEnd = func() {}
	r.spawn = spawnHolder
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(os.Stdout, r.out) // the client may have closed its end
		_ = os.Stdout.Close()
	}()
	go r.serve() // may stay in a read of stdin, which ends with this process
	r.heedTerm()
	_ = r.out.closeWrite() // always nil
	select {
	case <-copied:
	case <-time.After(flushLimit):
	}
	if rep.file == nil {
		s.judge(rep.expectation)
	}
	rep.ended(r.exitText())
	if r.exitText() == terminated {
		dieBySignal()
	}
	code, err := strconv.Atoi(strings.TrimPrefix(r.exitText(), "exit status "))
	if err != nil {
		return 1
	}
	return code
}

// heedTerm ends the process on SIGTERM, unless it ignores it, and returns when it
// has ended.
func (r *run) heedTerm() {
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	for !r.isDead() {
		select {
		case <-terms:
			if !r.isIgnored("term") {
				r.clientEnds("Terminate")
				r.end(terminated)
			}
		case <-r.dead:
		}
	}
}

// terminated is the end by SIGTERM.
const terminated = "signal: terminated"

// dieBySignal ends this process by SIGTERM after all, where there are signals.
func dieBySignal() {
	signal.Reset(syscall.SIGTERM)
	self, err := os.FindProcess(os.Getpid())
	if err == nil && self.Signal(syscall.SIGTERM) == nil {
		time.Sleep(time.Second) // until it is delivered
	}
}

// spawnHolder starts a grandchild that does nothing but keep stdout open.
func spawnHolder() {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lsptest:", err)
		return
	}
	cmd := exec.Command(self, neverTest)
	cmd.Env = append(os.Environ(), envHold+"=1")
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "lsptest:", err)
	}
}

// neverTest keeps a test binary whose TestMain does not call Main from running its
// tests, which would start it again, and again.
const neverTest = "-test.run=^$"

// Program is a scripted server as a command to run.
type Program struct {
	Path string   // absolute
	Args []string // without argv[0]
	Env  []string // to be added to the environment

	t      testing.TB
	script string
	dir    string
}

// Command makes this test binary a scripted server: run path with args, and env
// added to the environment. Each run is a new process (generation). At the end of
// the test broken rules and unmet expectations of all of them are errors of t, and a
// process that still runs is one too, and is killed.
func Command(t testing.TB, script string) (path string, args, env []string) {
	t.Helper()
	p := NewProgram(t, script)
	return p.Path, p.Args, p.Env
}

// NewProgram is Command with access to what the processes received.
func NewProgram(t testing.TB, script string) *Program {
	t.Helper()
	if _, err := parseScript(script); err != nil {
		t.Fatalf("lsptest: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("lsptest: %v", err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "script.txt")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		t.Fatalf("lsptest: %v", err)
	}
	p := &Program{
		Path: self, Args: []string{neverTest}, t: t, script: script, dir: dir,
		Env: []string{envScript + "=" + file, envReport + "=" + dir, envOwner + "=" + strconv.Itoa(os.Getpid())},
	}
	t.Cleanup(p.finish)
	return p
}

// Generations is how many processes have started.
func (p *Program) Generations() int { return p.load().Generations() }

// Received is Server.Received of the process.
func (p *Program) Received(generation int) []Message { return p.load().Received(generation) }

// Methods is Server.Methods of the process.
func (p *Program) Methods(generation int) []string { return p.load().Methods(generation) }

// Await is Server.Await of the process, by Eventually.
func (p *Program) Await(t testing.TB, generation int, method string, n int) {
	t.Helper()
	Eventually(t, func() bool { return p.load().Count(generation, method) >= n },
		fmt.Sprintf("%s number %d at process %d", method, n, generation))
}

// load reads the reports into a server that never ran.
func (p *Program) load() *Server {
	s, err := newServer(p.script, 0, 1, func(string, string) {})
	if err != nil {
		p.t.Fatalf("lsptest: %v", err)
	}
	for gen := 1; ; gen++ {
		lines, err := readReport(p.dir, gen)
		if err != nil {
			return s
		}
		r := s.newProcess(func(gen int) *run { return newRun(s, gen, nil) })
		for _, l := range lines {
			if l.Message == nil {
				continue
			}
			m := &inbound{Message: *l.Message, version: l.Version, text: l.Text, lang: l.Language}
			m.look()
			if m.Method == "initialize" {
				r.checkInitialize(m) // for the root
			}
			s.record(gen, m)
		}
	}
}

// finish judges all processes.
func (p *Program) finish() {
	said := map[string]bool{}
	for gen := 1; ; gen++ {
		lines, err := readReport(p.dir, gen)
		if err != nil {
			break
		}
		pid, ended := 0, false
		for _, l := range lines {
			if l.Rule != "" && !said[l.Rule] {
				said[l.Rule] = true
				p.t.Errorf("lsptest: rule %q: %s", l.Rule, l.Fault)
			}
			pid, ended = max(pid, l.PID), ended || l.Ended != ""
		}
		if proc, err := os.FindProcess(pid); !ended && err == nil && pid > 0 && proc.Signal(syscall.Signal(0)) == nil {
			_ = proc.Kill() // it may have ended meanwhile
			p.t.Errorf("lsptest: rule %q: process %d (%d) still runs", "left-running", gen, pid)
		}
	}
	p.load().judge(p.t.Errorf)
}
