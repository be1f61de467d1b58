package mirror

import (
	"unicode/utf8"

	"github.com/dragoman-dev/dragoman/internal/text"
)

// difference is the one change that makes next of before: what lies between their
// common beginning and their common end.
func difference(before *text.Mapper, next []byte, w text.Wire) contentChange {
	old := before.Content()
	start, oldEnd, newEnd := span(old, next)
	return contentChange{
		Range: &text.Range{
			Start: before.PositionOfOffset(start, w),
			End:   before.PositionOfOffset(oldEnd, w),
		},
		Text: string(next[start:newEnd]),
	}
}

// span finds the differing part: old[start:oldEnd] becomes next[start:newEnd]. No
// bound lies inside a rune or between \r and \n, in either text, because positions
// there cannot be said, or mean different lines to different servers.
func span(old, next []byte) (start, oldEnd, newEnd int) {
	shorter := min(len(old), len(next))
	for start < shorter && old[start] == next[start] {
		start++
	}
	for start > 0 && (inside(old, start) || inside(next, start)) {
		start--
	}
	tail := 0
	for tail < shorter-start && old[len(old)-1-tail] == next[len(next)-1-tail] {
		tail++
	}
	for tail > 0 && (inside(old, len(old)-tail) || inside(next, len(next)-tail)) {
		tail--
	}
	return start, len(old) - tail, len(next) - tail
}

// inside reports an offset in mid-rune or between \r and \n.
func inside(b []byte, off int) bool {
	if off <= 0 || off >= len(b) {
		return false
	}
	return !utf8.RuneStart(b[off]) || b[off-1] == '\r' && b[off] == '\n'
}
