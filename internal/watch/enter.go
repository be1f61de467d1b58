package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// tooManyError says that Options.MaxDirs is reached.
type tooManyError struct{ max int }

func (e *tooManyError) Error() string { return fmt.Sprintf("more than %d folders", e.max) }

// enter watches the folder path and all below it that are not skipped, and records
// their files; found is told of each (nil at the start, when nothing is news). A
// folder is watched first and listed after, so that nothing falls between. An error
// means that the kernel's watches do not suffice, or that ctx ended; folders that
// vanish or may not be read are passed over.
func (w *Watcher) enter(ctx context.Context, path string, found func(path string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, entries, err := w.enterOne(path)
	if d == nil || err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			w.enterFile(d, e, found)
			continue
		}
		if w.skipped(path, e.Name(), filepath.Join(path, e.Name())) {
			continue
		}
		if err := w.enter(ctx, filepath.Join(path, e.Name()), found); err != nil {
			return err
		}
	}
	return nil
}

// enterOne watches and lists one folder; nil without an error when it is passed over.
func (w *Watcher) enterOne(path string) (*dir, []os.DirEntry, error) {
	k, ok := w.keyOf(path)
	if !ok {
		return nil, nil, nil
	}
	if other := w.tree.byKey[k]; other != nil && k != (key{}) {
		if other.path == path || isBelow(path, other.path) {
			return nil, nil, nil // known, or mounted into itself
		}
		w.drop(other) // moved: the kernel would keep its old name
	}
	if err := w.add(path); err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(path)
	if exhausted(err) {
		return nil, nil, err
	}
	if err != nil || w.skippedByContent(path, entries) {
		w.unwatch(path)
		return nil, nil, nil
	}
	return w.tree.insert(w.tree.dirs[filepath.Dir(path)], path, k), entries, nil
}

// unsigned is a file entered without its signature.
type unsigned struct {
	d    *dir
	name string
}

// signAtOnce is how many files are looked at before somebody else has a turn.
const signAtOnce = 20

// sign learns the signatures of some files entered without. They are needed only
// when events are lost, so it is done when there is nothing else to do. A file that
// was changed since it was entered keeps none: its event may be still to come.
func (w *Watcher) sign() {
	rest := max(0, len(w.unsigned)-signAtOnce)
	for _, u := range w.unsigned[rest:] {
		if sig, known := u.d.files[u.name]; !known || sig != 0 || w.tree.dirs[u.d.path] != u.d {
			continue
		}
		fi, err := os.Lstat(filepath.Join(u.d.path, u.name))
		if err == nil && statusTime(fi).Before(w.began) {
			u.d.files[u.name] = signature(fi)
		}
	}
	w.unsigned = w.unsigned[:rest]
	if rest == 0 {
		w.unsigned = nil
	}
}

// keyOf tells which folder path is; false when it is none. Only the root may be a
// symbolic link.
func (w *Watcher) keyOf(path string) (key, bool) {
	if path == w.root {
		return folderAt(path)
	}
	fi, err := os.Lstat(path)
	if err != nil || !fi.IsDir() {
		return key{}, false
	}
	return folderKey(fi), true
}

// add asks the kernel to watch one folder; nil also for one that vanished or may not be read.
func (w *Watcher) add(path string) error {
	if w.polling.Load() != nil {
		return nil
	}
	if w.max > 0 && len(w.tree.dirs) >= w.max {
		return &tooManyError{w.max}
	}
	if err := w.kernel.add(path); exhausted(err) {
		return err
	}
	return nil // else listing it fails too, or it is a race that an event resolves
}

func (w *Watcher) unwatch(path string) {
	if w.kernel != nil {
		w.kernel.remove(path)
	}
}

// enterFile records one listed entry that is no folder.
func (w *Watcher) enterFile(d *dir, e os.DirEntry, found func(path string)) {
	if found == nil && statusTimes && e.Type().IsRegular() && w.polling.Load() == nil {
		d.files[e.Name()] = 0
		w.unsigned = append(w.unsigned, unsigned{d, e.Name()}) // who starts us is in a hurry
		return
	}
	fi, err := e.Info()
	if err != nil || !w.isFile(d, fi) {
		return
	}
	w.tree.put(d, e.Name(), fi.Mode(), w.signatureNow(fi))
	if found != nil {
		found(filepath.Join(d.path, e.Name()))
	}
}

// isFile reports a regular file or a link to something other than a folder.
func (w *Watcher) isFile(d *dir, fi fs.FileInfo) bool {
	if fi.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Stat(filepath.Join(d.path, fi.Name()))
		return err != nil || target.Mode().IsRegular()
	}
	return fi.Mode().IsRegular()
}

// racy is how old a change must be before a later one is sure to differ in time.
const racy = 2 * time.Second

// signatureNow is the file's signature, or 0 when the next change might leave it
// equal (only scans depend on it; events do not).
func (w *Watcher) signatureNow(fi fs.FileInfo) uint64 {
	if w.polling.Load() != nil && time.Since(fi.ModTime()) < racy {
		return 0
	}
	return signature(fi)
}

// drop forgets a folder and all below it, gives their watches back and tells that
// their files are gone.
func (w *Watcher) drop(d *dir) {
	for _, g := range w.tree.remove(d) {
		w.unwatch(g.path)
		for _, name := range sortedNames(g.files) {
			w.subs.emit(filepath.Join(g.path, name), Deleted)
		}
	}
}

// leave forgets a folder that turned out to be a heavy one. Its files live on, so
// they count as changed a last time: who has one open learns that nobody will tell
// him any more (see Watches).
func (w *Watcher) leave(d *dir) {
	for _, g := range w.tree.remove(d) {
		w.unwatch(g.path)
		for _, name := range sortedNames(g.files) {
			w.subs.emit(filepath.Join(g.path, name), Changed)
		}
	}
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func isBelow(path, root string) bool {
	return strings.HasPrefix(path, root) && len(path) > len(root) && path[len(root)] == filepath.Separator
}

// exhausted reports that the kernel has no more watches, or the process no more files.
func exhausted(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) ||
		errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// reasonOf is why it polls, for people.
func reasonOf(err error) string {
	var many *tooManyError
	switch {
	case errors.As(err, &many):
		return many.Error()
	case errors.Is(err, syscall.ENOSPC):
		return "the system's limit of watched folders is reached (fs.inotify.max_user_watches)"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "the system's limit of watchers or open files is reached (fs.inotify.max_user_instances, ulimit -n)"
	}
	return "no file change events: " + err.Error()
}
