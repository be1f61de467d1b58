package intel

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// spot is where in a text a question is put.
type spot struct {
	Offset int
	Point  query.Point
	// Word is the identifier there, "" when there is none.
	Word string
}

// aim finds where to put a question about p: at the point, or, by the snap rule,
// at the only identifier that touches it, or at the line's only declaration when
// the point lies in the white space before it. A move is noted.
func (a *ask) aim(ctx context.Context, p query.Point) error {
	a.aimed = true
	if a.snap.Map == nil {
		a.at = spot{Point: p}
		return nil
	}
	off, err := a.snap.Map.OffsetOfPoint(textPoint(p), a.q.d.Columns)
	if err != nil {
		return err
	}
	content := a.snap.Map.Content()
	if w, ok := identifierAt(content, off, a.c.LanguageID); ok {
		a.at = a.spotAt(off, w)
		return nil
	}
	w, ok := onlyTouching(content, off, a.c.LanguageID)
	if !ok && inIndent(content, off) {
		w, ok = a.onlyDeclaration(ctx, off)
	}
	if !ok || a.snap.Map.PointOfOffset(off, a.q.d.Columns).Column != p.Column {
		a.at = a.spotAt(off, text.Word{})
		return nil
	}
	a.at = a.spotAt(w.Start, w)
	a.q.book.note("moved", fmt.Sprintf("moved to %q at %d:%d.", a.at.Word, a.at.Point.Line, a.at.Point.Column))
	return nil
}

// stand puts a question exactly at p, which is known to be a name.
func (a *ask) stand(p query.Point) error {
	off, err := a.snap.Map.OffsetOfPoint(textPoint(p), a.q.d.Columns)
	if err != nil {
		return err
	}
	w, _ := identifierAt(a.snap.Map.Content(), off, a.c.LanguageID)
	a.at = a.spotAt(off, w)
	return nil
}

func (a *ask) spotAt(off int, w text.Word) spot {
	return spot{
		Offset: off,
		Point:  queryPoint(a.snap.Map.PointOfOffset(off, a.q.d.Columns)),
		Word:   string(a.snap.Map.Content()[w.Start:w.End]),
	}
}

// identifierAt is the identifier that off lies in; keywords are none.
func identifierAt(content []byte, off int, languageID string) (text.Word, bool) {
	for _, w := range text.WordsInLine(content, off) {
		if w.Start <= off && off < w.End {
			return w, !isKeyword(languageID, string(content[w.Start:w.End]))
		}
	}
	return text.Word{}, false
}

// onlyTouching is the identifier that ends at off or begins right after the
// character at off, if there is exactly one.
func onlyTouching(content []byte, off int, languageID string) (found text.Word, ok bool) {
	next := off
	if off < len(content) && content[off] != '\n' && content[off] != '\r' {
		_, size := utf8.DecodeRune(content[off:])
		next += size
	}
	for _, w := range text.WordsInLine(content, off) {
		if w.Start <= off && off < w.End {
			return text.Word{}, false // a keyword lies there
		}
		if (w.End == off || w.Start == next) && !isKeyword(languageID, string(content[w.Start:w.End])) {
			if ok {
				return text.Word{}, false
			}
			found, ok = w, true
		}
	}
	return found, ok
}

// inIndent reports that off lies in the white space that begins its line, before
// something else.
func inIndent(content []byte, off int) bool {
	begin := bytes.LastIndexByte(content[:off], '\n') + 1
	if len(bytes.TrimLeft(content[begin:off], " \t")) > 0 || off >= len(content) {
		return false
	}
	return content[off] == ' ' || content[off] == '\t'
}

// onlyDeclaration is the name of the only symbol that the server sees declared on
// the line of off.
func (a *ask) onlyDeclaration(ctx context.Context, off int) (text.Word, bool) {
	if !a.supports(lsp.MethodDocumentSymbol) || len(text.WordsInLine(a.snap.Map.Content(), off)) == 0 {
		return text.Word{}, false
	}
	raw, err := a.call(ctx, string(lsp.MethodDocumentSymbol), a.documentParams)
	if err != nil {
		return text.Word{}, false
	}
	symbols, err := lsp.DecodeSymbols(raw)
	if err != nil {
		return text.Word{}, false
	}
	var found []text.Word
	line := a.snap.Map.PointOfOffset(off, a.q.d.Columns).Line
	eachSymbol(symbols, func(s lsp.Symbol) {
		w := nameWord(a.snap.Map, s, a.wire())
		if w.End > w.Start && a.snap.Map.PointOfOffset(w.Start, a.q.d.Columns).Line == line {
			found = append(found, w)
		}
	})
	if len(found) != 1 || found[0].Start < off {
		return text.Word{}, false
	}
	return found[0], true
}

// eachSymbol visits symbols depth first.
func eachSymbol(symbols []lsp.Symbol, visit func(lsp.Symbol)) {
	for _, s := range symbols {
		visit(s)
		eachSymbol(s.Children, visit)
	}
}

// nameWord is where a symbol's name stands: at the start of its selection, or,
// where the server gives only one range, the name's first whole word inside it.
func nameWord(m *text.Mapper, s lsp.Symbol, w text.Wire) text.Word {
	begin := m.OffsetOfPosition(s.Selection.Start, w)
	end := m.OffsetOfPosition(s.Selection.End, w)
	if s.HasSelection {
		return text.Word{Start: begin, End: max(begin, end)}
	}
	if found, ok := wholeWord(m.Content(), begin, end, plainName(s.Name)); ok {
		return found
	}
	return text.Word{Start: begin, End: begin}
}

// wholeWord finds name as an identifier of its own in content[begin:end].
func wholeWord(content []byte, begin, end int, name string) (text.Word, bool) {
	if name == "" {
		return text.Word{}, false
	}
	for at := begin; at < end; {
		i := bytes.Index(content[at:end], []byte(name))
		if i < 0 {
			break
		}
		at += i
		if w, ok := text.WordAt(content, at); ok && w.Start == at && w.End == at+len(name) {
			return w, true
		}
		at += len(name)
	}
	return text.Word{}, false
}

// plainName is the identifier in a symbol's name as servers decorate it:
// "(*T).Method", "pkg.Func", "Class::method(int)", "generic<T>".
func plainName(name string) string {
	if i := strings.LastIndex(name, ")."); i >= 0 {
		name = name[i+2:]
	}
	if i := strings.IndexAny(name, "(<["); i > 0 {
		name = name[:i]
	}
	words := text.WordsInLine([]byte(name), 0)
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	return name[last.Start:last.End]
}

// position is the spot on the wire.
func (a *ask) position() lsp.Position {
	if a.snap.Map == nil {
		return lsp.Position{Line: uint32(a.at.Point.Line - 1), Character: uint32(a.at.Point.Column - 1)}
	}
	return a.snap.Map.PositionOfOffset(a.at.Offset, a.wire())
}

type documentID struct {
	URI string `json:"uri"`
}

type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

type positionParams struct {
	TextDocument documentID   `json:"textDocument"`
	Position     lsp.Position `json:"position"`
}

type referenceParams struct {
	positionParams
	Context referenceContext `json:"context"`
}

type referenceContext struct {
	IncludeDeclaration bool `json:"includeDeclaration"`
}

func (a *ask) documentParams() (any, error) {
	return documentParams{documentID{a.uri()}}, nil
}

// positionParams maps the spot in the text as it is when the request is sent: the
// same line and column if the text has changed since the question was aimed.
func (a *ask) positionParams() (any, error) {
	p, err := a.currentPosition()
	return p, err
}

func (a *ask) currentPosition() (positionParams, error) {
	if a.snap.Map != nil {
		off, err := a.snap.Map.OffsetOfPoint(textPoint(a.at.Point), a.q.d.Columns)
		if err != nil {
			return positionParams{}, err
		}
		a.at.Offset = off
	}
	return positionParams{documentID{a.uri()}, a.position()}, nil
}
