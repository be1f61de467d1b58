package text

import (
	"path/filepath"
	"strings"
)

// Within reports whether path is root or lies below it (lexically, after Clean).
func Within(root, path string) bool {
	root, path = filepath.Clean(root), filepath.Clean(path)
	if hostStyle() == windows {
		root, path = strings.ToLower(root), strings.ToLower(path)
	}
	if root == path {
		return true
	}
	sep := string(filepath.Separator)
	return strings.HasPrefix(path, strings.TrimSuffix(root, sep)+sep)
}
