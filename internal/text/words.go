package text

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Word is an identifier in a text: byte offsets [Start, End).
type Word struct{ Start, End int }

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r == '$' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}

// runeStart moves off back to the start of the rune that it lies in.
func runeStart(content []byte, off int) int {
	for back := 1; back < utf8.UTFMax && off-back >= 0 && off < len(content) && !utf8.RuneStart(content[off]); back++ {
		if _, size := utf8.DecodeRune(content[off-back:]); size > back {
			return off - back
		}
	}
	return off
}

func wordEnd(content []byte, off int) int {
	for off < len(content) {
		r, size := utf8.DecodeRune(content[off:])
		if !isWordRune(r) {
			break
		}
		off += size
	}
	return off
}

func wordStart(content []byte, off int) int {
	for off > 0 {
		r, size := utf8.DecodeLastRune(content[:off])
		if !isWordRune(r) {
			break
		}
		off -= size
	}
	return off
}

// WordAt returns the identifier (letters, digits, _, $, and any non-ASCII letter or
// mark) that contains or touches off, preferring the one that starts at or contains
// it. What begins with an ASCII digit is a number, not an identifier.
func WordAt(content []byte, off int) (Word, bool) {
	off = runeStart(content, max(0, min(off, len(content))))
	w := Word{Start: wordStart(content, off), End: wordEnd(content, off)}
	if w.Start == w.End || isDigit(content[w.Start]) {
		return Word{}, false
	}
	return w, true
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// WordsInLine returns the identifiers of the line that off lies in, in order.
func WordsInLine(content []byte, off int) []Word {
	off = max(0, min(off, len(content)))
	at := bytes.LastIndexByte(content[:off], '\n') + 1
	end := len(content)
	if i := bytes.IndexByte(content[off:], '\n'); i >= 0 {
		end = off + i
	}
	line := content[:end]
	var words []Word
	for at < end {
		stop := wordEnd(line, at)
		if stop == at {
			_, size := utf8.DecodeRune(line[at:])
			at += size
			continue
		}
		if !isDigit(line[at]) {
			words = append(words, Word{Start: at, End: stop})
		}
		at = stop
	}
	return words
}
