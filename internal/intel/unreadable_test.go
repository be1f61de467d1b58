package intel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/query"
)

func TestUnreadablePaths(t *testing.T) {
	for name, want := range map[string]struct{ message, hint string }{
		"loop.go":                      {"too many levels of symbolic links", "Check the path."},
		"nowhere.go":                   {"file not found", "It is a link to a file that is not there."},
		strings.Repeat("a", 500):       {"file name too long", "Check the path."},
		"a.go\x00":                     {"invalid argument", "Check the path."},
		filepath.Join("a.go", "below"): {"not a directory", "Check the path."},
	} {
		bubble(t, twoFiles, lone(""), func(f *fixture) {
			for _, link := range []string{"loop.go", "nowhere.go"} {
				target := map[string]string{"loop.go": "loop.go", "nowhere.go": "gone"}[link]
				if err := os.Symlink(target, filepath.Join(f.root, link)); err != nil {
					t.Fatal(err)
				}
			}
			e := f.refused(at(query.Hover, name, 1, 1))
			if !strings.Contains(e.Message, want.message) || !strings.HasPrefix(e.Hint, want.hint) {
				t.Errorf("%.20q: %s (%s)", name, e.Message, e.Hint)
			}
		})
	}
}
