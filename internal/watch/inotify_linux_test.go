package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestInotify(t *testing.T) {
	t.Run("a watch that ended is made again", func(t *testing.T) {
		x := newWorld(t, Options{}, "d/f", "d/e/g", "f")
		k := x.w.kernel.(*inotify)
		for _, name := range []string{"d/e", "d", "."} { // as when a file system is taken away
			x.must(x.w.Flush(t.Context()))
			x.w.turn <- struct{}{}
			_, err := unix.InotifyRmWatch(k.fd, uint32(k.wds[x.path(name)]))
			x.w.pass()
			x.must(err)
		}
		x.must(x.w.Flush(t.Context()))
		x.sub.Take()
		x.write("d/f", "changed")
		x.write("d/e/g", "changed")
		x.write("f", "changed")
		x.expectSorted("changed d/f", "changed d/e/g", "changed f")
	})
	t.Run("the descriptor fails", func(t *testing.T) {
		x := newWorld(t, Options{}, "f")
		k := x.w.kernel.(*inotify)
		fd := k.fd
		x.w.turn <- struct{}{}
		k.fd = -1
		x.w.pass()
		x.write("f", "changed, and not seen")
		lines, rescan := x.news()
		if !rescan || len(lines) != 1 || x.w.Polling() == "" {
			t.Errorf("events %q, rescan %v, polling %q", lines, rescan, x.w.Polling())
		}
		if err := unix.Fstat(fd, &unix.Stat_t{}); err != unix.EBADF {
			t.Errorf("the descriptor is still open: %v", err)
		}
	})
	t.Run("the link that took a folder's place is not followed", func(t *testing.T) {
		x := newWorld(t, Options{}, "d/f")
		away := t.TempDir()
		x.must(os.Symlink(away, x.path("link")))
		x.w.turn <- struct{}{}
		err := x.w.kernel.add(x.path("link"))
		x.w.pass()
		if !errors.Is(err, unix.ENOTDIR) {
			t.Errorf("add of a link: %v", err)
		}
	})
	t.Run("a folder has one watch under its last name", func(t *testing.T) {
		x := newWorld(t, Options{}, "a/f", "b/f")
		k, err := newInotify(x.root)
		x.must(err)
		defer k.close()
		x.must(k.add(x.path("a")))
		x.rename("a", "c")
		x.must(k.add(x.path("c")))
		x.rename("b", "a")
		x.must(k.add(x.path("a")))
		x.rename("a", "d")
		x.rename("c", "a")
		x.must(k.add(x.path("a"))) // by a name that stands for another yet
		if k.folders() != 1 || len(k.wds) != 1 {
			t.Errorf("%v, %v; want a alone", k.paths, k.wds)
		}
		x.write("a/f", "changed")
		for n := 1; n > 0; {
			n, _, err = k.read()
			x.must(err)
			for ev, ok := k.next(); ok; ev, ok = k.next() {
				if ev.path != x.path("a/f") {
					t.Errorf("event of %s", ev.path)
				}
			}
		}
	})
	t.Run("who asks need not wait while folders are entered", func(t *testing.T) {
		stalled, goOn := make(chan struct{}), make(chan struct{})
		x := newWorld(t, Options{Skip: func(dir string) bool {
			if filepath.Base(dir) == "stall" {
				close(stalled)
				<-goOn
			}
			return false
		}}, "f")
		defer close(goOn)
		x.write("f", "changed")
		x.mkdir("stall")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := x.w.Flush(ctx); err != context.DeadlineExceeded {
			t.Errorf("Flush with too little time: %v", err)
		}
		<-stalled
		x.must(x.w.Flush(t.Context())) // waits for the turn in vain
		if _, rescan := x.sub.Take(); !rescan {
			t.Error("what is not known is not said")
		}
	})
}
