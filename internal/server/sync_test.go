package server

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/internal/watch"
)

// watching gives the server a real watcher of its root.
func watching(t *testing.T) func(*Options) {
	return func(o *Options) {
		w, err := watch.New(context.Background(), o.Root, watch.Options{CookieDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		o.Watcher = w
	}
}

// notices lists the file events that the server was told, one string for each notice.
func watchNotices(t *testing.T, f *fixture) (out []string) {
	t.Helper()
	for _, m := range f.script.Received(1) {
		if m.Method != "workspace/didChangeWatchedFiles" {
			continue
		}
		var p struct{ Changes []lsp.FileEvent }
		if err := json.Unmarshal([]byte(m.Params), &p); err != nil {
			t.Fatal(err)
		}
		var events []string
		for _, c := range p.Changes {
			path, _ := text.URIToPath(c.URI)
			rel, _ := filepath.Rel(f.root, path)
			events = append(events, fmt.Sprintf("%s %s", []string{"?", "created", "changed", "deleted"}[c.Type], filepath.ToSlash(rel)))
		}
		slices.Sort(events)
		out = append(out, strings.Join(events, ", "))
	}
	return out
}

const watchGo = `
after initialized: register workspace/didChangeWatchedFiles {"watchers":[{"globPattern":"**/*.go"},{"globPattern":"**/*.{go,mod}"}]}
`

// registered waits for the script's registration.
func registered(t *testing.T, s *Session) {
	t.Helper()
	lsptest.Eventually(t, func() bool { return len(s.Capabilities().Watchers()) > 0 }, "watchers are registered")
}

func TestSync(t *testing.T) {
	ctx := context.Background()
	ask := func(t *testing.T, f *fixture, s *Session) {
		t.Helper()
		if err := s.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Call(ctx, "workspace/symbol", none); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("C42 question right after a write", func(t *testing.T) {
		f := run(t, watchGo+`expect order didChangeWatchedFiles symbol`, watching(t))
		s := f.session()
		registered(t, s)
		f.write("b.go", "package p\n\nfunc New() {}\n")
		ask(t, f, s)
		if got := watchNotices(t, f); !slices.Equal(got, []string{"changed b.go"}) {
			t.Errorf("told %q", got)
		}
	})
	t.Run("C41 several watchers of one file", func(t *testing.T) {
		f := run(t, watchGo, watching(t)) // both of its watchers match
		s := f.session()
		registered(t, s)
		f.write("a.go", "package p // changed\n")
		ask(t, f, s)
		if got := watchNotices(t, f); !slices.Equal(got, []string{"changed a.go"}) {
			t.Errorf("told %q", got)
		}
	})
	t.Run("C40 a burst is one notice", func(t *testing.T) {
		f := run(t, watchGo, watching(t))
		s := f.session()
		registered(t, s)
		f.write("new.go", "package p\n")
		f.write("a.go", "package p\n")
		f.write("a.go", "package p // again\n")
		f.write("notes.txt", "nobody asked for this")
		if err := os.Rename(f.path("b.go"), f.path("moved.go")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(f.path("lib/c.go")); err != nil {
			t.Fatal(err)
		}
		ask(t, f, s)
		want := "changed a.go, created moved.go, created new.go, deleted b.go, deleted lib/c.go"
		got := strings.Join(watchNotices(t, f), " + ")
		if got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	})
	t.Run("a checkout of hundreds of files", func(t *testing.T) {
		f := run(t, watchGo, watching(t))
		s := f.session()
		registered(t, s)
		began := time.Now()
		for i := range 300 {
			f.write(fmt.Sprintf("gen%d.go", i), "package p\n")
		}
		ask(t, f, s)
		total := 0
		notices := watchNotices(t, f)
		for _, n := range notices {
			total += strings.Count(n, "created")
		}
		// The background delivers at most once in deliverAfter while the files are written.
		if most := int(time.Since(began)/deliverAfter) + 2; total != 300 || len(notices) > most {
			t.Errorf("%d files in %d notices, want 300 in at most %d", total, len(notices), most)
		}
	})
	t.Run("told while nobody asks", func(t *testing.T) {
		f := run(t, watchGo, watching(t))
		s := f.session()
		registered(t, s)
		f.write("b.go", "package p\n\nfunc New() {}\n")
		lsptest.Eventually(t, func() bool { return len(watchNotices(t, f)) == 1 }, "the server is told in the background")
	})
	t.Run("open documents are changed, too", func(t *testing.T) {
		f := run(t, `check disk
expect order didOpen:a.go didChange:a.go symbol
expect didChange a.go version=2`, watching(t))
		s := f.session()
		if _, err := s.Ensure(ctx, f.path("a.go")); err != nil {
			t.Fatal(err)
		}
		f.write("a.go", "package p\n\nfunc New() {}\n")
		ask(t, f, s)
	})
	t.Run("C44 unregistered watchers hear nothing more", func(t *testing.T) {
		f := run(t, `
after initialized: register workspace/didChangeWatchedFiles {"watchers":[{"globPattern":"**"}]} id=w
on symbol n=1 unregister workspace/didChangeWatchedFiles id=w ; reply null
expect none didChangeWatchedFiles
`, watching(t))
		s := f.session()
		registered(t, s)
		ask(t, f, s)
		f.write("b.go", "package p\n\nfunc New() {}\n")
		ask(t, f, s)
	})
	t.Run("a server that is told by opening", func(t *testing.T) {
		f := run(t, `
expect order didOpen:b.go didClose:b.go symbol
expect none didOpen new.txt
expect didChange a.go version=2
`, watching(t), traits(Traits{TellByOpening: true}))
		s := f.session()
		if _, err := s.Ensure(ctx, f.path("a.go")); err != nil {
			t.Fatal(err)
		}
		f.write("b.go", "package p\n\nfunc New() {}\n")
		f.write("new.txt", "not its language")
		ask(t, f, s)
	})
	t.Run("a file of each new folder is opened", func(t *testing.T) {
		f := run(t, `
expect count didOpen 1
expect didOpen fresh/one.go
expect order didOpen:fresh/one.go definition symbol
`, watching(t), traits(Traits{OpenNewFolders: true}))
		s := f.session()
		s.sync.turn <- struct{}{} // one batch
		if err := os.Mkdir(f.path("fresh"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"fresh/one.go", "fresh/two.go", "lib/more.go", "fresh.txt"} {
			f.write(name, "package x\n")
		}
		<-s.sync.turn
		ask(t, f, s)
	})
	t.Run("what a caller's end cut off is told later", func(t *testing.T) {
		f := run(t, watchGo, watching(t))
		s := f.session()
		registered(t, s)
		s.sync.turn <- struct{}{} // the background delivery may not help
		f.write("b.go", "package p\n\nfunc New() {}\n")
		if err := s.Sync(within(t, 20*time.Millisecond)); err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		<-s.sync.turn
		ask(t, f, s)
		if got := watchNotices(t, f); !slices.Equal(got, []string{"changed b.go"}) {
			t.Errorf("told %q", got)
		}
	})
	t.Run("reloading servers are unsettled after a new file", func(t *testing.T) {
		f := run(t, watchGo, watching(t), traits(Traits{Readiness: Readiness{ReloadWithin: 300 * time.Millisecond, ProjectFiles: []string{"go.mod"}}}))
		s := f.session()
		registered(t, s)
		steps := []struct {
			name    string
			do      func()
			settled bool
		}{
			{"changed", func() { f.write("b.go", "package p // changed\n") }, true},
			{"created", func() { f.write("new.go", "package p\n") }, false},
			{"foreign", func() { f.write("x.txt", "x") }, true},
			{"project file", func() { f.write("go.mod", "module x") }, false},
		}
		for _, step := range steps {
			if b, err := s.Await(ctx, Settled); err != nil || !b.Settled {
				t.Fatalf("%+v, %v", b, err)
			}
			step.do()
			if err := s.Sync(ctx); err != nil {
				t.Fatal(err)
			}
			if got := s.Basis().Settled; got != step.settled {
				t.Errorf("%s: settled %v", step.name, got)
			}
		}
	})
}

func TestWatchedFiles(t *testing.T) {
	root := "/w"
	for _, c := range []struct {
		name string
		w    lsp.FileWatcher
		path string
		kind watch.Kind
		want bool
	}{
		{"any folder", lsp.FileWatcher{Glob: "**/*.go", Kind: 7}, "/w/x/a.go", watch.Changed, true},
		{"absolute", lsp.FileWatcher{Glob: "/w/**/*", Kind: 7}, "/w/x/a.go", watch.Changed, true},
		{"below the root", lsp.FileWatcher{Glob: "tsconfig.json", Kind: 7}, "/w/tsconfig.json", watch.Changed, true},
		{"not deeper", lsp.FileWatcher{Glob: "tsconfig.json", Kind: 7}, "/w/x/tsconfig.json", watch.Changed, false},
		{"relative", lsp.FileWatcher{Base: "/w/x", Glob: "*.go", Kind: 7}, "/w/x/a.go", watch.Changed, true},
		{"relative to another base", lsp.FileWatcher{Base: "/w/y", Glob: "**", Kind: 7}, "/w/x/a.go", watch.Changed, false},
		{"other kinds only", lsp.FileWatcher{Glob: "**", Kind: 1 | 4}, "/w/a.go", watch.Changed, false},
		{"created", lsp.FileWatcher{Glob: "**", Kind: 1}, "/w/a.go", watch.Created, true},
		{"deleted", lsp.FileWatcher{Glob: "**", Kind: 4}, "/w/a.go", watch.Deleted, true},
	} {
		t.Run("C39 "+c.name, func(t *testing.T) {
			if got := anyWatches([]lsp.FileWatcher{c.w}, root, watch.Event{Path: c.path, Kind: c.kind}); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestMergeEvents(t *testing.T) {
	e := func(path string, k watch.Kind) watch.Event { return watch.Event{Path: path, Kind: k} }
	got := mergeEvents(
		[]watch.Event{e("new", watch.Created), e("gone", watch.Deleted), e("old", watch.Changed), e("same", watch.Changed)},
		[]watch.Event{e("new", watch.Changed), e("gone", watch.Created), e("old", watch.Deleted), e("more", watch.Created)},
	)
	want := []watch.Event{e("new", watch.Created), e("gone", watch.Changed), e("old", watch.Deleted), e("same", watch.Changed), e("more", watch.Created)}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFileStatus(t *testing.T) {
	ctx := context.Background()
	status := func(f *fixture, name, state string) {
		f.script.Send(1, "textDocument/clangd.fileStatus", map[string]string{"uri": text.PathToURI(f.path(name)), "state": state})
	}
	start := func(t *testing.T, script string) (*fixture, *Session) {
		f := run(t, script, watching(t), traits(Traits{TellByOpening: true, FileStatus: true}))
		return f, f.session()
	}
	t.Run("settled when the changed file is built", func(t *testing.T) {
		f, s := start(t, `
after didOpen b.go:
	notify textDocument/clangd.fileStatus {"uri":"${uri}","state":"parsing includes"}
	notify textDocument/clangd.fileStatus {"uri":"${uri}","state":"idle"}
	notify textDocument/clangd.fileStatus {"uri":"${uri}","state":"parsing includes"}
`)
		f.write("b.go", "package p\n\nfunc New() {}\n")
		if err := s.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		if b, err := s.Await(within(t, 3*idleQuiet), Settled); b.Settled || err != context.DeadlineExceeded {
			t.Errorf("settled before the file is built: %+v, %v", b, err)
		}
		if w := s.Basis().Working; w != "reading 1 changed files" {
			t.Errorf("working is %q", w)
		}
		status(f, "b.go", "idle")
		if b, err := s.Await(ctx, Settled); err != nil || !b.Settled {
			t.Errorf("%+v, %v", b, err)
		}
	})
	t.Run("a deleted file is shown empty", func(t *testing.T) {
		f, s := start(t, `
allow version first-version
expect order didOpen:b.go didClose:b.go
after didOpen b.go: notify textDocument/clangd.fileStatus {"uri":"${uri}","state":"idle"}
`)
		if err := os.Remove(f.path("b.go")); err != nil {
			t.Fatal(err)
		}
		if b, err := s.Await(ctx, Settled); err != nil || !b.Settled {
			t.Errorf("%+v, %v", b, err)
		}
		lsptest.Eventually(t, func() bool {
			return slices.Contains(methods(f.script.Received(1)), "textDocument/didClose")
		}, "the emptied file is closed")
	})
	t.Run("many changed files are read in turn", func(t *testing.T) {
		f, s := start(t, `
after didOpen: notify textDocument/clangd.fileStatus {"uri":"${uri}","state":"idle"}
expect count didOpen 40
`)
		for i := range 40 {
			f.write(fmt.Sprintf("gen%d.go", i), "package p\n")
		}
		if b, err := s.Await(ctx, Settled); err != nil || !b.Settled {
			t.Errorf("%+v, %v", b, err)
		}
		if got := len(s.Mirror().Open()); got != 40 {
			t.Errorf("%d files are open", got)
		}
	})
	t.Run("a server that never says idle", func(t *testing.T) {
		tr := newTracker(Traits{Readiness: Readiness{Mode: ReadySelf}}, func() {})
		tr.builds("file:///a")
		now := time.Now()
		if tr.judge(now).Settled || !tr.judge(now.Add(buildLimit)).Settled {
			t.Error("it is not given up after its limit")
		}
	})
}
