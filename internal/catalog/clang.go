package catalog

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// databaseFolders are where build systems leave compile_commands.json beside the
// two places (the folder itself, build/) in which clangd looks by itself.
var databaseFolders = []string{"out", "build/Debug", "build/Release", "cmake-build-debug",
	"cmake-build-release", "builddir", "_build", "Debug", "Release", "target"}

// chooseClangd finds the compile database.
func chooseClangd(ctx context.Context, p *Place, e *Entry) (*Choice, error) {
	c, err := chooseFirst(ctx, p, e)
	if err != nil {
		return nil, err
	}
	found, extra := findDatabase(p)
	c.Recheck = func() string { return databaseMissing(p) }
	c.Missing = c.Recheck()
	switch {
	case found == "":
		c.Facts = []Fact{{"compile_commands.json", "not found"}}
	default:
		c.Facts = []Fact{{"compile database", found}}
		if extra {
			c.Args = append(append([]string{}, c.Args...), "--compile-commands-dir="+filepath.Dir(found))
		}
	}
	c.Dependencies = func(context.Context) []string { return clangDependencies(c.Path) }
	return c, nil
}

func databaseMissing(p *Place) string {
	if found, _ := findDatabase(p); found != "" {
		return ""
	}
	return "there is no compile_commands.json or compile_flags.txt, so clangd knows only the files that were opened"
}

// findDatabase returns the database for a root; extra says that clangd has to be
// told where it is.
func findDatabase(p *Place) (path string, extra bool) {
	for _, dir := range upward(p.Root, p.Workspace) {
		for _, name := range []string{"compile_commands.json", "build/compile_commands.json", "compile_flags.txt"} {
			if path := filepath.Join(dir, name); isFile(path) {
				return path, false
			}
		}
	}
	for _, dir := range databaseFolders {
		if path := filepath.Join(p.Root, dir, "compile_commands.json"); isFile(path) {
			return path, true
		}
	}
	return "", false
}

// clangDependencies are the system's headers and the server's own.
func clangDependencies(program string) []string {
	dirs := []string{"/usr/include", "/usr/local/include", "/Library/Developer", "/Applications/Xcode.app"}
	for _, pattern := range []string{"/usr/lib/gcc/*", "/usr/lib/llvm*", "/usr/lib/clang/*", "/opt/homebrew/include"} {
		found, _ := filepath.Glob(pattern)
		dirs = append(dirs, found...)
	}
	home := filepath.Dir(filepath.Dir(Real(program)))
	found, _ := filepath.Glob(filepath.Join(globEscape(home), "lib", "python3*", "site-packages", "clangd"))
	dirs = append(dirs, found...)
	return realDirs(append(dirs, filepath.Join(home, "lib", "clang"))...)
}

// Header tells whether a .h file is "c" or "cpp" by the sources beside it, else by
// what the workspace holds; cpp when nothing is known.
func Header(ctx context.Context, path string, has func(ctx context.Context, names ...string) bool) string {
	c, cpp := siblings(filepath.Dir(path))
	switch {
	case cpp:
		return "cpp"
	case c:
		return "c"
	case has == nil || has(ctx, ".cpp", ".cc", ".cxx", ".hpp", ".hh", ".c++"):
		return "cpp"
	case has(ctx, ".c"):
		return "c"
	}
	return "cpp"
}

func siblings(dir string) (c, cpp bool) {
	f, err := os.Open(dir)
	if err != nil {
		return false, false
	}
	defer f.Close()
	names, _ := f.Readdirnames(2000)
	for _, n := range names {
		switch strings.ToLower(filepath.Ext(n)) {
		case ".c":
			c = true
		case ".cpp", ".cc", ".cxx", ".hpp", ".hh", ".c++", ".mm", ".cu":
			cpp = true
		}
	}
	return c, cpp
}
