// Package diag remembers the problems that one generation of one server reported,
// apart per source, and knows how fresh they are. It never asks a server anything
// and never knows how problems are shown.
package diag

import (
	"slices"
	"sort"
	"sync"

	"github.com/dragoman-dev/dragoman/internal/lsp"
)

// Source tells reports apart: "push", or "pull:" and the registration's identifier.
type Source string

// Push is the source of publishDiagnostics.
const Push Source = "push"

// Pull is the source of a pull provider with the registration's identifier.
func Pull(identifier string) Source { return Source("pull:" + identifier) }

// Freshness of what is known about a document.
type Freshness int

// The four values.
const (
	None Freshness = iota
	Stale
	Settled // unversioned, arrived after the change and stayed
	Fresh
)

// String is the word for logs and tests.
func (f Freshness) String() string {
	return [...]string{"none", "stale", "settled", "fresh"}[f]
}

// maxDocuments bounds the memory that a server can take by naming documents.
const maxDocuments = 50_000

// Options of a store.
type Options struct {
	// PushApart says that a server which answers pulls pushes problems of another
	// kind (rust-analyzer: those of cargo check). Otherwise what it pushes is the
	// same again, and a pull for the current text outweighs older pushes (gopls).
	PushApart bool
}

// Store is safe for concurrent use; its lock is never held over I/O.
type Store struct {
	o  Options
	mu sync.Mutex // guards everything below
	// clock counts events, so that before and after need no wall time.
	clock uint64
	// marked is the clock of the last MarkAll; pulls is that of the last MarkPulls.
	marked, pulls uint64
	docs          map[string]*document
	// pushed is closed and replaced at each push.
	pushed  chan struct{}
	dropped int
}

// document is what is known about one URI.
type document struct {
	version int32
	sent    uint64 // clock of the last Sent; 0 when never sent
	before  uint64 // clock of the Sent before that
	closed  bool
	sources map[Source]*report
}

// report is the last word of one source.
type report struct {
	items    []lsp.Diagnostic
	version  *int32
	resultID string
	at       uint64 // clock of its arrival or of the last confirmation
	// settled says that silence confirmed it, not a word of the server.
	settled bool
	// outdated says that it names an older version than was sent.
	outdated bool
}

// New returns an empty store.
func New(o Options) *Store {
	return &Store{o: o, docs: map[string]*document{}, pushed: make(chan struct{})}
}

// tick advances the clock; mu is held.
func (s *Store) tick() uint64 {
	s.clock++
	return s.clock
}

// doc returns the document, made if there is room; mu is held.
func (s *Store) doc(uri string) *document {
	d := s.docs[uri]
	if d == nil {
		if len(s.docs) >= maxDocuments {
			s.dropped++
			return nil
		}
		d = &document{sources: map[Source]*report{}}
		s.docs[uri] = d
	}
	return d
}

// Sent records that the text of uri with version was written to the server now
// (open or change): what arrived before is no longer current. It is called before
// the bytes are written, so that no answer to them can come first.
func (s *Store) Sent(uri string, version int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.doc(uri); d != nil {
		d.before = d.sent
		d.version, d.sent, d.closed = version, s.tick(), false
	}
}

// SentSame records that the text that was sent last is the same as before, only
// with a new version: reports about it still are about this text.
func (s *Store) SentSame(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.docs[uri]; d != nil && d.before > 0 {
		d.sent = d.before
	}
}

// MarkAll records that other files changed: pull sources are stale, pushes need a
// new word where the server sends one.
func (s *Store) MarkAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marked = s.tick()
	s.pulls = s.marked
}

// MarkPulls records that the server asked for its pulls to be repeated.
func (s *Store) MarkPulls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls = s.tick()
}

// Publish stores a report. version nil means unversioned. A version older than the
// last one sent is kept as stale only, and never replaces a current report.
func (s *Store) Publish(src Source, uri string, version *int32, ds []lsp.Diagnostic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.doc(uri)
	if d == nil {
		return
	}
	r := d.source(src)
	old := version != nil && d.sent > 0 && !d.closed && *version < d.version
	if old && r.at > d.sent && !r.outdated {
		return
	}
	r.items, r.version, r.at = ds, version, s.tick()
	r.settled, r.outdated = false, old
	if src == Push {
		close(s.pushed)
		s.pushed = make(chan struct{})
	}
}

func (d *document) source(src Source) *report {
	r := d.sources[src]
	if r == nil {
		r = &report{}
		d.sources[src] = r
	}
	return r
}

// ResultID keeps the id of the last pull of a source.
func (s *Store) ResultID(src Source, uri string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.docs[uri]; d != nil && d.sources[src] != nil {
		return d.sources[src].resultID
	}
	return ""
}

// SetResultID stores the id that the next pull of the source sends back.
func (s *Store) SetResultID(src Source, uri string, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.doc(uri); d != nil {
		d.source(src).resultID = id
	}
}

// Unchanged confirms a source's items for the current text.
func (s *Store) Unchanged(src Source, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.doc(uri); d != nil {
		r := d.source(src)
		r.at, r.settled, r.outdated = s.tick(), false, false
	}
}

// Closed marks the problems of a document as being of a closed one.
func (s *Store) Closed(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.docs[uri]; d != nil {
		d.closed = true
	}
}

// freshness judges one report; mu is held.
func (s *Store) freshness(d *document, r *report) Freshness {
	if r == nil || r.at == 0 {
		return None
	}
	pushed, mark := d.sources[Push] == r, s.pulls
	if pushed {
		mark = s.marked
	}
	switch {
	case r.outdated, r.at < d.sent, r.at < mark:
		return Stale
	case r.settled, pushed && r.version == nil:
		return Settled
	}
	return Fresh
}

// Get merges the sources of a document. The freshness is that of the stalest
// report; a source that never said anything does not count.
func (s *Store) Get(uri string) (ds []lsp.Diagnostic, f Freshness) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[uri]
	if d == nil {
		return nil, None
	}
	for _, src := range sortedSources(d) {
		r := d.sources[src]
		g := s.freshness(d, r)
		if g == None || src == Push && g < f && !s.o.PushApart {
			continue
		}
		ds = appendNew(ds, r.items)
		if f == None || g < f {
			f = g
		}
	}
	return ds, f
}

// appendNew adds the items that are not there yet: a server that both pushes and
// answers pulls reports the same problem twice.
func appendNew(ds, more []lsp.Diagnostic) []lsp.Diagnostic {
	known := ds
	for _, m := range more {
		if !slices.ContainsFunc(known, func(k lsp.Diagnostic) bool { return same(k, m) }) {
			ds = append(ds, m)
		}
	}
	return ds
}

func same(a, b lsp.Diagnostic) bool {
	return a.Range == b.Range && a.Severity == b.Severity && a.Code == b.Code &&
		a.Source == b.Source && a.Message == b.Message
}

// sortedSources puts pulls before pushes ("pull:" < "push").
func sortedSources(d *document) []Source {
	srcs := make([]Source, 0, len(d.sources))
	for src := range d.sources {
		srcs = append(srcs, src)
	}
	sort.Slice(srcs, func(i, j int) bool { return srcs[i] < srcs[j] })
	return srcs
}

// URIs lists the documents with a report, sorted.
func (s *Store) URIs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var uris []string
	for uri, d := range s.docs {
		for _, r := range d.sources {
			if r.at > 0 {
				uris = append(uris, uri)
				break
			}
		}
	}
	sort.Strings(uris)
	return uris
}
