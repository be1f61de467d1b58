// Package render turns an answer or an error into text (the wording of the
// `lsp` tool) or into JSON, inside a budget of characters.
//
// It knows the words of package query and nothing else: no files, no language
// servers, no protocol of an agent host.
package render

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/dragoman-dev/dragoman/query"
)

// DefaultMaxChars is the number of characters at which a text is cut.
const DefaultMaxChars = 100_000

// Options says how an answer is printed. The zero value is the default.
type Options struct {
	// IncludeJSON appends the JSON section for calls and code actions too.
	IncludeJSON bool
	// MaxChars is the budget in Unicode code points; 0 means DefaultMaxChars.
	MaxChars int
}

// Text prints a as the `lsp` tool does. The text has no newline at its end.
func Text(a *query.Answer, o Options) string {
	p := printer{buf: make([]byte, 0, 1024), o: o, a: a}
	p.body()
	p.endNote()
	p.cut()
	p.notes()
	return string(p.buf)
}

// printer builds one text.
type printer struct {
	buf []byte
	o   Options
	a   *query.Answer
	// starts are the offsets of the list items, for counting what a cut drops.
	starts []int
	// end is the offset of the end note; ended says that it was due.
	end   int
	ended bool
	// sectionAt is the offset of the JSON section, 0 without one.
	sectionAt int
}

func (p *printer) str(s string) { p.buf = append(p.buf, s...) }
func (p *printer) num(n int)    { p.buf = strconv.AppendInt(p.buf, int64(n), 10) }

// safe writes s with its control characters escaped.
func (p *printer) safe(s string) { p.buf = appendEscaped(p.buf, s, false) }

// line begins a new line unless the text is empty.
func (p *printer) line() {
	if len(p.buf) > 0 {
		p.buf = append(p.buf, '\n')
	}
}

// item begins line n (1-based) of a numbered list.
func (p *printer) item(n int) {
	p.line()
	p.starts = append(p.starts, len(p.buf))
	p.num(n)
	p.str(". ")
}

// shown is the number of items that the body shows.
func shown(b query.Body) int {
	switch b := b.(type) {
	case *query.Places:
		return len(b.Items)
	case *query.Outline:
		return len(b.Items)
	case *query.Found:
		return len(b.Items)
	case *query.Items:
		return len(b.Items)
	case *query.Actions:
		return len(b.Items)
	case *query.Calls:
		n := 0
		for i := range b.Groups {
			n += len(b.Groups[i].Calls)
		}
		return n
	case *query.Problems:
		n := 0
		for i := range b.Files {
			n += len(b.Files[i].Problems)
		}
		return n
	case *query.Prose:
		if b.Markdown != "" {
			return 1
		}
	}
	return 0
}

// total is the number of items before the limit, never less than shown.
func total(a *query.Answer) query.Count {
	t := a.Total
	t.N = max(t.N, shown(a.Body))
	return t
}

// isCut says that the list shows fewer items than there are.
func isCut(a *query.Answer) bool {
	t := total(a)
	return t.AtLeast || t.N > shown(a.Body)
}

// endNote closes a cut list, once: "… 4950 more (showing 50 of 5000)."
func (p *printer) endNote() {
	if p.ended {
		return
	}
	p.ended = true
	p.end = len(p.buf)
	n := shown(p.a.Body)
	if _, prose := p.a.Body.(*query.Prose); prose || n == 0 || !isCut(p.a) {
		return
	}
	p.more(n, total(p.a))
}

// more writes "… 4950 more (showing 50 of 5000)." where that is so.
func (p *printer) more(n int, t query.Count) {
	if t.N <= n && !t.AtLeast {
		return
	}
	p.line()
	p.str("… ")
	if rest := (query.Count{N: t.N - n, AtLeast: t.AtLeast}); rest.N > 0 {
		p.str(rest.String())
		p.str(" ")
	}
	p.str("more (showing ")
	p.num(n)
	p.str(" of ")
	p.str(query.Count{N: max(t.N, n), AtLeast: t.AtLeast}.String())
	p.str(").")
}

// More is the end note of a cut list, "" for a whole one.
func More(a *query.Answer) string {
	p := printer{a: a}
	p.endNote()
	return string(p.buf)
}

// cut shortens the text to the budget on a line boundary. Notes are written
// after it, so that what an answer rests on is never cut off.
func (p *printer) cut() {
	budget := p.o.MaxChars
	if budget <= 0 {
		budget = DefaultMaxChars
	}
	budget -= p.notesLen()
	if len(p.buf) <= budget || utf8.RuneCount(p.buf) <= budget {
		return
	}
	const room = 90 // for the line that says what was dropped
	at := byteOffset(p.buf, max(budget-room, 1))
	if p.sectionAt > 0 && at >= p.sectionAt {
		p.buf = p.buf[:p.sectionAt]
		p.str("\n\n… JSON section left out: it is too long. Lower limit to see it.")
		return
	}
	at = max(bytes.LastIndexByte(p.buf[:at], '\n'), 0)
	rest, unit := p.dropped(at), " more. Narrow the query or raise limit."
	if len(p.starts) == 0 {
		rest.N, unit = bytes.Count(p.buf[at:], []byte{'\n'}), " more lines."
	}
	p.buf = bytes.TrimRight(p.buf[:at], "\n")
	p.line()
	p.str("… ")
	p.str(rest.String())
	p.str(unit)
}

// dropped counts the items that a cut at offset at leaves out, with those that
// the limit had left out before when the note about them falls too.
func (p *printer) dropped(at int) query.Count {
	kept, _ := slices.BinarySearch(p.starts, at)
	n := query.Count{N: len(p.starts) - kept}
	if p.end >= at {
		t := total(p.a)
		n.N += t.N - shown(p.a.Body)
		n.AtLeast = t.AtLeast
	}
	return n
}

// byteOffset is the offset of the n-th code point of b, or len(b).
func byteOffset(b []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(b); n-- {
		_, size := utf8.DecodeRune(b[at:])
		at += size
	}
	return at
}

const notePrefix = "Note: "

func (p *printer) notesLen() int {
	n := 0
	for _, note := range p.a.Notes {
		n += len(note.Text) + len(notePrefix) + 2
	}
	return n
}

func (p *printer) notes() {
	for i, note := range p.a.Notes {
		if i == 0 {
			p.line()
		}
		p.line()
		p.str(notePrefix)
		p.safe(note.Text)
	}
}

// section appends a titled JSON array, indented by two spaces.
func (p *printer) section(title string, raws []json.RawMessage) {
	p.sectionAt = len(p.buf)
	p.str("\n\n")
	p.str(title)
	p.str(" (JSON):\n[")
	for i, raw := range raws {
		if i > 0 {
			p.buf = append(p.buf, ',')
		}
		p.str("\n  ")
		p.buf = appendIndented(p.buf, raw)
	}
	if len(raws) > 0 {
		p.buf = append(p.buf, '\n')
	}
	p.buf = append(p.buf, ']')
}

// appendIndented writes raw as it stands one level deep in an indented array;
// numbers and strings keep their bytes.
func appendIndented(dst []byte, raw json.RawMessage) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "  ", "  "); err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b.Bytes()...)
}
