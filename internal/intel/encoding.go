package intel

import (
	"bytes"
	"context"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// Some servers count in another unit than they claim (pylsp, jedi). The text at a
// returned range must be the name asked about; where it is not, on lines on which
// the units differ, the other units are tried.

// encodings are tried in this order.
var encodings = []text.Encoding{text.UTF32, text.UTF8, text.UTF16}

// checkedPlaces bounds how many results are looked at.
const checkedPlaces = 20

// named is a range that should read name.
type named struct {
	uri  string
	rang lsp.Range
	name string
}

// wire is how this ask counts: as the session, unless another unit is being tried.
func (a *ask) wire() text.Wire {
	w := a.sess.Wire()
	if a.trying != nil {
		w.Encoding = *a.trying
	}
	return w
}

// otherwise is the wire with another unit.
func (a *ask) otherwise(enc text.Encoding) text.Wire {
	w := a.sess.Wire()
	w.Encoding = enc
	return w
}

// units counts the names that read right in a unit, among those on lines where
// the unit matters.
func (a *ask) units(names []named, w text.Wire) (right, matter int) {
	v := view{a: a}
	for _, n := range names[:min(len(names), checkedPlaces)] {
		at := a.q.d.locate(n.uri)
		m := v.mapper(at.Path)
		if m == nil || n.name == "" || !unitMatters(m, n.rang.Start, w) {
			continue
		}
		matter++
		if reads(m, n.rang.Start, w, n.name) {
			right++
		}
	}
	return right, matter
}

// unitMatters reports that something before the position is not ASCII.
func unitMatters(m *text.Mapper, p lsp.Position, w text.Wire) bool {
	off := m.OffsetOfPosition(p, w)
	begin := m.OffsetOfPosition(lsp.Position{Line: p.Line}, w)
	end := m.OffsetOfPosition(lsp.Position{Line: p.Line, Character: p.Character * 4}, w)
	return !isASCII(m.Content()[begin:max(off, end, begin)])
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// reads reports that name stands at the position.
func reads(m *text.Mapper, p lsp.Position, w text.Wire, name string) bool {
	off := m.OffsetOfPosition(p, w)
	return bytes.HasPrefix(m.Content()[off:], []byte(name))
}

// rereading finds the unit in which more of the names read right than in the
// session's; false when the session's is not disproved.
func (a *ask) rereading(names []named) (text.Encoding, bool) {
	now := a.wire()
	right, matter := a.units(names, now)
	if matter == 0 || right == matter {
		return 0, false
	}
	best, found := now.Encoding, false
	for _, enc := range encodings {
		if enc == now.Encoding {
			continue
		}
		if n, _ := a.units(names, a.otherwise(enc)); n > right {
			best, right, found = enc, n, true
		}
	}
	return best, found
}

// correct adopts the unit for the session when the names prove it.
func (a *ask) correct(names []named) bool {
	enc, ok := a.rereading(names)
	if ok {
		a.sess.SetWire(enc)
	}
	return ok
}

// ambiguous reports that the question's own position depends on the unit.
func (a *ask) ambiguous() bool {
	if a.snap.Map == nil || a.at.Word == "" {
		return false
	}
	content := a.snap.Map.Content()
	begin := bytes.LastIndexByte(content[:a.at.Offset], '\n') + 1
	return !isASCII(content[begin:a.at.Offset])
}

// locations puts a question whose results should read as the word asked about,
// and repeats it in another unit where the results prove the server's claim wrong.
func (a *ask) locations(ctx context.Context, method lsp.Feature, params func() (any, error)) ([]lsp.Location, error) {
	found, err := a.rawLocations(ctx, method, params)
	if err != nil || a.at.Word == "" {
		return found, err
	}
	names := a.asked(found)
	if a.correct(names) {
		if a.ambiguous() {
			return a.rawLocations(ctx, method, params)
		}
		return found, nil
	}
	if a.ambiguous() && !a.confirmed(names) {
		return a.elsewhere(ctx, method, params, found)
	}
	return found, nil
}

func (a *ask) rawLocations(ctx context.Context, method lsp.Feature, params func() (any, error)) ([]lsp.Location, error) {
	raw, err := a.call(ctx, string(method), params)
	if err != nil {
		return nil, err
	}
	found, err := lsp.DecodeLocations(raw)
	return uniqueLocations(found), err
}

func (a *ask) asked(found []lsp.Location) []named {
	names := make([]named, 0, min(len(found), checkedPlaces))
	for _, l := range found[:min(len(found), checkedPlaces)] {
		names = append(names, named{l.URI, l.Range, a.at.Word})
	}
	return names
}

// confirmed reports that some result reads as the word asked about, so that the
// server understood where the question was put.
func (a *ask) confirmed(names []named) bool {
	v := view{a: a}
	for _, n := range names {
		at := a.q.d.locate(n.uri)
		if m := v.mapper(at.Path); m != nil && reads(m, n.rang.Start, a.wire(), n.name) {
			return true
		}
	}
	return false
}

// elsewhere asks again with the position in each other unit, and adopts the one
// whose results read right; otherwise the first answer stands.
func (a *ask) elsewhere(ctx context.Context, method lsp.Feature, params func() (any, error), found []lsp.Location) ([]lsp.Location, error) {
	before := a.position()
	defer func() { a.trying = nil }()
	for _, enc := range encodings {
		a.trying = nil
		if enc == a.wire().Encoding {
			continue
		}
		a.trying = &enc
		if a.position() == before {
			continue
		}
		again, err := a.rawLocations(ctx, method, params)
		if err == nil && a.confirmed(a.asked(again)) {
			a.sess.SetWire(enc)
			return again, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return found, nil
}
