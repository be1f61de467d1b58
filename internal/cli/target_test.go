package cli

import (
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/query"
)

func TestParseTarget(t *testing.T) {
	files := map[string]bool{"a.go": true, "a:3": true, "a": true, "dir/x:y.go": true, "é 世界.go": true, "a.go:7": true}
	for _, c := range []struct {
		in, path string
		at       *query.Point
	}{
		{"a.go", "a.go", nil},
		{"a.go:5", "a.go", &query.Point{Line: 5, Column: 1}},
		{"a.go:5:9", "a.go", &query.Point{Line: 5, Column: 9}},
		{"a.go:", "a.go", nil},
		{"a.go:5:", "a.go", &query.Point{Line: 5, Column: 1}},
		{"a.go:5:9:", "a.go", &query.Point{Line: 5, Column: 9}},
		{"a.go:5:9: func f(a int) {", "a.go", &query.Point{Line: 5, Column: 9}},
		{"a.go:5: x := 1", "a.go", &query.Point{Line: 5, Column: 1}},
		{"a.go:7", "a.go:7", nil},
		{"a.go:7:2", "a.go:7", &query.Point{Line: 2, Column: 1}},
		{"a:3", "a:3", nil},
		{"a:4", "a", &query.Point{Line: 4, Column: 1}},
		{"a:3:4", "a:3", &query.Point{Line: 4, Column: 1}},
		{"dir/x:y.go:1:2", "dir/x:y.go", &query.Point{Line: 1, Column: 2}},
		{" é 世界.go:2 ", "é 世界.go", &query.Point{Line: 2, Column: 1}},
		{"missing.go:3:4", "missing.go", &query.Point{Line: 3, Column: 4}},
		{"missing.go", "missing.go", nil},
		{"missing:x", "missing:x", nil},
	} {
		path, at, err := parseTarget(c.in, func(p string) bool { return files[p] })
		if err != nil || path != c.path || (at == nil) != (c.at == nil) || at != nil && *at != *c.at {
			t.Errorf("%q: %q %v %v, want %q %v", c.in, path, at, err, c.path, c.at)
		}
	}
	for _, in := range []string{"", "  ", "a.go:0", "a.go:-1", "a.go:x", "a.go:99999999999", "missing.go:0", "missing.go:3:0"} {
		if _, _, err := parseTarget(in, func(p string) bool { return files[p] }); query.KindOf(err) != query.BadRequest {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"a.go:5:9", "C:\\x.go:3", "a:3:4:5:6", "::", "a.go:5:9: text: more", "file:///a.go:3:4", "é:1"} {
		f.Add(s, "a.go")
		f.Add(s, "a:3")
	}
	f.Fuzz(func(t *testing.T, s, file string) {
		path, at, err := parseTarget(s, func(p string) bool { return p == file })
		if err != nil {
			if query.KindOf(err) != query.BadRequest {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if !strings.HasPrefix(strings.TrimSpace(s), path) || path == "" {
			t.Fatalf("%q gives the file %q", s, path)
		}
		if at != nil && (at.Line < 1 || at.Column < 1) {
			t.Fatalf("%q gives the position %+v", s, *at)
		}
	})
}
