package watch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fsnotify/fsnotify"
	"pgregory.net/rapid"
)

// TestModel does random things to a tree and demands that who believes the events
// knows the tree.
func TestModel(t *testing.T) {
	modes(t, func(t *testing.T, o Options) {
		rapid.Check(t, func(rt *rapid.T) {
			x := &world{t: t, root: t.TempDir()}
			for _, name := range []string{"a/f", "a/b/f", "c/f", "keep/f"} {
				x.write(name, "start")
			}
			x.open(o)
			defer x.w.Close()
			known := disk(t, x.root)
			for range rapid.IntRange(1, 4).Draw(rt, "questions") {
				before := disk(t, x.root)
				var did []string
				for range rapid.IntRange(1, 6).Draw(rt, "operations") {
					did = append(did, operate(rt, x.root))
				}
				lines, rescan := x.news()
				believe(rt, known, before, disk(t, x.root), lines)
				if rescan {
					rt.Error("rescan is asked for")
				}
				if rt.Failed() {
					rt.Fatalf("after\n  %s\ncame\n  %s", strings.Join(did, "\n  "), strings.Join(lines, "\n  "))
				}
			}
		})
	})
}

// names that operations choose from: few, so that they meet.
var names = rapid.SampledFrom([]string{"a", "b", "c", "d", "f", "a/b", "a/f", "a/b/f", "a/b/c", "c/f", "c/a", "c/a/f", "d/b/f", "n/e/w/f"})

// operate does one random thing; that it fails is as good.
func operate(t *rapid.T, root string) string {
	name := names.Draw(t, "name")
	path := filepath.Join(root, filepath.FromSlash(name))
	switch op := rapid.IntRange(0, 6).Draw(t, "operation"); op {
	case 0, 1:
		os.MkdirAll(filepath.Dir(path), 0o755)
		os.WriteFile(path, []byte(fmt.Sprint(rapid.IntRange(0, 99).Draw(t, "content"))), 0o644)
		return "write " + name
	case 2:
		os.RemoveAll(path)
		return "remove " + name
	case 3:
		os.MkdirAll(path, 0o755)
		return "mkdir " + name
	default:
		to := names.Draw(t, "to")
		os.MkdirAll(filepath.Dir(filepath.Join(root, to)), 0o755)
		os.Rename(path, filepath.Join(root, filepath.FromSlash(to)))
		return "rename " + name + " " + to
	}
}

// disk maps each file below root to its content.
func disk(t *testing.T, root string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// believe applies events to what is known and compares it with the disk.
func believe(t *rapid.T, known, before, after map[string]string, lines []string) {
	told := make(map[string]bool)
	for _, line := range lines {
		kind, name, _ := strings.Cut(line, " ")
		if told[name] {
			t.Errorf("two events of %s", name)
		}
		told[name] = true
		_, exists := known[name]
		if exists == (kind == "created") {
			t.Errorf("%s, which was known: %v", line, exists)
		}
		if kind == "deleted" {
			delete(known, name)
		} else {
			known[name] = ""
		}
	}
	for name := range known {
		if _, ok := after[name]; !ok {
			t.Errorf("%s is thought to exist", name)
		}
	}
	for name, content := range after {
		if _, ok := known[name]; !ok {
			t.Errorf("%s exists unnoticed", name)
		}
		if old, was := before[name]; was && old != content && !told[name] {
			t.Errorf("%s was changed unnoticed", name)
		}
	}
}

// TestModelOfLoss is TestModel where the kernel loses all events of some rounds.
func TestModelOfLoss(t *testing.T) { kernels(t, modelOfLoss) }

func modelOfLoss(t *testing.T, o Options) {
	rapid.Check(t, func(rt *rapid.T) {
		stalled, goOn := make(chan struct{}), make(chan struct{})
		var armed atomic.Bool
		o.Skip = func(dir string) bool {
			if filepath.Base(dir) != "stall" {
				return false
			}
			if armed.Swap(false) {
				stalled <- struct{}{}
				<-goOn
			}
			return true
		}
		x := &world{t: t, root: t.TempDir()}
		for _, name := range []string{"a/f", "a/b/f", "c/f"} {
			x.write(name, "start")
		}
		x.open(o)
		defer x.w.Close()
		known := disk(t, x.root)
		for range rapid.IntRange(1, 4).Draw(rt, "questions") {
			lose := rapid.Bool().Draw(rt, "lose")
			if lose {
				armed.Store(true)
				x.mkdir("stall")
				<-stalled
			}
			before := disk(t, x.root)
			did := []string{fmt.Sprint("lose ", lose)}
			for range rapid.IntRange(1, 6).Draw(rt, "operations") {
				did = append(did, operate(rt, x.root))
			}
			if lose {
				x.lose(goOn)
				x.remove("stall")
			}
			lines, rescan := x.news()
			believe(rt, known, before, disk(t, x.root), lines)
			if rescan != lose {
				rt.Errorf("rescan %v", rescan)
			}
			if rt.Failed() {
				rt.Fatalf("after\n  %s\ncame\n  %s", strings.Join(did, "\n  "), strings.Join(lines, "\n  "))
			}
		}
	})
}

// lose lets the stalled watcher go on, without the kernel's events up to now.
func (x *world) lose(goOn chan<- struct{}) {
	x.t.Helper()
	if k, ok := x.w.kernel.(drainable); ok { // the stalled goroutine has the turn
		for n := 1; n > 0; {
			var err error
			n, _, err = k.read()
			x.must(err)
		}
		for _, ok := k.next(); ok; _, ok = k.next() {
		}
		k.putBack(event{op: loses})
		goOn <- struct{}{}
		return
	}
	n := x.w.kernel.(*notifier)
	x.swallow(n)
	goOn <- struct{}{}
	n.w.Errors <- fsnotify.ErrEventOverflow
}

// swallow reads the kernel's events up to now in place of the stalled watcher.
func (x *world) swallow(n *notifier) {
	x.t.Helper()
	last := x.path("last")
	x.must(os.Mkdir(last, 0o755))
	x.must(os.Remove(last))
	for {
		select {
		case ev := <-n.w.Events:
			if ev.Name == last && ev.Has(fsnotify.Remove) {
				return
			}
		case <-n.w.Errors:
		}
	}
}
