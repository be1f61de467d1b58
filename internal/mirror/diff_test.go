package mirror

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

var encodings = []text.Encoding{text.UTF16, text.UTF8, text.UTF32}

// pieces are what goes wrong: line ends of all kinds and characters of all widths.
var pieces = rapid.SliceOfN(rapid.SampledFrom([]string{
	"a", "b", "\t", "\n", "\r\n", "\r", "é", "è", "世", "界", "😀", "😁", "\u0301", "\u2028",
}), 0, 12)

func drawText(t *rapid.T, label string) string {
	return strings.Join(pieces.Draw(t, label), "")
}

// drawEdit changes a part of a text.
func drawEdit(t *rapid.T, old string) string {
	runes := []rune(old)
	i := rapid.IntRange(0, len(runes)).Draw(t, "from")
	j := rapid.IntRange(i, len(runes)).Draw(t, "to")
	return string(runes[:i]) + drawText(t, "with") + string(runes[j:])
}

func TestReconstruction(t *testing.T) {
	for _, kind := range []lsp.SyncKind{lsp.SyncIncremental, lsp.SyncFull, lsp.SyncNone} {
		for _, e := range encodings {
			t.Run("C48 "+map[lsp.SyncKind]string{lsp.SyncIncremental: "incremental", lsp.SyncFull: "full", lsp.SyncNone: "none"}[kind]+" "+e.String(), func(t *testing.T) {
				x := newWorld(t, lsp.Sync{OpenClose: true, Change: kind, Save: true, IncludeText: true}, Options{Encoding: e})
				rapid.Check(t, func(t *rapid.T) {
					content := drawText(t, "text")
					for range rapid.IntRange(1, 4).Draw(t, "edits") {
						x.write("f", content)
						x.ensure("f")
						content = drawEdit(t, content)
					}
					if x.t.Failed() {
						t.Fatal("see above")
					}
				})
			})
		}
	}
	for name, texts := range map[string][2]string{
		"line end becomes CRLF":       {"a\nb\n", "a\r\nb\r\n"},
		"CRLF becomes LF":             {"a\r\nb\r\n", "a\nb\n"},
		"CR becomes CRLF":             {"a\rb", "a\r\nb"},
		"LF before CRLF":              {"a\r\n", "a\r\r\n"},
		"emoji of one leading half":   {"x😀y", "x😁y"},
		"last byte of a rune differs": {"xéy", "xèy"},
		"emptied":                     {"a\n", ""},
		"filled":                      {"", "a"},
		"final newline lost":          {"a\n", "a"},
		"doubled":                     {"aa", "aaa"},
	} {
		for _, e := range encodings {
			t.Run("C48 "+name+" "+e.String(), func(t *testing.T) { checkDifference(t, texts[0], texts[1], e, false) })
		}
	}
}

// checkDifference applies the change as a server does.
func checkDifference(t *testing.T, old, next string, e text.Encoding, lfOnly bool) {
	t.Helper()
	c := difference(text.NewMapper([]byte(old)), []byte(next), text.Wire{Encoding: e, LFOnly: lfOnly})
	doc := old
	if lfOnly { // as gopls sees it, \r is an ordinary character
		doc = strings.ReplaceAll(old, "\r", "\x01")
	}
	got := apply(t, doc, c.Range, c.Text, e)
	if lfOnly {
		got, next = strings.ReplaceAll(got, "\r", "\x01"), strings.ReplaceAll(next, "\r", "\x01")
	}
	if got != next {
		t.Errorf("%q and %+v give %q, want %q", old, c, got, next)
	}
}

func FuzzDifference(f *testing.F) {
	f.Add("a\r\nb", "a\nb")
	f.Add("x😀y", "x😁y")
	f.Add("", "\r")
	f.Add("aaaa", "aa")
	f.Fuzz(func(t *testing.T, old, next string) {
		if !utf8.ValidString(old) || !utf8.ValidString(next) {
			t.Skip()
		}
		start, oldEnd, newEnd := span([]byte(old), []byte(next))
		if old[:start]+next[start:newEnd]+old[oldEnd:] != next {
			t.Fatalf("span(%q, %q) = %d, %d, %d", old, next, start, oldEnd, newEnd)
		}
		for _, b := range []struct {
			text string
			off  int
		}{{old, start}, {old, oldEnd}, {next, start}, {next, newEnd}} {
			if inside([]byte(b.text), b.off) {
				t.Errorf("%d of %q lies inside a character or line end", b.off, b.text)
			}
		}
		for _, e := range encodings {
			checkDifference(t, old, next, e, false)
			checkDifference(t, old, next, e, true)
		}
	})
}

func TestDifferenceIsSmall(t *testing.T) {
	old := strings.Repeat("line of text\n", 1000)
	next := old[:6000] + "X" + old[6000:]
	c := difference(text.NewMapper([]byte(old)), []byte(next), text.Wire{})
	if c.Text != "X" {
		t.Errorf("one inserted letter is sent as %d bytes", len(c.Text))
	}
}

func BenchmarkDifference(b *testing.B) {
	old := bytes.Repeat([]byte("line of text\n"), 10_000)
	next := append(append(bytes.Clone(old[:60_000]), 'X'), old[60_000:]...)
	for b.Loop() {
		difference(text.NewMapper(old), next, text.Wire{})
	}
}
