package server

import (
	"context"
	"os"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/internal/diag"
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/lsptest"
)

// problem is a diagnostic in JSON.
func problem(message string) string {
	return `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"severity":1,"message":"` + message + `"}`
}

func messages(ds []lsp.Diagnostic) (out []string) {
	for _, d := range ds {
		out = append(out, d.Message)
	}
	return out
}

// diagnose asks about a.go.
func (f *fixture) diagnose() ([]string, diag.Freshness) {
	f.t.Helper()
	ctx := within(f.t, 2*time.Minute)
	s := f.session()
	snap, err := s.Ensure(ctx, f.path("a.go"))
	if err != nil {
		f.t.Fatal(err)
	}
	ds, fresh, err := s.Diagnose(ctx, snap, "go")
	if err != nil {
		f.t.Fatal(err)
	}
	return messages(ds), fresh
}

// expects compares one outcome of diagnose.
func (f *fixture) expects(fresh diag.Freshness, want ...string) {
	f.t.Helper()
	got, is := f.diagnose()
	if !slices.Equal(got, want) || is != fresh {
		f.t.Errorf("got %q %v, want %q %v", got, is, want, fresh)
	}
}

func (f *fixture) write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func TestDiagnosePush(t *testing.T) {
	bubble(t, "C69 publish with an older version", func(t *testing.T) {
		f := run(t, `
after didOpen: publish a.go version=1 [`+problem("one")+`]
after didChange: publish a.go version=1 [`+problem("late")+`] ; sleep 2s ; publish a.go version=2 [`+problem("two")+`]
`)
		f.expects(diag.Fresh, "one")
		f.write("a.go", "package p\n\nfunc Changed() {}\n")
		f.expects(diag.Fresh, "two")
	})
	bubble(t, "C69 only an older version", func(t *testing.T) {
		f := run(t, `
after didOpen: publish a.go version=1 [`+problem("one")+`]
`)
		f.expects(diag.Fresh, "one")
		f.write("a.go", "package p\n\nfunc Changed() {}\n")
		began := time.Now()
		f.expects(diag.Stale, "one")
		around(t, "the cap", time.Since(began), pushCap)
	})
	bubble(t, "C70 publish without version", func(t *testing.T) {
		f := run(t, `
after didOpen: publish a.go [`+problem("before")+`]
after didChange: sleep 1s ; publish a.go [`+problem("after")+`]
`)
		f.expects(diag.Settled, "before")
		f.write("a.go", "package p\n\nfunc Changed() {}\n")
		f.expects(diag.Settled, "after")
	})
	bubble(t, "C71 syntax first, semantics later", func(t *testing.T) {
		f := run(t, `
after didOpen:
	sleep 100ms ; publish a.go version=1 [`+problem("syntax")+`]
	sleep 200ms ; publish a.go version=1 [`+problem("syntax")+`,`+problem("semantic")+`]
`)
		f.expects(diag.Fresh, "syntax", "semantic")
	})
	bubble(t, "C71 the final push is waited for no longer", func(t *testing.T) {
		f := run(t, `after didOpen: publish a.go version=1 []`, traits(Traits{FinalPush: true}))
		began := time.Now()
		f.expects(diag.Fresh)
		if took := time.Since(began); took > 0 {
			t.Errorf("took %v", took)
		}
	})
	bubble(t, "C72 nothing is ever published", func(t *testing.T) {
		f := run(t, ``)
		began := time.Now()
		f.expects(diag.None)
		around(t, "the cap", time.Since(began), pushCap)
	})
	bubble(t, "C72 longer while progress lives", func(t *testing.T) {
		f := run(t, `
after didOpen: progress begin lint "Linting" ; sleep 12s ; publish a.go [`+problem("late")+`] ; progress end lint
`)
		f.expects(diag.Settled, "late")
	})
	bubble(t, "C72 longer while the server is at work", func(t *testing.T) {
		f := run(t, `
after didOpen: sleep 12s ; publish a.go [`+problem("late")+`]
`)
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for used := int64(0); ; used += int64(time.Second) {
				select {
				case <-ended:
					return
				case <-tick.C:
					f.script.SetCPU(1, used)
				}
			}
		}()
		f.expects(diag.Settled, "late")
	})
	bubble(t, "a server that is silent about clean files", func(t *testing.T) {
		f := run(t, `expect count documentSymbol 1`, traits(Traits{NoEmptyPush: true}))
		began := time.Now()
		f.expects(diag.Settled)
		around(t, "the silence", time.Since(began), silentQuiet)
	})
	bubble(t, "a silent server that has something to say", func(t *testing.T) {
		f := run(t, `
after didOpen: sleep 400ms ; publish a.go [`+problem("bad")+`]
`, traits(Traits{NoEmptyPush: true}))
		f.expects(diag.Settled, "bad")
	})
	bubble(t, "another file changed", func(t *testing.T) {
		f := run(t, `
after didOpen a.go: publish a.go version=1 [`+problem("one")+`]
after didChange a.go: publish a.go version=2 [`+problem("two")+`]
`)
		f.expects(diag.Fresh, "one")
		if _, err := f.session().Ensure(context.Background(), f.path("b.go")); err != nil {
			t.Fatal(err)
		}
		f.write("b.go", "package p\n\nfunc Other() {}\n")
		f.expects(diag.Fresh, "two")
	})
	bubble(t, "a caller who does not wait", func(t *testing.T) {
		f := run(t, ``)
		s := f.session()
		snap, err := s.Ensure(context.Background(), f.path("a.go"))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, fresh, err := s.Diagnose(within(t, time.Second), snap, "go")
		if fresh != diag.None || err != context.DeadlineExceeded {
			t.Errorf("%v, %v", fresh, err)
		}
		around(t, "the wait", time.Since(began), time.Second)
	})
}

func TestDiagnosePull(t *testing.T) {
	const provider = `capabilities {"diagnosticProvider":{"interFileDependencies":true,"workspaceDiagnostics":false}}`
	bubble(t, "C38 two providers", func(t *testing.T) {
		f := run(t, `
after initialized:
	register textDocument/diagnostic {"identifier":"lint","documentSelector":[{"language":"go"}]} id=1
	register textDocument/diagnostic {"identifier":"types","documentSelector":[{"language":"go"}]} id=2
on diagnostic when="lint" reply {"kind":"full","items":[`+problem("lint")+`]}
on diagnostic when="types" reply {"kind":"full","items":[`+problem("types")+`]}
expect count diagnostic 2
`)
		f.session()
		synctest.Wait()
		f.expects(diag.Fresh, "lint", "types")
	})
	bubble(t, "C73 unchanged keeps the items", func(t *testing.T) {
		f := run(t, provider+`
on diagnostic when="\"previousResultId\":\"r1\"" reply {"kind":"unchanged","resultId":"r1"}
on diagnostic times=1 reply {"kind":"full","resultId":"r1","items":[`+problem("kept")+`]}
expect count diagnostic 2
`)
		f.expects(diag.Fresh, "kept")
		f.expects(diag.Fresh, "kept")
	})
	bubble(t, "C75 retried while the data allows it", func(t *testing.T) {
		f := run(t, provider+`
on diagnostic times=1 error -32802 "busy"
on diagnostic times=1 error -32802 "busy" data={"retriggerRequest":true}
on diagnostic reply {"kind":"full","items":[`+problem("late")+`]}
`)
		f.expects(diag.Fresh, "late")
	})
	bubble(t, "C75 dropped when the data says so", func(t *testing.T) {
		f := run(t, provider+`
on diagnostic times=1 error -32802 "no" data={"retriggerRequest":false}
on diagnostic reply {"kind":"full","items":[`+problem("later")+`]}
`)
		f.expects(diag.None)
		f.expects(diag.Fresh, "later")
	})
	bubble(t, "kind of gopls", func(t *testing.T) {
		f := run(t, provider+`
on diagnostic reply {"kind":"","items":[`+problem("odd")+`]}
`)
		f.expects(diag.Fresh, "odd")
	})
	bubble(t, "C78 pushes that repeat the pull", func(t *testing.T) {
		f := run(t, provider+`
after didOpen: publish a.go version=1 [`+problem("one")+`]
on diagnostic n=1 reply {"kind":"full","items":[`+problem("one")+`]}
on diagnostic reply {"kind":"full","items":[`+problem("two")+`]}
`)
		f.expects(diag.Fresh, "one")
		f.write("a.go", "package p\n\nfunc Changed() {}\n")
		f.expects(diag.Fresh, "two")
	})
	bubble(t, "C78 pushes of another kind", func(t *testing.T) {
		f := run(t, provider+`
after didSave a.go:
	sleep 100ms ; progress begin "check/0" "cargo check"
	sleep 7s ; publish a.go version=current [`+problem("borrowed")+`] ; progress end "check/0"
on diagnostic reply {"kind":"full","items":[`+problem("native")+`]}
`, traits(Traits{NoEmptyPush: true, PushProgress: regexp.MustCompile(`cargo check`)}))
		began := time.Now()
		f.expects(diag.Fresh, "native", "borrowed")
		around(t, "the check", time.Since(began), 7100*time.Millisecond)
		began = time.Now()
		f.expects(diag.Fresh, "native", "borrowed")
		if took := time.Since(began); took > 0 {
			t.Errorf("checked again for nothing: %v", took)
		}
	})
	bubble(t, "C78 no check runs", func(t *testing.T) {
		f := run(t, provider+`
on diagnostic reply {"kind":"full","items":[`+problem("native")+`]}
`, traits(Traits{NoEmptyPush: true, PushProgress: regexp.MustCompile(`cargo check`)}))
		began := time.Now()
		f.expects(diag.Settled, "native")
		around(t, "the wait for its begin", time.Since(began), checkBegin)
	})
	bubble(t, "a refresh under the pull", func(t *testing.T) {
		f := run(t, provider+`
on diagnostic n=1 request workspace/diagnostic/refresh ; reply {"kind":"full","items":[`+problem("old")+`]}
on diagnostic reply {"kind":"full","items":[`+problem("new")+`]}
expect count diagnostic 2
`)
		f.expects(diag.Fresh, "new")
	})
	bubble(t, "the server's error", func(t *testing.T) {
		f := run(t, provider+`
on diagnostic error -32803 "no package"
`)
		s := f.session()
		snap, err := s.Ensure(context.Background(), f.path("a.go"))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Diagnose(context.Background(), snap, "go"); err == nil || err.Error() != "no package" {
			t.Errorf("got %v", err)
		}
	})
}

func TestDiagnoseWorkspace(t *testing.T) {
	ctx := context.Background()
	const provider = `capabilities {"diagnosticProvider":{"interFileDependencies":true,"workspaceDiagnostics":true}}`
	report := func(name, items string) string {
		return `{"kind":"full","uri":"${uri:` + name + `}","version":null,"items":[` + items + `]}`
	}
	check := func(t *testing.T, f *fixture, complete bool, want map[string][]string) {
		t.Helper()
		got, all, err := f.session().DiagnoseWorkspace(ctx)
		if err != nil || all != complete || len(got) != len(want) {
			t.Fatalf("%v, %v, %v", got, all, err)
		}
		for name, msgs := range want {
			if ds := got["file://"+f.path(name)]; !slices.Equal(messages(ds), msgs) {
				t.Errorf("%s: %q, want %q", name, messages(ds), msgs)
			}
		}
	}
	bubble(t, "one answer", func(t *testing.T) {
		f := run(t, provider+`
on workspace/diagnostic reply {"items":[`+report("a.go", problem("x"))+`,`+report("b.go", "")+`]}
`)
		check(t, f, true, map[string][]string{"a.go": {"x"}, "b.go": nil})
	})
	bubble(t, "in parts, the request stays open", func(t *testing.T) {
		script := lsptest.New(t, provider)
		script.Handle("workspace/diagnostic", func(int, lsptest.Message) lsptest.Reply {
			for _, name := range []string{"a.go", "b.go"} {
				time.Sleep(time.Second)
				script.Send(1, "$/progress", map[string]any{"token": "dragoman-partial-1", "value": map[string]any{
					"items": []any{map[string]any{"kind": "full", "uri": "file:///" + name, "items": []any{raw(problem(name))}}},
				}})
			}
			return lsptest.Reply{Hang: true}
		})
		f := runScripted(t, script)
		began := time.Now()
		got, complete, err := f.session().DiagnoseWorkspace(ctx)
		if err != nil || !complete || len(got) != 2 {
			t.Errorf("%v, %v, %v", got, complete, err)
		}
		around(t, "the pull", time.Since(began), 2*time.Second+partialQuiet)
	})
	bubble(t, "not offered", func(t *testing.T) {
		f := run(t, `after didOpen: publish a.go version=1 [`+problem("x")+`]`)
		f.diagnose()
		check(t, f, false, map[string][]string{"a.go": {"x"}})
	})
}
