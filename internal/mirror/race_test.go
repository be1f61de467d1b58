package mirror

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

func TestParallel(t *testing.T) {
	t.Run("C50 parallel questions on one file, opened once", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.write("a", "text")
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { x.ensureAny("a") })
		}
		wg.Wait()
		x.sent("didOpen a 1")
	})
	t.Run("C50 parallel questions while it changes", func(t *testing.T) {
		x := newWorld(t, everything, Options{MaxOpen: 3})
		x.watched = true
		names := []string{"a", "b", "c", "d", "e"}
		for _, n := range names {
			x.write(n, "start")
		}
		to := New(Options{Notifier: newFake(t, text.UTF16), Sync: func(string, string) lsp.Sync { return everything }})
		stop := make(chan struct{})
		var edits, wg sync.WaitGroup
		edits.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				n := names[rand.IntN(len(names))]
				if i%7 == 0 {
					os.Remove(x.path(n))
				} else {
					os.WriteFile(x.path(n), []byte(strings.Repeat("x😀\r\n", rand.IntN(20))+fmt.Sprint(i)), 0o644)
				}
				x.m.Changed(x.path(n))
			}
		})
		for range 4 {
			wg.Go(func() {
				for range 60 {
					switch n := names[rand.IntN(len(names))]; rand.IntN(8) {
					case 0:
						x.m.ChangedAll()
					case 1:
						if err := x.m.Replay(context.WithoutCancel(t.Context()), to); err != nil {
							t.Error(err)
						}
					case 2:
						x.m.Touch(t.Context(), x.path(n), "go")
					case 3:
						release := x.m.Hold(x.path(n))
						x.ensureAny(n)
						release()
					case 4, 5:
						if _, err := x.m.Refresh(t.Context()); err != nil {
							t.Error(err)
						}
					default:
						x.ensureAny(n)
					}
				}
			})
		}
		wg.Wait()
		close(stop)
		edits.Wait()
		for _, n := range names {
			x.write(n, "the end of "+n)
			x.m.Changed(x.path(n))
		}
		if _, err := x.m.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, d := range x.m.Open() {
			snap, _ := x.m.Current(d.Path)
			x.equal(snap)
			if got, open := x.s.text(snap.URI); !open || got != string(snap.Map.Content()) {
				t.Errorf("%s: open %v, %q", d.Path, open, got)
			}
		}
		if n := len(x.m.Open()); n != len(x.s.docs) {
			t.Errorf("%d documents count as open, the server has %d", n, len(x.s.docs))
		}
	})
	t.Run("C50 nobody returns before what another found is sent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := newWorld(t, everything, Options{})
			x.watched = true
			x.write("a", "old")
			x.ensure("a")
			x.s.takeLog()
			x.write("a", "new")
			x.m.Changed(x.path("a"))
			goOn := make(chan struct{})
			x.s.fail = func(string) error { <-goOn; return nil }
			slow := make(chan struct{})
			go func() { defer close(slow); x.ensureAny("a") }()
			synctest.Wait() // it has taken the mark and is about to send
			quick := make(chan struct{})
			go func() {
				defer close(quick)
				if _, err := x.m.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
			select {
			case <-quick:
				t.Error("Refresh returned while a didChange was still to be sent")
			default:
			}
			close(goOn)
			<-slow
			<-quick
			x.sent("didChange a 2", "didSave a")
		})
	})
}

// ensureAny allows that the file is gone.
func (x *world) ensureAny(name string) {
	x.t.Helper()
	_, err := x.m.Ensure(x.t.Context(), x.path(name), "go")
	if err != nil && !isFileError(err) {
		x.t.Error(err)
	}
}

func TestServerThatDoesNotListen(t *testing.T) {
	t.Run("a message is given time beyond its question", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := newWorld(t, everything, Options{})
			x.write("a", "text")
			ctx, cancel := context.WithCancel(t.Context())
			x.s.fail = func(string) error { cancel(); time.Sleep(linger / 2); return nil }
			snap, err := x.m.Ensure(ctx, x.path("a"), "go")
			x.must(err)
			x.equal(snap)
			x.sent("didOpen a 1")
		})
	})
	t.Run("it hangs, and what it got is not known", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := newWorld(t, everything, Options{})
			x.write("a", "text")
			x.ensure("a")
			x.write("a", "other")
			x.s.hang = map[string]bool{"textDocument/didChange": true}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begun := time.Now()
			if _, err := x.m.Ensure(ctx, x.path("a"), "go"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Ensure: %v", err)
			}
			if waited := time.Since(begun); waited > time.Second+linger {
				t.Errorf("waited %v", waited)
			}
			x.s.hang = nil
			x.ensure("a")
			x.sent("didOpen a 1", "didClose a", "didOpen a 3")
		})
	})
	t.Run("a second question waits for the first with its own context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := newWorld(t, everything, Options{})
			x.write("a", "text")
			goOn := make(chan struct{})
			x.s.fail = func(string) error { <-goOn; return nil }
			first := make(chan struct{})
			go func() { defer close(first); x.ensureAny("a") }()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := x.m.Ensure(ctx, x.path("a"), "go"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Ensure: %v", err)
			}
			close(goOn)
			<-first
		})
	})
	t.Run("the connection breaks", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.watched = true
		x.write("a", "text")
		x.ensure("a")
		x.write("a", "other")
		x.m.Changed(x.path("a"))
		broken := errors.New("broken pipe")
		x.s.fail = func(string) error { return broken }
		if _, err := x.m.Refresh(t.Context()); !errors.Is(err, broken) {
			t.Errorf("Refresh: %v", err)
		}
		x.s.fail = nil
		x.refresh("a") // the mark was not lost
		snap, _ := x.m.Current(x.path("a"))
		x.equal(snap)
	})
}

type silent struct{}

func (silent) Notify(context.Context, string, any) error { return nil }

func BenchmarkEnsureUnchanged(b *testing.B) {
	x := newWorld(b, everything, Options{})
	x.m.o.Notifier = silent{}
	x.write("a", strings.Repeat("text\n", 1000))
	x.ensureAny("a")
	x.sure("a")
	b.ReportAllocs()
	for b.Loop() {
		x.m.Ensure(b.Context(), x.path("a"), "go")
	}
}

func BenchmarkStat(b *testing.B) {
	x := newWorld(b, everything, Options{})
	x.write("a", "")
	path := x.path("a")
	for b.Loop() {
		os.Stat(path)
	}
}

func BenchmarkRefreshNothing(b *testing.B) {
	x := newWorld(b, everything, Options{})
	x.watched = true
	for i := range 100 {
		x.write(fmt.Sprint(i), "text")
		x.ensureAny(fmt.Sprint(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		x.m.Refresh(b.Context())
	}
}
