package intel

import (
	"cmp"
	"context"
	"slices"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

// documentSymbol makes one outline of nested or flat symbols, depth first.
func documentSymbol(ctx context.Context, q *question) (*query.Answer, error) {
	put := func(ctx context.Context, a *ask) ([]lsp.Symbol, error) {
		raw, err := a.call(ctx, string(lsp.MethodDocumentSymbol), a.documentParams)
		if err != nil {
			return nil, err
		}
		return lsp.DecodeSymbols(raw)
	}
	found, a, err := first(ctx, q, q.file, plan{lsp.MethodDocumentSymbol, server.Initialized}, put, none)
	if err != nil {
		return nil, err
	}
	rows := flatten(nest(found), nil, "", 0)
	shown := cut(q, rows, q.limit)
	a.correct(rowNames(shown, a.uri()))
	outline := &query.Outline{Items: make([]query.Symbol, 0, len(shown))}
	v := view{a: a}
	for _, row := range shown {
		s := v.symbol(row.symbol, a.uri())
		s.Container, s.Depth = row.container, row.depth
		outline.Items = append(outline.Items, s)
	}
	ans := q.answer(outline)
	ans.Total.N = len(rows)
	return ans, nil
}

// row is a line of an outline.
type row struct {
	symbol    lsp.Symbol
	container string
	depth     int
}

// flatten lists nested symbols depth first, each with its parent's name.
func flatten(symbols []lsp.Symbol, rows []row, parent string, depth int) []row {
	for _, s := range symbols {
		container := s.ContainerName
		if parent != "" {
			container = parent
		}
		rows = append(rows, row{s, container, depth})
		rows = flatten(s.Children, rows, s.Name, depth+1)
	}
	return rows
}

// nest gives flat symbols children by containment of their ranges; symbols that
// are nested already stay as they are.
func nest(symbols []lsp.Symbol) []lsp.Symbol {
	for _, s := range symbols {
		if len(s.Children) > 0 || s.URI == "" || !s.HasRange {
			return symbols
		}
	}
	sorted := slices.Clone(symbols)
	slices.SortStableFunc(sorted, func(a, b lsp.Symbol) int {
		return cmp.Or(comparePositions(a.Range.Start, b.Range.Start), comparePositions(b.Range.End, a.Range.End))
	})
	tops, _ := nestInto(sorted, nil)
	return tops
}

// nestInto takes the symbols that lie inside parent off the front of sorted.
func nestInto(sorted []lsp.Symbol, parent *lsp.Range) (inside, rest []lsp.Symbol) {
	for len(sorted) > 0 {
		s := sorted[0]
		if parent != nil && !contains(*parent, s.Range) {
			break
		}
		s.Children, sorted = nestInto(sorted[1:], &s.Range)
		inside = append(inside, s)
	}
	return inside, sorted
}

// contains reports that inner lies in outer and is not the same range.
func contains(outer, inner lsp.Range) bool {
	return inner != outer && comparePositions(outer.Start, inner.Start) <= 0 &&
		comparePositions(inner.End, outer.End) <= 0
}

func rowNames(rows []row, uri string) []named {
	names := make([]named, 0, len(rows))
	for _, r := range rows {
		if r.symbol.HasSelection {
			names = append(names, named{uri, r.symbol.Selection, plainName(r.symbol.Name)})
		}
	}
	return names
}
