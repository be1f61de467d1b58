package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/dragoman-dev/dragoman/query"
)

// parseTarget reads FILE or FILE:LINE[:COL]. Since names may hold colons, the
// longest prefix that is a file wins; if none is, the trailing numbers are taken
// for the position. What grep prints after the position is ignored.
func parseTarget(s string, exists func(string) bool) (path string, at *query.Point, err error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", nil, bad("TARGET is empty.", "Give FILE or FILE:LINE[:COL].")
	}
	if exists(s) {
		return s, nil, nil
	}
	for i := len(s) - 1; i > 0; i-- {
		if s[i] != ':' || !exists(s[:i]) {
			continue
		}
		at, err = position(s[i+1:])
		if err != nil {
			return "", nil, bad(fmt.Sprintf("%q is no position in %s.", s[i+1:], s[:i]), "Give LINE or LINE:COL after the file, both 1 or more.")
		}
		return s[:i], at, nil
	}
	return trailing(s)
}

// position reads LINE[:COL][:anything].
func position(s string) (*query.Point, error) {
	parts := strings.SplitN(s, ":", 3)
	line, err := positive(parts[0])
	if err != nil {
		if s == "" {
			return nil, nil // a trailing colon
		}
		return nil, err
	}
	at := &query.Point{Line: line, Column: 1}
	if len(parts) > 1 {
		if column, err := positive(parts[1]); err == nil {
			at.Column = column
		} else if len(parts) == 2 && parts[1] != "" && numeric(parts[1]) {
			return nil, err
		}
	}
	return at, nil
}

func positive(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 || n > 1<<31-1 {
		return 0, fmt.Errorf("%q is no positive number", s)
	}
	return n, nil
}

func numeric(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// trailing takes up to two numbers off the end of a name that is no file.
func trailing(s string) (string, *query.Point, error) {
	rest, numbers := strings.TrimSuffix(s, ":"), []int(nil)
	for len(numbers) < 2 {
		i := strings.LastIndexByte(rest, ':')
		if i <= 0 || isDrive(rest[:i]) {
			break
		}
		n, err := strconv.Atoi(rest[i+1:])
		if err != nil {
			break
		}
		if n < 1 || n > 1<<31-1 {
			return "", nil, bad(fmt.Sprintf("%q is no position.", rest[i+1:]), "Lines and columns are 1 or more.")
		}
		numbers = append([]int{n}, numbers...)
		rest = rest[:i]
	}
	switch len(numbers) {
	case 2:
		return rest, &query.Point{Line: numbers[0], Column: numbers[1]}, nil
	case 1:
		return rest, &query.Point{Line: numbers[0], Column: 1}, nil
	}
	return s, nil, nil
}

// isDrive says that s is the letter of a Windows drive: "C".
func isDrive(s string) bool {
	return runtime.GOOS == "windows" && len(s) == 1 && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

func bad(message, hint string) error {
	return &query.Error{Kind: query.BadRequest, Message: message, Hint: hint}
}

// target reads TARGET relative to the current folder, else to the workspace.
func (a *app) target(s string) (query.Target, error) {
	if strings.Contains(s, "://") {
		path, at, err := trailing(s)
		return query.Target{Path: path, At: at}, err
	}
	root := a.workspace()
	path, at, err := parseTarget(s, func(p string) bool {
		return isThere(a.abs(p)) || !filepath.IsAbs(p) && isThere(filepath.Join(root, p))
	})
	if err != nil {
		return query.Target{}, err
	}
	full := a.abs(path)
	if !filepath.IsAbs(path) && !isThere(full) && isThere(filepath.Join(root, path)) {
		full = filepath.Join(root, path)
	}
	if strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//") {
		full = path // refused further down, untouched on disk
	}
	return query.Target{Path: full, At: at}, nil
}

func isThere(path string) bool {
	if strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//") {
		return false
	}
	_, err := os.Stat(path)
	return err == nil
}

// pointed is target for verbs that need a position.
func (a *app) pointed(s string) (query.Target, error) {
	t, err := a.target(s)
	if err == nil && t.At == nil {
		err = bad("This question needs a line.", fmt.Sprintf("Give it as %s:LINE[:COL].", s))
	}
	return t, err
}
