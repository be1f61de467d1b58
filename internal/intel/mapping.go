package intel

import (
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// view maps the positions of one server's results with the texts of their files:
// the server's own where it has the file open, else the disk's. One goroutine uses
// it, for one list; it remembers the last text because lists are grouped by file.
type view struct {
	a    *ask
	path string
	text diskText
}

// views keeps one view for each server whose results stand in one list.
type views map[*ask]*view

func (vs views) of(a *ask) *view {
	v := vs[a]
	if v == nil {
		v = &view{a: a}
		vs[a] = v
	}
	return v
}

// mapper is the text of path, nil when it cannot be read.
func (v *view) mapper(path string) *text.Mapper {
	if path == "" {
		return nil
	}
	if path != v.path {
		v.a.q.touch(path)
		v.path, v.text = path, v.a.textOf(path)
	}
	return v.text.Mapper
}

func (a *ask) textOf(path string) diskText {
	if path == a.file.Path && a.snap.Map != nil {
		return diskText{Mapper: a.snap.Map}
	}
	if snap, open := a.opened(path); open {
		return diskText{Mapper: snap.Map}
	}
	m, err := a.q.d.texts.get(path)
	if err != nil {
		return diskText{}
	}
	return m
}

// pastMark moves a range on the first line of an unopened file that begins with a
// byte order mark, if the server counted the mark: then a name begins one
// character before the range, and none where the range says.
func (v *view) pastMark(m *text.Mapper, r lsp.Range) lsp.Range {
	if !v.text.bom || r.Start.Line != 0 {
		return r
	}
	wire, width := v.a.wire(), uint32(1)
	if wire.Encoding == text.UTF8 {
		width = 3
	}
	if r.Start.Character < width || begins(m, r.Start, wire) {
		return r
	}
	moved := r
	moved.Start.Character -= width
	if moved.End.Line == 0 {
		moved.End.Character -= width
	}
	if !begins(m, moved.Start, wire) {
		return r
	}
	return moved
}

// begins reports that a word begins at the position.
func begins(m *text.Mapper, p lsp.Position, w text.Wire) bool {
	off := m.OffsetOfPosition(p, w)
	word, ok := text.WordAt(m.Content(), off)
	return ok && word.Start == off
}

// span maps a range of the file at path.
func (v *view) span(path string, r lsp.Range) query.Span {
	m := v.mapper(path)
	if m == nil {
		v.unmapped(path)
		return query.Span{Start: rawPoint(r.Start), End: rawPoint(r.End)}
	}
	r = v.pastMark(m, r)
	return v.offsets(m, text.Word{
		Start: m.OffsetOfPosition(r.Start, v.a.wire()),
		End:   m.OffsetOfPosition(r.End, v.a.wire()),
	})
}

func (v *view) offsets(m *text.Mapper, w text.Word) query.Span {
	cols := v.a.q.d.Columns
	return query.Span{
		Start: queryPoint(m.PointOfOffset(w.Start, cols)),
		End:   queryPoint(m.PointOfOffset(max(w.Start, w.End), cols)),
	}
}

// unmapped notes that columns are shown in the server's unit.
func (v *view) unmapped(path string) {
	if path == "" {
		v.a.q.book.note("partial", "columns in documents that are not files count in the unit of the server.")
		return
	}
	v.a.q.book.note("partial", "columns in files that could not be read count in the unit of the server.")
}

// rawPoint shows a wire position as it is, 1-based.
func rawPoint(p lsp.Position) query.Point {
	return query.Point{Line: int(p.Line) + 1, Column: int(p.Character) + 1}
}

// placeAt is a place as shown; it tells who led to a file outside the workspace.
func (v *view) placeAt(at located, uri string, span query.Span) query.Place {
	if !at.Inside && at.Path != "" && v.a.q.d.Led != nil {
		v.a.q.d.Led(at.Path, v.a.c)
	}
	return query.Place{Path: at.Shown, URI: uri, Span: span, Servers: []string{v.a.c.Name}, Outside: !at.Inside}
}

// symbol maps a symbol in the document uri to the place of its name.
func (v *view) symbol(s lsp.Symbol, uri string) query.Symbol {
	out := query.Symbol{Name: s.Name, Kind: lsp.KindName(s.Kind), Container: s.ContainerName, Detail: s.Detail}
	at := v.a.q.d.locate(uri)
	m := v.mapper(at.Path)
	if m == nil {
		out.Place = v.placeAt(at, uri, v.span(at.Path, s.Selection))
		return out
	}
	s.Range, s.Selection = v.pastMark(m, s.Range), v.pastMark(m, s.Selection)
	out.Place = v.placeAt(at, uri, v.offsets(m, nameWord(m, s, v.a.wire())))
	return out
}
