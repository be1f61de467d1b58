//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadInput: one sentence, one hint, nothing lost, the next question works.
func TestBadInput(t *testing.T) {
	path := serverPath()
	require(t, path, "gopls")
	root := realTemp(t)
	p := goProject(t, root, 10)
	write := func(rel string, b []byte) {
		if err := os.WriteFile(filepath.Join(root, rel), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("binary.go", []byte("package x\x00\x01\x02\xff"))
	write("latin1.go", []byte("package x // caf\xe9\n"))
	write("notes.unknownlanguage", []byte("hello\n"))
	if err := os.Truncate(filepath.Join(root, "binary.go"), 20); err != nil {
		t.Fatal(err)
	}
	big, err := os.Create(filepath.Join(root, "big.go"))
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Truncate(100 << 20); err != nil {
		t.Fatal(err)
	}
	big.Close()
	h := startHost(t, root, environ(t, path))
	hover := func(file string, line, char any) map[string]any {
		m := map[string]any{"operation": "hover", "filePath": file}
		if line != nil {
			m["line"] = line
		}
		if char != nil {
			m["character"] = char
		}
		return m
	}
	cases := map[string]struct {
		args map[string]any
		want string
	}{
		"unknown operation":  {map[string]any{"operation": "fly"}, "goToDefinition"},
		"no operation":       {map[string]any{}, "operation"},
		"no file":            {map[string]any{"operation": "hover", "line": 1}, "filePath is required for hover."},
		"no line":            {hover("main.go", nil, nil), "line is required for hover."},
		"no query":           {map[string]any{"operation": "workspaceSymbol", "query": "  "}, "query is required for workspaceSymbol."},
		"no item":            {map[string]any{"operation": "incomingCalls"}, "callHierarchyItem is required for incomingCalls."},
		"negative line":      {hover("main.go", -1, 1), "line must be a positive number."},
		"zero character":     {hover("main.go", 1, 0), "character must be a positive number."},
		"huge line":          {hover("main.go", 1e12, 1), "lines"},
		"line is a word":     {hover("main.go", "six", 1), "line"},
		"zero limit":         {map[string]any{"operation": "workspaceSymbol", "query": "x", "limit": 0}, "limit must be a positive integer."},
		"missing file":       {hover("mian.go", 1, 1), "main.go"},
		"directory":          {hover("store", 1, 1), "folder|directory"},
		"binary":             {hover("binary.go", 1, 1), "binary"},
		"not UTF-8":          {hover("latin1.go", 1, 1), "UTF-8"},
		"huge file":          {hover("big.go", 1, 1), "large"},
		"unknown language":   {hover("notes.unknownlanguage", 1, 1), "server"},
		"UNC":                {hover(`\\host\share\x.go`, 1, 1), "UNC"},
		"outside":            {hover("/etc/passwd", 1, 1), "outside"},
		"unknown server":     {map[string]any{"operation": "hover", "filePath": "main.go", "line": 1, "serverName": "nope"}, "gopls"},
		"hand-made bad item": {map[string]any{"operation": "incomingCalls", "callHierarchyItem": "zzz"}, "callHierarchyItem"},
	}
	good := questions(langs()[0], p)["definition"]
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := h.ask(c.args)
			found := false
			for _, alt := range strings.Split(c.want, "|") {
				found = found || strings.Contains(a.Text, alt)
			}
			if !a.Error || !found {
				t.Errorf("error=%v, want a text with %q: %s", a.Error, c.want, clip(a.Text))
			}
			if n := strings.Count(strings.TrimSpace(a.Text), "\n"); n > 4 {
				t.Errorf("%d lines: %s", n+1, clip(a.Text))
			}
			if a := h.ask(good.args); good.check(a) != nil {
				t.Errorf("the next question: %v\n%s", good.check(a), clip(a.Text))
			}
		})
	}
}
