package text

import (
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPathToURI(t *testing.T) {
	for path, want := range map[string]string{
		"/":                  "file:///",
		"/a/b.go":            "file:///a/b.go",
		"/with space/x#y?.c": "file:///with%20space/x%23y%3F.c",
		"/100%/a%20b":        "file:///100%25/a%2520b",
		"/c++/a+b@c":         "file:///c%2B%2B/a%2Bb%40c",
		"/é/世界/😀":            "file:///%C3%A9/%E4%B8%96%E7%95%8C/%F0%9F%98%80",
		"/a~b-c_d.e":         "file:///a~b-c_d.e",
		"/a\xffb":            "file:///a%FFb",
		`/a\b`:               "file:///a%5Cb",
		`C:\Users\me\x.go`:   "file:///c%3A/Users/me/x.go",
		"c:/Users/me/x.go":   "file:///c%3A/Users/me/x.go",
		`\\host\share\a b`:   "file://host/share/a%20b",
		"//host/share/x":     "file://host/share/x",
	} {
		if got := pathToURI(path, posix); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	if got := pathToURI("C:/x", windows); got != "file:///c%3A/x" {
		t.Errorf("on Windows: %s", got)
	}
	if got := pathToURI("/C:/x", posix); got != "file:///C%3A/x" {
		t.Errorf("a folder named C: on POSIX: %s", got)
	}
}

func TestURIs(t *testing.T) {
	t.Run("C63 every spelling of a URI is one path and one URI", func(t *testing.T) {
		for _, tt := range []struct {
			style style
			path  string
			uris  []string
		}{
			{posix, "/w/a.go", []string{
				"file:///w/a.go", "file://localhost/w/a.go", "file://LOCALHOST/w/a.go", "file:/w/a.go",
				"FILE:///w/a.go", "file:///w/%61.go", "file:///w//a.go", "file:///w/./x/../a.go", "file:////w/a.go",
				"file:///w%2fa.go", "file:///w%2Fa.go",
			}},
			{posix, "/w/a b", []string{"file:///w/a%20b", "file:///w/a b"}},
			{posix, "/w/a%20b", []string{"file:///w/a%2520b"}},
			{posix, "/w/100%", []string{"file:///w/100%25", "file:///w/100%"}},
			{posix, "/w/%zz", []string{"file:///w/%25zz", "file:///w/%zz"}},
			{posix, "/w/a#b?c", []string{"file:///w/a%23b%3Fc", "file:///w/a%23b%3fc", "file:///w/a#b?c"}},
			{posix, "/w/a+b", []string{"file:///w/a%2Bb", "file:///w/a+b", "file:///w/a%2bb"}},
			{posix, "/w/@types/(x)", []string{"file:///w/%40types/%28x%29", "file:///w/@types/(x)"}},
			{posix, "/w/é世😀", []string{"file:///w/%C3%A9%E4%B8%96%F0%9F%98%80", "file:///w/%c3%a9世😀", "file:///w/é世😀"}},
			{windows, `C:\w\a b.go`, []string{
				"file:///c%3A/w/a%20b.go", "file:///C%3A/w/a%20b.go", "file:///c:/w/a%20b.go", "file:///C:/w/a b.go",
				"file:///c%3a/w/a%20b.go", `file:///C:\w\a%20b.go`, "file:///C%3A%5Cw%5Ca%20b.go",
				"file:/C:/w/a%20b.go", "file://localhost/c:/w/a%20b.go", "file://c:/w/a%20b.go",
			}},
			{windows, `C:\`, []string{"file:///c:", "file:///C:/", "file:///c%3A/"}},
		} {
			want := pathToURI(tt.path, tt.style)
			for _, uri := range append(tt.uris, want) {
				if got, ok := uriToPath(uri, tt.style); got != tt.path || !ok {
					t.Errorf("%s: path %q, %v, want %q", uri, got, ok, tt.path)
				}
				if got := canonicalURI(uri, tt.style); got != want {
					t.Errorf("%s: canonical %s, want %s", uri, got, want)
				}
			}
		}
	})
	t.Run("no path", func(t *testing.T) {
		for _, uri := range []string{
			"", "file:", "file://", "file:a/b", "file://host/share", "file://host", "jdt://contents/x.class",
			"untitled:Untitled-1", "https://localhost/x", "/plain/path", "file:///a%00b", "deno:/x.ts",
		} {
			if got, ok := uriToPath(uri, posix); ok {
				t.Errorf("%q: path %q", uri, got)
			}
			if got := canonicalURI(uri, posix); got != uri {
				t.Errorf("%q: changed to %q", uri, got)
			}
		}
		for _, uri := range []string{"file:////host/share", "file:///no/drive", `file:///\\host\share`, "file://host/c:/x"} {
			if got, ok := uriToPath(uri, windows); ok {
				t.Errorf("%q on Windows: path %q", uri, got)
			}
		}
	})
	t.Run("a drive's case does not matter on Windows only", func(t *testing.T) {
		const upper, lower = "file:///C:/x", "file:///c:/x"
		if canonicalURI(upper, windows) != canonicalURI(lower, windows) {
			t.Error("two URIs for one drive")
		}
		if canonicalURI(upper, posix) == canonicalURI(lower, posix) {
			t.Error("one URI for two folders")
		}
	})
}

func TestPathsSurviveURIs(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "B", " ", "#", "%", "%20", "+", "?", "é", "世界", "😀", ".", "..x", ":", "@", "\\", "\xff", "[", "&=;,"})
	rapid.Check(t, func(t *rapid.T) {
		var path strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "depth") {
			path.WriteString("/n" + strings.Join(rapid.SliceOfN(name, 0, 5).Draw(t, "name"), ""))
		}
		uri := pathToURI(path.String(), posix)
		if got, ok := uriToPath(uri, posix); got != path.String() || !ok {
			t.Fatalf("%q became %q by %s", path.String(), got, uri)
		}
		if again := canonicalURI(uri, posix); again != uri {
			t.Fatalf("%s is not canonical: %s", uri, again)
		}
	})
}

func FuzzURI(f *testing.F) {
	for _, s := range []string{"file:///a%20b", "file:///c%3A/x", "file://h/x", "file:////x", "file:///%", "file:///a/../..", "x:y", `\\h\s`, "file:///é#?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		IsUNC(uri)
		for _, s := range []style{posix, windows} {
			canonical := canonicalURI(uri, s)
			if again := canonicalURI(canonical, s); again != canonical {
				t.Errorf("%q: %q, then %q", uri, canonical, again)
			}
			path, ok := uriToPath(uri, s)
			if !ok {
				continue
			}
			if back, ok := uriToPath(pathToURI(path, s), s); back != path || !ok {
				t.Errorf("%q: path %q comes back as %q", uri, path, back)
			}
			if other, _ := uriToPath(canonical, s); other != path {
				t.Errorf("%q: path %q, but %q of its canonical form", uri, path, other)
			}
		}
	})
}

func TestIsUNC(t *testing.T) {
	for _, p := range []string{`\\host\share`, "//host/share", `\/host`, "file://host/share/x", "file:////host/share", `file:///\\host\share`, "file:///%5C%5Chost/share", "FILE://host", "file://%68ost/x"} {
		if !IsUNC(p) {
			t.Errorf("%q leads to another host", p)
		}
	}
	for _, p := range []string{"", "/", "/a/b", "a//b", `C:\x`, `\x`, "file:///a", "file://localhost/a", "file:///c:/x", "file://c:/x", "https://host/x", "jdt://contents/x"} {
		if IsUNC(p) {
			t.Errorf("%q is local", p)
		}
	}
}

func TestWithin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("POSIX paths")
	}
	for _, tt := range []struct {
		root, path string
		want       bool
	}{
		{"/w", "/w", true},
		{"/w/", "/w", true},
		{"/w", "/w/", true},
		{"/w", "/w/a/b", true},
		{"/w", "/w/..a", true},
		{"/w", "/wide", false},
		{"/w", "/", false},
		{"/w", "/w/../x", false},
		{"/w/x/..", "/w/a", true},
		{"/w", "/W/a", false},
		{"/", "/anything", true},
		{"/", "/", true},
	} {
		if got := Within(tt.root, tt.path); got != tt.want {
			t.Errorf("Within(%q, %q) = %v", tt.root, tt.path, got)
		}
	}
}

func TestStripBOM(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "\ufeffa": "a", "\ufeff": "", "\ufeff\ufeffa": "\ufeffa", "a\ufeff": "a\ufeff", "\xef\xbb": "\xef\xbb"} {
		if got := string(StripBOM([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func BenchmarkCanonicalURI(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		CanonicalURI("file:///home/someone/project/internal/server/session.go")
	}
}
