package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/internal/jsonrpc"
	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/text"
)

func TestCall(t *testing.T) {
	ctx := context.Background()
	bubble(t, "C100 caller cancels", func(t *testing.T) {
		f := run(t, `
on symbol times=1 delay 5s reply ["late"]
on symbol reply ["right"]
ignore cancel
expect count $/cancelRequest 1
`)
		s := f.session()
		cctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		if _, err := s.Call(cctx, "workspace/symbol", none); err != context.Canceled {
			t.Errorf("got %v", err)
		}
		around(t, "the cancelled call", time.Since(began), time.Second)
		time.Sleep(10 * time.Second)
		if got, err := s.Call(ctx, "workspace/symbol", none); err != nil || string(got) != `["right"]` {
			t.Errorf("next call: %s, %v", got, err)
		}
	})
	bubble(t, "C100 caller times out", func(t *testing.T) {
		f := run(t, `
on symbol hang
expect count $/cancelRequest 1
`)
		s := f.session()
		if _, err := s.Call(within(t, time.Second), "workspace/symbol", none); err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
	})
	bubble(t, "C101 content modified once", func(t *testing.T) {
		f := run(t, `
on symbol times=1 error -32801 "content modified"
on symbol echo
`)
		asked := 0
		got, err := f.session().Call(ctx, "workspace/symbol", func() (any, error) {
			asked++
			return map[string]int{"ask": asked}, nil
		})
		if err != nil || string(got) != `{"ask":2}` {
			t.Errorf("%s, %v: the position is not mapped again", got, err)
		}
	})
	bubble(t, "C101 content modified for ever", func(t *testing.T) {
		f := run(t, `
on symbol error -32801 "content modified"
expect count symbol 4
`)
		began := time.Now()
		_, err := f.session().Call(ctx, "workspace/symbol", none)
		var stale *StaleError
		if !errors.As(err, &stale) {
			t.Errorf("got %v", err)
		}
		around(t, "giving up", time.Since(began), 700*time.Millisecond)
	})
	bubble(t, "C101 content modified while loading is no retry", func(t *testing.T) {
		f := run(t, `
after initialized: status false ; sleep 20s ; status true
on symbol times=1 error -32801 "loading"
on symbol reply ["right"]
expect count symbol 2
`, traits(Traits{Readiness: Readiness{Mode: ReadyStatus}}))
		s := f.session()
		synctest.Wait()
		began := time.Now()
		got, err := s.Call(ctx, "workspace/symbol", none)
		if err != nil || string(got) != `["right"]` {
			t.Errorf("%s, %v", got, err)
		}
		around(t, "the call", time.Since(began), 20*time.Second)
	})
	bubble(t, "C75 cancelled by the server, data absent", func(t *testing.T) {
		f := run(t, `
on symbol error -32802 "later"
expect count symbol 6
`)
		began := time.Now()
		_, err := f.session().Call(ctx, "workspace/symbol", none)
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeServerCancelled {
			t.Errorf("got %v", err)
		}
		around(t, "five growing pauses", time.Since(began), 31*250*time.Millisecond)
	})
	bubble(t, "C75 cancelled by the server, data false", func(t *testing.T) {
		f := run(t, `
on symbol times=1 error -32802 "no" data={"retriggerRequest":false}
on symbol reply ["right"]
`)
		s := f.session()
		if _, err := s.Call(ctx, "workspace/symbol", none); err == nil {
			t.Error("retried")
		}
		if got, err := s.Call(ctx, "workspace/symbol", none); err != nil || string(got) != `["right"]` {
			t.Errorf("later: %s, %v", got, err)
		}
	})
	bubble(t, "not initialized is asked once more", func(t *testing.T) {
		f := run(t, `
on symbol error -32002 "not initialized"
expect count symbol 2
`)
		if _, err := f.session().Call(ctx, "workspace/symbol", none); err == nil {
			t.Error("no error")
		}
	})
	bubble(t, "a method that is not found is not asked again", func(t *testing.T) {
		f := run(t, `
on symbol error -32601 "no such method"
expect count symbol 1
`)
		s := f.session()
		for range 2 {
			var no *UnsupportedError
			if _, err := s.Call(ctx, "workspace/symbol", none); !errors.As(err, &no) {
				t.Errorf("got %v", err)
			}
		}
	})
	bubble(t, "the server's message passes unchanged", func(t *testing.T) {
		f := run(t, `on symbol error -32803 "no package for file"`)
		_, err := f.session().Call(ctx, "workspace/symbol", none)
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || rpc.Message != "no package for file" {
			t.Errorf("got %v", err)
		}
	})
	bubble(t, "C102 flood", func(t *testing.T) {
		f := run(t, `
after initialized: flood publish 10000 files=10 ; flood progress 5000 ; flood log 5000
on symbol reply ["right"]
`)
		s := f.session()
		if got, err := s.Call(within(t, time.Second), "workspace/symbol", none); err != nil || string(got) != `["right"]` {
			t.Errorf("%s, %v", got, err)
		}
		synctest.Wait()
		if got := len(s.Problems().URIs()); got != 10 {
			t.Errorf("problems of %d files", got)
		}
		if got := len(f.Status().Messages); got != ringSize {
			t.Errorf("%d messages kept", got)
		}
	})
}

func TestGate(t *testing.T) {
	// most asks n times at once and returns how many the server saw at the same time.
	most := func(t *testing.T, f *fixture, method string, n int) int64 {
		var now, top atomic.Int64
		f.script.Handle(method, func(int, lsptest.Message) lsptest.Reply {
			top.Store(max(top.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return lsptest.Reply{}
		})
		s := f.session()
		if _, err := s.Ensure(context.Background(), f.path("a.go")); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				if _, err := s.Call(context.Background(), method, at(s, f.path("a.go"))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return top.Load()
	}
	bubble(t, "light requests", func(t *testing.T) {
		if got := most(t, run(t, ``), "textDocument/hover", 50); got != lightSlots {
			t.Errorf("%d at once", got)
		}
	})
	bubble(t, "heavy requests of a single-threaded server", func(t *testing.T) {
		if got := most(t, run(t, ``, traits(Traits{SingleThreaded: true})), "textDocument/references", 5); got != 1 {
			t.Errorf("%d at once", got)
		}
	})
	bubble(t, "a hover does not stand behind references", func(t *testing.T) {
		f := run(t, `on references hang`)
		s := f.session()
		if _, err := s.Ensure(context.Background(), f.path("a.go")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { _, _ = s.Call(ctx, "textDocument/references", at(s, f.path("a.go"))) })
		}
		synctest.Wait()
		if _, err := s.Call(within(t, time.Second), "textDocument/hover", at(s, f.path("a.go"))); err != nil {
			t.Error(err)
		}
		cancel()
		wg.Wait()
	})
}

func TestHang(t *testing.T) {
	// ask asks once and returns the error and the time until it came.
	ask := func(s *Session, limit time.Duration, t *testing.T) (time.Duration, error) {
		began := time.Now()
		_, err := s.Call(within(t, limit), "workspace/symbol", none)
		return time.Since(began), err
	}
	bubble(t, "C103 server stops reading", func(t *testing.T) {
		f := run(t, `
after initialized gen=1: stop reading
on symbol gen=2 reply ["right"]
cpu idle
allow shutdown exit cancel
`)
		s := f.session()
		synctest.Wait()
		took, err := ask(s, 5*time.Second, t)
		if err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		around(t, "the caller's own limit", took, 5*time.Second)
		var gone *GoneError
		if took, err = ask(s, 2*time.Minute, t); !errors.As(err, &gone) {
			t.Fatalf("got %v", err)
		}
		if took < 28*time.Second || took > 35*time.Second {
			t.Errorf("replaced after %v", took)
		}
		if _, err := ask(f.session(), time.Second, t); err != nil {
			t.Errorf("the next generation: %v", err)
		}
	})
	bubble(t, "C103 server is stopped by a signal", func(t *testing.T) {
		f := run(t, `
on symbol gen=1 hang
on symbol gen=2 reply []
cpu idle
allow shutdown exit cancel
`)
		s := f.session()
		var gone *GoneError
		took, err := ask(s, 2*time.Minute, t)
		if !errors.As(err, &gone) || !strings.Contains(gone.Exit, "30 s") {
			t.Errorf("got %v", err)
		}
		if took < 30*time.Second || took > 35*time.Second {
			t.Errorf("replaced after %v", took)
		}
	})
	bubble(t, "silent and busy is at work", func(t *testing.T) {
		f := run(t, `
on symbol delay 73s reply ["right"]
cpu busy
`)
		took, err := ask(f.session(), 2*time.Minute, t)
		if err != nil {
			t.Errorf("after %v: %v", took, err)
		}
	})
	bubble(t, "nothing asked, nothing hangs", func(t *testing.T) {
		f := run(t, "cpu idle")
		s := f.session()
		time.Sleep(time.Hour)
		if _, err := ask(s, time.Second, t); err != nil {
			t.Error(err)
		}
	})
}

func TestParallelQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := run(t, `
on hover delay 10ms echo
expect count didOpen 2
`)
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				s := f.session()
				path := f.path([]string{"a.go", "b.go"}[i%2])
				snap, err := s.Ensure(context.Background(), path)
				if err != nil {
					t.Error(err)
					return
				}
				want := fmt.Sprintf(`{"n":%d,"textDocument":{"uri":%q}}`, i, text.PathToURI(path))
				got, err := s.Call(context.Background(), "textDocument/hover", func() (any, error) {
					return map[string]any{"n": i, "textDocument": documentID{snap.URI}}, nil
				})
				if err != nil || string(got) != want {
					t.Errorf("%s, %v; want %s", got, err, want)
				}
			})
		}
		wg.Wait()
	})
}
