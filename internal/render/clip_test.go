package render

import (
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/query"
)

func TestLongRequestsAreNotRepeated(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	empty := Text(&query.Answer{Op: query.WorkspaceSymbol, Query: long, Body: &query.Found{}}, Options{})
	if !strings.HasPrefix(empty, `No symbols found for query "éé`) || !strings.HasSuffix(empty, `…".`) || len(empty) > 1000 {
		t.Errorf("%d bytes: %.80s", len(empty), empty)
	}
	failed := Error(&query.Error{Kind: query.BadRequest, Message: "file not found: " + long + ".", Hint: "Check the path."})
	if !strings.HasPrefix(failed, "file not found: éé") || !strings.HasSuffix(failed, "…\nHint: Check the path.") || len(failed) > 10000 {
		t.Errorf("%d bytes: %.80s", len(failed), failed)
	}
}
