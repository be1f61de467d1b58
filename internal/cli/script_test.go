package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/query"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// leakChecked runs the tests and then looks for goroutines that are left.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"dragoman": func() {
			os.Exit(Main(Process{
				Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: "v0.0.0-test",
				open: openScripted, program: os.Args[0], terminal: pretendTerminal,
			}))
		},
	})
}

// pretendTerminal makes the streams named in $PRETEND_TERMINAL terminals.
func pretendTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && strings.Contains(os.Getenv("PRETEND_TERMINAL"), strconv.Itoa(int(f.Fd())))
}

// TestScripts runs the command in testdata/script with a scripted backend.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DRAGOMAN_WORKSPACE", e.WorkDir)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// waitfile FILE waits until a background command has made it.
			"waitfile": func(ts *testscript.TestScript, _ bool, args []string) {
				file := ts.MkAbs(args[0])
				lsptest.Eventually(t, func() bool { _, err := os.Stat(file); return err == nil }, args[0]+" did not appear")
			},
			// exits CODE ARGS… runs dragoman and checks its exit code.
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				if err := ts.Exec("dragoman", args[1:]...); err != nil {
					var exit *exec.ExitError
					if !errors.As(err, &exit) {
						ts.Fatalf("%v", err)
					}
					got = exit.ExitCode()
				}
				if got != want {
					ts.Fatalf("dragoman %s exits with %d, want %d", strings.Join(args[1:], " "), got, want)
				}
			},
		},
	})
}

// scripted is a backend that knows one file, src/a.go.
type scripted struct{ dir string }

func openScripted(_ context.Context, a *app) (query.Backend, error) {
	if a.flags.trust {
		a.say("(trusted for this run)")
	}
	return scripted{a.workspace()}, nil
}

// Close writes that the servers were stopped where a test looks for it.
func (s scripted) Close(context.Context) error {
	if f := os.Getenv("CLOSED"); f != "" {
		return os.WriteFile(f, []byte("closed\n"), 0o666)
	}
	return nil
}

func (s scripted) Status(context.Context) (*query.Status, error) {
	return &query.Status{
		Workspace: "/workspace", Trusted: true,
		Servers: []query.ServerStatus{{Name: "gopls", Root: ".", State: "IN_PROGRESS", Detail: "warming up", Working: "Loading packages", Percent: 63,
			PID: 4711, Command: []string{"gopls", "serve"}, Uptime: 61e9, MemoryBytes: 45 << 20, OpenDocuments: 3, Restarts: 1, Stderr: "a\nlast words\n"}},
		Skipped: []query.SkippedServer{{Name: "eslint", Reason: "server_trust_required", Detail: "it runs code of the workspace", Hint: "Run `dragoman trust`."}},
		Notes:   []string{"a note"},
	}, nil
}

func (s scripted) Do(ctx context.Context, r query.Request) (*query.Answer, error) {
	rel := r.Target.Path
	if p, err := filepath.Rel(s.dir, rel); err == nil {
		rel = filepath.ToSlash(p)
	}
	if kind, ok := strings.CutPrefix(filepath.Base(rel), "fails-"); ok {
		return nil, &query.Error{Kind: query.Kind(kind), Op: r.Op, Message: "It failed.", Hint: "Do something."}
	}
	if filepath.Base(rel) == "hangs" {
		query.Report(ctx, query.Progress{Server: "gopls", Message: "Loading packages", Percent: 7})
		if err := os.WriteFile(filepath.Join(s.dir, "asked"), nil, 0o666); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if _, err := os.Stat(r.Target.Path); r.Target.Path != "" && err != nil && !strings.Contains(r.Target.Path, "://") {
		if _, err := os.Stat(filepath.Join(s.dir, r.Target.Path)); err != nil {
			return nil, &query.Error{Kind: query.BadRequest, Op: r.Op, Path: rel, Message: "File not found: " + rel + ".", Hint: "Check the path."}
		}
	}
	a := &query.Answer{Op: r.Op, Path: rel, At: r.Target.At, Query: r.Query, Server: r.Server,
		Basis: query.Basis{Settled: true, Servers: []query.ServerBasis{{Name: "gopls", Generation: 1, Settled: true}}}}
	a.Body, a.Total = s.body(r)
	if os.Getenv("NOTE") != "" {
		a.Notes = []query.Note{{Code: "moved", Text: os.Getenv("NOTE")}}
	}
	return a, nil
}

// body is made of src/a.go in the scripts; a question about nothing.go finds nothing.
func (s scripted) body(r query.Request) (query.Body, query.Count) {
	place := func(l, c, end int) query.Place {
		return query.Place{Path: "src/a.go", URI: "file://" + filepath.Join(s.dir, "src/a.go"), Servers: []string{"gopls"},
			Span: query.Span{Start: query.Point{Line: l, Column: c}, End: query.Point{Line: l, Column: end}}}
	}
	helper := query.Symbol{Name: "helper", Kind: "Function", Container: "a", Place: place(3, 6, 12)}
	if r.Op == query.Definition && os.Getenv("LIE") != "" {
		return &query.Places{Items: []query.Place{place(4, 2, 3)}}, query.Count{N: 1}
	}
	nothing := strings.Contains(r.Target.Path+r.Query, "nothing")
	switch r.Op {
	case query.Definition, query.References, query.Implementation:
		if nothing {
			return &query.Places{}, query.Count{}
		}
		if r.Op == query.References {
			return &query.Places{Items: []query.Place{place(6, 2, 8), place(7, 9, 15)}}, query.Count{N: 12}
		}
		return &query.Places{Items: []query.Place{place(3, 6, 12)}}, query.Count{N: 1}
	case query.Hover:
		if nothing {
			return &query.Prose{}, query.Count{}
		}
		return &query.Prose{Markdown: "```go\nfunc helper()\n```\n\nhelper helps.\n"}, query.Count{N: 1}
	case query.DocumentSymbol:
		return &query.Outline{Items: []query.Symbol{helper, {Name: "x", Kind: "Variable", Depth: 1, Place: place(4, 2, 3)}}}, query.Count{N: 2}
	case query.WorkspaceSymbol:
		if nothing {
			return &query.Found{}, query.Count{}
		}
		return &query.Found{Items: []query.Symbol{helper}, Top: &helper, References: []query.Place{place(6, 2, 8)}}, query.Count{N: 1}
	case query.IncomingCalls, query.OutgoingCalls:
		it := query.Item{Symbol: helper, JSON: json.RawMessage(`{"name":"helper"}`)}
		if r.Op == query.OutgoingCalls {
			return &query.Calls{Groups: []query.CallGroup{{Of: it, Calls: []query.Call{{Item: it}}, Total: query.Count{N: 1}}}}, query.Count{N: 1}
		}
		caller := query.Call{Item: query.Item{Symbol: query.Symbol{Name: "main", Kind: "Function", Place: place(5, 6, 10)}}, Sites: []query.Point{{Line: 6, Column: 2}, {Line: 7, Column: 9}}}
		return &query.Calls{Groups: []query.CallGroup{{Of: it, Calls: []query.Call{caller}, Total: query.Count{N: 1}}}}, query.Count{N: 1}
	case query.Diagnostics, query.WorkspaceDiagnostics:
		ps := []query.Problem{
			{Span: place(4, 2, 3).Span, Severity: "ERROR", Code: "E1", Source: "compiler", Servers: []string{"gopls"}, Message: "declared and not used: x"},
			{Span: place(6, 2, 3).Span, Severity: "WARNING", Servers: []string{"gopls"}, Message: "a\nb"}}
		return &query.Problems{Files: []query.FileProblems{{Path: "src/a.go", Problems: ps}}, FilesTotal: 1}, query.Count{N: 2}
	case query.CodeActions:
		got, _ := json.Marshal(r.Target.Span)
		return &query.Actions{Items: []query.Action{{Title: "Remove x " + string(got), Kind: "quickfix", Preferred: true, Server: "gopls"}, {Title: "Extract", Disabled: "no selection", Server: "gopls"}}}, query.Count{N: 2}
	}
	return &query.Items{}, query.Count{}
}
