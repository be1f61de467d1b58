package lsp

import (
	"strings"
	"testing"
)

func TestMatchGlob(t *testing.T) {
	for _, tt := range []struct {
		glob, path string
		want       bool
	}{
		{"**/*.go", "a.go", true},
		{"**/*.go", "/w/x/a.go", true},
		{"**/*.go", "/w/x/a.got", false},
		{"*.go", "a.go", true},
		{"*.go", "x/a.go", false},
		{"*", "a", true},
		{"*", "a/b", false},
		{"**", "a/b/c", true},
		{"**", "/w/a", true},
		{"/w/**", "/w/a/b", true},
		{"/w/**/*", "/w/a", true},
		{"/w/**/*", "/w/a/b", true},
		{"/w/**/*", "/wide/a", false},
		{"/w/**/b", "/w/b", true},
		{"src/**/test/*.ts", "src/test/a.ts", true},
		{"**/*.{ts,js,{c,m}ts}", "a/b.mts", true},
		{"**/*.{ts,js}", "b.jsx", false},
		{"**/{package,tsconfig}*.json", "x/tsconfig.base.json", true},
		{"**/.settings/*.prefs", "p/.settings/x.prefs", true},
		{"**/*", "p/.hidden", true},
		{"example.[0-9]", "example.0", true},
		{"example.[!0-9]", "example.a", true},
		{"example.[!0-9]", "example.0", false},
		{"a?.go", "a世.go", true},
		{"a?.go", "a.go", false},
		{"a?b", "a/b", false},
		{"**/*.GO", "a.go", false},
		{"", "a", false},
		{"**/{a", "a", false},
		{"[", "[", false},
		{"**/é*.go", "x/été.go", true},
	} {
		if got := MatchGlob(tt.glob, tt.path); got != tt.want {
			t.Errorf("%q matches %q: %v, want %v", tt.glob, tt.path, got, tt.want)
		}
	}
}

// TestHostileGlob holds globs that take hours where alternatives multiply; then the
// time limit of the test binary fails it.
func TestHostileGlob(t *testing.T) {
	if MatchGlob(strings.Repeat("**/*a/", 30)+"x", strings.Repeat("aa/", 60)+"y") {
		t.Error("** and * match what they should not")
	}
	if MatchGlob(strings.Repeat("{*,*a}", maxGroups)+"x", strings.Repeat("a", 60)+"y") {
		t.Error("{} match what they should not")
	}
	if !MatchGlob(strings.Repeat("{*,*a}", 40)+"x", strings.Repeat("a", 60)+"y") {
		t.Error("a glob with too many {} keeps news from its server")
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("**/*.{a,b}", "x/y.a")
	f.Add("[!a-z]?/**", "A1/b")
	f.Add("{a,{b,c}}**", "cd")
	f.Add(`\[`, "[")
	f.Fuzz(func(t *testing.T, glob, path string) {
		if len(glob) > 100 || len(path) > 100 {
			t.Skip()
		}
		MatchGlob(glob, path)
		if path != "" && !strings.ContainsAny(path, `*?[]{}\,`) && !MatchGlob(path, path) {
			t.Errorf("%q does not match itself", path)
		}
	})
}
