package server

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/query"
)

// awaited runs Await for Settled and returns the basis and the (virtual) time it took.
func awaited(t *testing.T, s *Session, ctx context.Context) (Basis, time.Duration) {
	t.Helper()
	began := time.Now()
	b, err := s.Await(ctx, Settled)
	if err != nil {
		t.Fatal(err)
	}
	return b, time.Since(began)
}

func around(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got < want-50*time.Millisecond || got > want+50*time.Millisecond {
		t.Errorf("%s took %v, want about %v", what, got, want)
	}
}

var indexing = regexp.MustCompile(`^(Indexing|indexing)$`)

func progressMode() Readiness {
	return Readiness{Mode: ReadyProgress, Progress: indexing, AppearWithin: 2 * time.Second}
}

func TestReadiness(t *testing.T) {
	ctx := context.Background()
	bubble(t, "C64 references while progress lives", func(t *testing.T) {
		f := run(t, `
after initialized:
	progress create tok
	progress begin tok "Indexing" 0
	sleep 3s
	progress report tok 50 "20/40"
	sleep 2s
	progress end tok
expect count references 1
`, traits(Traits{Readiness: progressMode()}))
		s := f.session()
		if _, err := s.Ensure(ctx, f.path("a.go")); err != nil {
			t.Fatal(err)
		}
		b, took := awaited(t, s, ctx)
		if !b.Settled {
			t.Errorf("basis %+v", b)
		}
		around(t, "settling", took, 5*time.Second)
		if _, err := s.Call(ctx, "textDocument/references", at(s, f.path("a.go"))); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "C64 quiet time between chained progress", func(t *testing.T) {
		f := run(t, `
after initialized:
	progress begin a "loading" ; sleep 1s ; progress end a
	sleep 200ms
	progress begin b "indexing" ; sleep 1s ; progress end b
`, traits(Traits{Readiness: Readiness{Mode: ReadyProgress, AppearWithin: time.Second, Quiet: 300 * time.Millisecond}}))
		_, took := awaited(t, f.session(), ctx)
		around(t, "settling", took, 2500*time.Millisecond)
	})
	bubble(t, "C64 progress of other things does not count", func(t *testing.T) {
		f := run(t, `
after initialized: progress begin x "Finding references" ; sleep 30s ; progress end x
`, traits(Traits{Readiness: progressMode()}))
		_, took := awaited(t, f.session(), ctx)
		around(t, "settling", took, 2*time.Second)
	})
	bubble(t, "C65 a token that never ends", func(t *testing.T) {
		f := run(t, `
after initialized: progress begin tok "Indexing" 63
`, traits(Traits{Readiness: progressMode()}))
		s := f.session()
		synctest.Wait()
		b, took := awaited(t, s, ctx)
		around(t, "the cap", took, time.Minute)
		if b.Settled || b.Working != "Indexing" || b.Percent != 63 {
			t.Errorf("basis %+v", b)
		}
		if b, took = awaited(t, s, ctx); !b.Settled || took > time.Second {
			t.Errorf("a token without life is not forgotten: %+v after %v", b, took)
		}
	})
	bubble(t, "C66 empty while warming, then full", func(t *testing.T) {
		f := run(t, `
on definition times=1 reply []
on definition reply [{"uri":"file:///x.go","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}}]
after initialized: progress begin tok "Indexing" ; sleep 5s ; progress end tok
expect count definition 2
`, traits(Traits{Readiness: progressMode()}))
		s := f.session()
		if _, err := s.Ensure(ctx, f.path("a.go")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got, err := s.Call(ctx, "textDocument/definition", at(s, f.path("a.go")))
		if err != nil || string(got) != "[]" || s.Basis().Settled {
			t.Fatalf("%s, %v while warming, basis %+v", got, err, s.Basis())
		}
		if b, _ := awaited(t, s, ctx); !b.Settled {
			t.Errorf("basis %+v", b)
		}
		got, err = s.Call(ctx, "textDocument/definition", at(s, f.path("a.go")))
		if err != nil || !strings.Contains(string(got), "x.go") {
			t.Errorf("%s, %v when settled", got, err)
		}
	})
	bubble(t, "C67 quiescent true, false, true", func(t *testing.T) {
		f := run(t, `
after initialized:
	status false message="Loading" ; sleep 2s ; status true
	sleep 3s
	status false ; sleep 4s ; status true
`, traits(Traits{Readiness: Readiness{Mode: ReadyStatus, AppearWithin: 10 * time.Second}}))
		s := f.session()
		synctest.Wait()
		if b := s.Basis(); b.Settled || b.Working != "Loading" {
			t.Errorf("basis %+v while loading", b)
		}
		_, took := awaited(t, s, ctx)
		around(t, "the first load", took, 2*time.Second)
		if got := f.Snapshot().State; got != Ready {
			t.Errorf("state %d", got)
		}
		time.Sleep(3500 * time.Millisecond)
		if got := f.Snapshot().State; got != Warming {
			t.Errorf("state %d while it reloads", got)
		}
		began := time.Now()
		if _, err := s.Await(ctx, Initialized); err != nil || time.Since(began) > 0 {
			t.Errorf("a hover waits: %v, %v", time.Since(began), err)
		}
		_, took = awaited(t, s, ctx)
		around(t, "the reload", took, 3500*time.Millisecond)
	})
	bubble(t, "C68 no signals", func(t *testing.T) {
		f := run(t, ``, traits(Traits{Readiness: Readiness{Mode: ReadyGrace, Grace: 2 * time.Second}}))
		s := f.session()
		b, took := awaited(t, s, ctx)
		around(t, "the grace", took, 2*time.Second)
		if !b.Settled {
			t.Errorf("basis %+v", b)
		}
		if _, took = awaited(t, s, ctx); took > 0 {
			t.Errorf("settled once, yet it waits %v again", took)
		}
	})
	bubble(t, "C68 grace ends with the last progress", func(t *testing.T) {
		f := run(t, `
after initialized: progress begin x "anything" ; sleep 4s ; progress end x
`, traits(Traits{Readiness: Readiness{Mode: ReadyGrace, Grace: 2 * time.Second}}))
		_, took := awaited(t, f.session(), ctx)
		around(t, "the grace", took, 4300*time.Millisecond)
	})
	t.Run("log message", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := run(t, `
after initialized: sleep 1s ; log 3 "Searching" ; sleep 1s ; log 3 "Found 12 source files"
`, traits(Traits{Readiness: Readiness{Mode: ReadyLog, Log: regexp.MustCompile(`Found \d+ source file`), AppearWithin: 20 * time.Second}}))
			_, took := awaited(t, f.session(), ctx)
			around(t, "settling", took, 2*time.Second)
		})
	})
	t.Run("self is asked at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := run(t, `after initialized: progress begin x "Setting up workspace"`)
			if _, took := awaited(t, f.session(), ctx); took > 0 {
				t.Errorf("waits %v", took)
			}
		})
	})
}

func TestAwaitIsBounded(t *testing.T) {
	bubble(t, "by its caller", func(t *testing.T) {
		f := run(t, `after initialized: progress begin tok "Indexing"`, traits(Traits{Readiness: progressMode()}))
		s := f.session()
		synctest.Wait()
		began := time.Now()
		b, err := s.Await(within(t, 3*time.Second), Settled)
		if err != context.DeadlineExceeded || b.Settled {
			t.Errorf("%+v, %v", b, err)
		}
		around(t, "the wait", time.Since(began), 3*time.Second)
	})
	bubble(t, "by the server's end", func(t *testing.T) {
		f := run(t, `after initialized gen=1: progress begin tok "Indexing" ; sleep 2s ; crash`, traits(Traits{Readiness: progressMode()}))
		s := f.session()
		if _, err := s.Await(context.Background(), Settled); err == nil || err.Error() == "" {
			t.Errorf("got %v", err)
		} else if _, gone := err.(*GoneError); !gone {
			t.Errorf("got %T, want *GoneError", err)
		}
	})
}

func TestProgressIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := run(t, `
before initialize-reply: sleep 1500ms
after initialized:
	progress begin tok "Indexing" 0 ; sleep 2500ms ; progress report tok 40 "src" ; sleep 1s ; progress end tok
`, traits(Traits{Readiness: progressMode()}))
		var got []query.Progress
		ctx := query.WithProgress(context.Background(), func(p query.Progress) { got = append(got, p) })
		s, err := f.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := s.Await(ctx, Settled); err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, p := range got {
			if p.Server != "fake" {
				t.Errorf("server %q", p.Server)
			}
			said = append(said, p.Message)
		}
		want := []string{"starting", "Indexing", "Indexing: src"}
		if got := slices.Compact(slices.Clone(said)); !slices.Equal(got, want) || len(said) < 6 {
			t.Errorf("reported %q, want %q, each at least once a second", said, want)
		}
		if last := got[len(got)-1]; last.Percent != 40 || last.Elapsed < 2*time.Second {
			t.Errorf("last report %+v", last)
		}
	})
}

func TestReload(t *testing.T) {
	found := regexp.MustCompile(`Found`)
	for _, c := range []struct {
		name, script string
		rd           Readiness
		want         time.Duration
	}{
		{"its own signal ends it", `log 3 "Found 1"`, Readiness{Mode: ReadyLog, Log: found}, time.Second},
		{"another signal does not", `progress begin x "Finding" ; progress end x`, Readiness{Mode: ReadyLog, Log: found}, 4 * time.Second},
		{"nothing comes", ``, Readiness{Mode: ReadyLog, Log: found}, 4 * time.Second},
		{"progress", `progress begin x "Indexing" ; progress end x`, Readiness{Mode: ReadyProgress, Progress: indexing}, time.Second},
		{"status", `status false ; sleep 6s ; status true`, Readiness{Mode: ReadyStatus}, 7 * time.Second},
	} {
		bubble(t, c.name, func(t *testing.T) {
			f := run(t, `
after initialized: log 3 "Found 1" ; status true ; progress begin a "Indexing" ; progress end a
after x/change: sleep 1s ; `+c.script, traits(Traits{Readiness: c.rd}))
			s := f.session()
			awaited(t, s, context.Background())
			s.track.reloads(4 * time.Second)
			if err := s.notify(context.Background(), "x/change", nil); err != nil {
				t.Fatal(err)
			}
			_, took := awaited(t, s, context.Background())
			around(t, "the reload", took, c.want)
		})
	}
}

func TestOpeningRules(t *testing.T) {
	bubble(t, "a file is opened when the server needs one", func(t *testing.T) {
		f := run(t, `
expect count didOpen 1
after didOpen: sleep 300ms ; progress begin tok "Indexing" ; sleep 2s ; progress end tok
`, traits(Traits{Readiness: Readiness{Mode: ReadyProgress, Progress: indexing, AppearWithin: time.Second, NeedsOpenFile: true}}))
		s := f.session()
		time.Sleep(time.Minute)
		if s.Basis().Settled {
			t.Error("settled though nothing is open")
		}
		for range 2 {
			awaited(t, s, context.Background())
		}
	})
	bubble(t, "an open file serves the rule", func(t *testing.T) {
		f := run(t, `expect exactly initialize initialized didOpen:b.go shutdown exit`,
			traits(Traits{Readiness: Readiness{Mode: ReadySelf, NeedsOpenFile: true}}))
		s := f.session()
		if _, err := s.Ensure(context.Background(), f.path("b.go")); err != nil {
			t.Fatal(err)
		}
		awaited(t, s, context.Background())
	})
	bubble(t, "nothing to open is nothing to wait for", func(t *testing.T) {
		f := run(t, ``, traits(Traits{Readiness: Readiness{Mode: ReadyProgress, AppearWithin: time.Second, NeedsOpenFile: true}}),
			func(o *Options) { o.Files = nil })
		_, took := awaited(t, f.session(), context.Background())
		around(t, "settling", took, time.Second)
	})
	bubble(t, "one file of each project", func(t *testing.T) {
		f := run(t, `
expect count didOpen 2
expect didOpen a.go
expect didOpen lib/c.go
`, traits(Traits{Readiness: Readiness{Mode: ReadySelf, OpenPerMarker: []string{"a.go", "c.go"}}}))
		s := f.session()
		if s.Basis().Settled || f.Snapshot().State != Ready {
			t.Errorf("before they are opened: %+v, state %d", s.Basis(), f.Snapshot().State)
		}
		for range 2 {
			awaited(t, s, context.Background())
		}
	})
}

func TestLoadErrors(t *testing.T) {
	loads := []LoadPattern{
		{Match: regexp.MustCompile(`Error loading|no go.mod`)},
		{Match: regexp.MustCompile(`(?i)failed to load workspace`), Say: "Cargo.toml cannot be read."},
	}
	for _, c := range []struct{ name, script, want string }{
		{"a log message", `log 1 "Error loading packages: no go.mod"`, "Error loading packages: no go.mod"},
		{"a shown message", `showMessage 1 "rust-analyzer failed to load workspace: x"`, "Cargo.toml cannot be read."},
		{"the end of progress", `progress begin t "Setting up" ; progress end t "Error loading packages"`, "Error loading packages"},
		{"progress that stays", `progress begin t "Error loading workspace"`, "Error loading workspace"},
		{"the status", `status true health=error message="cargo metadata exited with 101"`, "cargo metadata exited with 101"},
		{"a pattern in the status", `status true health=warning message="Failed to load workspaces."`, "Cargo.toml cannot be read."},
		{"a harmless warning", `status true health=warning message="proc-macros are off"`, ""},
		{"a harmless message", `log 3 "Found 3 files"`, ""},
	} {
		bubble(t, c.name, func(t *testing.T) {
			f := run(t, "after initialized: "+c.script, traits(Traits{
				Readiness: Readiness{Mode: ReadyProgress, AppearWithin: time.Second}, LoadErrors: loads,
			}))
			b, _ := awaited(t, f.session(), context.Background())
			if b.LoadError != c.want || !b.Settled {
				t.Errorf("basis %+v, want load error %q", b, c.want)
			}
			if got := f.Snapshot().LoadError; got != c.want {
				t.Errorf("snapshot says %q", got)
			}
		})
	}
}
