package render

import (
	"strings"
	"unicode/utf8"
)

// Escape shows the control characters of s: \n, \t, \r, \x1b, \u202e. Characters
// that reorder or hide text (bidirectional controls, zero-width marks at the
// start of lines) count as control characters.
func Escape(s string) string {
	if clean(s, false) {
		return s
	}
	return string(appendEscaped(nil, s, false))
}

// EscapeLines is Escape for a text of several lines: line feeds and tabs stay.
func EscapeLines(s string) string {
	return string(appendEscaped(nil, strings.ReplaceAll(s, "\r\n", "\n"), true))
}

// appendEscaped appends s with its control characters escaped; with lines, LF
// and TAB stay as they are.
func appendEscaped(dst []byte, s string, lines bool) []byte {
	if clean(s, lines) {
		return append(dst, s...)
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = appendHex(append(dst, `\x`...), uint32(s[i]), 2)
		case lines && (r == '\n' || r == '\t'), !isControl(r):
			dst = append(dst, s[i:i+size]...)
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r < 0x100:
			dst = appendHex(append(dst, `\x`...), uint32(r), 2)
		default:
			dst = appendHex(append(dst, `\u`...), uint32(r), 4)
		}
		i += size
	}
	return dst
}

func appendHex(dst []byte, v uint32, digits int) []byte {
	const hex = "0123456789abcdef"
	for digits--; digits >= 0; digits-- {
		dst = append(dst, hex[v>>(4*digits)&15])
	}
	return dst
}

// clean says that s can be shown as it is.
func clean(s string, lines bool) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return cleanRunes(s[i:], lines)
		}
		if (c < 0x20 || c == 0x7f) && !(lines && (c == '\n' || c == '\t')) {
			return false
		}
	}
	return true
}

func cleanRunes(s string, lines bool) bool {
	for i, r := range s {
		if lines && (r == '\n' || r == '\t') {
			continue
		}
		if isControl(r) {
			return false
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return false
			}
		}
	}
	return true
}

// isControl holds for C0 and C1 controls, the line and paragraph separators and
// the bidirectional controls.
func isControl(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}
