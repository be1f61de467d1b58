package watch

import (
	"io/fs"
	"os"
	"path/filepath"
)

// handle takes one event of the kernel. Events come in order, but each may be older
// than what a listing has shown already; so an event says where to look, and the
// tree says whether that is news.
func (w *Watcher) handle(ev event) {
	switch {
	case ev.op&loses != 0:
		w.overflowed()
		return
	case w.cookie != nil && w.cookie.is(ev):
		w.landed()
		return
	case ev.path == w.root:
		if ev.op&vanishes != 0 {
			w.lostRoot()
		}
		return
	}
	d := w.tree.dirs[filepath.Dir(ev.path)]
	if d == nil {
		return
	}
	name := filepath.Base(ev.path)
	if ev.op&vanishes != 0 {
		w.vanished(d, name)
	}
	if ev.op&appears != 0 {
		w.appeared(d, name)
	}
	if ev.op&writes != 0 {
		w.written(d, name)
	}
	if ev.op&permits != 0 {
		w.permitted(d, name)
	}
}

// vanished: a name was removed or moved away.
func (w *Watcher) vanished(d *dir, name string) {
	if sub := d.dirs[name]; sub != nil {
		w.drop(sub)
		return
	}
	if _, known := d.files[name]; known {
		w.tree.forget(d, name)
		w.subs.emit(filepath.Join(d.path, name), Deleted)
	}
}

// appeared: a name was made or moved here, perhaps over another file.
func (w *Watcher) appeared(d *dir, name string) {
	path := filepath.Join(d.path, name)
	fi, err := os.Lstat(path)
	if err != nil {
		return // gone again; its removal is still to come
	}
	if fi.IsDir() {
		w.appearedDir(d, name, path)
		return
	}
	if sub := d.dirs[name]; sub != nil {
		w.drop(sub)
	}
	if d.path != w.root && marksHeavy(d.path, name) {
		w.leave(d)
		return
	}
	if w.isFile(d, fi) {
		w.appearedFile(d, path, fi)
	}
}

func (w *Watcher) appearedDir(d *dir, name, path string) {
	if _, known := d.files[name]; known {
		w.vanished(d, name)
	}
	if w.skipped(d.path, name, path) {
		return
	}
	if sub := d.dirs[name]; sub != nil {
		if k, ok := w.keyOf(path); ok && k == sub.key {
			return // a listing was quicker than the event
		}
		w.drop(sub)
	}
	w.enterNews(path)
}

// enterNews enters a folder that is new and tells of its files.
func (w *Watcher) enterNews(path string) {
	err := w.enter(w.life, path, func(p string) { w.subs.emit(p, Created) })
	if err != nil && w.life.Err() == nil {
		w.failure = reasonOf(err)
		w.subs.lost()
	}
}

func (w *Watcher) appearedFile(d *dir, path string, fi fs.FileInfo) {
	sig := signature(fi)
	before, known := w.tree.put(d, fi.Name(), fi.Mode(), sig)
	switch {
	case !known:
		w.subs.emit(path, Created)
	case before == 0 || before != sig: // moved over it
		w.subs.emit(path, Changed)
	}
}

// written: a file's content was changed. Its signature may stay equal (same size
// within one tick of the clock), so the event alone counts.
func (w *Watcher) written(d *dir, name string) {
	if d.path != w.root && marksHeavy(d.path, name) {
		w.leave(d)
		return
	}
	if _, known := d.files[name]; known {
		d.files[name] = 0
		w.subs.emit(filepath.Join(d.path, name), Changed)
		return
	}
	if d.dirs[name] == nil {
		w.appeared(d, name)
	}
}

// permitted: attributes changed. Content did not, but a folder may have become readable.
func (w *Watcher) permitted(d *dir, name string) {
	if _, known := d.files[name]; known || d.dirs[name] != nil {
		return
	}
	if fi, err := os.Lstat(filepath.Join(d.path, name)); err == nil && fi.IsDir() {
		w.appearedDir(d, name, filepath.Join(d.path, name))
	}
}

// lostRoot: the root itself was removed or moved. Its files are gone; a later
// question looks whether there is a root again.
func (w *Watcher) lostRoot() {
	if d := w.tree.dirs[w.root]; d != nil {
		w.drop(d)
	}
}

// rootStands reports whether the root's name still means the folder that is watched:
// a link may have been turned, a parent moved, the folder made again.
func (w *Watcher) rootStands() bool {
	k, ok := w.keyOf(w.root)
	d := w.tree.dirs[w.root]
	return ok == (d != nil) && (d == nil || k == d.key)
}

// checkRoot watches the folder that the root's name means now.
func (w *Watcher) checkRoot() {
	if w.rootStands() {
		return
	}
	w.lostRoot()
	w.enterNews(w.root)
}
