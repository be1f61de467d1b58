package mirror

import (
	"context"
	"path/filepath"
)

// Changed marks open documents as possibly different from the disk.
func (m *Mirror) Changed(paths ...string) {
	any := false
	m.mu.Lock()
	for _, p := range paths {
		if d := m.docs[filepath.Clean(p)]; d != nil {
			d.raise(written)
			any = true
		}
	}
	m.mu.Unlock()
	if any {
		m.marks.Add(1)
	}
}

// ChangedAll marks all (events were lost).
func (m *Mirror) ChangedAll() {
	m.mu.Lock()
	for _, d := range m.docs {
		d.raise(doubted)
	}
	m.mu.Unlock()
	m.marks.Add(1)
}

// Refresh brings every marked open document, and every open one that is not
// watched, up to date; it returns the paths whose text changed or that were closed
// because they are gone. When it returns, so has every change that another Refresh
// found first.
func (m *Mirror) Refresh(ctx context.Context) (changed []string, err error) {
	if m.marks.Load() != m.cleared.Load() {
		if changed, err = m.catchUp(ctx); err != nil {
			return changed, err
		}
	}
	if m.unwatched.Load() == 0 {
		return changed, nil
	}
	more, err := m.refresh(ctx, m.which((*doc).isUnwatched))
	return append(changed, more...), err
}

// catchUp deals with the marks. One at a time, so that nobody returns before a
// document that another is at work on is up to date.
func (m *Mirror) catchUp(ctx context.Context) (changed []string, err error) {
	select {
	case m.refreshing <- struct{}{}:
		defer func() { <-m.refreshing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	marks := m.marks.Load()
	if marks == m.cleared.Load() {
		return nil, nil
	}
	changed, err = m.refresh(ctx, m.which((*doc).isMarked))
	if err == nil {
		m.cleared.Store(marks)
	}
	return changed, err
}

// isMarked includes a document that somebody else is at work on: he has taken the
// mark away before he has told the server.
func (d *doc) isMarked() bool { return d.mark.Load() != clean || len(d.lock) > 0 }

// isUnwatched is called with Mirror.mu held.
func (d *doc) isUnwatched() bool { return d.unwatched }

// which lists open documents.
func (m *Mirror) which(f func(*doc) bool) []*doc {
	m.mu.Lock()
	defer m.mu.Unlock()
	var docs []*doc
	for e := m.lru.Front(); e != nil; e = e.Next() {
		if d := e.Value.(*doc); f(d) {
			docs = append(docs, d)
		}
	}
	return docs
}

// refresh syncs documents that are still open.
func (m *Mirror) refresh(ctx context.Context, docs []*doc) (changed []string, err error) {
	for _, d := range docs {
		if err := d.acquire(ctx); err != nil {
			return changed, err
		}
		var differs bool
		if st := d.state.Load(); st != nil {
			differs, err = m.sync(ctx, d, st.language)
		}
		d.release()
		if differs {
			changed = append(changed, d.path)
		}
		if err != nil && !isFileError(err) {
			return changed, err
		}
	}
	return changed, nil
}
