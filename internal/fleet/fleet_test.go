package fleet

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func maker(fake *lsptest.Server, name string) func() *server.Server {
	return func() *server.Server {
		return server.New(server.Options{Name: name, Root: "/", Dial: func(context.Context) (proc.Handle, error) { return fake.Dial(), nil }})
	}
}

func TestOneServerForEachIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(0)
		fake := lsptest.New(t, "")
		a := Identity{Root: "/a", Name: "x", Hash: "1"}
		one, err := f.Get(a, maker(fake, "x"))
		if err != nil {
			t.Fatal(err)
		}
		again, _ := f.Get(a, func() *server.Server { t.Error("made twice"); return nil })
		if one != again {
			t.Error("two servers for one identity")
		}
		for _, other := range []Identity{{Root: "/b", Name: "x", Hash: "1"}, {Root: "/a", Name: "x", Hash: "2"}, {Root: "/a", Name: "x", Hash: "1", Variant: "v"}} {
			s, err := f.Get(other, maker(fake, "x"))
			if err != nil || s == one {
				t.Errorf("%+v shares a server (%v)", other, err)
			}
		}
		if err := f.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := f.Get(a, maker(fake, "x")); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestLeastRecentlyAskedMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(2)
		fake := lsptest.New(t, "")
		get := func(root string) *server.Server {
			s, err := f.Get(Identity{Root: root, Name: "x"}, maker(fake, "x"))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			return s
		}
		first := get("/1")
		if _, err := first.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := get("/2")
		get("/1") // asked again, so /2 is the older one
		get("/3")
		synctest.Wait()
		if st := second.Snapshot().State; st != server.Stopped {
			t.Errorf("the least recently asked is in state %v", st)
		}
		if st := first.Snapshot().State; st == server.Stopped {
			t.Error("the one asked just now was stopped")
		}
		if n := len(f.Live()); n != 2 {
			t.Errorf("%d live", n)
		}
		if f.Live()[0].ID.Root != "/3" {
			t.Error("the most recently asked comes first")
		}
		if err := f.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestNoneIsTakenFromUnderAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(2)
		fake := lsptest.New(t, "")
		get := func(root string) *server.Server {
			s, err := f.Get(Identity{Root: root, Name: "x"}, maker(fake, "x"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		live := func(want ...string) {
			t.Helper()
			var got []string
			for _, in := range f.Live() {
				got = append(got, in.ID.Root)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("live %v, want %v", got, want)
			}
		}
		done := get("/1").Use()
		get("/2")
		get("/3")
		live("/1", "/2", "/3") // the first is in use, the second about to be
		time.Sleep(2 * time.Second)
		get("/4")
		live("/1", "/4")
		done()
		for _, root := range []string{"/5", "/6", "/7", "/8", "/9"} {
			defer get(root).Use()()
		}
		if n := len(f.Live()); n > 6 {
			t.Errorf("%d live, all in use at once", n)
		}
		if err := f.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
