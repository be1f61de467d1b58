package mirror

import (
	"bytes"
	"container/list"
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// mark is how much a document is doubted.
type mark = int32

// The marks, weakest first.
const (
	clean   mark = iota
	doubted      // compare its stat
	written      // somebody saw a write: read it, whatever the stat says
)

// doc is a file that was asked about. Its record outlives its being open, so that
// versions never go back.
type doc struct {
	path string
	uri  string
	// lock (capacity 1) is held across reading the file and telling the server, and
	// guards version and unsure.
	lock    chan struct{}
	version int32
	// unsure: a message may or may not have reached the server.
	unsure bool

	state atomic.Pointer[state] // nil: not open; written with the lock held
	mark  atomic.Int32

	// Guarded by Mirror.mu.
	element   *list.Element
	holds     int
	unwatched bool
}

// state is an open document.
type state struct {
	Snapshot
	language string
	id       identity
	// sure: a later change cannot leave id equal.
	sure bool
}

func (d *doc) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.tryAcquire() {
		return nil
	}
	select {
	case d.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *doc) tryAcquire() bool {
	select {
	case d.lock <- struct{}{}:
		return true
	default:
		return false
	}
}

func (d *doc) release() { <-d.lock }

// raise marks d at least as k.
func (d *doc) raise(k mark) {
	for {
		old := d.mark.Load()
		if old >= k || d.mark.CompareAndSwap(old, k) {
			return
		}
	}
}

// sync makes the server's view of d equal to the disk and reports whether the text
// changed or the document was closed. The caller holds d's lock.
func (m *Mirror) sync(ctx context.Context, d *doc, languageID string) (changed bool, err error) {
	doubt := d.mark.Swap(clean) // before looking, so that a later doubt stays
	changed, err = m.compare(ctx, d, languageID, doubt)
	if err != nil && !isFileError(err) {
		d.raise(max(doubt, doubted))
		m.marks.Add(1)
	}
	return changed, err
}

func (m *Mirror) compare(ctx context.Context, d *doc, languageID string, doubt mark) (bool, error) {
	st := d.state.Load()
	if st != nil && doubt < written && !d.unsure && st.sure {
		if fi, err := os.Stat(d.path); err == nil && identify(fi) == st.id {
			if doubt != clean {
				m.watched(d)
			}
			return false, nil
		}
	}
	f, err := read(d.path, m.o.MaxFileSize)
	if err != nil {
		return m.unfit(ctx, d, err)
	}
	if st == nil {
		return true, m.didOpen(ctx, d, languageID, f)
	}
	m.watched(d)
	if bytes.Equal(st.Map.Content(), f.text) && !d.unsure {
		same := *st
		same.BOM, same.id, same.sure = f.bom, f.id, f.sure
		d.state.Store(&same)
		return false, nil
	}
	return true, m.didChange(ctx, d, st, f)
}

// unfit closes a document that is gone or may not be shown any more.
func (m *Mirror) unfit(ctx context.Context, d *doc, cause error) (closed bool, err error) {
	if d.state.Load() == nil || !isFileError(cause) {
		return false, cause
	}
	if err := m.close(ctx, d); err != nil {
		return false, err
	}
	return true, cause
}

// newState is the state after the server was told f with version.
func (m *Mirror) newState(d *doc, language string, f file, table *text.Mapper) *state {
	return &state{
		Snapshot: Snapshot{Path: d.path, URI: d.uri, Version: d.version, Map: table, BOM: f.bom},
		language: language, id: f.id, sure: f.sure,
	}
}

func (m *Mirror) didOpen(ctx context.Context, d *doc, languageID string, f file) error {
	wants := m.wants(d, languageID).OpenClose
	if wants && d.unsure { // it may be open: an idle didClose does less harm than a second didOpen
		if err := m.didClose(ctx, d); err != nil {
			return err
		}
	}
	d.version++
	st := m.newState(d, languageID, f, text.NewMapper(f.text))
	if wants {
		err := m.notify(ctx, d, "textDocument/didOpen", didOpenParams{textDocumentItem{
			URI: d.uri, LanguageID: languageID, Version: d.version, Text: string(f.text),
		}})
		if err != nil {
			return err
		}
	}
	d.state.Store(st)
	m.opened(d)
	return nil
}

func (m *Mirror) didChange(ctx context.Context, d *doc, st *state, f file) error {
	wants := m.wants(d, st.language)
	if wants.OpenClose && (wants.Change == lsp.SyncNone || d.unsure) {
		return m.reopen(ctx, d, st, f)
	}
	d.version++
	next := m.newState(d, st.language, f, text.NewMapper(f.text))
	if wants.OpenClose {
		change := contentChange{Text: string(f.text)}
		if wants.Change == lsp.SyncIncremental {
			change = difference(st.Map, f.text, m.wire)
		}
		if err := m.tellChange(ctx, d, change); err != nil {
			return err
		}
	}
	d.state.Store(next)
	return m.didSave(ctx, d, wants, f.text)
}

// reopen is how a server hears of a change that wants no didChange, or of which it
// is not known what it has.
func (m *Mirror) reopen(ctx context.Context, d *doc, st *state, f file) error {
	if err := m.close(ctx, d); err != nil {
		return err
	}
	return m.didOpen(ctx, d, st.language, f)
}

func (m *Mirror) tellChange(ctx context.Context, d *doc, c contentChange) error {
	return m.notify(ctx, d, "textDocument/didChange", didChangeParams{
		TextDocument:   versionedDocument{URI: d.uri, Version: d.version},
		ContentChanges: []contentChange{c},
	})
}

// didSave tells that the text is saved, which what comes from the disk always is.
func (m *Mirror) didSave(ctx context.Context, d *doc, wants lsp.Sync, content []byte) error {
	if !wants.OpenClose || !wants.Save {
		return nil
	}
	p := didSaveParams{TextDocument: document{URI: d.uri}}
	if wants.IncludeText {
		s := string(content)
		p.Text = &s
	}
	return m.notify(ctx, d, "textDocument/didSave", p)
}

// resend tells the unchanged text again, as a change and a save.
func (m *Mirror) resend(ctx context.Context, d *doc) error {
	st := *d.state.Load()
	wants := m.wants(d, st.language)
	f := file{text: st.Map.Content(), bom: st.BOM, id: st.id, sure: st.sure}
	if wants.OpenClose && wants.Change == lsp.SyncNone {
		return m.reopen(ctx, d, &st, f)
	}
	if !wants.OpenClose {
		return nil
	}
	d.version++
	st.Version = d.version
	if err := m.tellChange(ctx, d, contentChange{Text: string(f.text)}); err != nil {
		return err
	}
	d.state.Store(&st)
	return m.didSave(ctx, d, wants, f.text)
}

// close tells that d is closed. The caller holds d's lock.
func (m *Mirror) close(ctx context.Context, d *doc) error {
	st := d.state.Load()
	if m.wants(d, st.language).OpenClose {
		if err := m.didClose(ctx, d); err != nil {
			return err
		}
	}
	d.state.Store(nil)
	m.closed(d)
	if m.o.OnClose != nil {
		m.o.OnClose(d.uri)
	}
	return nil
}

// didClose leaves no doubt: whatever the server had, it has nothing now.
func (m *Mirror) didClose(ctx context.Context, d *doc) error {
	err := m.notify(ctx, d, "textDocument/didClose", didCloseParams{document{URI: d.uri}})
	if err == nil {
		d.unsure = false
	}
	return err
}

func (m *Mirror) wants(d *doc, languageID string) lsp.Sync { return m.o.Sync(languageID, d.uri) }

// linger is how long a message is still given to be written after its question's
// context ended: a document whose message may or may not have been sent is worse
// than a late answer.
const linger = 2 * time.Second

// notify sends a message about d. After an error it is not known whether the server
// got it, unless ctx had ended before.
func (m *Mirror) notify(ctx context.Context, d *doc, method string, params any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	patient, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(linger, cancel) })
	defer stop()
	err := m.o.Notifier.Notify(patient, method, params)
	if err == nil {
		return nil
	}
	d.unsure = true
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// opened puts d among the open ones.
func (m *Mirror) opened(d *doc) {
	m.mu.Lock()
	d.element = m.lru.PushBack(d)
	m.mu.Unlock()
	m.watched(d)
}

// closed takes d from among the open ones.
func (m *Mirror) closed(d *doc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lru.Remove(d.element)
	d.element = nil
	m.setUnwatched(d, false)
}

// watched finds out whether somebody will tell of d's changes.
func (m *Mirror) watched(d *doc) {
	watched := m.o.Watched != nil && m.o.Watched(d.path) && !isLink(d.path)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.setUnwatched(d, !watched)
}

// setUnwatched keeps the count. The caller holds mu.
func (m *Mirror) setUnwatched(d *doc, is bool) {
	if d.unwatched == is {
		return
	}
	d.unwatched = is
	if is {
		m.unwatched.Add(1)
	} else {
		m.unwatched.Add(-1)
	}
}

func isLink(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode()&os.ModeSymlink != 0
}
