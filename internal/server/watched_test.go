package server

import (
	"context"
	"os"
	"testing"
)

// TestUnwatchedDocuments: an open document in a folder that is not watched is kept
// equal to the disk all the same, also when another file is asked about.
func TestUnwatchedDocuments(t *testing.T) {
	ctx := context.Background()
	f := run(t, "expect count didChange 1", watching(t))
	if err := os.MkdirAll(f.path("node_modules/lib/deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.write("node_modules/lib/deep/x.go", "package x\n")
	s := f.session()
	for _, rel := range []string{"node_modules/lib/deep/x.go", "a.go"} {
		if _, err := s.Ensure(ctx, f.path(rel)); err != nil {
			t.Fatal(err)
		}
	}
	f.write("node_modules/lib/deep/x.go", "package x // changed\n")
	if _, err := s.Ensure(ctx, f.path("a.go")); err != nil {
		t.Fatal(err)
	}
	snap, open := s.Mirror().Current(f.path("node_modules/lib/deep/x.go"))
	if !open || string(snap.Map.Content()) != "package x // changed\n" {
		t.Errorf("open=%v, the server has %q", open, snap.Map.Content())
	}
}
