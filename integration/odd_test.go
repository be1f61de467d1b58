//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// oddServer is a server that misbehaves.
type oddServer struct {
	Name string
	// Command is the program; "" plays Script after the shell lines.
	Command string
	Before  []string
	// Mode is the program's, if not that of a program.
	Mode   os.FileMode
	Script string
	// Answers: it answers all the same. Otherwise the error must have Says.
	Answers bool
	Says    string
}

// callLimit is shorter than what users wait, so that the test ends soon.
const callLimit = 8 * time.Second

func oddServers() []oddServer {
	return []oddServer{
		{Name: "command missing", Command: "no-such-toy-server", Says: "no-such-toy-server"},
		{Name: "absolute command missing", Command: "/nowhere/toy-server", Says: "/nowhere/toy-server"},
		{Name: "not executable", Mode: 0o644, Says: "The command of toy is not executable: "},
		{Name: "dies at once", Before: []string{"echo 'the toy is broken' >&2", "exit 3"}, Says: "the toy is broken"},
		{Name: "dies at initialize", Script: "crash on initialize\n", Says: "toy"},
		{Name: "dies at the question", Script: "crash on hover\n", Says: "toy"},
		{Name: "never answers initialize", Script: "on initialize hang\n", Says: "still starting"},
		{Name: "refuses initialize", Script: "on initialize error -32603 \"no licence\"\n", Says: "no licence"},
		{Name: "prints garbage before headers", Script: "garbage \"Welcome to toy 1.0\"\nafter initialize: garbage \"ready\" | garbage \"ready again\"\n" + toyHover, Answers: true},
		{Name: "prints nothing but garbage", Before: []string{"while echo garbage; do :; done", "exit 1"}, Says: "the peer's output is not LSP"},
		{Name: "closes stdout", Script: "after initialized: close stdout\n", Says: "toy"},
		{Name: "floods notifications", Script: "after initialized: flood log 20000 | flood progress 20000 | flood publish 20000 files=50 | flood stderr 5000\n" + toyHover, Answers: true},
		{Name: "floods without end", Before: []string{"(while echo flood >&2; do :; done) &"}, Script: toyHover, Answers: true},
		{Name: "never answers", Script: "on hover hang\n", Says: "toy is still working on the answer"},
		{Name: "answers nonsense", Script: "on hover reply [[1,{\"contents\":7}]]\n", Says: ""},
	}
}

// TestOddServers: each costs one sentence and one hint in time, and a question to
// gopls in the same session is answered meanwhile and after.
func TestOddServers(t *testing.T) {
	path := serverPath()
	require(t, path, "gopls")
	for _, odd := range oddServers() {
		t.Run(odd.Name, func(t *testing.T) {
			root := realTemp(t)
			p := goProject(t, root, 5)
			write(t, filepath.Join(root, "x.toy"), "toy\n")
			command := odd.Command
			if command == "" {
				command = filepath.Join(t.TempDir(), "toy")
				toyServer(t, command, odd.Script, odd.Before...)
				if odd.Mode != 0 {
					if err := os.Chmod(command, odd.Mode); err != nil {
						t.Fatal(err)
					}
				}
			}
			env := environ(t, path)
			userConfig(t, env, `{"servers": {"toy": {"command": "`+command+`", "trustRequired": false}}}`)
			h := startHost(t, root, env, "--call-limit", callLimit.String())
			qs := questions(langNamed(t, "gopls"), p)
			var wg sync.WaitGroup
			for _, name := range []string{"definition", "hover", "diagnostics"} {
				wg.Go(func() {
					if a := h.ask(qs[name].args); qs[name].check(a) != nil || a.Took > callLimit {
						t.Errorf("gopls beside it: %s after %s: %v\n%s", name, a.Took, qs[name].check(a), clip(a.Text))
					}
				})
			}
			for range 3 {
				wg.Go(func() { odd.judge(t, h.ask(toyQuestion)) })
			}
			wg.Wait()
			odd.judge(t, h.ask(toyQuestion))
			workspaceSymbol(t, h, qs["workspaceSymbol"])
			if a := h.ask(qs["definition"].args); qs["definition"].check(a) != nil || a.Took > 2*time.Second {
				t.Errorf("gopls after it, after %s: %s", a.Took, clip(a.Text))
			}
		})
	}
}

func (odd *oddServer) judge(t *testing.T, a answer) {
	t.Helper()
	text := strings.TrimSpace(a.Text)
	t.Logf("%s: %s", a.Took.Round(time.Millisecond), clip(text))
	if a.Took > callLimit+time.Second {
		t.Errorf("answered after %s", a.Took)
	}
	switch {
	case odd.Answers:
		if has(a, "Hover for x.toy:1:1:", "a toy") != nil {
			t.Errorf("%s", clip(text))
		}
	case odd.Says == "" && !a.Error: // nothing to be read in it, which is said
		if !strings.Contains(text, "No hover information") {
			t.Errorf("%s", clip(text))
		}
	case !a.Error || !strings.Contains(text, odd.Says):
		t.Errorf("error=%v, want %q: %s", a.Error, odd.Says, clip(text))
	default:
		sentence, hint, ok := strings.Cut(text, "\nHint: ")
		if !ok || strings.Contains(sentence, "\n") || strings.Contains(hint, "\n") || strings.Contains(text, "goroutine ") {
			t.Errorf("not one sentence and one hint: %s", clip(text))
		}
	}
}

// workspaceSymbol asks all servers: the odd one must not cost what gopls finds.
func workspaceSymbol(t *testing.T, h *host, q question) {
	t.Helper()
	if a := h.ask(q.args); q.check(a) != nil || a.Took > callLimit+time.Second {
		t.Errorf("merged answer after %s: %v\n%s", a.Took, q.check(a), clip(a.Text))
	}
}
