package intel

import (
	"context"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

type hovered struct {
	markdown string
	span     *lsp.Range
}

// hover needs the file only, not the whole project.
func hover(ctx context.Context, q *question) (*query.Answer, error) {
	put := func(ctx context.Context, a *ask) (hovered, error) {
		if err := a.aim(ctx, *start(q.r.Target)); err != nil {
			return hovered{}, err
		}
		raw, err := a.call(ctx, string(lsp.MethodHover), a.positionParams)
		if err != nil {
			return hovered{}, err
		}
		markdown, span, err := lsp.DecodeHover(raw)
		return hovered{markdown, span}, err
	}
	empty := func(h hovered) bool { return h.markdown == "" }
	got, a, err := first(ctx, q, q.file, plan{lsp.MethodHover, server.Initialized}, put, empty)
	if err != nil {
		return nil, err
	}
	prose := &query.Prose{Markdown: got.markdown}
	ans := q.answer(prose)
	if got.markdown != "" {
		ans.Total.N = 1
		if got.span != nil {
			v := view{a: a}
			span := v.span(q.file.Path, *got.span)
			prose.Span = &span
		}
	}
	q.placed(ans, a)
	return ans, nil
}
