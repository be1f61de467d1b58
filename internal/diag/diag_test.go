package diag

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsp"
)

const uri = "file:///a.go"

func said(msgs ...string) (ds []lsp.Diagnostic) {
	for _, m := range msgs {
		ds = append(ds, lsp.Diagnostic{Message: m, Severity: 1})
	}
	return ds
}

func v(n int32) *int32 { return &n }

func check(t *testing.T, s *Store, want Freshness, msgs ...string) {
	t.Helper()
	ds, f := s.Get(uri)
	var got []string
	for _, d := range ds {
		got = append(got, d.Message)
	}
	if f != want || !slices.Equal(got, msgs) {
		t.Errorf("got %q %v, want %q %v", got, f, msgs, want)
	}
}

func TestFreshness(t *testing.T) {
	s := New(Options{})
	check(t, s, None)
	s.Publish(Push, uri, nil, said("early"))
	check(t, s, Settled, "early")
	s.Sent(uri, 1)
	check(t, s, Stale, "early")
	s.Publish(Push, uri, v(1), said("one"))
	check(t, s, Fresh, "one")
	s.Sent(uri, 2)
	s.Publish(Push, uri, v(1), said("late one"))
	check(t, s, Stale, "late one")
	s.Publish(Push, uri, v(2), said("two"))
	s.Publish(Push, uri, v(1), said("later one"))
	check(t, s, Fresh, "two")
	s.MarkAll()
	check(t, s, Stale, "two")
	if !s.NeedsWord(uri) {
		t.Error("after a mark a new word is needed")
	}
	s.Sent(uri, 3)
	if s.NeedsWord(uri) {
		t.Error("a new text was sent, which will bring one")
	}
	if s.Closed(uri); len(s.URIs()) != 1 {
		t.Error("a closed document's problems are kept")
	}
}

func TestSourcesStayApart(t *testing.T) {
	s := New(Options{PushApart: true})
	s.Sent(uri, 1)
	s.Publish(Pull(""), uri, v(1), said("native"))
	check(t, s, Fresh, "native")
	s.Publish(Push, uri, v(1), said("cargo", "native"))
	s.Publish(Pull("lint"), uri, v(1), said("lint"))
	check(t, s, Fresh, "native", "lint", "cargo")
	s.Publish(Pull(""), uri, v(1), nil)
	check(t, s, Fresh, "lint", "cargo", "native")
	s.SetResultID(Pull(""), uri, "r1")
	s.Sent(uri, 2)
	s.Unchanged(Pull(""), uri)
	s.Unchanged(Pull("lint"), uri)
	check(t, s, Stale, "lint", "cargo", "native")
	if s.ResultID(Pull(""), uri) != "r1" || s.ResultID(Pull("lint"), uri) != "" {
		t.Error("result ids are mixed")
	}
}

func TestPullOutweighsOlderPushes(t *testing.T) {
	s := New(Options{})
	s.Sent(uri, 1)
	s.Publish(Push, uri, v(1), said("old"))
	s.Sent(uri, 2)
	s.Publish(Pull(""), uri, v(2), said("new"))
	check(t, s, Fresh, "new")
}

func TestConfirm(t *testing.T) {
	for _, c := range []struct {
		name  string
		how   Silence
		setup func(s *Store)
		want  Freshness
		items []string
	}{
		{"nothing said, silence is nothing", SilenceIsNothing, func(*Store) {}, None, nil},
		{"nothing said, silence is clean", SilenceIsClean, func(*Store) {}, Settled, nil},
		{"clean before the change", SilenceIsClean, func(s *Store) { s.Publish(Push, uri, nil, nil); s.Sent(uri, 2) }, Settled, nil},
		{"problems before the change", SilenceIsClean, func(s *Store) { s.Publish(Push, uri, nil, said("x")); s.Sent(uri, 2) }, Stale, []string{"x"}},
		{"problems before the mark", SilenceIsClean, func(s *Store) { s.Publish(Push, uri, nil, said("x")); s.MarkAll() }, Settled, []string{"x"}},
		{"problems before the change stand", SilenceStands, func(s *Store) { s.Publish(Push, uri, nil, said("x")); s.Sent(uri, 2) }, Settled, []string{"x"}},
		{"fresh stays fresh", SilenceIsClean, func(s *Store) { s.Publish(Push, uri, v(1), said("x")) }, Fresh, []string{"x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(Options{})
			s.Sent(uri, 1)
			c.setup(s)
			if got := s.Confirm(uri, c.how); got != c.want {
				t.Errorf("confirmed as %v, want %v", got, c.want)
			}
			check(t, s, c.want, c.items...)
		})
	}
}

func TestAwaitPush(t *testing.T) {
	ctx := context.Background()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		s.Sent(uri, 1)
		later := func(d time.Duration, f func()) { time.AfterFunc(d, f) }
		await := func(quiet, want time.Duration, f Freshness, final <-chan struct{}) {
			t.Helper()
			began := time.Now()
			lctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			if got := s.AwaitPush(lctx, uri, 1, quiet, final); got != f || time.Since(began) != want {
				t.Errorf("%v after %v, want %v after %v", got, time.Since(began), f, want)
			}
		}
		await(0, 5*time.Second, None, nil)
		final := make(chan struct{})
		later(time.Second, func() { close(final) })
		await(0, time.Second, None, final)
		later(time.Second, func() { s.Publish(Push, "file:///other", nil, nil) })
		later(2*time.Second, func() { s.Publish(Push, uri, v(1), said("syntax")) })
		later(2200*time.Millisecond, func() { s.Publish(Push, uri, v(1), said("all")) })
		await(300*time.Millisecond, 2500*time.Millisecond, Fresh, nil)
		await(0, 0, Fresh, nil)
		check(t, s, Fresh, "all")
	})
}

func TestMemoryIsBounded(t *testing.T) {
	s := New(Options{})
	for i := range maxDocuments + 100 {
		s.Publish(Push, fmt.Sprintf("file:///%d", i), nil, nil)
	}
	if got := len(s.URIs()); got != maxDocuments {
		t.Errorf("%d documents", got)
	}
	s.Publish(Push, "file:///0", nil, said("known ones still count"))
	if ds, _ := s.Get("file:///0"); len(ds) != 1 {
		t.Error("a known document is lost")
	}
}
