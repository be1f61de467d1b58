package watch

import (
	"io/fs"
	"path/filepath"
	"sync"
)

// tree is what is known to exist: needed to tell created from changed, and to name
// the files below a folder that was moved away in one event.
type tree struct {
	// mu guards dirs and each folder's links against readers that do not have the turn
	// (see Watcher.turn). Who has it alone writes, and so reads without mu.
	mu   sync.RWMutex
	dirs map[string]*dir
	// byKey finds a watched folder by what it is: inotify has one watch per folder,
	// whatever its names.
	byKey map[key]*dir
}

// dir is a watched folder.
type dir struct {
	path  string
	key   key
	dirs  map[string]*dir
	files map[string]uint64   // name → signature, 0: not known
	links map[string]struct{} // the files that are symbolic links
}

// key identifies a folder whatever its name; the zero key is unknown.
type key struct{ dev, ino uint64 }

func newTree() *tree {
	return &tree{dirs: make(map[string]*dir), byKey: make(map[key]*dir)}
}

func (t *tree) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.dirs)
	clear(t.byKey)
}

// covers reports whether path's folder is watched and path no symbolic link.
func (t *tree) covers(path string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	d := t.dirs[filepath.Dir(path)]
	if d == nil {
		return false
	}
	_, link := d.links[filepath.Base(path)]
	return !link
}

// insert adds a folder below parent (nil for the root).
func (t *tree) insert(parent *dir, path string, k key) *dir {
	d := &dir{path: path, key: k, files: make(map[string]uint64)}
	if parent != nil {
		if parent.dirs == nil {
			parent.dirs = make(map[string]*dir)
		}
		parent.dirs[filepath.Base(path)] = d
	}
	if k != (key{}) {
		t.byKey[k] = d
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dirs[path] = d
	return d
}

// remove takes a folder and all below it out; the result lists them, parents first.
func (t *tree) remove(d *dir) []*dir {
	all := []*dir{d}
	for i := 0; i < len(all); i++ {
		for _, name := range sortedNames(all[i].dirs) {
			all = append(all, all[i].dirs[name])
		}
	}
	if parent := t.dirs[filepath.Dir(d.path)]; parent != nil && parent != d {
		delete(parent.dirs, filepath.Base(d.path))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range all {
		delete(t.dirs, g.path)
		if t.byKey[g.key] == g {
			delete(t.byKey, g.key)
		}
	}
	return all
}

// put records a file, and reports whether it was known before, and with which signature.
func (t *tree) put(d *dir, name string, mode fs.FileMode, sig uint64) (before uint64, known bool) {
	before, known = d.files[name]
	d.files[name] = sig
	_, wasLink := d.links[name]
	if isLink := mode&fs.ModeSymlink != 0; isLink != wasLink {
		t.link(d, name, isLink)
	}
	return before, known
}

func (t *tree) link(d *dir, name string, is bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !is:
		delete(d.links, name)
	case d.links == nil:
		d.links = map[string]struct{}{name: {}}
	default:
		d.links[name] = struct{}{}
	}
}

// mix hashes what identifies a file's state; never 0.
func mix(vs ...uint64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range vs {
		h = (h ^ v) * 1099511628211
		h ^= h >> 29
	}
	return h | 1
}

// forget takes a file out.
func (t *tree) forget(d *dir, name string) {
	delete(d.files, name)
	if _, ok := d.links[name]; ok {
		t.link(d, name, false)
	}
}
