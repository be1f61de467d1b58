//go:build integration && linux

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// descendants lists the live processes below pid.
func descendants(pid int) []int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		p, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if ppid, state := parentOf(p); state != "Z" {
			children[ppid] = append(children[ppid], p)
		}
	}
	var out []int
	queue := []int{pid}
	for len(queue) > 0 {
		cs := children[queue[0]]
		queue = append(queue[1:], cs...)
		out = append(out, cs...)
	}
	return out
}

func parentOf(pid int) (int, string) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, "Z"
	}
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	ppid, _ := strconv.Atoi(f[1])
	return ppid, f[0]
}

func alive(pid int) bool {
	_, state := parentOf(pid)
	return state != "Z"
}

func cmdline(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(string(b), "\x00", " ")
}

// isServer tells a server process from dragoman's own helpers and git.
func isServer(pid int) bool {
	c := cmdline(pid)
	return c != "" && !strings.Contains(c, "__guard") && !strings.HasPrefix(c, "git ")
}

// within polls until f is true.
func within(t testing.TB, d time.Duration, f func() bool) bool {
	t.Helper()
	deadline := time.After(d)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if f() {
			return true
		}
		select {
		case <-deadline:
			return f()
		case <-tick.C:
		}
	}
}

// TestNoOrphans: nothing is left after SIGKILL, end of stdin, SIGTERM.
func TestNoOrphans(t *testing.T) {
	ends := map[string]func(h *host){
		"SIGKILL": func(h *host) { _ = h.cmd.Process.Signal(syscall.SIGKILL) },
		"SIGTERM": func(h *host) { _ = h.cmd.Process.Signal(syscall.SIGTERM) },
		"stdin":   func(h *host) { _ = h.stdin.Close() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			eachLang(t, 5, func(t *testing.T, l lang, p *project, h *host) {
				q := questions(l, p)["definition"]
				if a := h.ask(q.args); q.check(a) != nil {
					t.Fatalf("%v\n%s", q.check(a), clip(a.Text))
				}
				pids := descendants(h.cmd.Process.Pid)
				if len(pids) == 0 {
					t.Fatal("no server process seen")
				}
				end(h)
				ok := within(t, 10*time.Second, func() bool {
					for _, pid := range pids {
						if alive(pid) {
							return false
						}
					}
					return true
				})
				for _, pid := range pids {
					if !ok && alive(pid) {
						t.Errorf("left: %d %s", pid, cmdline(pid))
					}
				}
			})
		})
	}
}

// TestKilledServer: a question during which the server is killed is answered right
// or fails in one sentence; the next is right.
func TestKilledServer(t *testing.T) {
	eachLang(t, 30, func(t *testing.T, l lang, p *project, h *host) {
		q := questions(l, p)
		if a := h.ask(q["definition"].args); q["definition"].check(a) != nil {
			t.Fatalf("before: %v\n%s", q["definition"].check(a), clip(a.Text))
		}
		for round := range 3 {
			name := []string{"references", "hover", "diagnostics"}[round]
			answered := make(chan answer, 1)
			go func() { answered <- h.ask(q[name].args) }()
			for _, pid := range descendants(h.cmd.Process.Pid) {
				if isServer(pid) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			a := <-answered
			if a.Error {
				if strings.Count(strings.TrimSpace(a.Text), "\n") > 2 {
					t.Errorf("%s killed: more than a sentence and a hint: %s", name, a.Text)
				}
			} else if err := q[name].check(a); err != nil {
				t.Errorf("%s killed: %v\n%s", name, err, clip(a.Text))
			}
			for _, next := range []string{"diagnostics", "references", "definition", "hover"} {
				if a := h.ask(q[next].args); q[next].check(a) != nil {
					t.Errorf("%s after the kill in %s: %v\n%s", next, name, q[next].check(a), clip(a.Text))
				}
			}
		}
	})
}

// TestHungServer: a stopped server delays nobody beyond 50 s nor others at all, and is replaced.
func TestHungServer(t *testing.T) {
	path := serverPath()
	require(t, path, "gopls")
	require(t, path, "pyright-langserver")
	root := realTemp(t)
	p := goProject(t, root, 30)
	py := pyProject(t, realTemp(t), 30)
	if err := os.Rename(py.Root, filepath.Join(root, "py")); err != nil {
		t.Fatal(err)
	}
	h := startHost(t, root, environ(t, path))
	q := questions(langs()[0], p)
	if a := h.ask(q["definition"].args); q["definition"].check(a) != nil {
		t.Fatalf("before: %v\n%s", q["definition"].check(a), clip(a.Text))
	}
	pyHover := map[string]any{"operation": "hover", "filePath": "py/" + py.Use.Path, "line": py.Use.Line, "character": py.Use.Col}
	if a := h.ask(pyHover); has(a, py.HoverHas) != nil {
		t.Fatalf("pyright before: %s", clip(a.Text))
	}
	for _, pid := range descendants(h.cmd.Process.Pid) {
		if strings.Contains(cmdline(pid), "gopls") {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		a := h.ask(q["references"].args)
		if a.Took > 51*time.Second {
			t.Errorf("hung: answered after %s", a.Took)
		}
		if !a.Error {
			if err := q["references"].check(a); err != nil {
				t.Errorf("hung: %v\n%s", err, clip(a.Text))
			}
		}
		t.Logf("question to the hung server: %s, %s", a.Took.Round(time.Millisecond), clip(a.Text))
	})
	for range 5 {
		if a := h.ask(pyHover); has(a, py.HoverHas) != nil || a.Took > 5*time.Second {
			t.Errorf("the other server was delayed: %s: %s", a.Took, clip(a.Text))
		}
	}
	wg.Wait()
	if a := h.ask(q["references"].args); q["references"].check(a) != nil {
		t.Errorf("after the replacement: %v after %s\n%s", q["references"].check(a), a.Took, clip(a.Text))
	}
}

// TestParallel: fifty questions at once are all right.
func TestParallel(t *testing.T) {
	eachLang(t, 60, func(t *testing.T, l lang, p *project, h *host) {
		names := []string{"definition", "references", "hover", "workspaceSymbol", "diagnostics"}
		qs := questions(l, p)
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				q := qs[names[i%len(names)]]
				if a := h.ask(q.args); q.check(a) != nil {
					t.Errorf("%s after %s: %v\n%s", names[i%len(names)], a.Took.Round(time.Millisecond), q.check(a), clip(a.Text))
				}
			})
		}
		wg.Wait()
	})
}
