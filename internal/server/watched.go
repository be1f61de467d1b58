package server

import (
	"path/filepath"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/internal/watch"
)

// watchedChanges keeps the events that a registered watcher asked for; several
// watchers of one file make one entry.
func (s *Session) watchedChanges(events []watch.Event) []lsp.FileEvent {
	watchers := s.Capabilities().Watchers()
	if len(watchers) == 0 {
		return nil
	}
	var changes []lsp.FileEvent
	for _, e := range events {
		if anyWatches(watchers, s.srv.o.Root, e) {
			changes = append(changes, lsp.FileEvent{URI: text.PathToURI(e.Path), Type: int(e.Kind)})
		}
	}
	return changes
}

func anyWatches(watchers []lsp.FileWatcher, root string, e watch.Event) bool {
	bit := 1 << (e.Kind - watch.Created)
	for _, w := range watchers {
		if w.Kind&bit != 0 && globMatches(w, root, e.Path) {
			return true
		}
	}
	return false
}

// globMatches tries a relative pattern below its base, and a plain glob against
// the whole path and against the path below the root: servers write both.
func globMatches(w lsp.FileWatcher, root, path string) bool {
	if w.Base != "" {
		rel, ok := below(w.Base, path)
		return ok && lsp.MatchGlob(w.Glob, rel)
	}
	if lsp.MatchGlob(w.Glob, filepath.ToSlash(path)) {
		return true
	}
	rel, ok := below(root, path)
	return ok && lsp.MatchGlob(w.Glob, rel)
}

// below is the slash-separated path below dir.
func below(dir, path string) (string, bool) {
	if !text.Within(dir, path) {
		return "", false
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return "", false
	}
	return strings.TrimPrefix(filepath.ToSlash(rel), "./"), true
}

// watched reports whether the watcher sees changes of path.
func (s *Session) watched(path string) bool {
	return s.srv.o.Watcher != nil && s.srv.o.Watcher.Watches(path)
}
