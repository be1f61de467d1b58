package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNamedWorkspace: a folder that a host names is the workspace, unless nobody can
// mean the whole of it.
func TestNamedWorkspace(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	for named, want := range map[string]string{
		project: project, home: "", filepath.VolumeName(home) + string(filepath.Separator): "", os.TempDir(): "",
	} {
		a := newApp(Process{Env: []string{"HOME=" + home}, Dir: project})
		a.flags.workspace = named
		if got, err := a.folder(); got != want || err != nil {
			t.Errorf("%s: %q %v, want %q", named, got, err, want)
		}
	}
}
