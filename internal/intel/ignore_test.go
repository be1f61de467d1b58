package intel

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
)

// gitIn runs git in dir, apart from the user's own settings.
func gitIn(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org",
		"-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

const ignoredTree = `
-- .gitignore --
/out/
*.gen.go
!keep.gen.go
-- a.go --
-- x.gen.go --
-- keep.gen.go --
-- tracked.gen.go --
-- out/b.go --
-- sub/.gitignore --
local.go
-- sub/local.go --
-- sub/c.go --
-- nested/x.gen.go --
-- dir with ü/y.gen.go --
`

// checkIgnored asks for verdicts on paths relative to root; a leading "-" is ignored.
func checkIgnored(t *testing.T, g *Ignore, root string, want ...string) {
	t.Helper()
	paths := make([]string, 0, len(want))
	for _, w := range want {
		if w[0] == '-' {
			w = w[1:]
		}
		paths = append(paths, filepath.Join(root, w))
	}
	got, err := g.Ignored(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if got[i] != (w[0] == '-') {
			t.Errorf("%s: ignored = %v", w, got[i])
		}
	}
}

func TestIgnored(t *testing.T) {
	needGit(t)
	root := lsptest.Workspace(t, ignoredTree)
	gitIn(t, root, "init", "-q")
	gitIn(t, root, "add", "-f", "tracked.gen.go", "a.go")
	gitIn(t, filepath.Join(root, "nested"), "init", "-q")
	g := NewIgnore(root)
	all := []string{"a.go", "-x.gen.go", "keep.gen.go", "tracked.gen.go", "-out/b.go", "-sub/local.go",
		"sub/c.go", "nested/x.gen.go", "-dir with ü/y.gen.go"}
	checkIgnored(t, g, root, all...)
	checkIgnored(t, g, root, all...) // from memory

	t.Run("an ignore file changes", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(root, "sub/.gitignore"), []byte("c.go\nmore.go\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		checkIgnored(t, g, root, "sub/local.go", "-sub/c.go")
	})
	t.Run("an ignore file is new", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(root, "nested/.gitignore"), []byte("*.go\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		checkIgnored(t, g, root, "-nested/x.gen.go")
	})
	t.Run("the index changes", func(t *testing.T) {
		gitIn(t, root, "add", "-f", "x.gen.go")
		checkIgnored(t, g, root, "x.gen.go")
	})
	t.Run("outside of any repository", func(t *testing.T) {
		checkIgnored(t, g, lsptest.Workspace(t, ignoredTree), "x.gen.go")
	})
}

// TestIgnoredWorktree pins that a worktree inside the tree is a repository of its
// own even where the outer one ignores its folder.
func TestIgnoredWorktree(t *testing.T) {
	needGit(t)
	root := lsptest.Workspace(t, "-- .gitignore --\n/wt/\n-- a.go --\n")
	gitIn(t, root, "init", "-q")
	gitIn(t, root, "add", ".")
	gitIn(t, root, "commit", "-qm", "x")
	gitIn(t, root, "worktree", "add", "-q", "wt/feature")
	g := NewIgnore(root)
	checkIgnored(t, g, root, "wt/feature/a.go", "-wt/other.go")
}

// TestIgnoredRunsNothing pins that nothing of the repository is run.
func TestIgnoredRunsNothing(t *testing.T) {
	needGit(t)
	root := lsptest.Workspace(t, "-- a.go --\n")
	gitIn(t, root, "init", "-q")
	ran := filepath.Join(root, "ran")
	gitIn(t, root, "config", "core.fsmonitor", "touch "+ran)
	checkIgnored(t, NewIgnore(root), root, "a.go")
	if _, err := os.Stat(ran); err == nil {
		t.Error("the repository's file-system monitor was run")
	}
}

func TestIgnoredWithoutGit(t *testing.T) {
	root := lsptest.Workspace(t, ignoredTree)
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := NewIgnore(root)
	g.git = ""
	checkIgnored(t, g, root, "a.go", "-x.gen.go", "keep.gen.go", "-out/b.go", "-sub/local.go", "sub/c.go")
}
