package diag

import (
	"context"
	"time"
)

// PushState is what the pushes say about a document now.
func (s *Store) PushState(uri string) Freshness {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.push(uri)
}

// push judges the push source; mu is held.
func (s *Store) push(uri string) Freshness {
	d := s.docs[uri]
	if d == nil {
		return None
	}
	return s.freshness(d, d.sources[Push])
}

// AwaitPush waits until a push for version (or an unversioned one after Sent)
// arrived and nothing further came for quiet; quiet 0 takes the first push as the
// last word. final ends the wait at once when closed (the server said that it is
// done). ctx bounds it; the outcome then is what is known.
func (s *Store) AwaitPush(ctx context.Context, uri string, version int32, quiet time.Duration, final <-chan struct{}) Freshness {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	last := uint64(0)
	for {
		f, at, more := s.look(uri, version)
		if f >= Settled && quiet <= 0 {
			return f
		}
		if f >= Settled && at != last {
			last = at
			timer.Reset(quiet)
		}
		var silent <-chan time.Time
		if f >= Settled {
			silent = timer.C
		}
		select {
		case <-more:
		case <-silent:
			return s.PushState(uri)
		case <-final:
			return s.PushState(uri)
		case <-ctx.Done():
			return s.PushState(uri)
		}
	}
}

// look returns the state of the push for version, when it arrived, and a channel
// that is closed at the next push.
func (s *Store) look(uri string, version int32) (f Freshness, at uint64, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f = s.push(uri)
	if d := s.docs[uri]; d != nil && d.sources[Push] != nil {
		r := d.sources[Push]
		at = r.at
		if r.version != nil && *r.version < version {
			f = min(f, Stale)
		}
	}
	return f, at, s.pushed
}

// Silence says how the silence of a server is to be read.
type Silence int

// The readings.
const (
	// SilenceIsNothing: only what was said for the current text stands, also when
	// other files changed since.
	SilenceIsNothing Silence = iota
	// SilenceIsClean: a document without problems never gets a push, so one that
	// had none has none; problems pushed for an older text do not stand.
	SilenceIsClean
	// SilenceStands: the server finished looking at the current text and sends
	// changes only, so its last word stands, whatever it was.
	SilenceStands
)

// Confirm records that the server had its say about the current text of uri and
// reports what that makes of the pushes.
func (s *Store) Confirm(uri string, how Silence) Freshness {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.doc(uri)
	if d == nil {
		return None
	}
	if f := s.push(uri); f >= Settled || f == None && how == SilenceIsNothing {
		return f
	}
	r := d.source(Push)
	// A mark means that other files changed; the text itself is the one reported on.
	ownText := r.at > d.sent && !r.outdated
	clean := how == SilenceIsClean && len(r.items) == 0
	if how == SilenceStands || clean || ownText {
		r.at, r.settled, r.outdated = s.tick(), true, false
	}
	return s.push(uri)
}

// Mark changes with every MarkAll and MarkPulls, so that a pull knows whether
// anything changed under it.
func (s *Store) Mark() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pulls
}

// NeedsWord reports that other files changed since the text of uri was sent and
// since the last push about it, so that only a new word of the server can be
// current.
func (s *Store) NeedsWord(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[uri]
	if d == nil || d.sent == 0 || d.sent > s.marked {
		return false
	}
	r := d.sources[Push]
	return r == nil || r.at < s.marked
}
