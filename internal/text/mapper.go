package text

import (
	"bytes"
	"fmt"
	"sort"
	"sync"
)

// Mapper converts between notations of one text. The text has no BOM. It is safe
// for concurrent use as long as nobody writes to the text.
type Mapper struct {
	content []byte

	lfOnce sync.Once
	lf     []int // starts of lines that end at \n; guarded by lfOnce

	lspOnce sync.Once
	lsp     []int // starts of lines that also end at a lone \r; guarded by lspOnce

	asciiOnce sync.Once
	ascii     bool // the whole text is; guarded by asciiOnce
}

// NewMapper builds line tables for content lazily; it keeps content.
func NewMapper(content []byte) *Mapper { return &Mapper{content: content} }

// Content is the text.
func (m *Mapper) Content() []byte { return m.content }

// rule is one way of cutting the text into lines.
type rule uint8

const (
	outside rule = iota // \n and \r\n end a line, a lone \r is a character
	lspRule             // \n, \r\n and a lone \r end a line
	lfRule              // \n ends a line, every \r is a character
)

func (w Wire) rule() rule {
	if w.LFOnly {
		return lfRule
	}
	return lspRule
}

// starts are the byte offsets at which lines begin; the first is 0.
func (m *Mapper) starts(r rule) []int {
	m.lfOnce.Do(m.scan)
	if r != lspRule {
		return m.lf
	}
	m.lspOnce.Do(func() { m.lsp = splitAtCR(m.content, m.lf) })
	return m.lsp
}

func (m *Mapper) scan() {
	m.lf = make([]int, 1, 1+bytes.Count(m.content, []byte{'\n'}))
	for at := 0; ; {
		i := bytes.IndexByte(m.content[at:], '\n')
		if i < 0 {
			return
		}
		at += i + 1
		m.lf = append(m.lf, at)
	}
}

// splitAtCR adds the line starts after lone carriage returns to lf; without any
// it returns lf itself.
func splitAtCR(content []byte, lf []int) []int {
	var added []int
	for at := 0; ; {
		i := bytes.IndexByte(content[at:], '\r')
		if i < 0 {
			break
		}
		at += i + 1
		if at == len(content) || content[at] != '\n' {
			added = append(added, at)
		}
	}
	if added == nil {
		return lf
	}
	all := append(added, lf...)
	sort.Ints(all)
	return all
}

// line returns the bounds of line i (0-based) without its line end.
func (m *Mapper) line(r rule, i int) (start, end int) {
	starts := m.starts(r)
	start = starts[i]
	if i+1 == len(starts) {
		return start, len(m.content)
	}
	end = starts[i+1] - 1
	if r != lfRule && end > start && m.content[end] == '\n' && m.content[end-1] == '\r' {
		end--
	}
	return start, end
}

// Lines is the number of lines outside counts (a final newline does not begin a
// line that counts, but an empty text has one line).
func (m *Mapper) Lines() int {
	n := len(m.starts(outside))
	if n > 1 && m.content[len(m.content)-1] == '\n' {
		n--
	}
	return n
}

// Line returns line n (1-based, without its line end); "" beyond the end.
func (m *Mapper) Line(n int) string {
	if n < 1 || n > m.Lines() {
		return ""
	}
	start, end := m.line(outside, n-1)
	return string(m.content[start:end])
}

// longLine is the length from which it pays to know that the whole text is ASCII:
// thousands of positions in one line of minified code would each read that line.
const longLine = 4096

func (m *Mapper) longASCII(length int) bool {
	if length < longLine {
		return false
	}
	m.asciiOnce.Do(func() { m.ascii = isASCII(m.content) })
	return m.ascii
}

// offset is the byte offset of units (0-based) in line i, which exists.
func (m *Mapper) offset(r rule, i, units int, e Encoding) int {
	start, end := m.line(r, i)
	if units >= end-start || m.longASCII(end-start) {
		// No encoding has more units than the line has bytes.
		return start + min(units, end-start)
	}
	return start + bytesBefore(m.content[start:end], units, e)
}

// place is the inverse of offset; an offset outside the text clamps, one inside a
// line end counts as the end of the line.
func (m *Mapper) place(r rule, off int, e Encoding) (line, units int) {
	off = max(0, min(off, len(m.content)))
	starts := m.starts(r)
	line = sort.SearchInts(starts, off+1) - 1
	start, end := m.line(r, line)
	off = min(off, end)
	if m.longASCII(end - start) {
		return line, off - start
	}
	return line, unitsBefore(m.content[start:end], off-start, e)
}

// OffsetOfPosition maps a wire position to a byte offset. A character beyond the
// line clamps to its end, one inside a surrogate pair or rune moves to its start;
// a line beyond the text clamps to the end of the text.
func (m *Mapper) OffsetOfPosition(p Position, w Wire) int {
	r := w.rule()
	if uint64(p.Line) >= uint64(len(m.starts(r))) {
		return len(m.content)
	}
	units := int(min(uint64(p.Character), uint64(len(m.content))))
	return m.offset(r, int(p.Line), units, w.Encoding)
}

// PositionOfOffset maps a byte offset to a wire position.
func (m *Mapper) PositionOfOffset(off int, w Wire) Position {
	line, units := m.place(w.rule(), off, w.Encoding)
	return Position{Line: uint32(line), Character: uint32(units)}
}

// LineError says that a line lies beyond the text.
type LineError struct{ Line, Lines int }

func (e *LineError) Error() string {
	if e.Lines == 1 {
		return fmt.Sprintf("line %d is not in the file, which has 1 line", e.Line)
	}
	return fmt.Sprintf("line %d is not in the file, which has %d lines", e.Line, e.Lines)
}

// OffsetOfPoint maps a point to a byte offset; a column beyond the line clamps to
// its end, a line beyond the text is a *LineError.
func (m *Mapper) OffsetOfPoint(p Point, c Columns) (int, error) {
	if lines := m.Lines(); p.Line < 1 || p.Line > lines {
		return 0, &LineError{Line: p.Line, Lines: lines}
	}
	return m.offset(outside, p.Line-1, max(0, p.Column-1), c.encoding()), nil
}

// OffsetOfEnd is OffsetOfPoint for the exclusive end of a span, which may also be
// the place after a final newline: the first column of the line after the last.
func (m *Mapper) OffsetOfEnd(p Point, c Columns) (int, error) {
	if p.Line == m.Lines()+1 && p.Column <= 1 {
		return len(m.content), nil
	}
	return m.OffsetOfPoint(p, c)
}

// PointOfOffset maps a byte offset to a point. The end of a text with a final
// newline is the first column of the line after the last (see OffsetOfEnd).
func (m *Mapper) PointOfOffset(off int, c Columns) Point {
	line, units := m.place(outside, off, c.encoding())
	return Point{Line: line + 1, Column: units + 1}
}
