package lsp

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxGroups bounds the {a,b} of a glob: each may double the work. Real ones have two
// or three.
const maxGroups = 8

// MatchGlob reports whether a slash-separated path matches an LSP glob (**, *, ?,
// {a,b}, [a-z], [!a]). A glob that cannot be read matches nothing. One with more than
// eight {} matches everything: a server that hears of too much is not wronged.
func MatchGlob(glob, path string) bool {
	if strings.Count(glob, "{") > maxGroups {
		return true
	}
	ok, err := doublestar.Match(glob, path)
	return err == nil && ok
}

// matchPattern matches the pattern of a document filter: a pattern without a folder
// is meant for the name in any folder.
func matchPattern(glob, path string) bool {
	if MatchGlob(glob, path) {
		return true
	}
	if strings.Contains(glob, "/") {
		return false
	}
	return MatchGlob(glob, path[strings.LastIndexByte(path, '/')+1:])
}
