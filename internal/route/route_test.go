package route

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/config"
	"github.com/dragoman-dev/dragoman/query"
)

// tree is a file system of names; a value is the file's text.
type tree map[string]string

func (t tree) Exists(path string) bool { _, ok := t[filepath.ToSlash(path)]; return ok }
func (t tree) Contains(path, text string) bool {
	return strings.Contains(t[filepath.ToSlash(path)], text)
}

func builtins() []config.Server { return config.Load(config.Options{Workspace: "/w"}).Servers }

func server(name string) *config.Server {
	return &config.Server{Name: name, Entry: catalog.ByName(name)}
}

func TestLanguage(t *testing.T) {
	t.Run("C52 language ids by extension, name and configuration", func(t *testing.T) {
		override := &config.Server{Name: "x", ExtensionToLanguage: map[string]string{
			".Foo": "foo", ".c": "c", ".C": "cpp", ".blade.php": "blade", ".php": "php", ".Dockerfile": "dockerfile"}}
		qwen := &config.Server{Name: "y", Languages: []string{"typescript", "dockerfile"}}
		tests := []struct {
			s            *config.Server
			path, header string
			want         string
		}{
			{server("typescript"), "/w/a.tsx", "", "typescriptreact"},
			{server("typescript"), "/w/a.TS", "", "typescript"},
			{server("typescript"), "/w/a.mjs", "", "javascript"},
			{server("typescript"), "/w/a.go", "", ""},
			{server("clangd"), "/w/a.h", "", "cpp"},
			{server("clangd"), "/w/a.h", "c", "c"},
			{server("clangd"), "/w/a.hpp", "c", "cpp"},
			{server("gopls"), "/w/go.mod", "", "go.mod"},
			{server("gopls"), "/w/x.mod", "", ""},
			{override, "/w/a.fOO", "", "foo"},
			{override, "/w/a.c", "", "c"},
			{override, "/w/a.C", "", "cpp"},
			{override, "/w/a.blade.php", "", "blade"},
			{override, "/w/a.php", "", "php"},
			{override, "/w/Dockerfile", "", "dockerfile"},
			{override, "/w/a.go", "", ""},
			{qwen, "/w/a.ts", "", "typescript"},
			{qwen, "/w/a.tsx", "", ""},
			{qwen, "/w/Dockerfile", "", "dockerfile"},
		}
		for _, tt := range tests {
			if got := LanguageID(tt.s, tt.path, tt.header); got != tt.want {
				t.Errorf("%s %s: %q, want %q", tt.s.Name, tt.path, got, tt.want)
			}
		}
	})
}

func TestNamedServer(t *testing.T) {
	t.Run("C105 forced server name, unknown name, not for this file", func(t *testing.T) {
		all := append(builtins(), config.Server{Name: "mine", Command: "/w/bin/my-ls", Explicit: true,
			ExtensionToLanguage: map[string]string{".go": "go", ".foo": "foo"}})
		for name, want := range map[string]string{
			"gopls": "gopls", "typescript-language-server": "typescript", "tsc": "typescript",
			"pyright-langserver": "pyright", "my-ls": "mine", "python": "pyright", "foo": "mine", "rust": "rust-analyzer",
		} {
			got, err := Named(all, name)
			if err != nil || len(got) != 1 || got[0].Name != want {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
		_, err := For(tree{}, all, Question{Workspace: "/w", Path: "/w/a.go", Server: "nobody"})
		if query.KindOf(err) != query.BadRequest || !strings.Contains(err.(*query.Error).Hint, "gopls, typescript") {
			t.Errorf("unknown name: %v", err)
		}
		_, err = For(tree{}, all, Question{Workspace: "/w", Path: "/w/a.go", Server: "pyright"})
		if query.KindOf(err) != query.NoServer || err.Error() != `Server "pyright" does not serve a.go.` ||
			err.(*query.Error).Hint != "Servers for this file: gopls, mine." {
			t.Errorf("not for this file: %v %v", err, err.(*query.Error).Hint)
		}
		got, err := For(tree{}, all, Question{Workspace: "/w", Path: "/w/a.go", Server: "mine"})
		if err != nil || len(got) != 1 || got[0].Server.Name != "mine" {
			t.Errorf("forced: %v %v", got, err)
		}
		_, err = For(tree{}, all, Question{Workspace: "/w", Path: "/w/a.unknown"})
		if query.KindOf(err) != query.NoServer || !strings.Contains(err.Error(), "a.unknown") {
			t.Errorf("no server: %v", err)
		}
	})
}

func TestRoot(t *testing.T) {
	t.Run("C106 file in a nested root, a second root", func(t *testing.T) {
		fs := tree{
			"/w/go.work": "", "/w/a/go.mod": "", "/w/a/b/go.mod": "",
			"/w2/x/go.mod": "", "/w2/x/y/go.mod": "", "/w2/z/go.mod": "",
			"/w3/package-lock.json": "", "/w3/p/tsconfig.json": "", "/w3/p/package.json": "",
			"/w4/deno.json": "", "/w4/n/package.json": "",
			"/w5/Cargo.toml": "[workspace]\nmembers=['a']", "/w5/a/Cargo.toml": "[package]",
			"/w6/a/Cargo.toml": "[package]", "/w6/a/b/Cargo.toml": "[package]",
			"/w7/CMakeLists.txt": "", "/w7/lib/CMakeLists.txt": "", "/w7/lib/compile_commands.json": "",
		}
		tests := []struct {
			server, workspace, path, want string
		}{
			{"gopls", "/w", "/w/a/b/c/x.go", "/w"}, // go.work before go.mod
			{"gopls", "/w", "/w/x.go", "/w"},
			{"gopls", "/w2", "/w2/x/y/x.go", "/w2/x"}, // outermost
			{"gopls", "/w2", "/w2/z/x.go", "/w2/z"},   // a second root
			{"gopls", "/w2", "/w2/x.go", "/w2"},       // no marker: the workspace
			{"gopls", "/w2/x/y", "/w2/x/y/q/x.go", "/w2/x/y"},
			{"typescript", "/w3", "/w3/p/src/x.ts", "/w3"}, // lock file before package.json
			{"typescript", "/w3/p", "/w3/p/src/x.ts", "/w3/p"},
			{"typescript", "/w4", "/w4/x.ts", ""},        // a Deno tree
			{"typescript", "/w4", "/w4/n/x.ts", "/w4/n"}, // a Node package in it
			{"rust-analyzer", "/w5", "/w5/a/src/x.rs", "/w5"},
			{"rust-analyzer", "/w6", "/w6/a/b/src/x.rs", "/w6/a/b"}, // no [workspace]: the nearest crate
			{"clangd", "/w7", "/w7/lib/x.cpp", "/w7/lib"},
			{"clangd", "/w7", "/w7/x.cpp", "/w7"},
		}
		for _, tt := range tests {
			got, ok := Root(fs, server(tt.server), tt.workspace, tt.path)
			if ok != (tt.want != "") || got != tt.want {
				t.Errorf("%s %s in %s: %q %v, want %q", tt.server, tt.path, tt.workspace, got, ok, tt.want)
			}
		}
	})
	t.Run("configured markers and folder", func(t *testing.T) {
		fs := tree{"/w/a/mine.toml": "", "/w/a/go.mod": ""}
		s := &config.Server{Name: "x", RootMarkers: []string{"mine.toml"}}
		if got, _ := Root(fs, s, "/w", "/w/a/b/x.go"); got != "/w/a" {
			t.Error(got)
		}
		s.WorkspaceFolder = "/w/c"
		if _, ok := Root(fs, s, "/w", "/w/a/x.go"); ok {
			t.Error("a file outside workspaceFolder was taken")
		}
	})
}

func TestOrder(t *testing.T) {
	all := append([]config.Server{{Name: "mine", Command: "x", ExtensionToLanguage: map[string]string{".go": "go"}}}, builtins()...)
	got, err := For(tree{"/w/go.mod": ""}, all, Question{Workspace: "/w", Path: "/w/a.go"})
	if err != nil || len(got) != 2 || got[0].Server.Name != "mine" || got[1].Server.Name != "gopls" {
		t.Fatalf("%v %v", got, err)
	}
	if got[1].LanguageID != "go" || got[1].Root != "/w" {
		t.Errorf("%+v", got[1])
	}
}
