package catalog

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Signature changes when packages come or go below the paths: for a folder when its
// names do (hidden ones, which tools use for caches, aside), for a file when it was
// written. It costs one stat for each path that did not change since last.
func Signature(paths []string, last map[string]string) map[string]string {
	next := make(map[string]string, len(paths))
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil {
			next[path] = "absent"
			continue
		}
		stamp := fmt.Sprintf("%d %d ", st.ModTime().UnixNano(), st.Size())
		if old := last[path]; strings.HasPrefix(old, stamp) {
			next[path] = old
			continue
		}
		next[path] = stamp + names(path, st)
	}
	return next
}

// names is a digest of a folder's names, or the stamp itself of a file.
func names(path string, st os.FileInfo) string {
	if !st.IsDir() {
		return fmt.Sprint(st.ModTime().UnixNano())
	}
	f, err := os.Open(path)
	if err != nil {
		return "unreadable"
	}
	defer f.Close()
	list, _ := f.Readdirnames(100_000)
	sort.Strings(list)
	h := fnv.New64a()
	for _, n := range list {
		if !strings.HasPrefix(n, ".") {
			_, _ = h.Write([]byte(n + "\x00"))
		}
	}
	return fmt.Sprint(h.Sum64())
}

// SameSignature compares what matters of two signatures.
func SameSignature(a, b map[string]string) bool {
	for path, x := range a {
		if essence(x) != essence(b[path]) {
			return false
		}
	}
	return true
}

func essence(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// nodeModules lists what tells that npm, pnpm or yarn installed something for a root.
func nodeModules(p *Place) []string {
	var out []string
	for _, dir := range upward(p.Root, p.Workspace) {
		nm := filepath.Join(dir, "node_modules")
		out = append(out, nm, filepath.Join(nm, "@types"), filepath.Join(nm, ".package-lock.json"),
			filepath.Join(nm, ".modules.yaml"), filepath.Join(nm, ".yarn-state.yml"))
	}
	return out
}
