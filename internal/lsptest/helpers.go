package lsptest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
)

// eventuallyLimit bounds Eventually.
const eventuallyLimit = 10 * time.Second

// Eventually waits until cond holds, at most 10 s; then the test fails with msg.
// It is the only poll allowed in tests, for real processes and files.
func Eventually(t testing.TB, cond func() bool, msg string) {
	t.Helper()
	deadline := time.Now().Add(eventuallyLimit)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if cond() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", eventuallyLimit, msg)
			return
		}
		time.Sleep(pause)
	}
}

// Workspace writes the files of a txtar archive into a folder of the test and
// returns the folder's real path (symbolic links resolved).
func Workspace(t testing.TB, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Mark is a place in a fixture file.
type Mark struct {
	Path   string // absolute
	Line   int    // 1-based
	Column int    // 1-based, in code points, of the token's first character
	End    int    // column after its last character
	Token  string
}

// The comment leaders are those of the fixture languages.
var (
	markPattern  = regexp.MustCompile(`(?://|#|/\*|--|;;|<!--)@([A-Za-z][A-Za-z0-9_.-]*)(?::([^\s#*]+)(?:#(\d+))?)?`)
	tokenPattern = regexp.MustCompile(`[\p{L}\p{N}_$]+`)
)

// Marks reads the marks of all files below dir, by name. A mark is a comment that
// begins with @ and a name, as in
//
//	x := Hello("w") //@call:Hello
//	def greet(): #@def
//	a/*@first*/ + b/*@second*/
//
// and names the token (letters, digits, _ and $) right before it: the last one
// that begins before the mark on its line and is no part of another mark. With
// ":token" it names the first occurrence of that token on the line, ":token#2" the
// second. Nothing may stand between the comment's leader and @. Hidden folders and
// node_modules are passed over. A name that is used twice, or a mark without a token, fails the test.
func Marks(t testing.TB, dir string) map[string]Mark {
	t.Helper()
	marks := map[string]Mark{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != dir && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return addMarks(marks, path, content)
	})
	if err != nil {
		t.Fatalf("lsptest: marks: %v", err)
	}
	return marks
}

func addMarks(marks map[string]Mark, path string, content []byte) error {
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		all := markPattern.FindAllStringSubmatchIndex(line, -1)
		for _, at := range all {
			name := line[at[2]:at[3]]
			start, end, ok := markedToken(line, all, at)
			if !ok {
				return fmt.Errorf("%s:%d: no token for %q", path, n, name)
			}
			if old, twice := marks[name]; twice {
				return fmt.Errorf("%s:%d: %q is used before, %s:%d", path, n, name, old.Path, old.Line)
			}
			col := 1 + utf8.RuneCountInString(line[:start])
			marks[name] = Mark{Path: path, Line: n, Column: col, End: col + utf8.RuneCountInString(line[start:end]), Token: line[start:end]}
		}
	}
	return nil
}

// markedToken finds the token of the mark at.
func markedToken(line string, all [][]int, at []int) (start, end int, ok bool) {
	// The text of marks is blanked, so that it holds no tokens.
	bare := []byte(line)
	for _, m := range all {
		copy(bare[m[0]:m[1]], strings.Repeat(" ", m[1]-m[0]))
	}
	want, skip := "", 0
	if at[4] >= 0 {
		want = line[at[4]:at[5]]
	}
	if at[6] >= 0 {
		_, _ = fmt.Sscan(line[at[6]:at[7]], &skip) // digits by the pattern
		skip--
	}
	for _, tok := range tokenPattern.FindAllIndex(bare, -1) {
		switch {
		case want == "" && tok[0] < at[0]:
			start, end, ok = tok[0], tok[1], true
		case want != "" && string(bare[tok[0]:tok[1]]) == want:
			if skip <= 0 {
				return tok[0], tok[1], true
			}
			skip--
		}
	}
	return start, end, ok
}
