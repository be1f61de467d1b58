package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWordAt marks the place asked about with | in each text.
func TestWordAt(t *testing.T) {
	for marked, want := range map[string]string{
		"|name":         "name",
		"na|me":         "name",
		"name|":         "name",
		"(|name)":       "name",
		"(name|)":       "name",
		"a.|b":          "b",
		"a|.b":          "a",
		"a |= b":        "",
		" | ":           "",
		"|":             "",
		"$el|em_1":      "$elem_1",
		"größe|nwahl x": "größenwahl",
		"x世|界y":         "x世界y",
		"e\u0301|t":     "e\u0301t",
		"😀|name":        "name",
		"name|😀":        "name",
		"4|2":           "",
		"x4|2":          "x42",
		"one|\ntwo":     "one",
		"one\n|two":     "two",
	} {
		off := strings.Index(marked, "|")
		content := marked[:off] + marked[off+1:]
		w, ok := WordAt([]byte(content), off)
		if got := content[w.Start:w.End]; got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", marked, got, ok, want)
		}
	}
	t.Run("inside a rune", func(t *testing.T) {
		if w, ok := WordAt([]byte("a 世 b"), 3); !ok || w != (Word{2, 5}) {
			t.Errorf("got %v, %v", w, ok)
		}
	})
	t.Run("outside the text", func(t *testing.T) {
		if w, ok := WordAt([]byte("ab"), -1); !ok || w != (Word{0, 2}) {
			t.Errorf("before: %v, %v", w, ok)
		}
		if w, ok := WordAt([]byte("ab"), 99); !ok || w != (Word{0, 2}) {
			t.Errorf("behind: %v, %v", w, ok)
		}
	})
}

func TestWordsInLine(t *testing.T) {
	const content = "package x\nfunc größe(a1 int) 42 \"é\"\r\nnext"
	for off := strings.Index(content, "func"); off <= strings.Index(content, "\nnext"); off++ {
		var got []string
		for _, w := range WordsInLine([]byte(content), off) {
			got = append(got, content[w.Start:w.End])
		}
		if s := strings.Join(got, " "); s != "func größe a1 int é" {
			t.Fatalf("at %d: %q", off, s)
		}
	}
	if got := WordsInLine(nil, 0); got != nil {
		t.Errorf("an empty text has words: %v", got)
	}
}

func FuzzWords(f *testing.F) {
	f.Add("func größe(世界 int) 😀", 8)
	f.Add("\xff\x80é\xe4", 1)
	f.Fuzz(func(t *testing.T, content string, off int) {
		b := []byte(content)
		w, ok := WordAt(b, off)
		if !ok {
			return
		}
		word := content[w.Start:w.End]
		if word == "" || !utf8.ValidString(word) || strings.ContainsAny(word, " \r\n()") {
			t.Fatalf("%q at %d: %q is no word", content, off, word)
		}
		for _, other := range WordsInLine(b, w.Start) {
			if other == w {
				return
			}
		}
		t.Fatalf("%q at %d: %q is not among the words of its line", content, off, word)
	})
}
