package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestHeavyFolders(t *testing.T) {
	t.Run("C43 heavy folders are not watched", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			o.Skip = func(dir string) bool { return strings.HasSuffix(dir, "generated") }
			if o.MaxDirs != 0 {
				o.MaxDirs = 2
			}
			x := newWorld(t, o,
				"src/f", ".git/HEAD", "node_modules/pkg/lib/f", "node_modules/.package-lock.json",
				"Cargo.toml", "target/debug/f", "java/target/f", "generated/f", ".venv/f", "env/pyvenv.cfg")
			x.write("cache/CACHEDIR.TAG", cacheTag+"\n# comment\n")
			x.write("nocache/CACHEDIR.TAG", "something else\n")
			x.open(o)
			for _, f := range []string{".git/HEAD", ".git/objects/aa/f", "node_modules/pkg/lib/f", "node_modules/new/f",
				"target/debug/f", "generated/f", "generated/deep/f", ".venv/f", "env/lib/f", "cache/f", "a/__pycache__/f", "deep/node_modules/p/f"} {
				x.write(f, "changed")
				if x.w.Watches(x.path(f)) {
					t.Errorf("%s counts as watched", f)
				}
			}
			x.expectSorted()
			x.write("src/f", "changed")
			x.write("java/target/f", "changed")
			x.write("nocache/f", "changed")
			x.write("node_modules/.package-lock.json", "changed")
			x.expectSorted("changed src/f", "changed java/target/f", "created nocache/f", "changed node_modules/.package-lock.json")
		})
	})
	t.Run("a folder turns out to be a cache", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "build/f", "f")
			x.write("tag", cacheTag)
			x.expect("created tag")
			x.rename("tag", "build/CACHEDIR.TAG")
			x.expect("deleted tag", "changed build/f")
			x.write("build/f", "changed")
			x.expect()
			x.write("late/f", "")
			x.write("late/CACHEDIR.TAG", cacheTag)
			if x.news(); x.w.Watches(x.path("late/f")) {
				t.Error("a cache made step by step is still watched")
			}
			if x.w.Watches(x.path("build/f")) || !x.w.Watches(x.path("f")) {
				t.Error("the wrong folder counts as watched")
			}
		})
	})
	t.Run("root may have any name", func(t *testing.T) {
		x := &world{t: t, root: filepath.Join(t.TempDir(), "node_modules")}
		x.write("pkg/index.js", "")
		x.write("CACHEDIR.TAG", cacheTag)
		x.open(Options{})
		x.write("pkg/index.js", "changed")
		x.expect("changed pkg/index.js")
	})
}

func TestPolling(t *testing.T) {
	t.Run("C43 falls back with a note", func(t *testing.T) {
		x := newWorld(t, Options{MaxDirs: 2}, "a/f", "b/f")
		if got := x.w.Polling(); got != "more than 2 folders" {
			t.Errorf("Polling() = %q", got)
		}
		if x.w.Watches(x.path("a/f")) {
			t.Error("a file counts as watched while polling")
		}
		x.write("b/f", "changed")
		x.expectSorted("changed b/f")
	})
	t.Run("limit reached later", func(t *testing.T) {
		x := newWorld(t, Options{MaxDirs: 3}, "a/f")
		if x.w.Polling() != "" || !x.w.Watches(x.path("a/f")) {
			t.Fatal("polling from the start")
		}
		x.write("b/c/d/f", "")
		lines, rescan := x.news()
		if !rescan || x.w.Polling() == "" {
			t.Errorf("rescan %v, polling %q", rescan, x.w.Polling())
		}
		if !strings.Contains(strings.Join(lines, "\n"), "created b/c/d/f") {
			t.Errorf("events %q lack the new file", lines)
		}
		x.write("b/c/d/f", "changed")
		x.write("a/f", "changed")
		x.expectSorted("changed a/f", "changed b/c/d/f")
	})
	t.Run("no cookie folder", func(t *testing.T) {
		o := byCookie()
		o.CookieDir = filepath.Join(t.TempDir(), "missing")
		x := newWorld(t, o, "a")
		if !strings.HasPrefix(x.w.Polling(), "no file change events: ") {
			t.Errorf("Polling() = %q", x.w.Polling())
		}
		x.write("a", "changed")
		x.expectSorted("changed a")
	})
	t.Run("the cookie's event does not come", func(t *testing.T) {
		x := newWorld(t, byCookie(), "a")
		x.w.turn <- struct{}{}
		x.w.kernel.remove(x.w.cookie.dir)
		x.w.pass()
		x.write("a", "changed")
		for i := range 3 { // the first two wait in vain
			lines, rescan := x.news()
			if i == 0 && (!rescan || len(lines) != 1) {
				t.Errorf("events %q, rescan %v", lines, rescan)
			}
		}
		if x.w.Polling() != "the system reports no changes" {
			t.Errorf("Polling() = %q", x.w.Polling())
		}
		x.write("a", "changed again")
		x.expectSorted("changed a")
	})
	t.Run("a scan that takes too long is said and continued", func(t *testing.T) {
		x := newWorld(t, Options{MaxDirs: 1}, "a/f", "b/f")
		x.write("b/f", "changed")
		x.w.budget = 0
		if lines, rescan := x.news(); len(lines) > 0 || !rescan {
			t.Errorf("events %q, rescan %v; want none and true", lines, rescan)
		}
		x.w.budget = scanBudget
		x.expectSorted("changed b/f")
	})
	t.Run("reasons for people", func(t *testing.T) {
		for err, want := range map[error]string{
			syscall.ENOSPC:        "fs.inotify.max_user_watches",
			syscall.EMFILE:        "fs.inotify.max_user_instances",
			errors.ErrUnsupported: "no file change events",
		} {
			if got := reasonOf(fmt.Errorf("wrapped: %w", err)); !strings.Contains(got, want) {
				t.Errorf("reasonOf(%v) = %q", err, got)
			}
		}
	})
}

func TestOverflow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("provokes inotify's queue limit")
	}
	kernels(t, overflow)
}

func overflow(t *testing.T, o Options) {
	stalled, goOn := make(chan struct{}), make(chan struct{})
	stall := sync.OnceFunc(func() { close(stalled); <-goOn })
	o.Skip = func(dir string) bool {
		if filepath.Base(dir) == "stall" {
			stall()
		}
		return false
	}
	x := newWorld(t, o, "d/old", "d/gone", "moved/f")
	x.mkdir("stall")
	<-stalled
	f, err := os.Create(x.path("d/burst"))
	x.must(err)
	for range 40_000 {
		_, err := f.WriteAt([]byte{'.'}, 0)
		x.must(err)
		x.must(f.Chmod(0o600)) // keeps the kernel from merging the writes
	}
	x.must(f.Close())
	x.write("d/old", "changed after the queue was full")
	x.remove("d/gone")
	x.rename("moved", "to")
	x.write("new/deep/f", "")
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		if err := x.w.Flush(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	close(goOn)
	<-flushed
	lines, rescan := x.news()
	if !rescan {
		t.Error("nothing was lost in 40,000 writes; the test proves nothing")
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{"created d/burst", "changed d/old", "deleted d/gone", "deleted moved/f", "created to/f", "created new/deep/f"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the %d events after an overflow", want, len(lines))
		}
	}
	x.write("new/deep/f", "changed")
	x.write("to/f", "changed")
	x.expectSorted("changed new/deep/f", "changed to/f")
}

func TestRelease(t *testing.T) {
	t.Run("C44 closed subscriptions hear nothing", func(t *testing.T) {
		x := newWorld(t, Options{}, "f")
		other := x.w.Subscribe()
		x.write("f", "changed")
		x.must(x.w.Flush(t.Context()))
		other.Close()
		x.write("f", "changed again")
		x.must(x.w.Flush(t.Context()))
		if events, rescan := other.Take(); len(events) > 0 || rescan {
			t.Errorf("after Close: %v, %v", events, rescan)
		}
		x.expect("changed f")
	})
	t.Run("C44 closed watchers give everything back", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("counts in /proc")
		}
		kernels(t, func(t *testing.T, o Options) {
			o.CookieDir = t.TempDir()
			before := inotifies(t)
			x := newWorld(t, o, "a/f", "b/f")
			if got := inotifies(t); got != before+1 {
				t.Errorf("%d inotify instances, want one more than %d", got, before)
			}
			x.must(x.w.Close())
			x.must(x.w.Close())
			if got := inotifies(t); got != before {
				t.Errorf("%d inotify instances after Close, %d before", got, before)
			}
			if left, _ := os.ReadDir(o.CookieDir); len(left) > 0 {
				t.Errorf("%v left in the cookie folder", left)
			}
		})
	})
	t.Run("C44 watches of removed folders are given back", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "a/b/c/f", "d/f")
			n := x.folders()
			away := filepath.Join(t.TempDir(), "away")
			for range 5 {
				x.must(os.Rename(x.path("a"), away))
				x.must(os.Rename(away, x.path("a")))
			}
			x.expectSorted("changed a/b/c/f")
			if got := x.folders(); got != n {
				t.Errorf("%d watches, want %d", got, n)
			}
		})
	})
}

// folders is the number of folders that the kernel watches.
func (x *world) folders() int {
	x.w.turn <- struct{}{}
	defer x.w.pass()
	return x.w.kernel.folders()
}

// inotifies counts the process's inotify instances.
func inotifies(t *testing.T) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); to == "anon_inode:inotify" {
			n++
		}
	}
	return n
}

func TestMerging(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string // C, M, D
		want Kind
	}{
		{"created", "C", Created}, {"created then changed", "CM", Created}, {"created then deleted", "CD", 0},
		{"changed twice", "MM", Changed}, {"deleted then created", "DC", Changed}, {"changed then deleted", "MD", Deleted},
		{"vanished then created", "CDC", Created}, {"replaced then deleted", "DCD", Deleted},
	} {
		t.Run("C41 "+c.name, func(t *testing.T) {
			var subs subscribers
			s := &Subscription{owner: &subs, ready: make(chan struct{}, 1), at: make(map[string]int)}
			for _, k := range c.in {
				s.add(Event{"/f", map[rune]Kind{'C': Created, 'M': Changed, 'D': Deleted}[k]})
			}
			events, _ := s.Take()
			switch {
			case c.want == 0 && len(events) > 0, c.want != 0 && (len(events) != 1 || events[0].Kind != c.want):
				t.Errorf("%v, want one %v", events, c.want)
			}
		})
	}
	t.Run("ready is signalled", func(t *testing.T) {
		x := newWorld(t, Options{}, "f")
		x.write("f", "changed")
		<-x.sub.Ready()
		x.expect("changed f")
	})
	t.Run("nobody takes", func(t *testing.T) {
		s := &Subscription{owner: &subscribers{}, ready: make(chan struct{}, 1), at: make(map[string]int)}
		for i := range maxPending + 2 {
			s.add(Event{fmt.Sprint("/", i), Created})
		}
		if events, rescan := s.Take(); len(events) > 2 || !rescan {
			t.Errorf("%d events, rescan %v", len(events), rescan)
		}
		for i := range 10_000 {
			s.add(Event{fmt.Sprint("/", i), Created})
			s.add(Event{fmt.Sprint("/", i), Deleted})
		}
		if n := len(s.order); n > 3000 {
			t.Errorf("%d records of temporary files are kept", n)
		}
	})
}

// bigTree makes 300 folders with 2,500 files.
func bigTree(tb testing.TB) string {
	root := tb.TempDir()
	for i := range 2500 {
		dir := filepath.Join(root, fmt.Sprint(i%20), fmt.Sprint(i%300))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

func BenchmarkNew(b *testing.B) {
	root := bigTree(b)
	for b.Loop() {
		w, err := New(b.Context(), root, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		w.Close()
		b.StartTimer()
	}
}

func BenchmarkFlush(b *testing.B) {
	w, err := New(b.Context(), bigTree(b), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for b.Loop() {
		if err := w.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFlushByCookie(b *testing.B) {
	w, err := New(b.Context(), bigTree(b), byCookie())
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for b.Loop() {
		if err := w.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFlushPolling(b *testing.B) {
	w, err := New(b.Context(), bigTree(b), Options{MaxDirs: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for b.Loop() {
		if err := w.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
