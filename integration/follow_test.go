//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// abroad is a project that uses a library.
type abroad struct {
	// Server is the name among langs(), Name what the library is.
	Server, Name string
	Make         func(b *builder)
	// Hover must stand in the hover at the library's declaration.
	Hover string
	// In must stand in the path of the library's file.
	In string
}

func abroads() []abroad {
	return []abroad{
		{"gopls", "standard library", func(b *builder) {
			b.put("go.mod", "module example.com/shop\n\ngo 1.26\n")
			b.put("main.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.«use:Println»(\"x\") }\n")
		}, "func Println", "/fmt/print.go"},
		{"gopls", "module cache", func(b *builder) {
			b.put("go.mod", "module example.com/shop\n\ngo 1.26.0\n\nrequire "+ownModule(b, "golang.org/x/sync")+"\n")
			b.put("go.sum", ownSums(b, "golang.org/x/sync"))
			b.put("main.go", "package main\n\nimport \"golang.org/x/sync/errgroup\"\n\nfunc main() { _, _ = errgroup.«use:WithContext»(nil) }\n")
		}, "func WithContext", "/errgroup/errgroup.go"},
		{"typescript", "typings", tsAbroad, "map", "lib.es5.d.ts"},
		{"typescript7", "typings", func(b *builder) {
			tsAbroad(b)
			manifest, err := os.ReadFile(filepath.Join(serversDir(), "ts7", "node_modules", "typescript", "package.json"))
			if err != nil {
				b.t.Fatal(err)
			}
			b.put("node_modules/typescript/package.json", string(manifest))
		}, "map", "lib.es5.d.ts"},
		{"pyright", "typeshed", func(b *builder) {
			b.put("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n")
			b.put("main.py", "import json\n\nprint(json.«use:dumps»({}))\n")
		}, "dumps", "json/__init__.pyi"},
		{"clangd", "system header", func(b *builder) {
			b.put("main.c", "#include <stdio.h>\n\nint main(void) { return «use:puts»(\"x\"); }\n")
			b.put("compile_flags.txt", "-std=c11\n")
		}, "puts", "/stdio.h"},
		{"rust-analyzer", "standard library", func(b *builder) {
			b.put("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
			b.put("src/main.rs", "fn main() {\n    let v: Vec<i64> = Vec::«use:with_capacity»(3);\n    drop(v);\n}\n")
		}, "with_capacity", "/alloc/src/vec/mod.rs"},
	}
}

func tsAbroad(b *builder) {
	b.put("package.json", `{"name":"shop","version":"1.0.0","private":true}`+"\n")
	b.put("tsconfig.json", `{"compilerOptions":{"strict":true,"target":"es2022","noEmit":true,"types":[]},"include":["src"]}`+"\n")
	b.put("src/main.ts", "export const doubled = [1].«use:map»((n) => n * 2);\n")
}

// ownModule is the version of a module that this repository itself needs, which
// therefore lies in the module cache.
func ownModule(b *builder, module string) string {
	raw, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		b.t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\s*(` + regexp.QuoteMeta(module) + ` v\S+)`).FindSubmatch(raw)
	if m == nil {
		b.t.Fatalf("go.mod does not need %s", module)
	}
	return string(m[1])
}

func ownSums(b *builder, module string) string {
	raw, err := os.ReadFile(filepath.Join("..", "go.sum"))
	if err != nil {
		b.t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, module+" ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

var outsidePlace = regexp.MustCompile(`(?m)^1\. (/.+):(\d+):(\d+) \[([^\]]+)\]$`)

// TestFollow: a definition in a library is printed with its absolute path, and can
// be asked about there: in the session that led to it, and in a fresh one.
func TestFollow(t *testing.T) {
	for _, c := range abroads() {
		t.Run(c.Server+"/"+c.Name, func(t *testing.T) {
			l := langNamed(t, c.Server)
			path := serverPath(l.ExtraPath...)
			require(t, path, l.Program)
			root := realTemp(t)
			b := newBuilder(t, root)
			c.Make(b)
			use := b.one("use")
			env := environ(t, path)
			h := startHost(t, root, env, l.Args...)
			a := h.ask(map[string]any{"operation": "goToDefinition", "filePath": use.Path, "line": use.Line, "character": use.Col})
			m := outsidePlace.FindStringSubmatch(a.Text)
			if a.Error || m == nil || !strings.Contains(m[1], c.In) || m[4] != l.Label {
				t.Fatalf("definition: %s", clip(a.Text))
			}
			line, _ := strconv.Atoi(m[2])
			col, _ := strconv.Atoi(m[3])
			there := func(op string) map[string]any {
				return map[string]any{"operation": op, "filePath": m[1], "line": line, "character": col}
			}
			for name, h := range map[string]*host{"led there": h, "fresh": startHost(t, root, env, l.Args...)} {
				if a := h.ask(there("hover")); has(a, "Hover for "+m[1]+":", c.Hover) != nil {
					t.Errorf("%s: hover: %v\n%s", name, has(a, c.Hover), clip(a.Text))
				}
				if a := h.ask(there("goToDefinition")); has(a, "Definitions for "+m[1]+":", m[1]+":"+m[2]+":"+m[3]+" ["+l.Label+"]") != nil {
					t.Errorf("%s: definition: %s", name, clip(a.Text))
				}
				if a := h.ask(map[string]any{"operation": "documentSymbol", "filePath": m[1], "limit": 3}); has(a, "Document symbols for "+m[1]+":", "["+l.Label+"]") != nil {
					t.Errorf("%s: outline: %s", name, clip(a.Text))
				}
			}
		})
	}
}

// TestRefused: files elsewhere are not read, however they are spelled.
func TestRefused(t *testing.T) {
	path := serverPath()
	require(t, path, "gopls")
	parent := realTemp(t)
	root := filepath.Join(parent, "mine")
	p := goProject(t, root, 0)
	b := newBuilder(t, filepath.Join(parent, "other"))
	b.put("go.mod", "module example.com/other\n\ngo 1.26\n")
	b.put("main.go", "package main\n\nconst secretWord = 1\n\nfunc main() { _ = secretWord }\n")
	h := startHost(t, root, environ(t, path))
	definition := questions(langNamed(t, "gopls"), p)["definition"]
	for _, file := range []string{
		"/etc/hosts", "/etc/passwd", filepath.Join(parent, "other", "main.go"), "../other/main.go",
		fileURI(filepath.Join(parent, "other", "main.go")),
	} {
		for _, op := range []string{"hover", "goToDefinition", "documentSymbol", "diagnostics"} {
			a := h.ask(map[string]any{"operation": op, "filePath": file, "line": 3, "character": 7})
			if !a.Error || !strings.Contains(a.Text, "outside") || strings.Contains(a.Text, "secretWord") {
				t.Errorf("%s of %s: %s", op, file, clip(a.Text))
			}
			if n := strings.Count(strings.TrimSpace(a.Text), "\n"); n > 1 {
				t.Errorf("%s of %s: %d lines: %s", op, file, n+1, clip(a.Text))
			}
		}
	}
	if a := h.ask(definition.args); definition.check(a) != nil {
		t.Errorf("the next question: %s", clip(a.Text))
	}
}
