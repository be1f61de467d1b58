// Package watch notices changes below a folder and hands them to subscribers when
// they ask, so that a question sees every write that happened before it. It does
// not know who wants the events.
package watch

import (
	"context"
	"log/slog"
)

// Kind is LSP's file change type.
type Kind int

// The kinds.
const (
	Created Kind = 1 + iota
	Changed
	Deleted
)

// Event is a change of one file (never of a folder).
type Event struct {
	Path string // absolute
	Kind Kind
}

// Options tune a watcher.
type Options struct {
	Log *slog.Logger
	// CookieDir is where Flush touches its cookie file; default: a new temporary folder.
	CookieDir string
	// Skip reports folders (absolute) that are not watched beyond the built-in ones.
	Skip func(dir string) bool
	// MaxDirs is the number of folders watched before it polls instead; 0: no limit of its own.
	MaxDirs int
}

// Watcher watches one tree.
type Watcher struct{}

// New begins to watch root and returns when every folder that exists is watched or
// found unwatchable. It works (polling, see Polling) where there are no events.
func New(ctx context.Context, root string, o Options) (*Watcher, error) { panic("unfilled") }

// Polling is "" or says why changes are found by scanning.
func (w *Watcher) Polling() string { panic("unfilled") }

// Flush returns when every change made before the call is in the subscriptions.
func (w *Watcher) Flush(ctx context.Context) error { panic("unfilled") }

// Subscribe returns a subscription to all files below root.
func (w *Watcher) Subscribe() *Subscription { panic("unfilled") }

// Close ends it and waits for its goroutines.
func (w *Watcher) Close() error { panic("unfilled") }

// Subscription collects events, merged per path: create+delete vanish,
// delete+create is Changed, consecutive changes are one.
type Subscription struct{}

// Take returns and clears what is pending, in order of first change. rescan is true
// when events were lost and everything must be compared with the disk.
func (s *Subscription) Take() (events []Event, rescan bool) { panic("unfilled") }

// Ready is signalled (capacity 1) when something became pending.
func (s *Subscription) Ready() <-chan struct{} { panic("unfilled") }

// Close ends it.
func (s *Subscription) Close() { panic("unfilled") }
