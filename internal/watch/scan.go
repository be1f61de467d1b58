package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// scanBudget is how long a question waits for a scan while polling. What it did not
// reach comes first in the next one.
const scanBudget = time.Second

// scanFor compares the tree with the disk for a waiting flight.
func (w *Watcher) scanFor(f *flight) {
	queue := append(w.queue, w.root)
	w.queue = w.compare(queue, time.Now().Add(w.budget))
	if len(w.queue) > 0 {
		w.subs.lost()
	}
	w.finish(f)
}

// rescan compares the whole tree with the disk after events were lost.
func (w *Watcher) rescan() {
	w.compare([]string{w.root}, time.Time{})
}

// compare walks the folders named and all below, tells what differs from the tree
// and brings the tree up to date. It returns the folders not reached by the
// deadline (none: no deadline).
func (w *Watcher) compare(queue []string, deadline time.Time) (rest []string) {
	for len(queue) > 0 {
		if w.life.Err() != nil || (!deadline.IsZero() && time.Now().After(deadline)) {
			return queue
		}
		path := queue[len(queue)-1]
		queue = w.compareDir(path, queue[:len(queue)-1])
	}
	return nil
}

// compareDir compares one folder and appends those below it to queue.
func (w *Watcher) compareDir(path string, queue []string) []string {
	d := w.tree.dirs[path]
	k, ok := w.keyOf(path)
	if d != nil && (!ok || k != d.key) {
		w.drop(d)
		d = nil
	}
	if !ok {
		return queue
	}
	if d == nil {
		w.enterNews(path)
		return queue
	}
	w.again(path)
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		w.drop(d)
		return queue
	}
	if err != nil {
		w.subs.lost() // not known to be gone: keep what was there
		return queue
	}
	if w.skippedByContent(path, entries) {
		w.leave(d)
		return queue
	}
	w.compareEntries(d, entries)
	return w.below(d, entries, queue)
}

// again makes sure that a known folder is watched: among the lost events may be that
// it was moved away and back, and some kernels' watchers let go of what moves.
func (w *Watcher) again(path string) {
	if w.kernel == nil {
		return
	}
	if err := w.kernel.add(path); exhausted(err) {
		w.failure = reasonOf(err)
	}
}

// compareEntries tells of the files that differ, and forgets names that are gone.
func (w *Watcher) compareEntries(d *dir, entries []os.DirEntry) {
	present := make(map[string]bool, len(entries))
	for _, e := range entries {
		present[e.Name()] = true
		if e.IsDir() {
			if _, wasFile := d.files[e.Name()]; wasFile {
				w.vanished(d, e.Name())
			}
			continue
		}
		w.compareFile(d, e)
	}
	for _, name := range sortedNames(d.files) {
		if !present[name] {
			w.vanished(d, name)
		}
	}
	for _, name := range sortedNames(d.dirs) {
		if !present[name] {
			w.vanished(d, name)
		}
	}
}

func (w *Watcher) compareFile(d *dir, e os.DirEntry) {
	fi, err := e.Info()
	if err != nil || !w.isFile(d, fi) {
		w.vanished(d, e.Name())
		return
	}
	if sub := d.dirs[e.Name()]; sub != nil {
		w.drop(sub)
	}
	sig := w.signatureNow(fi)
	before, known := w.tree.put(d, e.Name(), fi.Mode(), sig)
	path := filepath.Join(d.path, e.Name())
	switch {
	case !known:
		w.subs.emit(path, Created)
	case before == 0 || before != sig:
		w.subs.emit(path, Changed)
	}
}

// below appends the folders listed in d, the first to be popped first.
func (w *Watcher) below(d *dir, entries []os.DirEntry, queue []string) []string {
	for _, e := range slices.Backward(entries) {
		path := filepath.Join(d.path, e.Name())
		if e.IsDir() && !w.skipped(d.path, e.Name(), path) {
			queue = append(queue, path)
		}
	}
	return queue
}
