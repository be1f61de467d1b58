package intel

import (
	"context"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

// definition keeps the server's order and hides nothing.
func definition(ctx context.Context, q *question) (*query.Answer, error) {
	return q.goTo(ctx, lsp.MethodDefinition)
}

// goTo asks for the places that a symbol leads to.
func (q *question) goTo(ctx context.Context, method lsp.Feature) (*query.Answer, error) {
	put := func(ctx context.Context, a *ask) ([]lsp.Location, error) {
		if err := a.aim(ctx, *start(q.r.Target)); err != nil {
			return nil, err
		}
		return a.locations(ctx, method, a.positionParams)
	}
	found, a, err := first(ctx, q, q.file, plan{method, server.Settled}, put, none)
	if err != nil {
		return nil, err
	}
	all := dropGone(q, siting(q.d, found, locationURI))
	if method == lsp.MethodImplementation {
		all = sift(ctx, q, all)
		generatedLast(all)
	}
	ans := q.answer(&query.Places{Items: mapped(a, cut(q, all, q.limit))})
	ans.Total = query.Count{N: len(all)}
	q.placed(ans, a)
	return ans, nil
}

func none[T any](items []T) bool { return len(items) == 0 }

// placed completes an answer about a point: where it was put, and, if it is
// empty, that there is no identifier.
func (q *question) placed(ans *query.Answer, a *ask) {
	at := a.at.Point
	ans.At = &at
	if a.at.Word == "" && a.snap.Map != nil {
		q.book.doubt(noIdentifier(q.file.Shown, at))
	}
}
