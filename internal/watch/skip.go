package watch

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
)

// heavy are folders that hold no source that a language server should hear of by
// events, or so many files that they would eat the kernel's watches.
var heavy = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".jj": true,
	"__pycache__": true, ".cache": true, ".tox": true, ".nox": true,
	".mypy_cache": true, ".ruff_cache": true, ".pytest_cache": true,
	".venv": true, "site-packages": true,
	".gradle": true, ".direnv": true,
}

// skipped reports whether the folder name below parent is not watched. The root
// never is skipped.
func (w *Watcher) skipped(parent, name, path string) bool {
	switch {
	case heavy[name]:
		return true
	case filepath.Base(parent) == "node_modules" && parent != w.root:
		return true // packages come and go as one; their inside is not watched
	case name == "target" && exists(filepath.Join(parent, "Cargo.toml")):
		return true
	case w.cookie != nil && path == w.cookie.dir:
		return true
	}
	return w.skip != nil && w.skip(path)
}

// skippedByContent reports whether a listed folder says itself that it is a cache
// or a virtual environment.
func (w *Watcher) skippedByContent(path string, entries []os.DirEntry) bool {
	if path == w.root {
		return false
	}
	for _, e := range entries {
		if marksHeavy(path, e.Name()) {
			return true
		}
	}
	return false
}

// marksHeavy reports whether the file name makes its folder a heavy one.
func marksHeavy(dir, name string) bool {
	switch name {
	case "pyvenv.cfg":
		return true
	case "CACHEDIR.TAG":
		return isCacheTag(filepath.Join(dir, name))
	}
	return false
}

// cacheTag begins a valid CACHEDIR.TAG (bford.info/cachedir).
const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55"

func isCacheTag(path string) bool {
	if fi, err := os.Lstat(path); err != nil || !fi.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(cacheTag))
	_, err = io.ReadFull(f, b)
	return err == nil && bytes.Equal(b, []byte(cacheTag))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
