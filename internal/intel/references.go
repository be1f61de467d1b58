package intel

import (
	"context"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

// references are sorted by file and cross-checked with a textual scan.
func references(ctx context.Context, q *question) (*query.Answer, error) {
	put := func(ctx context.Context, a *ask) ([]lsp.Location, error) {
		if err := a.aim(ctx, *start(q.r.Target)); err != nil {
			return nil, err
		}
		scan := a.startScan(ctx)
		defer scan.stop()
		found, err := a.references(ctx, q.r.IncludeDeclaration)
		if err != nil {
			return nil, err
		}
		return a.crosscheck(ctx, scan, found), nil
	}
	found, a, err := first(ctx, q, q.file, plan{lsp.MethodReferences, server.Settled}, put, none)
	if err != nil {
		return nil, err
	}
	all := sift(ctx, q, siting(q.d, found, locationURI))
	sortReferences(all)
	ans := q.answer(&query.Places{Items: mapped(a, cut(q, all, q.limit))})
	ans.Total = count(len(all), len(found), a.c.ReferenceCap)
	if a.remark != "" {
		q.book.note("crosscheck", a.remark)
	}
	q.placed(ans, a)
	return ans, nil
}

// references asks for the references to the symbol at the spot.
func (a *ask) references(ctx context.Context, declaration bool) ([]lsp.Location, error) {
	params := func() (any, error) {
		p, err := a.currentPosition()
		return referenceParams{p, referenceContext{declaration}}, err
	}
	return a.locations(ctx, lsp.MethodReferences, params)
}
