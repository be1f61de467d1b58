package server

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/mirror"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/internal/watch"
)

const (
	// deliverAfter gathers changes that nobody asked about into one batch.
	deliverAfter = 100 * time.Millisecond
	// deliverLimit bounds one delivery in the background.
	deliverLimit = 30 * time.Second
	// rescanLimit is the number of files told as changed when events were lost.
	rescanLimit = 20_000
	// maxFresh is the number of new folders of a batch of which a file is opened.
	maxFresh = 64
)

// syncState is what is still to be told to the server.
type syncState struct {
	turn chan struct{} // capacity 1: the token of whoever delivers; guards the rest
	// notify, touch, nudge, gone and fresh survive a delivery that its caller's end cut off.
	notify []watch.Event
	touch  []string
	nudge  bool // the open documents must be looked at again (a file they use changed)
	gone   []string
	fresh  []string // one file of each new folder, to be opened
	// emptied are deleted files that are shown to the server as empty texts.
	emptied map[string]bool
}

func (y *syncState) init() {
	y.turn = make(chan struct{}, 1)
	y.emptied = map[string]bool{}
}

// Sync makes the server's view of everything equal to the disk: flushes the
// watcher, sends didChangeWatchedFiles (or opens, by Traits), refreshes open
// documents. It is called before every request; with nothing changed it costs one
// flush.
func (s *Session) Sync(ctx context.Context) error {
	if err := s.alive(); err != nil {
		return err
	}
	if w := s.srv.o.Watcher; w != nil {
		if err := w.Flush(ctx); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return s.bring(ctx)
}

// Ensure syncs and opens path.
func (s *Session) Ensure(ctx context.Context, path string) (mirror.Snapshot, error) {
	if err := s.Sync(ctx); err != nil {
		return mirror.Snapshot{}, err
	}
	snap, err := s.mirror.Ensure(ctx, path, s.srv.o.LanguageID(path))
	if err != nil && s.ctx.Err() != nil {
		return snap, s.reason()
	}
	return snap, err
}

// deliver tells the server of changes while nothing is asked, so that it stays warm.
func (s *Session) deliver() {
	for {
		select {
		case <-s.sub.Ready():
			if s.pause(s.ctx, deliverAfter) != nil {
				return
			}
		case <-s.unfinished():
		case <-s.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, deliverLimit)
		if err := s.bring(ctx); err != nil && s.ctx.Err() == nil {
			s.srv.o.Log.Debug("delivery of changes", "err", err)
		}
		cancel()
	}
}

// unfinished fires when the next changed file may have its turn, or an emptied one
// may be closed; nil when there is none.
func (s *Session) unfinished() <-chan time.Time {
	if !s.srv.o.Traits.FileStatus {
		return nil
	}
	select {
	case s.sync.turn <- struct{}{}:
		defer func() { <-s.sync.turn }()
	case <-s.ctx.Done():
		return nil
	}
	if len(s.sync.touch) == 0 && len(s.sync.emptied) == 0 {
		return nil
	}
	return time.After(idleQuiet)
}

// bring delivers what is pending. What the end of ctx cut off is kept for the next.
func (s *Session) bring(ctx context.Context) error {
	y := &s.sync
	select {
	case y.turn <- struct{}{}:
		defer func() { <-y.turn }()
	case <-s.ctx.Done():
		return s.reason()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.sub != nil {
		events, rescan := s.sub.Take()
		if rescan {
			events = s.everything(ctx, events)
		}
		if len(events) > 0 {
			s.digest(ctx, events)
		}
	}
	if err := s.tell(ctx); err != nil {
		return err
	}
	return s.refresh(ctx)
}

// refresh brings the open documents up to date.
func (s *Session) refresh(ctx context.Context) error {
	if _, err := s.mirror.Refresh(ctx); err != nil {
		if end := s.endOf(ctx); end != nil {
			return end
		}
		s.srv.o.Log.Debug("refresh of open documents", "err", err)
	}
	return nil
}

// everything is told as changed when events were lost.
func (s *Session) everything(ctx context.Context, events []watch.Event) []watch.Event {
	s.mirror.ChangedAll()
	known := map[string]bool{}
	for _, e := range events {
		known[e.Path] = true
	}
	for _, path := range s.srv.o.Files(ctx, rescanLimit) {
		if !known[path] {
			events = append(events, watch.Event{Path: path, Kind: watch.Changed})
		}
	}
	s.track.reloads(s.reloadTime())
	return events
}

// digest turns events into what is to be told.
func (s *Session) digest(ctx context.Context, events []watch.Event) {
	y, t := &s.sync, &s.srv.o.Traits
	own, reload, project := false, false, false
	paths := make([]string, len(events))
	for i, e := range events {
		paths[i] = e.Path
		base := filepath.Base(e.Path)
		served := s.srv.o.LanguageID(e.Path) != ""
		own = own || served
		if slices.Contains(t.Readiness.ProjectFiles, base) {
			project = true
		}
		if slices.Contains(t.Readiness.OpenPerMarker, base) {
			s.openAgain(ctx)
			project = true
		}
		reload = reload || project || served && e.Kind != watch.Changed
		switch {
		case !t.TellByOpening || !served:
		case e.Kind != watch.Deleted:
			y.touch = append(y.touch, e.Path)
		case t.FileStatus:
			y.gone = append(y.gone, e.Path)
		}
	}
	s.mirror.Changed(paths...)
	s.problems.MarkAll()
	y.notify = mergeEvents(y.notify, events)
	if t.OpenNewFolders {
		y.fresh = append(y.fresh, s.newFolders(events)...)
	}
	if own || project {
		s.track.changedText()
		y.nudge = y.nudge || t.TellByOpening
	}
	if project {
		s.track.forgetLoadErrors()
	}
	if reload {
		s.track.reloads(s.reloadTime())
	} else if own {
		s.track.reloads(t.OwnWatcher)
	}
}

// reloadTime is how long the server may be behind after its files changed.
func (s *Session) reloadTime() time.Duration {
	return max(s.srv.o.Traits.Readiness.ReloadWithin, s.srv.o.Traits.OwnWatcher)
}

// mergeEvents appends events to undelivered ones, one per path.
func mergeEvents(old, events []watch.Event) []watch.Event {
	if len(old) == 0 {
		return events
	}
	at := make(map[string]int, len(old))
	for i, e := range old {
		at[e.Path] = i
	}
	for _, e := range events {
		i, known := at[e.Path]
		switch {
		case !known:
			old = append(old, e)
		case old[i].Kind == watch.Created && e.Kind == watch.Changed:
		case old[i].Kind == watch.Deleted && e.Kind == watch.Created:
			old[i].Kind = watch.Changed
		default:
			old[i].Kind = e.Kind
		}
	}
	return old
}

// tell sends what is pending: one notice of watched files, then the files that
// the server only hears of when they are opened.
func (s *Session) tell(ctx context.Context) error {
	y := &s.sync
	if len(y.notify) > 0 {
		if changes := s.watchedChanges(y.notify); len(changes) > 0 {
			err := s.notify(ctx, "workspace/didChangeWatchedFiles", map[string]any{"changes": changes})
			if err != nil {
				return err
			}
		}
		y.notify = nil
	}
	if err := s.tellByOpening(ctx); err != nil {
		return err
	}
	for len(y.fresh) > 0 {
		if err := s.load(ctx, y.fresh[0]); err != nil {
			return err
		}
		y.fresh = y.fresh[1:]
	}
	if y.nudge {
		if err := s.nudgeOpen(ctx); err != nil {
			return err
		}
		y.nudge = false
	}
	return nil
}

// tellByOpening shows changed files to a server that hears of them no other way.
func (s *Session) tellByOpening(ctx context.Context) error {
	y := &s.sync
	if s.srv.o.Traits.FileStatus {
		for len(y.gone) > 0 {
			if err := s.empty(ctx, y.gone[0]); err != nil {
				return err
			}
			y.gone = y.gone[1:]
		}
		if err := s.closeBuilt(ctx); err != nil {
			return err
		}
		return s.give(ctx)
	}
	for len(y.touch) > 0 {
		if err := s.touch(ctx, y.touch[0]); err != nil {
			return err
		}
		y.touch = y.touch[1:]
	}
	return nil
}

// load opens a file and asks about it, which makes the server load its folder.
func (s *Session) load(ctx context.Context, path string) error {
	snap, err := s.mirror.Ensure(ctx, path, s.srv.o.LanguageID(path))
	if err == nil {
		_, _ = s.Call(ctx, string(lsp.MethodDefinition), func() (any, error) {
			return map[string]any{"textDocument": documentID{snap.URI}, "position": lsp.Position{}}, nil
		})
	}
	return s.endOf(ctx) // a file that is gone again or unfit has nothing to load
}

// newFolders picks a created file of each folder in which all served files are new,
// at most maxFresh.
func (s *Session) newFolders(events []watch.Event) (picked []string) {
	created := map[string]bool{}
	for _, e := range events {
		created[e.Path] = e.Kind == watch.Created
	}
	seen := map[string]bool{}
	for _, e := range events {
		dir := filepath.Dir(e.Path)
		if !created[e.Path] || seen[dir] || s.srv.o.LanguageID(e.Path) == "" || len(picked) == maxFresh {
			continue
		}
		seen[dir] = true
		entries, err := os.ReadDir(dir)
		old := slices.ContainsFunc(entries, func(d os.DirEntry) bool {
			path := filepath.Join(dir, d.Name())
			return !d.IsDir() && filepath.Ext(path) == filepath.Ext(e.Path) && !created[path]
		})
		if err == nil && !old {
			picked = append(picked, e.Path)
		}
	}
	return picked
}

// touch makes a server read a file again that is not open; open ones get their
// change by Refresh.
func (s *Session) touch(ctx context.Context, path string) error {
	if _, open := s.mirror.Current(path); open {
		return nil
	}
	if err := s.mirror.Touch(ctx, path, s.srv.o.LanguageID(path)); err != nil {
		return s.endOf(ctx) // a file that is gone again or unfit has nothing to tell
	}
	return nil
}

// nudgeOpen makes a server build the open documents again.
func (s *Session) nudgeOpen(ctx context.Context) error {
	for _, doc := range s.mirror.Open() {
		if s.track.isBuilding(text.CanonicalURI(doc.URI)) {
			continue
		}
		if _, err := s.resend(ctx, doc.Path, doc.LanguageID); err != nil {
			return err
		}
	}
	return nil
}

// resend sends an open document again with a new version, so that the server looks
// at it and at what it uses; same tells that its text did not change meanwhile.
func (s *Session) resend(ctx context.Context, path, languageID string) (same bool, err error) {
	old, _ := s.mirror.Current(path)
	if err := s.mirror.Touch(ctx, path, languageID); err != nil {
		return false, s.endOf(ctx)
	}
	now, ok := s.mirror.Current(path)
	if !ok || old.Map == nil || !bytes.Equal(old.Map.Content(), now.Map.Content()) {
		return false, nil
	}
	s.problems.SentSame(text.CanonicalURI(now.URI))
	return true, nil
}
