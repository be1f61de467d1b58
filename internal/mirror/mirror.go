// Package mirror keeps the documents of one generation of one language server
// equal to the disk: it reads a file, compares it with what the server was told, and
// tells the difference before anybody asks about it.
//
// It never decides when to ask, nor what; only that what was sent before a question
// is what the disk says.
package mirror

import (
	"container/list"
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// Notifier sends notifications to the server in order.
type Notifier interface {
	Notify(ctx context.Context, method string, params any) error
}

// Defaults of Options.
const (
	DefaultMaxOpen           = 100
	DefaultMaxFileSize int64 = 5 << 20
)

// Options of a mirror.
type Options struct {
	Notifier Notifier
	Encoding text.Encoding
	// LFOnly: the server ends lines at \n only, see text.Wire.
	LFOnly bool
	// Sync tells what the server wants to hear about a document.
	Sync func(languageID, uri string) lsp.Sync
	// MaxOpen is the number of open documents kept; default 100.
	MaxOpen int
	// MaxFileSize in bytes; default 5 MB.
	MaxFileSize int64
	// URI makes the URI of a path in the server's spelling; default text.PathToURI.
	URI func(path string) string
	// Watched reports that changes of the path are reported through Changed, so
	// that an unchanged file needs no stat by Refresh. nil: nothing is watched.
	// It is asked again after ChangedAll.
	Watched func(path string) bool
	// OnClose is told when a document was closed (problems are then marked). It is
	// called with the document's lock held.
	OnClose func(uri string)
}

// Snapshot is the text that the server has, which was the disk's when it was taken.
type Snapshot struct {
	Path    string
	URI     string
	Version int32
	Map     *text.Mapper
	// BOM says that the file begins with a byte order mark (not part of Map's text).
	BOM bool
}

// Mirror is safe for concurrent use.
//
// Locks: refreshing, then a document's lock, then mu; the last never over I/O.
type Mirror struct {
	o    Options
	wire text.Wire

	// marks counts calls of Changed, cleared is how many of them a Refresh dealt
	// with; equal means that there is nothing to do. refreshing (capacity 1) is held
	// by the Refresh that catches up, so that another cannot overtake it.
	marks, cleared atomic.Int64
	refreshing     chan struct{}
	// unwatched counts open documents that Refresh has to compare itself.
	unwatched atomic.Int64

	mu   sync.Mutex // guards what follows, and each doc's fields that say so
	docs map[string]*doc
	lru  *list.List // of *doc: the open ones, least recently used first
}

// New returns an empty mirror.
func New(o Options) *Mirror {
	if o.MaxOpen <= 0 {
		o.MaxOpen = DefaultMaxOpen
	}
	if o.MaxFileSize <= 0 {
		o.MaxFileSize = DefaultMaxFileSize
	}
	if o.URI == nil {
		o.URI = text.PathToURI
	}
	return &Mirror{
		o:          o,
		wire:       text.Wire{Encoding: o.Encoding, LFOnly: o.LFOnly},
		refreshing: make(chan struct{}, 1),
		docs:       make(map[string]*doc),
		lru:        list.New(),
	}
}

// Ensure makes the server's view of path equal to the disk: didOpen, didChange (+
// didSave), or nothing; didClose and a *FileError when it is gone or unfit. The
// path is absolute. It stats always (a file name that is asked about is cheap).
// A document keeps the language that it was opened with.
func (m *Mirror) Ensure(ctx context.Context, path, languageID string) (Snapshot, error) {
	d := m.doc(path)
	if err := d.acquire(ctx); err != nil {
		return Snapshot{}, err
	}
	opened, err := m.ensure(ctx, d, languageID)
	var snap Snapshot
	if err == nil {
		snap = d.state.Load().Snapshot
		m.used(d)
	}
	d.release()
	if opened {
		m.evict(ctx)
	}
	return snap, err
}

// ensure syncs d. The caller holds d's lock.
func (m *Mirror) ensure(ctx context.Context, d *doc, languageID string) (opened bool, err error) {
	wasOpen := d.state.Load() != nil
	_, err = m.sync(ctx, d, languageID)
	return !wasOpen && d.state.Load() != nil, err
}

// Touch opens and closes (or, if open, changes and saves) path so that a server
// that ignores watched-file notices reads it again.
func (m *Mirror) Touch(ctx context.Context, path, languageID string) error {
	d := m.doc(path)
	if err := d.acquire(ctx); err != nil {
		return err
	}
	defer d.release()
	wasOpen := d.state.Load() != nil
	changed, err := m.sync(ctx, d, languageID)
	switch {
	case err != nil:
		return err
	case !wasOpen && !m.held(d):
		return m.close(ctx, d)
	case wasOpen && !changed:
		return m.resend(ctx, d)
	}
	return nil
}

// Hold keeps a document open until release is called.
func (m *Mirror) Hold(path string) (release func()) {
	d := m.doc(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	d.holds++
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		d.holds--
	})
}

// Current is the snapshot of an open document without looking at the disk.
func (m *Mirror) Current(path string) (Snapshot, bool) {
	m.mu.Lock()
	d := m.docs[filepath.Clean(path)]
	m.mu.Unlock()
	if d == nil {
		return Snapshot{}, false
	}
	st := d.state.Load()
	if st == nil {
		return Snapshot{}, false
	}
	return st.Snapshot, true
}

// OpenDoc names an open document.
type OpenDoc struct{ Path, URI, LanguageID string }

// Open lists the open documents, least recently used first.
func (m *Mirror) Open() []OpenDoc {
	var docs []OpenDoc
	for _, d := range m.open() {
		if st := d.state.Load(); st != nil {
			docs = append(docs, OpenDoc{Path: d.path, URI: d.uri, LanguageID: st.language})
		}
	}
	return docs
}

// Replay opens in `to` (a mirror of a new generation) what is open here. What is
// gone or unfit by now is left out.
func (m *Mirror) Replay(ctx context.Context, to *Mirror) error {
	for _, d := range m.Open() {
		_, err := to.Ensure(ctx, d.Path, d.LanguageID)
		if err != nil && !isFileError(err) {
			return err
		}
	}
	return nil
}

// doc finds or makes the record of a path.
func (m *Mirror) doc(path string) *doc {
	path = filepath.Clean(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.docs[path]
	if d == nil {
		d = &doc{path: path, uri: m.o.URI(path), lock: make(chan struct{}, 1)}
		m.docs[path] = d
	}
	return d
}

// open lists the open documents, least recently used first.
func (m *Mirror) open() []*doc {
	m.mu.Lock()
	defer m.mu.Unlock()
	docs := make([]*doc, 0, m.lru.Len())
	for e := m.lru.Front(); e != nil; e = e.Next() {
		docs = append(docs, e.Value.(*doc))
	}
	return docs
}

// used makes d the most recently used.
func (m *Mirror) used(d *doc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d.element != nil {
		m.lru.MoveToBack(d.element)
	}
}

// evict closes the least recently used documents beyond the limit, but those held
// or in use. That the server could not be told is found by the next question.
func (m *Mirror) evict(ctx context.Context) {
	for _, d := range m.surplus() {
		if !d.tryAcquire() {
			continue
		}
		if d.state.Load() != nil && !m.held(d) {
			m.close(ctx, d) //nolint:errcheck // see above
		}
		d.release()
	}
}

func (m *Mirror) surplus() []*doc {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.lru.Len() - m.o.MaxOpen
	var docs []*doc
	for e := m.lru.Front(); e != nil && len(docs) < n; e = e.Next() {
		if d := e.Value.(*doc); d.holds == 0 {
			docs = append(docs, d)
		}
	}
	return docs
}

func (m *Mirror) held(d *doc) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return d.holds > 0
}
