package lsptest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestMarks(t *testing.T) {
	dir := Workspace(t, `
-- a.go --
package a

func Hello() {} //@def:Hello
var x = Hello //@last

	é := 中😀 + wide //@wide:wide //@cjk:中
	b(a, a) //@second:a#2
-- sub/b.py --
def greet(a): #@greet:greet
    return a#@ret
-- c.ts --
foo/*@one*/(bar/*@two*/)
// @ts-check is no mark, mail@example.org neither
-- node_modules/x.js --
x //@greet
-- .git/y --
x //@greet
`)
	marks := Marks(t, dir)
	for name, want := range map[string]string{
		"def": "a.go 3 6 11 Hello", "last": "a.go 4 9 14 Hello", "wide": "a.go 6 12 16 wide", "second": "a.go 7 7 8 a", "cjk": "a.go 6 7 8 中",
		"greet": "sub/b.py 1 5 10 greet", "ret": "sub/b.py 2 12 13 a", "one": "c.ts 1 1 4 foo", "two": "c.ts 1 13 16 bar",
	} {
		m := marks[name]
		rel, _ := filepath.Rel(dir, m.Path)
		if got := fmt.Sprintf("%s %d %d %d %s", filepath.ToSlash(rel), m.Line, m.Column, m.End, m.Token); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestMarksFail(t *testing.T) {
	for content, want := range map[string]string{
		"a //@x\nb //@x\n": "is used before",
		"//@x\n":           "no token",
		"a //@x:b\n":       "no token",
		"a //@x:a#2\n":     "no token",
	} {
		fake := &fakeTB{TB: t}
		Marks(fake, Workspace(t, "-- a --\n"+content))
		if len(fake.errs) != 1 || !strings.Contains(fake.errs[0], want) {
			t.Errorf("%q: %q", content, fake.errs)
		}
	}
}

func TestWorkspace(t *testing.T) {
	dir := Workspace(t, "a comment\n-- a/b.go --\npackage b\n-- c --\n")
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
		t.Errorf("%s is %s (%v)", dir, real, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a", "b.go")); err != nil || string(b) != "package b\n" {
		t.Errorf("%q %v", b, err)
	}
}

func TestEventually(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		Eventually(t, func() bool { return time.Since(start) > 3*time.Second }, "three seconds")
		fake := &fakeTB{TB: t}
		start = time.Now()
		Eventually(fake, func() bool { return false }, "the impossible")
		if len(fake.errs) != 1 || !strings.Contains(fake.errs[0], "the impossible") || time.Since(start) > eventuallyLimit+time.Second {
			t.Errorf("%q after %v", fake.errs, time.Since(start))
		}
	})
}

func TestAwaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeTB{TB: t}
		New(t, "").Await(fake, 1, "hover", 1)
		if len(fake.errs) != 1 || !strings.Contains(fake.errs[0], "textDocument/hover number 1") {
			t.Errorf("%q", fake.errs)
		}
	})
}
