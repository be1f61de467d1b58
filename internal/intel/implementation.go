package intel

import (
	"context"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/query"
)

// implementation leaves out git-ignored files and shows generated ones last.
func implementation(ctx context.Context, q *question) (*query.Answer, error) {
	return q.goTo(ctx, lsp.MethodImplementation)
}
