package intel

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/dragoman-dev/dragoman/internal/text"
)

// matchIgnored decides without git, by the ignore files alone; it cannot see which
// files are tracked.
func matchIgnored(top string, paths []string) (map[string]bool, error) {
	set := map[string]bool{}
	for _, p := range paths {
		rel, err := filepath.Rel(top, p)
		if err != nil {
			return nil, err
		}
		parts := strings.Split(filepath.ToSlash(rel), "/")
		if gitignore.NewMatcher(patternsAbove(top, filepath.Dir(p))).Match(parts, false) {
			set[p] = true
		}
	}
	return set, nil
}

// patternsAbove reads the exclude file and the ignore files from top down to dir,
// in the order of rising precedence.
func patternsAbove(top, dir string) (patterns []gitignore.Pattern) {
	var dirs []string
	for d := dir; text.Within(top, d); d = filepath.Dir(d) {
		dirs = append([]string{d}, dirs...)
		if d == top {
			break
		}
	}
	if gitDir, ok := gitDirOf(top); ok {
		patterns = readPatterns(filepath.Join(gitDir, "info", "exclude"), nil)
	}
	for _, d := range dirs {
		var domain []string
		if rel, err := filepath.Rel(top, d); err == nil && rel != "." {
			domain = strings.Split(filepath.ToSlash(rel), "/")
		}
		patterns = append(patterns, readPatterns(filepath.Join(d, ".gitignore"), domain)...)
	}
	return patterns
}

func readPatterns(path string, domain []string) (patterns []gitignore.Pattern) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		line := lines.Text()
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, gitignore.ParsePattern(line, domain))
		}
	}
	return patterns
}
