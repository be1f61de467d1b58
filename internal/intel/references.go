package intel

import (
	"context"
	"slices"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/text"
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
		found, err := a.references(ctx, referenceContext{q.r.IncludeDeclaration})
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

// references asks for the references to the symbol at the spot. Where the server's
// own reading of includeDeclaration is of no use, the declaration is asked for and
// taken out by what the definition request names.
func (a *ask) references(ctx context.Context, with referenceContext) ([]lsp.Location, error) {
	sift := !with.IncludeDeclaration && a.c.DeclarationByDefinition && a.supports(lsp.MethodDefinition)
	params := func() (any, error) {
		p, err := a.currentPosition()
		return referenceParams{p, referenceContext{with.IncludeDeclaration || sift}}, err
	}
	found, err := a.locations(ctx, lsp.MethodReferences, params)
	if err != nil || !sift || len(found) == 0 {
		return found, err
	}
	declared, err := a.rawLocations(ctx, lsp.MethodDefinition, a.positionParams)
	if err != nil {
		return nil, err
	}
	return without(found, declared), nil
}

// without removes the locations that begin where one of others begins.
func without(ls, others []lsp.Location) []lsp.Location {
	type place struct {
		uri   string
		start lsp.Position
	}
	gone := make(map[place]bool, len(others))
	for _, l := range others {
		gone[place{text.CanonicalURI(l.URI), l.Range.Start}] = true
	}
	return slices.DeleteFunc(ls, func(l lsp.Location) bool {
		return gone[place{text.CanonicalURI(l.URI), l.Range.Start}]
	})
}
