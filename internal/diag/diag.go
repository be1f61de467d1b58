// Package diag remembers the problems that one generation of one server reported,
// apart per source, and knows how fresh they are.
package diag

import (
	"context"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsp"
)

// Source tells reports apart: "push", or "pull:" and the registration's identifier.
type Source string

// Push is the source of publishDiagnostics.
const Push Source = "push"

// Freshness of what is known about a document.
type Freshness int

// The four values.
const (
	None Freshness = iota
	Stale
	Settled // unversioned, arrived after the change and stayed
	Fresh
)

// Store is safe for concurrent use; its lock is never held over I/O.
type Store struct{}

// New returns an empty store.
func New() *Store { panic("unfilled") }

// Sent records that the text of uri with version was written to the server now
// (open or change): what arrived before is no longer current.
func (s *Store) Sent(uri string, version int32) { panic("unfilled") }

// MarkAll records that other files changed or the server asked for a refresh: pull
// sources are stale, pushes need a new word where the server sends one.
func (s *Store) MarkAll() { panic("unfilled") }

// Publish stores a report. version nil means unversioned. A version older than the
// last one sent is kept as stale only.
func (s *Store) Publish(src Source, uri string, version *int32, ds []lsp.Diagnostic) {
	panic("unfilled")
}

// ResultID and SetResultID keep the id of the last pull of a source.
func (s *Store) ResultID(src Source, uri string) string        { panic("unfilled") }
func (s *Store) SetResultID(src Source, uri string, id string) { panic("unfilled") }

// Unchanged confirms a source's items for the current text.
func (s *Store) Unchanged(src Source, uri string) { panic("unfilled") }

// Closed marks the problems of a document as being of a closed one.
func (s *Store) Closed(uri string) { panic("unfilled") }

// AwaitPush waits until a push for version (or an unversioned one after Sent)
// arrived and, for an unversioned or early one, nothing further came for quiet.
// final ends the wait at once when closed (the server said that it is done). ctx
// bounds it; the outcome then is what is known.
func (s *Store) AwaitPush(ctx context.Context, uri string, version int32, quiet time.Duration, final <-chan struct{}) Freshness {
	panic("unfilled")
}

// Get merges the sources of a document.
func (s *Store) Get(uri string) (ds []lsp.Diagnostic, f Freshness) { panic("unfilled") }

// URIs lists the documents with a report, sorted.
func (s *Store) URIs() []string { panic("unfilled") }
