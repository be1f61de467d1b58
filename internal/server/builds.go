package server

import (
	"context"
	"fmt"
	"time"

	"github.com/dragoman-dev/dragoman/internal/text"
)

const (
	// buildLimit is how long a server may take for one document before it counts as
	// built.
	buildLimit = 30 * time.Second
	// maxBuilding is the number of changed files that a server reads at a time.
	maxBuilding = 16
	// idleQuiet is how long a document must stay idle.
	idleQuiet = 60 * time.Millisecond
)

// build is a document that the server has still to build: since when, and since
// when it says to be idle with it.
type build struct{ since, idle time.Time }

// over is when the document counts as built, unless more comes.
func (b build) over() time.Time {
	if b.idle.IsZero() {
		return b.since.Add(buildLimit)
	}
	return b.idle.Add(idleQuiet)
}

// builds notes that the server has to build a document (again).
func (t *tracker) builds(uri string) {
	t.update(func(now time.Time) { t.building[uri] = build{since: now} })
}

// buildState notes what the server says about a document. It says idle too early,
// between two stages of its work, so that idle must last for idleQuiet.
func (t *tracker) buildState(uri string, idle bool) {
	t.update(func(now time.Time) {
		b, known := t.building[uri]
		switch {
		case idle && known:
			b.idle = now
			t.building[uri] = b
		case !idle && len(t.building) < maxTokens:
			t.building[uri] = build{since: now}
		}
	})
}

// unbuild forgets a document that was closed.
func (t *tracker) unbuild(uri string) {
	t.update(func(time.Time) { delete(t.building, uri) })
}

// queue notes how many changed files wait for their turn.
func (t *tracker) queue(n int) {
	t.mu.Lock()
	same := t.queued == n
	t.mu.Unlock()
	if !same {
		t.update(func(time.Time) { t.queued = n })
	}
}

// isBuilding reports whether the server has still to build the document.
func (t *tracker) isBuilding(uri string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire(time.Now())
	_, is := t.building[uri]
	return is
}

// room is how many documents more may be given to the server now.
func (t *tracker) room() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire(time.Now())
	return maxBuilding - len(t.building)
}

// expire forgets documents that are built, and says when the next will be; mu is held.
func (t *tracker) expire(now time.Time) (next time.Time) {
	for uri, b := range t.building {
		until := b.over()
		if !now.Before(until) {
			delete(t.building, uri)
		} else if next.IsZero() || until.Before(next) {
			next = until
		}
	}
	return next
}

// behind judges the documents that are not built; mu is held.
func (t *tracker) behind(now time.Time, v *verdict) {
	next := t.expire(now)
	n := len(t.building) + t.queued
	if n == 0 {
		return
	}
	v.Settled, v.next = false, next
	if v.Working == "" {
		v.Working = fmt.Sprintf("reading %d changed files", n)
	}
}

// give opens changed files, as many as there is room for; the rest stays queued.
func (s *Session) give(ctx context.Context) error {
	y := &s.sync
	defer func() { s.track.queue(len(y.touch)) }()
	for len(y.touch) > 0 && s.track.room() > 0 {
		path := y.touch[0]
		if err := s.closeEmptied(ctx, path); err != nil {
			return err
		}
		if _, err := s.mirror.Ensure(ctx, path, s.srv.o.LanguageID(path)); err != nil {
			if end := s.endOf(ctx); end != nil {
				return end
			}
		}
		y.touch = y.touch[1:]
	}
	return nil
}

// empty makes a server forget a deleted file that its index still knows: it is
// shown as an empty text, which is closed when it is built.
func (s *Session) empty(ctx context.Context, path string) error {
	if _, open := s.mirror.Current(path); open {
		// Closes it, unless it is there again.
		if _, err := s.mirror.Ensure(ctx, path, s.srv.o.LanguageID(path)); err == nil {
			return nil
		} else if end := s.endOf(ctx); end != nil {
			return end
		}
	}
	y := &s.sync
	if y.emptied[path] {
		return nil
	}
	uri := text.PathToURI(path)
	s.track.builds(text.CanonicalURI(uri))
	err := s.notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri, "languageId": s.srv.o.LanguageID(path), "version": 1, "text": "",
	}})
	if err == nil {
		y.emptied[path] = true
	}
	return err
}

// closeEmptied closes a file that was shown empty.
func (s *Session) closeEmptied(ctx context.Context, path string) error {
	if !s.sync.emptied[path] {
		return nil
	}
	err := s.notify(ctx, "textDocument/didClose", map[string]any{"textDocument": documentID{text.PathToURI(path)}})
	if err == nil {
		delete(s.sync.emptied, path)
	}
	return err
}

// closeBuilt closes the emptied files that the server is done with.
func (s *Session) closeBuilt(ctx context.Context) error {
	for path := range s.sync.emptied {
		if s.track.isBuilding(text.CanonicalURI(text.PathToURI(path))) {
			continue
		}
		if err := s.closeEmptied(ctx, path); err != nil {
			return err
		}
	}
	return nil
}
