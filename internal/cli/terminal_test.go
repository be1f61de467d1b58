package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNoTerminal(t *testing.T) {
	for _, name := range []string{os.DevNull, filepath.Join(t.TempDir(), "file")} {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if isTerminal(f) {
			t.Errorf("%s counts as a terminal: trust could be given without a person", name)
		}
		f.Close()
	}
}
