package lsptest

import (
	"errors"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestOffset(t *testing.T) {
	for _, c := range []struct {
		text      string
		line, col int
		encoding  string
		want      int
	}{
		{"", 0, 0, "utf-16", 0},
		{"a\nb", 1, 1, "utf-16", 3},
		{"a\r\nb", 1, 0, "utf-16", 3},
		{"a\rb", 1, 0, "utf-16", 2},
		{"a\n", 1, 0, "utf-16", 2},
		{"é😀x", 0, 3, "utf-16", 6},
		{"é😀x", 0, 6, "utf-8", 6},
		{"é😀x", 0, 2, "utf-32", 6},
		{"é😀x", 0, 2, "utf-16", -2},
		{"é😀x", 0, 1, "utf-8", -2},
		{"😀", 0, 1, "utf-16", -2},
		{"a\r\nb", 0, 2, "utf-16", -1},
		{"a", 1, 0, "utf-16", -1},
		{"a", 0, 2, "utf-16", -1},
		{"a", -1, 0, "utf-16", -1},
	} {
		got, err := offset(c.text, wirePos{c.line, c.col}, units{encoding: c.encoding})
		var pe *posError
		if errors.As(err, &pe) {
			if got = -1; pe.surrogate {
				got = -2
			}
		}
		if got != c.want {
			t.Errorf("%q %d:%d %s: %d, want %d", c.text, c.line, c.col, c.encoding, got, c.want)
		}
	}
	if got, err := offset("a\rb\nc", wirePos{1, 0}, units{"utf-16", true}); got != 4 || err != nil {
		t.Errorf("LF only: %d %v", got, err)
	}
}

// Cutting a text anywhere and putting it together by two incremental changes gives
// the whole again.
func TestApplyIncremental(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runes := rapid.SliceOf(rapid.SampledFrom([]rune("ab\n\ré中😀"))).Draw(t, "text")
		cut := rapid.IntRange(0, len(runes)).Draw(t, "cut")
		encoding := rapid.SampledFrom([]string{"utf-8", "utf-16", "utf-32"}).Draw(t, "encoding")
		head, tail := runes[:cut], runes[cut:]
		line, col := 0, 0
		for i, r := range head {
			if r == '\n' || r == '\r' && (i+1 == len(head) || head[i+1] != '\n') {
				line, col = line+1, 0
				continue
			}
			switch encoding {
			case "utf-8":
				col += utf8.RuneLen(r)
			case "utf-16":
				col += utf16.RuneLen(r)
			default:
				col++
			}
			if r == '\r' {
				col = 0
			}
		}
		end := struct{ Start, End wirePos }{wirePos{line, col}, wirePos{line, col}}
		got, err := apply(string(head), change{Range: &end, Text: string(tail)}, units{encoding: encoding})
		if err != nil || got != string(runes) {
			t.Fatalf("%q at %d:%d: %q, %v", string(head), line, col, got, err)
		}
	})
}
