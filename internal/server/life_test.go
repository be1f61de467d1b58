package server

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// bubble runs f as a sub-test in virtual time.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func TestStart(t *testing.T) {
	bubble(t, "C11 command missing", func(t *testing.T) {
		var there atomic.Bool
		script := lsptest.New(t, ``)
		f := runScripted(t, script, func(o *Options) {
			o.Dial = func(context.Context) (proc.Handle, error) {
				if there.Load() {
					return script.Dial(), nil
				}
				return nil, &proc.NotFoundError{Path: "fake-ls", Err: os.ErrNotExist}
			}
		})
		for range 2 {
			_, err := f.Open(within(t, time.Second))
			var missing *proc.NotFoundError
			if !errors.As(err, &missing) || missing.Path != "fake-ls" {
				t.Fatalf("got %v, want a *proc.NotFoundError", err)
			}
		}
		if got := f.Snapshot().State; got != Failed {
			t.Errorf("state %d after a failed start", got)
		}
		there.Store(true)
		if _, err := f.Open(within(t, time.Second)); err != nil {
			t.Errorf("installed meanwhile, yet %v", err)
		}
	})
	bubble(t, "a server that prints something else is told by what it prints", func(t *testing.T) {
		f := run(t, "on initialize hang\nat start: garbage \""+strings.Repeat("x", 1100<<10)+"\"\n")
		_, err := f.Open(within(t, time.Minute))
		var failed *StartError
		if !errors.As(err, &failed) || failed.Err == nil || !strings.Contains(failed.Err.Error(), "not LSP") {
			t.Errorf("%v", err)
		}
	})
	bubble(t, "C12 server asks before it answers initialize", func(t *testing.T) {
		f := run(t, `
before initialize-reply:
	request window/workDoneProgress/create {"token":"t"} expect null
	request workspace/configuration {"items":[{"section":"x"}]} expect [1]
	register textDocument/hover {"documentSelector":[{"language":"early"}]}
	log 3 "hello"
`, func(o *Options) { o.Settings = raw(`{"x":1}`) })
		s := f.session()
		if !slices.Contains(f.Status().Messages, "hello") {
			t.Error("the message is lost")
		}
		if !s.Capabilities().Supports(lsp.MethodHover, "go", "file:///x.go") {
			t.Error("the answer to initialize is lost")
		}
	})
	bubble(t, "C13 questions during the handshake", func(t *testing.T) {
		f := run(t, `
before initialize-reply: sleep 2s
expect count didOpen 1
expect order initialize initialized didOpen hover
`)
		errs := make(chan error, 3)
		for range 3 {
			go func() {
				s, err := f.Open(within(t, time.Minute))
				if err == nil {
					_, err = s.Ensure(within(t, time.Minute), f.path("a.go"))
				}
				if err == nil {
					_, err = s.Call(within(t, time.Minute), "textDocument/hover", at(s, f.path("a.go")))
				}
				errs <- err
			}()
		}
		for range 3 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
	bubble(t, "C14 initialize params", func(t *testing.T) {
		f := run(t, ``, func(o *Options) {
			o.InitializationOptions = raw(`{"deep":{"a":[1,2.50]}}`)
			o.Traits.ExtraCapabilities = raw(`{"experimental":{"extra":true}}`)
		})
		f.session()
		var p map[string]json.RawMessage
		if err := json.Unmarshal([]byte(f.script.Received(1)[0].Params), &p); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{
			"initializationOptions": `{"deep":{"a":[1,2.50]}}`,
			"rootPath":              string(mustJSON(f.root)),
			"rootUri":               string(mustJSON(text.PathToURI(f.root))),
			"clientInfo":            `{"name":"dragoman","version":"1"}`,
			"processId":             string(mustJSON(os.Getpid())),
		} {
			if string(p[key]) != want {
				t.Errorf("%s is %s, want %s", key, p[key], want)
			}
		}
		if !strings.Contains(string(p["capabilities"]), `"extra":true`) {
			t.Error("the traits' capabilities are not merged in")
		}
	})
	bubble(t, "C14 no options are an empty object", func(t *testing.T) {
		f := run(t, ``)
		f.session()
		if !strings.Contains(f.script.Received(1)[0].Params, `"initializationOptions":{}`) {
			t.Error("absent options are not {}")
		}
	})
	bubble(t, "C15 settings follow initialized", func(t *testing.T) {
		f := run(t, `
expect count didChangeConfiguration when={"settings":{"gopls":{"x":1}}} 1
expect order initialized didChangeConfiguration didOpen
`, func(o *Options) { o.Settings = raw(`{"gopls":{"x":1}}`) })
		if _, err := f.session().Ensure(within(t, time.Second), f.path("a.go")); err != nil {
			t.Fatal(err)
		}
	})
	bubble(t, "C15 a server that pulls its settings is not told twice", func(t *testing.T) {
		f := run(t, `expect none didChangeConfiguration`, traits(Traits{PullsSettings: true}),
			func(o *Options) { o.Settings = raw(`{"gopls":{"x":1}}`) })
		f.session()
	})
	bubble(t, "C15 without settings nothing is sent", func(t *testing.T) {
		f := run(t, `expect none didChangeConfiguration`, func(o *Options) { o.Settings = raw(`{}`) })
		f.session()
	})
	bubble(t, "C16 handshake exceeds its limit", func(t *testing.T) {
		f := run(t, `
on initialize gen=1 stderr "cannot reach the licence server" ; hang
`)
		began := time.Now()
		_, err := f.Open(context.Background())
		var failed *StartError
		if !errors.As(err, &failed) || !strings.Contains(failed.Stderr, "licence") {
			t.Fatalf("got %#v, want a *StartError with the stderr tail", err)
		}
		if took := time.Since(began); took < 60*time.Second || took > 63*time.Second {
			t.Errorf("took %v", took)
		}
		if st := f.Snapshot(); st.State != Failed || !strings.Contains(st.Stderr, "licence") {
			t.Errorf("snapshot is %+v", st)
		}
		if _, err := f.Open(context.Background()); err != nil {
			t.Errorf("the second start: %v", err)
		}
	})
	bubble(t, "C16 server dies during the handshake", func(t *testing.T) {
		f := run(t, `
on initialize gen=1 stderr "no such flag" ; crash
`)
		_, err := f.Open(context.Background())
		var failed *StartError
		if !errors.As(err, &failed) || failed.Exit != "exit status 2" || !strings.Contains(failed.Stderr, "no such flag") {
			t.Fatalf("got %#v", err)
		}
	})
	bubble(t, "C25 no document sync", func(t *testing.T) {
		f := run(t, `
capabilities {"textDocumentSync":null}
expect none didOpen
expect count hover 1
allow request-not-open
`)
		s := f.session()
		snap, err := s.Ensure(within(t, time.Second), f.path("a.go"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Call(within(t, time.Second), "textDocument/hover", func() (any, error) {
			return map[string]any{"textDocument": documentID{snap.URI}, "position": lsp.Position{}}, nil
		}); err != nil {
			t.Fatal(err)
		}
	})
	bubble(t, "C55 the negotiated encoding holds for everybody", func(t *testing.T) {
		f := run(t, `capabilities {"positionEncoding":"utf-8"}`)
		s := f.session()
		if got := s.Wire().Encoding; got != text.UTF8 {
			t.Errorf("wire is %v", got)
		}
		s.SetWire(text.UTF32)
		if got := s.Wire().Encoding; got != text.UTF32 {
			t.Errorf("corrected wire is %v", got)
		}
		if got := s.documentSync("go", "file:///a.go").Change; got != lsp.SyncFull {
			t.Errorf("changes go out as %v though positions are counted otherwise", got)
		}
	})
	bubble(t, "C54 unknown encoding fails the start", func(t *testing.T) {
		f := run(t, `capabilities {"positionEncoding":"utf-7"}`)
		_, err := f.Open(within(t, time.Minute))
		if err == nil || !strings.Contains(err.Error(), "utf-7") {
			t.Errorf("got %v, want a sentence that names utf-7", err)
		}
	})
}

func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func TestStop(t *testing.T) {
	bubble(t, "C17 stop while starting", func(t *testing.T) {
		f := run(t, `on initialize hang`)
		opened := make(chan error, 1)
		go func() {
			_, err := f.Open(context.Background())
			opened <- err
		}()
		synctest.Wait()
		began := time.Now()
		if err := f.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the stop took %v", took)
		}
		if err := <-opened; !errors.Is(err, ErrClosed) {
			t.Errorf("the waiter got %v", err)
		}
		if f.script.Generations() != 1 || f.Snapshot().State != Stopped {
			t.Errorf("%d starts, state %d", f.script.Generations(), f.Snapshot().State)
		}
	})
	bubble(t, "C18 normal stop", func(t *testing.T) {
		f := run(t, `
expect order initialize initialized shutdown exit
on hover hang
`)
		s := f.session()
		if _, err := s.Ensure(within(t, time.Second), f.path("a.go")); err != nil {
			t.Fatal(err)
		}
		asked := make(chan error, 1)
		go func() {
			_, err := s.Call(context.Background(), "textDocument/hover", at(s, f.path("a.go")))
			asked <- err
		}()
		synctest.Wait()
		began := time.Now()
		if err := f.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the stop of an obedient server took %v", took)
		}
		var gone *GoneError
		if err := <-asked; !errors.As(err, &gone) {
			t.Errorf("the pending call got %v", err)
		}
	})
	for name, script := range map[string]string{
		"ignores shutdown":         "ignore shutdown",
		"ignores exit":             "ignore exit\nignore eof",
		"ignores TERM":             "ignore exit\nignore eof\nignore term",
		"answers with an error":    "on shutdown error -32603 \"no\"\nexpect exit",
		"does not read":            "after initialized: stop reading",
		"answers shutdown late":    "on shutdown delay 3s reply null",
		"ends only with its stdin": "ignore exit",
	} {
		bubble(t, "C19 server "+name, func(t *testing.T) {
			f := run(t, script+"\nallow shutdown exit")
			f.session()
			began := time.Now()
			if err := f.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the stop took %v", took)
			}
		})
	}
	bubble(t, "C19 a stop that may not wait", func(t *testing.T) {
		f := run(t, "ignore shutdown\nallow shutdown exit")
		f.session()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		began := time.Now()
		if err := f.Close(ctx); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the stop took %v", took)
		}
	})
	bubble(t, "C20 server asks after shutdown", func(t *testing.T) {
		f := run(t, `
on shutdown
	request client/registerCapability {"registrations":[{"id":"1","method":"textDocument/hover"}]} expect null
	request workspace/configuration {"items":[{}]} expect null
	request x/unknown {} expect null
	reply null
allow configuration
`)
		f.session()
	})
	bubble(t, "C21 a grandchild holds stdout", func(t *testing.T) {
		f := run(t, "spawn child holding stdout\nallow shutdown exit")
		f.session()
		began := time.Now()
		if err := f.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the stop took %v", took)
		}
	})
	bubble(t, "C44 a stopped instance hears nothing more", func(t *testing.T) {
		f := run(t, ``)
		s := f.session()
		if err := f.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		var gone *GoneError
		if err := s.Sync(context.Background()); !errors.As(err, &gone) {
			t.Errorf("sync after the stop: %v", err)
		}
		if _, err := s.Call(context.Background(), "workspace/symbol", none); !errors.As(err, &gone) {
			t.Errorf("call after the stop: %v", err)
		}
		if _, err := f.Open(context.Background()); !errors.Is(err, ErrClosed) {
			t.Errorf("open after the stop: %v", err)
		}
	})
}

func TestCrash(t *testing.T) {
	bubble(t, "C22 crash with calls in flight", func(t *testing.T) {
		f := run(t, `
on hover gen=1 sleep 1s ; stderr "fatal: index corrupt" ; crash
on definition hang
expect didOpen a.go gen=2 version=1
expect count didOpen gen=2 2
`)
		s := f.session()
		for _, name := range []string{"a.go", "b.go"} {
			if _, err := s.Ensure(within(t, time.Second), f.path(name)); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		errs := make(chan error, 2)
		for _, m := range []string{"textDocument/hover", "textDocument/definition"} {
			go func() {
				_, err := s.Call(context.Background(), m, at(s, f.path("a.go")))
				errs <- err
			}()
		}
		for range 2 {
			var gone *GoneError
			if err := <-errs; !errors.As(err, &gone) {
				t.Fatalf("got %v, want a *GoneError", err)
			}
			if gone.Exit != "exit status 2" || !strings.Contains(gone.Stderr, "corrupt") || gone.Generation != 1 {
				t.Errorf("got %+v", gone)
			}
		}
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("the calls failed after %v", took)
		}
		began = time.Now()
		s2 := f.session()
		if took := time.Since(began); took < 400*time.Millisecond || took > time.Second {
			t.Errorf("the restart took %v", took)
		}
		if s2.Generation() != 2 || len(s2.Mirror().Open()) != 2 {
			t.Errorf("generation %d with %d documents", s2.Generation(), len(s2.Mirror().Open()))
		}
		if _, err := s2.Ensure(within(t, time.Second), f.path("a.go")); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "C23 crash loop", func(t *testing.T) {
		f := run(t, `
after initialized: sleep 10ms ; stderr "boom" ; crash
`)
		f.session()
		time.Sleep(30 * time.Second)
		if got := f.Snapshot(); got.State != Fused || got.Restarts != 3 {
			t.Fatalf("snapshot %+v", got)
		}
		if got := f.script.Generations(); got != 4 {
			t.Errorf("%d processes, want 4", got)
		}
		_, err := f.Open(context.Background())
		var fused *FusedError
		if !errors.As(err, &fused) || err.Error() != "LSP server 'fake' exceeded max crash recovery attempts (3)" {
			t.Fatalf("got %v", err)
		}
		if !strings.Contains(fused.Stderr, "boom") {
			t.Errorf("stderr is %q", fused.Stderr)
		}
		if err := f.Restart(context.Background()); err != nil {
			t.Errorf("explicit restart: %v", err)
		}
		if got := f.script.Generations(); got != 5 {
			t.Errorf("%d processes after the restart", got)
		}
	})
	bubble(t, "C23 the budget comes back", func(t *testing.T) {
		f := run(t, `after initialized: sleep 4m ; crash`)
		f.session()
		time.Sleep(40 * time.Minute)
		if got := f.Snapshot(); got.State != Ready || got.Restarts != 9 {
			t.Errorf("after 40 minutes: %+v", got)
		}
		time.Sleep(2 * time.Hour)
		if got := f.Snapshot(); got.State != Ready {
			t.Errorf("15 crashes an hour are within the budget: %+v", got)
		}
	})
	bubble(t, "C23 restarts in an hour are bounded", func(t *testing.T) {
		f := run(t, `after initialized: sleep 100s ; crash`)
		f.session()
		time.Sleep(time.Hour)
		if got := f.Snapshot(); got.State != Fused || got.Restarts != 20 {
			t.Errorf("after an hour of crashes: %+v", got)
		}
	})
	bubble(t, "C24 exit code 0 is a crash", func(t *testing.T) {
		f := run(t, `on hover gen=1 exit 0`)
		s := f.session()
		if _, err := s.Ensure(within(t, time.Second), f.path("a.go")); err != nil {
			t.Fatal(err)
		}
		_, err := s.Call(context.Background(), "textDocument/hover", at(s, f.path("a.go")))
		var gone *GoneError
		if !errors.As(err, &gone) {
			t.Fatalf("got %v", err)
		}
		if s := f.session(); s.Generation() != 2 || f.Snapshot().Restarts != 1 {
			t.Errorf("generation %d, %d restarts", s.Generation(), f.Snapshot().Restarts)
		}
	})
	bubble(t, "C79 the problems of a dead server are gone", func(t *testing.T) {
		f := run(t, `
after didOpen a.go gen=1: publish a.go version=current [{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"message":"old"}] ; sleep 1s ; crash
`)
		s := f.session()
		if _, err := s.Ensure(within(t, time.Second), f.path("a.go")); err != nil {
			t.Fatal(err)
		}
		<-s.gone
		s2 := f.session()
		if uris := s2.Problems().URIs(); len(uris) != 0 {
			t.Errorf("the new generation has problems of %v", uris)
		}
	})
}
