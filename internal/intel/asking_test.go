package intel

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

// loading is a server that tells its readiness by progress.
var loading = server.Traits{Readiness: server.Readiness{
	Mode: server.ReadyProgress, AppearWithin: time.Second, Ceiling: 20 * time.Second}}

const stopPlace = `{"uri":"${uri:b.go}","range":{"start":{"line":2,"character":5},"end":{"line":2,"character":9}}}`

func TestEmptyWhileWarming(t *testing.T) {
	t.Run("C66 an empty answer while warming is asked again after settling", func(t *testing.T) {
		// It is settled when it is asked, and begins to load during the question.
		script := `
on definition n=1: progress create T | progress begin T "Loading" | reply null | delay 2s progress end T
on definition: reply ` + stopPlace + `
expect count definition 2
`
		bubble(t, twoFiles, []scripted{{name: "one", script: script, traits: loading}}, func(f *fixture) {
			a := f.ask(at(query.Definition, "a.go", 3, 14))
			want(t, "place", placesOf(a), "b.go:3:6")
			if !a.Basis.Settled {
				t.Error("not settled")
			}
		})
	})
	t.Run("hover does not wait, but an empty one is asked again", func(t *testing.T) {
		script := `
after initialized: progress create T | progress begin T "Loading" | sleep 3s | progress end T
on hover n=1: reply null
on hover: reply {"contents":"text"}
expect count hover 2
`
		bubble(t, twoFiles, []scripted{{name: "one", script: script, traits: loading}}, func(f *fixture) {
			a := f.ask(at(query.Hover, "a.go", 3, 6))
			want(t, "hover", a.Body.(*query.Prose).Markdown, "text")
		})
	})
	t.Run("a server that never settles leaves a doubt", func(t *testing.T) {
		script := `
after initialized: progress create T | progress begin T "Indexing" 63
on definition: reply null
expect count definition 1
`
		bubble(t, twoFiles, []scripted{{name: "one", script: script, traits: loading}}, func(f *fixture) {
			a := f.ask(at(query.Definition, "a.go", 3, 14))
			if !strings.Contains(a.Unsure, "one is still loading the project: Indexing (63 %") || a.Basis.Settled {
				t.Errorf("unsure %q, settled %v", a.Unsure, a.Basis.Settled)
			}
		})
	})
	t.Run("wait complete fails where it never settles", func(t *testing.T) {
		script := `
after initialized: progress create T | progress begin T "Indexing"
expect none definition
`
		bubble(t, twoFiles, []scripted{{name: "one", script: script, traits: loading}}, func(f *fixture) {
			r := at(query.Definition, "a.go", 3, 14)
			r.Wait = query.WaitComplete
			if e := f.refused(r); e.Kind != query.NotReady {
				t.Errorf("%s: %s", e.Kind, e.Message)
			}
		})
	})
	t.Run("wait now asks at once and says so", func(t *testing.T) {
		script := `
after initialized: progress create T | progress begin T "Indexing"
on references: reply [` + stopPlace + `]
`
		bubble(t, twoFiles, []scripted{{name: "one", script: script, traits: loading}}, func(f *fixture) {
			r := at(query.References, "a.go", 3, 14)
			r.Wait = query.WaitNow
			began := time.Now()
			a := f.ask(r)
			synctest.Wait() // let the server have its answers before it is stopped
			if took := time.Since(began); took > time.Second {
				t.Errorf("took %v", took)
			}
			if !hasNote(a, "loading", "The answer may be incomplete.") {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
	t.Run("a failed project load is no claim", func(t *testing.T) {
		traits := loading
		traits.Readiness.AppearWithin = soon
		traits.Readiness.Mode = server.ReadySelf
		traits.LoadErrors = []server.LoadPattern{{Match: regexp.MustCompile("no go.mod"), Say: "there is no go.mod"}}
		script := `
after initialized: log 1 "no go.mod here"
on definition: reply null
`
		bubble(t, twoFiles, []scripted{{name: "one", script: script, traits: traits}}, func(f *fixture) {
			a := f.ask(at(query.Definition, "a.go", 3, 14))
			want(t, "unsure", a.Unsure, "one did not load the whole project: there is no go.mod.")
		})
	})
}

func TestSeveralServers(t *testing.T) {
	answers := "on definition reply " + stopPlace
	for _, tc := range []struct{ name, script, note string }{
		{"lacks the feature", `capabilities {"definitionProvider":null}`, "one does not support it; answered by two."},
		{"answers empty", "on definition reply []", "one found nothing; answered by two."},
		{"fails", `on definition error -32803 "no package"`, "one failed (no package); answered by two."},
	} {
		t.Run("C104 the first of two "+tc.name, func(t *testing.T) {
			servers := []scripted{{name: "one", script: tc.script, traits: self}, {name: "two", script: answers, traits: self}}
			bubble(t, twoFiles, servers, func(f *fixture) {
				a := f.ask(at(query.Definition, "a.go", 3, 14))
				want(t, "place", placesOf(a), "b.go:3:6")
				want(t, "server", strings.Join(a.Body.(*query.Places).Items[0].Servers, ","), "two")
				if !hasNote(a, "fallback", tc.note) {
					t.Errorf("notes %v", a.Notes)
				}
			})
		})
	}
	t.Run("the first of two never answers", func(t *testing.T) {
		servers := []scripted{{name: "one", script: "on definition hang", traits: self}, {name: "two", script: answers, traits: self}}
		bubble(t, twoFiles, servers, func(f *fixture) {
			ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second)
			defer cancel()
			a, err := Do(ctx, f.d, at(query.Definition, "a.go", 3, 14))
			if err != nil || placesOf(a) != "b.go:3:6" || !hasNote(a, "fallback", "one did not answer in time; answered by two.") {
				t.Errorf("%+v, %v", a, err)
			}
		})
	})
	t.Run("the first that finds something is the only one asked", func(t *testing.T) {
		servers := []scripted{{name: "one", script: answers, traits: self}, {name: "two", script: "expect none definition", traits: self}}
		bubble(t, twoFiles, servers, func(f *fixture) {
			if a := f.ask(at(query.Definition, "a.go", 3, 14)); len(a.Notes) > 0 {
				t.Errorf("notes %v", a.Notes)
			}
		})
	})
	t.Run("an empty answer beside a failure claims nothing", func(t *testing.T) {
		servers := []scripted{{name: "one", script: `on definition error -32603 "broken"`, traits: self}, {name: "two", script: "", traits: self}}
		bubble(t, twoFiles, servers, func(f *fixture) {
			want(t, "unsure", f.ask(at(query.Definition, "a.go", 3, 14)).Unsure, "one could not answer: broken")
		})
	})
	t.Run("nobody can", func(t *testing.T) {
		script := `capabilities {"implementationProvider":null}`
		linter := scripted{name: "lint", script: "", traits: self, tune: func(c *Candidate) { c.Linter = true }}
		bubble(t, twoFiles, []scripted{linter, {name: "one", script: script, traits: self}}, func(f *fixture) {
			e := f.refused(at(query.Implementation, "a.go", 3, 14))
			want(t, "error", string(e.Kind)+": "+e.Message, "Unsupported: one does not support goToImplementation.")
		})
		bubble(t, twoFiles, []scripted{linter}, func(f *fixture) {
			e := f.refused(at(query.Implementation, "a.go", 3, 14))
			want(t, "error", string(e.Kind)+": "+e.Message, "Unsupported: lint does not support goToImplementation.")
		})
	})
	t.Run("a forced server is the only one", func(t *testing.T) {
		servers := []scripted{{name: "one", script: "expect none definition", traits: self}, {name: "two", script: answers, traits: self}}
		bubble(t, twoFiles, servers, func(f *fixture) {
			r := at(query.Definition, "a.go", 3, 14)
			r.Server = "two"
			a := f.ask(r)
			want(t, "place", placesOf(a)+" "+a.Server, "b.go:3:6 two")
			r.Server = "nope"
			if e := f.refused(r); e.Kind != query.BadRequest {
				t.Errorf("%v", e)
			}
		})
	})
}

func TestContentModified(t *testing.T) {
	t.Run("C101 a modified content is asked again with a fresh position", func(t *testing.T) {
		// While the server is asked, the text before the point changes, so that the
		// same column has another wire position.
		const text = "-- a.go --\npackage a\n\nvar xx, y = target, 1\n-- b.go --\npackage a\n\nfunc target() {}\n"
		bubble(t, text, lone("check disk"), func(f *fixture) {
			var positions []string
			f.servers["one"].Handle("textDocument/definition", func(_ int, m lsptest.Message) lsptest.Reply {
				positions = append(positions, m.Params[strings.Index(m.Params, `"position"`):])
				if len(positions) > 1 {
					return lsptest.Reply{Result: json.RawMessage(`{"uri":"file://` + f.root + `/b.go","range":` + rangeJSON(2, 5, 11) + `}`)}
				}
				f.edit("a.go", "package a\n\nvar 😀x, y = target, 1\n")
				return lsptest.Reply{Error: &lsptest.Error{Code: -32801, Message: "content modified"}}
			})
			a := f.ask(at(query.Definition, "a.go", 3, 13))
			want(t, "place", placesOf(a), "b.go:3:6")
			want(t, "positions", strings.Join(positions, " "),
				`"position":{"line":2,"character":12}} "position":{"line":2,"character":13}}`)
		})
	})
	t.Run("a text that changes while it is asked about is asked about once more", func(t *testing.T) {
		bubble(t, twoFiles, lone("check disk"), func(f *fixture) {
			asked := 0
			f.servers["one"].Handle("textDocument/hover", func(int, lsptest.Message) lsptest.Reply {
				if asked++; asked == 1 {
					f.edit("a.go", "package a\n\nfunc run() { stop() } // changed\n")
					// Another question brings the new text to the server.
					go func() {
						if _, err := Do(f.t.Context(), f.d, ofFile(query.DocumentSymbol, "a.go")); err != nil {
							t.Error(err)
						}
					}()
					return lsptest.Reply{Delay: soon, Result: json.RawMessage(`{"contents":"old"}`)}
				}
				return lsptest.Reply{Result: json.RawMessage(`{"contents":"new"}`)}
			})
			a := f.ask(at(query.Hover, "a.go", 3, 6))
			want(t, "hover", a.Body.(*query.Prose).Markdown, "new")
			if a.Basis.Stale {
				t.Error("marked stale although it was asked again")
			}
		})
	})
	t.Run("C101 content modified for ever is stale", func(t *testing.T) {
		bubble(t, twoFiles, lone(`on definition: error -32801 "content modified"`), func(f *fixture) {
			e := f.refused(at(query.Definition, "a.go", 3, 14))
			want(t, "error", string(e.Kind)+": "+e.Message, "Stale: The text kept changing while one was asked.")
		})
	})
}

// edit writes a file of the workspace.
func (f *fixture) edit(path, content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.root, path), []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func TestServerDies(t *testing.T) {
	t.Run("once: the restarted one answers", func(t *testing.T) {
		script := "on definition gen=1: crash\non definition reply " + stopPlace
		bubble(t, twoFiles, lone(script), func(f *fixture) {
			a := f.ask(at(query.Definition, "a.go", 3, 14))
			want(t, "place", placesOf(a), "b.go:3:6")
			if a.Basis.Servers[0].Generation != 2 {
				t.Errorf("basis %+v", a.Basis)
			}
		})
	})
	t.Run("twice: one sentence", func(t *testing.T) {
		script := "on definition gen=1: crash\non definition gen=2: stderr \"panic: boom\" | crash\non definition reply " + stopPlace
		bubble(t, twoFiles, lone(script), func(f *fixture) {
			e := f.refused(at(query.Definition, "a.go", 3, 14))
			if e.Kind != query.ServerGone || !strings.Contains(e.Hint, "panic: boom") {
				t.Errorf("%s: %s (%s)", e.Kind, e.Message, e.Hint)
			}
			want(t, "next", placesOf(f.ask(at(query.Definition, "a.go", 3, 14))), "b.go:3:6")
		})
	})
	t.Run("for ever: the budget is spent", func(t *testing.T) {
		bubble(t, twoFiles, lone("on definition: crash"), func(f *fixture) {
			var last *query.Error
			for range 3 {
				last = f.refused(at(query.Definition, "a.go", 3, 14))
			}
			want(t, "error", string(last.Kind)+": "+last.Message,
				"StartFailed: LSP server 'one' exceeded max crash recovery attempts (3)")
		})
	})
}

func TestTimeAndCancellation(t *testing.T) {
	t.Run("a server that never answers", func(t *testing.T) {
		bubble(t, twoFiles, lone("on definition: hang"), func(f *fixture) {
			ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
			defer cancel()
			_, err := Do(ctx, f.d, at(query.Definition, "a.go", 3, 14))
			if query.KindOf(err) != query.Timeout || !strings.Contains(err.Error(), "one did not answer in time") {
				t.Errorf("%s: %v", query.KindOf(err), err)
			}
		})
	})
	t.Run("a server that starts slowly", func(t *testing.T) {
		bubble(t, twoFiles, lone("on initialize: sleep 30s | reply {\"capabilities\":{}}"), func(f *fixture) {
			ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
			defer cancel()
			_, err := Do(ctx, f.d, at(query.Definition, "a.go", 3, 14))
			if query.KindOf(err) != query.NotReady || !strings.Contains(err.Error(), "one is still starting") {
				t.Errorf("%s: %v", query.KindOf(err), err)
			}
		})
	})
	t.Run("a server that loads longer than the question may take is asked anyway", func(t *testing.T) {
		script := `
after initialized: progress create T | progress begin T "Indexing"
on references: reply [` + stopPlace + `]
`
		bubble(t, twoFiles, []scripted{{name: "one", script: script, traits: loading}}, func(f *fixture) {
			ctx, cancel := context.WithTimeout(f.t.Context(), 8*time.Second)
			defer cancel()
			a, err := Do(ctx, f.d, at(query.References, "a.go", 3, 14))
			if err != nil || placesOf(a) != "b.go:3:6" || !hasNote(a, "loading", "Indexing") {
				t.Errorf("%+v, %v", a, err)
			}
		})
	})
	t.Run("the caller gives up", func(t *testing.T) {
		bubble(t, twoFiles, lone("on definition: hang\nexpect $/cancelRequest"), func(f *fixture) {
			ctx, cancel := context.WithCancel(f.t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := Do(ctx, f.d, at(query.Definition, "a.go", 3, 14))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			time.Sleep(soon) // the cancel is sent off the caller's path
		})
	})
}

func TestServerErrors(t *testing.T) {
	bubble(t, twoFiles, lone(`on hover error -32803 "no package metadata"`), func(f *fixture) {
		e := f.refused(at(query.Hover, "a.go", 3, 6))
		want(t, "error", string(e.Kind)+": "+e.Message, "ServerError: no package metadata")
		want(t, "server", e.Server+" "+e.Path, "one a.go")
	})
	bubble(t, twoFiles, lone(`on hover error -32603 "no identifier found"`), func(f *fixture) {
		a := f.ask(at(query.Hover, "a.go", 2, 1))
		want(t, "unsure", a.Unsure, "There is no identifier at a.go:2:1.")
	})
}

func TestMissingCommand(t *testing.T) {
	for cause, want := range map[error]string{
		os.ErrNotExist:             "The command of toy was not found: /bin/toy.",
		os.ErrPermission:           "The command of toy is not executable: /bin/toy.",
		errors.New("wrong format"): "The command of toy does not start: /bin/toy: cannot be executed: wrong format.",
	} {
		e := serverFault(Candidate{Name: "toy"}, &proc.NotFoundError{Path: "/bin/toy", Err: cause})
		if e.Kind != query.NotInstalled || e.Message != want || e.Hint == "" {
			t.Errorf("%v: %q, hint %q", e.Kind, e.Message, e.Hint)
		}
	}
}
