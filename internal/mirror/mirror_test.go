package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

func TestDocuments(t *testing.T) {
	t.Run("C45 two questions about one file", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.write("a.go", "package a\n")
		one, two := x.ensure("a.go"), x.ensure("a.go")
		x.sent("didOpen a.go 1")
		if one.Version != two.Version {
			t.Errorf("versions %d and %d of one text", one.Version, two.Version)
		}
	})
	t.Run("C46 file changed between questions", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.write("a.go", "package a\n")
		x.ensure("a.go")
		x.write("a.go", "package a\n\nvar X int\n")
		if v := x.ensure("a.go").Version; v != 2 {
			t.Errorf("version %d, want 2", v)
		}
		x.sent("didOpen a.go 1", "didChange a.go 2", "didSave a.go")
	})
	t.Run("C46 same size and same mtime", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		for i := range 200 {
			x.write("a.go", fmt.Sprintf("package a%03d\n", i))
			x.backdate("a.go")
			x.ensure("a.go")
		}
	})
	t.Run("C46 size and mtime unchanged but the ctime differs", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.write("a.go", "package a\n")
		x.backdate("a.go")
		x.ensure("a.go")
		x.sure("a.go")
		fi, err := os.Stat(x.path("a.go"))
		x.must(err)
		x.write("a.go", "package b\n")
		x.must(os.Chtimes(x.path("a.go"), fi.ModTime(), fi.ModTime()))
		x.ensure("a.go")
		x.sent("didOpen a.go 1", "didChange a.go 2", "didSave a.go")
	})
	t.Run("C47 touched, same content", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.write("a.go", "package a\n")
		x.ensure("a.go")
		x.backdate("a.go")
		x.ensure("a.go")
		x.m.Changed(x.path("a.go"))
		x.refresh()
		x.write("a.go", "package a\n")
		x.ensure("a.go")
		x.sent("didOpen a.go 1")
	})
	t.Run("C49 deleted and recreated", func(t *testing.T) {
		var closed []string
		x := newWorld(t, everything, Options{OnClose: func(uri string) { closed = append(closed, filepath.Base(uri)) }})
		x.write("a.go", "one\n")
		x.ensure("a.go")
		x.must(os.Remove(x.path("a.go")))
		x.refuse("a.go", NotFound)
		x.write("a.go", "one\n")
		if v := x.ensure("a.go").Version; v != 2 {
			t.Errorf("version %d after reopening, want 2", v)
		}
		x.sent("didOpen a.go 1", "didClose a.go", "didOpen a.go 2")
		if len(closed) != 1 || closed[0] != "a.go" {
			t.Errorf("OnClose was told of %q", closed)
		}
	})
	t.Run("save with text", func(t *testing.T) {
		x := newWorld(t, lsp.Sync{OpenClose: true, Change: lsp.SyncFull, Save: true, IncludeText: true}, Options{})
		x.write("a.go", "one\n")
		x.ensure("a.go")
		x.write("a.go", "two <&>\n")
		x.ensure("a.go")
		x.sent("didOpen a.go 1", "didChange a.go 2", "didSave a.go +text")
	})
	t.Run("server that wants no changes", func(t *testing.T) {
		x := newWorld(t, lsp.Sync{OpenClose: true}, Options{})
		x.write("a.go", "one\n")
		x.ensure("a.go")
		x.write("a.go", "two\n")
		x.ensure("a.go")
		x.sent("didOpen a.go 1", "didClose a.go", "didOpen a.go 2")
	})
	t.Run("server that reads the disk itself", func(t *testing.T) {
		x := newWorld(t, lsp.Sync{Change: lsp.SyncFull, Save: true}, Options{})
		x.write("a.go", "one\n")
		x.ensure("a.go")
		x.write("a.go", "two\n")
		if v := x.ensure("a.go").Version; v != 2 {
			t.Errorf("version %d, want 2", v)
		}
		x.must(x.m.Touch(t.Context(), x.path("a.go"), "go"))
		x.sent()
	})
	t.Run("byte order mark", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.write("a.go", "\ufeffpackage a\n")
		if snap := x.ensure("a.go"); !snap.BOM || strings.HasPrefix(string(snap.Map.Content()), "\ufeff") {
			t.Errorf("BOM %v, text %q", snap.BOM, snap.Map.Content())
		}
		x.write("a.go", "package a\n")
		if snap := x.ensure("a.go"); snap.BOM {
			t.Error("the BOM is remembered though it is gone")
		}
		x.sent("didOpen a.go 1")
	})
	t.Run("a question whose context has ended", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.write("a.go", "one\n")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := x.m.Ensure(ctx, x.path("a.go"), "go"); !errors.Is(err, context.Canceled) {
			t.Errorf("Ensure: %v", err)
		}
		x.sent()
		x.ensure("a.go")
		x.sent("didOpen a.go 1")
	})
}

// sure makes the mirror trust the stat of an open file, as it does 2 s after a change.
func (x *world) sure(name string) {
	st := *x.m.doc(x.path(name)).state.Load()
	st.sure = true
	x.m.doc(x.path(name)).state.Store(&st)
}

func (x *world) refuse(name string, want Reason) *FileError {
	x.t.Helper()
	_, err := x.m.Ensure(x.t.Context(), x.path(name), "go")
	var fe *FileError
	if !errors.As(err, &fe) {
		x.t.Fatalf("Ensure(%s): %v, want a FileError", name, err)
	}
	if fe.Reason != want {
		x.t.Errorf("Ensure(%s): the file %v, want %v", name, fe.Reason, want)
	}
	if !strings.Contains(err.Error(), x.path(name)) || strings.Count(err.Error(), x.path(name)) > 1 {
		x.t.Errorf("%q does not name the file once", err)
	}
	return fe
}

func TestUnfitFiles(t *testing.T) {
	x := newWorld(t, everything, Options{MaxFileSize: 1000})
	x.must(os.Mkdir(x.path("dir"), 0o755))
	x.write("large", strings.Repeat("x", 1001))
	x.write("just", strings.Repeat("x", 1000))
	x.write("binary", "a\x00b")
	x.write("utf16", "\xff\xfea\x00")
	x.write("latin1", "caf\xe9")
	x.must(os.Symlink("nowhere", x.path("dangling")))
	x.must(os.Symlink("loop", x.path("loop")))
	x.must(os.Symlink("just", x.path("link")))

	x.refuse("missing", NotFound)
	x.refuse("dangling", NotFound)
	x.refuse("just/below", NotFound)
	x.refuse("dir", IsDirectory)
	if fe := x.refuse("large", TooLarge); fe.Size != 1001 || fe.Limit != 1000 {
		t.Errorf("size %d, limit %d", fe.Size, fe.Limit)
	}
	x.refuse("binary", Binary)
	x.refuse("utf16", NotUTF8)
	x.refuse("latin1", NotUTF8)
	x.refuse("loop", Unreadable)
	if os.Getuid() != 0 {
		x.write("secret", "")
		x.must(os.Chmod(x.path("secret"), 0))
		x.refuse("secret", Unreadable)
	}
	x.sent()
	x.ensure("just")
	x.ensure("link")
	x.sent("didOpen just 1", "didOpen link 1")

	t.Run("an open file becomes unfit", func(t *testing.T) {
		x.write("just", "\x00")
		x.refuse("just", Binary)
		x.write("just", "")
		x.refresh("link")
		x.ensure("just")
		x.ensure("link")
		x.sent("didClose just", "didChange link 2", "didSave link", "didOpen just 2")
	})
}

func TestRefresh(t *testing.T) {
	t.Run("open documents other than the one asked about", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.watched = true
		for _, n := range []string{"a", "b", "c"} {
			x.write(n, "old")
			x.ensure(n)
		}
		x.s.takeLog()
		x.write("a", "new")
		x.must(os.Remove(x.path("b")))
		x.refresh() // nobody said so
		x.m.Changed(x.path("a"), x.path("b"), x.path("c"), x.path("unknown"))
		x.refresh("a", "b")
		x.sent("didChange a 2", "didSave a", "didClose b")
		x.refresh()
		x.sent()
	})
	t.Run("events were lost", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.watched = true
		x.write("a", "old")
		x.ensure("a")
		x.write("a", "new")
		x.m.ChangedAll()
		x.refresh("a")
	})
	t.Run("not watched", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.write("a", "old")
		x.ensure("a")
		x.write("a", "new")
		x.refresh("a")
		x.watched = true // found out with the next look at the file
		x.m.Changed(x.path("a"))
		x.refresh()
		x.write("a", "newer")
		x.refresh()
		x.watched = false
		x.m.ChangedAll()
		x.refresh("a")
		x.write("a", "newest")
		x.refresh("a")
	})
	t.Run("symbolic link whose target nobody watches", func(t *testing.T) {
		x := newWorld(t, everything, Options{})
		x.watched = true
		outside := filepath.Join(t.TempDir(), "target")
		x.must(os.WriteFile(outside, []byte("old"), 0o644))
		x.must(os.Symlink(outside, x.path("link")))
		x.ensure("link")
		x.must(os.WriteFile(outside, []byte("new"), 0o644))
		x.refresh("link")
		x.sent("didOpen link 1", "didChange link 2", "didSave link")
	})
	t.Run("a closed document is not opened", func(t *testing.T) {
		x := newWorld(t, everything, Options{MaxOpen: 1})
		x.write("a", "old")
		x.write("b", "old")
		x.ensure("a")
		x.ensure("b")
		x.write("a", "new")
		x.m.Changed(x.path("a"))
		x.refresh()
		x.sent("didOpen a 1", "didOpen b 1", "didClose a")
	})
}

func TestOpenLimit(t *testing.T) {
	t.Run("C51 more than the limit opened", func(t *testing.T) {
		x := newWorld(t, everything, Options{MaxOpen: 2})
		for _, n := range []string{"a", "b", "c", "d"} {
			x.write(n, n)
		}
		release := x.m.Hold(x.path("a"))
		x.ensure("a")
		x.ensure("b")
		x.ensure("c")
		x.sent("didOpen a 1", "didOpen b 1", "didOpen c 1", "didClose b")
		release()
		release()
		x.ensure("c")
		x.ensure("d")
		x.sent("didOpen d 1", "didClose a")
		x.ensure("c")
		x.ensure("a")
		x.sent("didOpen a 2", "didClose d")
		open := x.m.Open()
		if len(open) != 2 || open[0].Path != x.path("c") || open[1].Path != x.path("a") || open[1].LanguageID != "go" {
			t.Errorf("open: %v", open)
		}
	})
}

func TestTouch(t *testing.T) {
	x := newWorld(t, everything, Options{})
	x.write("a", "text")
	x.must(x.m.Touch(t.Context(), x.path("a"), "go"))
	x.sent("didOpen a 1", "didClose a")
	if _, open := x.m.Current(x.path("a")); open {
		t.Error("open after Touch")
	}
	before := x.ensure("a")
	x.must(x.m.Touch(t.Context(), x.path("a"), "go"))
	after, open := x.m.Current(x.path("a"))
	x.equal(after)
	if !open || after.Version != before.Version+1 {
		t.Errorf("open %v, version %d after %d", open, after.Version, before.Version)
	}
	x.sent("didOpen a 2", "didChange a 3", "didSave a")
	x.write("a", "other")
	x.must(x.m.Touch(t.Context(), x.path("a"), "go"))
	x.sent("didChange a 4", "didSave a")
	x.must(os.Remove(x.path("a")))
	if err := x.m.Touch(t.Context(), x.path("a"), "go"); !isFileError(err) {
		t.Errorf("Touch of a missing file: %v", err)
	}
}

func TestReplay(t *testing.T) {
	x := newWorld(t, everything, Options{})
	for _, n := range []string{"a", "b", "gone"} {
		x.write(n, n)
		x.ensure(n)
	}
	x.ensure("a")
	x.must(os.Remove(x.path("gone")))
	x.write("b", "changed")
	fresh := newFake(t, text.UTF16)
	to := New(Options{Notifier: fresh, Sync: func(string, string) lsp.Sync { return everything }})
	x.must(x.m.Replay(t.Context(), to))
	x.s = fresh
	x.sent("didOpen b 1", "didOpen a 1")
	snap, _ := to.Current(x.path("b"))
	x.equal(snap)
}
