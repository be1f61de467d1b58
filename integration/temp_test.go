//go:build integration

package integration

import (
	"path/filepath"
	"testing"
)

// realTemp is a temporary folder whose path has no symlink.
func realTemp(t testing.TB) string {
	t.Helper()
	d, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d
}
