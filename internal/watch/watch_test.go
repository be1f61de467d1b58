package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a watched temporary folder and one subscription.
type world struct {
	t    *testing.T
	root string
	w    *Watcher
	sub  *Subscription
}

func newWorld(t *testing.T, o Options, files ...string) *world {
	t.Helper()
	x := &world{t: t, root: t.TempDir()}
	for _, f := range files {
		x.write(f, "old\n")
	}
	x.open(o)
	return x
}

func (x *world) open(o Options) {
	x.t.Helper()
	w, err := New(x.t.Context(), x.root, o)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { w.Close() })
	x.w, x.sub = w, w.Subscribe()
}

func (x *world) path(name string) string { return filepath.Join(x.root, filepath.FromSlash(name)) }

func (x *world) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *world) write(name, content string) {
	x.t.Helper()
	x.must(os.MkdirAll(filepath.Dir(x.path(name)), 0o755))
	x.must(os.WriteFile(x.path(name), []byte(content), 0o644))
}

func (x *world) mkdir(name string)    { x.t.Helper(); x.must(os.MkdirAll(x.path(name), 0o755)) }
func (x *world) remove(name string)   { x.t.Helper(); x.must(os.RemoveAll(x.path(name))) }
func (x *world) rename(a, b string)   { x.t.Helper(); x.must(os.Rename(x.path(a), x.path(b))) }
func (x *world) symlink(to, n string) { x.t.Helper(); x.must(os.Symlink(to, x.path(n))) }

// news flushes and returns what is pending as "created a/b.go" lines.
func (x *world) news() (lines []string, rescan bool) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 20*time.Second)
	defer cancel()
	x.must(x.w.Flush(ctx))
	events, rescan := x.sub.Take()
	for _, e := range events {
		rel, err := filepath.Rel(x.root, e.Path)
		x.must(err)
		lines = append(lines, e.Kind.String()+" "+filepath.ToSlash(rel))
	}
	return lines, rescan
}

func (x *world) expect(want ...string) {
	x.t.Helper()
	got, rescan := x.news()
	if rescan {
		x.t.Error("rescan is asked for though nothing was lost")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		x.t.Errorf("events (-want +got):\n%s", diff)
	}
}

// expectSorted is expect where the order among several folders is not promised. A
// scan may call a file changed that was so a moment ago.
func (x *world) expectSorted(want ...string) {
	x.t.Helper()
	got, rescan := x.news()
	if rescan {
		x.t.Error("rescan is asked for though nothing was lost")
	}
	if x.w.Polling() != "" {
		got = slices.DeleteFunc(got, func(line string) bool {
			return strings.HasPrefix(line, "changed ") && !slices.Contains(want, line)
		})
		got = append([]string(nil), got...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		x.t.Errorf("events (-want +got):\n%s", diff)
	}
}

// byCookie are the options for the way of systems whose queue we cannot read.
func byCookie() Options {
	return Options{open: func(string) (kernel, error) { return newNotifier() }}
}

// kernels are the ways of hearing from the kernel.
func kernels(t *testing.T, f func(t *testing.T, o Options)) {
	t.Run("events", func(t *testing.T) { f(t, Options{}) })
	t.Run("cookie", func(t *testing.T) { f(t, byCookie()) })
}

// modes are the ways of noticing; what is promised holds in all.
func modes(t *testing.T, f func(t *testing.T, o Options)) {
	kernels(t, f)
	t.Run("polling", func(t *testing.T) { f(t, Options{MaxDirs: 1}) })
}

func TestNotices(t *testing.T) {
	t.Run("C40 create, change, delete, rename in one burst", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "d/changed", "d/deleted", "d/from", "d/replaced")
			for range 3 {
				x.write("d/changed", "new and longer\n")
			}
			x.remove("d/deleted")
			x.rename("d/from", "d/to")
			x.write("d/created", "1")
			x.write("d/created", "22")
			x.write("d/temporary", "new and longer\n")
			x.rename("d/temporary", "d/replaced")
			x.write("d/passing", "")
			x.remove("d/passing")
			x.expectSorted("changed d/changed", "deleted d/deleted", "deleted d/from", "created d/to",
				"created d/created", "changed d/replaced")
		})
	})
	t.Run("order of first change", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "b", "c")
			x.write("c", "1")
			x.write("a", "1")
			x.write("b", "1")
			x.write("c", "2")
			x.expect("changed c", "created a", "changed b")
		})
	})
	t.Run("same size and same mtime", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "a")
			fi, err := os.Stat(x.path("a"))
			x.must(err)
			x.write("a", "NEW\n")
			x.must(os.Chtimes(x.path("a"), fi.ModTime(), fi.ModTime()))
			x.expect("changed a")
		})
	})
	t.Run("touched without a write", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "a")
			x.must(os.Chtimes(x.path("a"), time.Now(), time.Now()))
			x.must(os.Chmod(x.path("a"), 0o600))
			x.expect()
		})
	})
	t.Run("deleted and created again", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "d/a")
			x.remove("d/a")
			x.write("d/a", "again, and longer")
			x.expect("changed d/a")
		})
	})
	t.Run("file becomes folder and back", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "d/a")
			x.remove("d/a")
			x.write("d/a/b", "")
			x.expectSorted("deleted d/a", "created d/a/b")
			x.remove("d/a")
			x.write("d/a", "")
			x.expectSorted("created d/a", "deleted d/a/b")
		})
	})
	t.Run("only regular files and links to them", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "real/file")
			x.symlink("real/file", "linked")
			x.symlink("real", "linked-folder")
			mkfifo(t, x.path("pipe"))
			x.mkdir("empty")
			x.expectSorted("created linked")
			x.write("real/file", "by its own name")
			x.expectSorted("changed real/file")
		})
	})
}

func TestFolders(t *testing.T) {
	t.Run("renamed, then written to", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "a/f", "a/sub/g", "z/h")
			x.rename("a", "b")
			x.write("b/sub/new", "")
			x.expectSorted("deleted a/f", "deleted a/sub/g", "created b/f", "created b/sub/g", "created b/sub/new")
			x.write("b/f", "changed below the new name")
			x.write("b/sub/g", "changed below the new name")
			x.expectSorted("changed b/f", "changed b/sub/g")
		})
	})
	t.Run("moved below a new folder before either was noticed", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			for range 20 {
				x := newWorld(t, o, "a/f", "a/sub/g")
				x.mkdir("new")
				x.rename("a", "new/a")
				x.expectSorted("deleted a/f", "deleted a/sub/g", "created new/a/f", "created new/a/sub/g")
				x.write("new/a/sub/g", "changed")
				x.expect("changed new/a/sub/g")
			}
		})
	})
	t.Run("two exchange their names", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "a/f", "b/g")
			x.rename("a", "t")
			x.rename("b", "a")
			x.rename("t", "b")
			x.expectSorted("deleted a/f", "deleted b/g", "created a/g", "created b/f")
			x.write("a/g", "2")
			x.write("b/f", "2")
			x.expect("changed a/g", "changed b/f")
		})
	})
	t.Run("moved out of the tree and back", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "a/f", "a/s/g")
			away := filepath.Join(t.TempDir(), "away")
			x.must(os.Rename(x.path("a"), away))
			x.must(os.WriteFile(filepath.Join(away, "f"), nil, 0o644))
			x.expectSorted("deleted a/f", "deleted a/s/g")
			x.must(os.Rename(away, x.path("a")))
			x.expectSorted("created a/f", "created a/s/g")
			x.write("a/s/g", "2")
			x.expect("changed a/s/g")
		})
	})
	t.Run("removed and made again", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "d/f", "d/e/g")
			for i := range 10 {
				x.remove("d")
				x.write("d/f", fmt.Sprint(i, "again"))
				x.write("d/e/g", fmt.Sprint(i, "again"))
				x.expectSorted("changed d/f", "changed d/e/g")
			}
		})
	})
	t.Run("made deep with a file at once, 50 times", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "src/f")
			var want []string
			for i := range 50 {
				name := fmt.Sprintf("src/%d/a/b/c/new", i)
				x.write(name, "")
				want = append(want, "created "+name)
			}
			x.expectSorted(want...)
			want = want[:0]
			for i := range 50 {
				name := fmt.Sprintf("src/%d/a/b/c/new", i)
				x.write(name, "2")
				want = append(want, "changed "+name)
			}
			x.expectSorted(want...)
		})
	})
	t.Run("burst as of another revision", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			var files, want []string
			for i := range 300 {
				files = append(files, fmt.Sprintf("p%d/q%d/f%d", i%7, i%23, i))
			}
			x := newWorld(t, o, files...)
			for i, f := range files {
				switch i % 3 {
				case 0:
					x.remove(f)
					want = append(want, "deleted "+f)
				case 1:
					x.write(f+".tmp", "revised content")
					x.rename(f+".tmp", f)
					want = append(want, "changed "+f)
				case 2:
					x.remove(f)
					x.write(f+"x/new", "")
					want = append(want, "deleted "+f, "created "+f+"x/new")
				}
			}
			x.expectSorted(want...)
		})
	})
	t.Run("became readable", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root reads everything")
		}
		x := newWorld(t, Options{}, "d/f")
		x.must(os.Chmod(x.path("d"), 0))
		x.open(Options{})
		x.expect()
		x.must(os.Chmod(x.path("d"), 0o755))
		x.expect("created d/f")
	})
}

func TestRoot(t *testing.T) {
	t.Run("symbolic link names events", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			real := t.TempDir()
			x := &world{t: t, root: filepath.Join(t.TempDir(), "link")}
			x.must(os.Symlink(real, x.root))
			x.open(o)
			x.must(os.WriteFile(filepath.Join(real, "f"), nil, 0o644))
			x.mkdir("d")
			x.write("d/g", "")
			x.expect("created f", "created d/g")
		})
	})
	t.Run("link turned to another folder", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			one, two := t.TempDir(), t.TempDir()
			x := &world{t: t, root: filepath.Join(t.TempDir(), "link")}
			x.must(os.WriteFile(filepath.Join(one, "f"), nil, 0o644))
			x.must(os.WriteFile(filepath.Join(two, "g"), nil, 0o644))
			x.must(os.Symlink(one, x.root))
			x.open(o)
			x.must(os.Remove(x.root))
			x.must(os.Symlink(two, x.root))
			x.expect("deleted f", "created g")
			x.write("g", "2")
			x.expect("changed g")
		})
	})
	t.Run("removed and made again", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			x := &world{t: t, root: filepath.Join(t.TempDir(), "root")}
			x.write("d/f", "")
			x.open(o)
			x.must(os.RemoveAll(x.root))
			x.expect("deleted d/f")
			x.write("d/f", "")
			x.expect("created d/f")
			x.write("d/f", "2")
			x.expect("changed d/f")
		})
	})
	t.Run("a parent was moved", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			top := t.TempDir()
			x := &world{t: t, root: filepath.Join(top, "parent", "root")}
			x.write("f", "")
			x.open(o)
			x.must(os.Rename(filepath.Join(top, "parent"), filepath.Join(top, "elsewhere")))
			x.expect("deleted f")
		})
	})
	t.Run("missing or a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, root := range []string{file, file + "x"} {
			if w, err := New(t.Context(), root, Options{}); err == nil {
				w.Close()
				t.Errorf("New(%s) succeeded", root)
			}
		}
	})
}

func TestFlush(t *testing.T) {
	t.Run("C42 question right after a write", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "f")
			for i := range 100 {
				x.write("f", fmt.Sprint(i))
				x.expect("changed f")
			}
		})
	})
	t.Run("50 at once, each sees his own write", func(t *testing.T) {
		modes(t, func(t *testing.T, o Options) {
			x := newWorld(t, o, "d/f")
			var wg sync.WaitGroup
			for i := range 50 {
				sub := x.w.Subscribe()
				wg.Go(func() {
					for n := range 2 {
						path := x.path(fmt.Sprintf("d/%d-%d", i, n))
						if err := os.WriteFile(path, nil, 0o644); err != nil {
							t.Error(err)
						}
						if err := x.w.Flush(t.Context()); err != nil {
							t.Error(err)
						}
						events, rescan := sub.Take()
						if !rescan && !slices.Contains(events, Event{Path: path, Kind: Created}) {
							t.Errorf("%s is not among %d events", path, len(events))
						}
					}
				})
			}
			wg.Wait()
		})
	})
	t.Run("context and close end it", func(t *testing.T) {
		kernels(t, func(t *testing.T, o Options) {
			x := newWorld(t, o)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := x.w.Flush(ctx); err != context.Canceled {
				t.Errorf("Flush with an ended context: %v", err)
			}
			x.w.Close()
			if err := x.w.Flush(t.Context()); err != ErrClosed {
				t.Errorf("Flush after Close: %v", err)
			}
		})
	})
	t.Run("construction is given up with its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := New(ctx, t.TempDir(), Options{}); err == nil {
			t.Error("New succeeded with an ended context")
		}
	})
}
