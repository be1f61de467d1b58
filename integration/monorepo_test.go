//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// monorepo is a tree of two packages, one of which uses the other.
type monorepo struct {
	// Server is the name among langs().
	Server string
	Name   string
	// Make writes it. The marks are relative to the top.
	Make func(t testing.TB, b *builder) project
	// Sub is the folder of the package that uses the other, Lib of the one used.
	Sub, Lib string
}

func monorepos() []monorepo {
	return []monorepo{
		{"gopls", "go.work", goWork, "app", "lib"},
		{"gopls", "replace", goReplace, "app", "lib"},
		{"typescript", "references", tsReferences, "packages/app", "packages/lib"},
		{"typescript7", "references", ts7References, "packages/app", "packages/lib"},
		{"pyright", "environments", pyEnvironments, "services/app", "libs/store"},
		{"pyright", "pyprojects", pyProjects, "services/app", "libs/store"},
		{"clangd", "databases", cppDatabases, "app", "lib"},
		{"rust-analyzer", "workspace", cargoWorkspace, "crates/app", "crates/store"},
	}
}

// TestMonorepo: opened at the top, in the package that uses the other and in the
// one that is used, each of the questions is right as the first call.
func TestMonorepo(t *testing.T) {
	for _, m := range monorepos() {
		t.Run(m.Server+"/"+m.Name, func(t *testing.T) {
			l := langNamed(t, m.Server)
			path := serverPath(l.ExtraPath...)
			require(t, path, l.Program)
			root := realTemp(t)
			b := newBuilder(t, root)
			p := m.Make(t, b)
			p.Root, p.b = root, b
			p.collect()
			own := b.one("own")
			env := environ(t, path)
			t.Run("top", func(t *testing.T) {
				qs := questions(l, &p)
				qs["own symbol"] = symbolQuestion("renderInvoice", "render_invoice", l, own)
				decl := p
				decl.Use = p.Decl
				qs["references from the declaration"] = questions(l, &decl)["references"]
				h := askAtOnce(t, root, env, l, qs)
				// Some servers search only the project that was asked about last.
				for _, m := range append(b.marks["other"], p.Decl, p.Use) {
					if a := h.ask(map[string]any{"operation": "hover", "filePath": m.Path, "line": m.Line, "character": m.Col}); has(a, "Hover for") != nil {
						t.Errorf("hover at %s: %s", m, clip(a.Text))
					}
					for _, name := range []string{"own symbol", "workspaceSymbol"} {
						if a := h.ask(qs[name].args); qs[name].check(a) != nil {
							t.Errorf("%s after a hover at %s: %v\n%s", name, m, qs[name].check(a), clip(a.Text))
						}
					}
				}
			})
			if l.Cold != nil {
				l.Cold(root)
			}
			t.Run("sub", func(t *testing.T) {
				q := rebased(&p, m.Sub)
				qs := questions(l, q)
				delete(qs, "workspaceSymbol") // the name's package is not open
				qs["own symbol"] = symbolQuestion("renderInvoice", "render_invoice", l, rebase(own, root, m.Sub))
				refs := qs["references"]
				refs.check = func(a answer) error { return inside(a, q, l.Label) }
				qs["references"] = refs
				askAtOnce(t, filepath.Join(root, m.Sub), env, l, qs)
			})
			if l.Cold != nil {
				l.Cold(root)
			}
			t.Run("lib", func(t *testing.T) {
				q := rebased(&p, m.Lib)
				q.Use = q.Decl
				qs := questions(l, q)
				delete(qs, "diagnostics") // the broken file is in the other
				refs := qs["references"]
				refs.check = func(a answer) error { return inside(a, q, l.Label) }
				qs["references"] = refs
				if !slices.ContainsFunc(q.Refs, func(m mark) bool { return !filepath.IsAbs(m.Path) }) {
					delete(qs, "references")
				}
				askAtOnce(t, filepath.Join(root, m.Lib), env, l, qs)
			})
		})
	}
}

func langNamed(t testing.TB, name string) lang {
	t.Helper()
	for _, l := range langs() {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("no language %s", name)
	return lang{}
}

func symbolQuestion(camel, snake string, l lang, at mark) question {
	name := camel
	if l.Name == "pyright" || l.Name == "rust-analyzer" {
		name = snake
	}
	return question{map[string]any{"operation": "workspaceSymbol", "query": name}, func(a answer) error {
		return has(a, at.String())
	}}
}

// askAtOnce opens dir and asks all questions at once, so that each is a first call.
func askAtOnce(t *testing.T, dir string, env []string, l lang, qs map[string]question) *host {
	t.Helper()
	h := startHost(t, dir, env, l.Args...)
	var wg sync.WaitGroup
	for name, q := range qs {
		wg.Go(func() {
			a := h.ask(q.args)
			if err := q.check(a); err != nil {
				t.Errorf("%s after %s: %v\n%s", name, a.Took.Round(time.Millisecond), err, clip(a.Text))
			}
		})
	}
	wg.Wait()
	return h
}

// rebase is a mark as a workspace opened in the folder sub shows it.
func rebase(m mark, root, sub string) mark {
	if rel, ok := strings.CutPrefix(m.Path, sub+"/"); ok {
		m.Path = rel
	} else {
		m.Path = filepath.Join(root, filepath.FromSlash(m.Path))
	}
	return m
}

func rebased(p *project, sub string) *project {
	q := *p
	q.Root = filepath.Join(p.Root, sub)
	q.Decl, q.Use, q.Broken = rebase(p.Decl, p.Root, sub), rebase(p.Use, p.Root, sub), rebase(p.Broken, p.Root, sub)
	q.Refs = nil
	for _, m := range p.Refs {
		q.Refs = append(q.Refs, rebase(m, p.Root, sub))
	}
	return &q
}

// inside checks that all references inside the workspace are there, and that those
// outside are true.
func inside(a answer, p *project, label string) error {
	var want []mark
	for _, m := range p.Refs {
		if !filepath.IsAbs(m.Path) || strings.Contains(a.Text, " "+m.String()+" ") {
			want = append(want, m)
		}
	}
	return samePlaces(a, "References for "+p.Use.String()+":", want, label)
}

func goPackages(b *builder) project {
	b.put("lib/store/store.go", "// Package store adds up.\npackage store\n\n// ComputeTotal adds up items.\nfunc «decl:ComputeTotal»(items []int) int {\n\ttotal := 0\n\tfor _, n := range items {\n\t\ttotal += n\n\t}\n\treturn total\n}\n")
	b.put("app/main.go", "package main\n\nimport \"example.com/lib/store\"\n\nfunc main() {\n\t/* "+odd+" */ println(store.«use:ComputeTotal»(nil), renderInvoice())\n}\n")
	b.put("app/invoice.go", "package main\n\nimport \"example.com/lib/store\"\n\nfunc «own:renderInvoice»() int { return store.«ref:ComputeTotal»([]int{1}) }\n")
	b.put("app/broken/broken.go", "package broken\n\n// Broken does not compile.\nfunc Broken() int {\n\treturn «broken:undefinedName»\n}\n")
	return project{Language: "go", Query: "ComputeTotal", HoverHas: "ComputeTotal adds up items.", BrokenHas: "undefinedName"}
}

// goWork has a use in the declaring module too, which only the workspace file joins
// with those of the other.
func goWork(_ testing.TB, b *builder) project {
	b.put("go.work", "go 1.26\n\nuse (\n\t./app\n\t./lib\n)\n")
	b.put("lib/go.mod", "module example.com/lib\n\ngo 1.26\n")
	b.put("lib/report/report.go", "// Package report reports.\npackage report\n\nimport \"example.com/lib/store\"\n\n// Report reports.\nfunc Report() int { return store.«ref:ComputeTotal»(nil) }\n")
	b.put("app/go.mod", "module example.com/app\n\ngo 1.26\n\nrequire example.com/lib v0.0.0\n")
	return goPackages(b)
}

func goReplace(_ testing.TB, b *builder) project {
	b.put("lib/go.mod", "module example.com/lib\n\ngo 1.26\n")
	b.put("app/go.mod", "module example.com/app\n\ngo 1.26\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n")
	return goPackages(b)
}

// tsReferences is an npm workspace: each package has its own tsconfig, the packages
// find each other through node_modules, and nothing was built.
func tsReferences(t testing.TB, b *builder) project {
	b.put("package.json", `{"name":"shop","private":true,"workspaces":["packages/*"]}`+"\n")
	b.put("package-lock.json", `{"name":"shop","lockfileVersion":3,"packages":{}}`+"\n")
	b.put("tsconfig.json", `{"files":[],"references":[{"path":"packages/lib"},{"path":"packages/app"},{"path":"packages/tools"}]}`+"\n")
	const options = `"compilerOptions":{"composite":true,"declaration":true,"strict":true,"target":"es2022","module":"nodenext","moduleResolution":"nodenext","rootDir":"src","outDir":"dist","types":[]},"include":["src"]`
	b.put("packages/lib/tsconfig.json", "{"+options+"}\n")
	b.put("packages/app/tsconfig.json", "{"+options+`,"references":[{"path":"../lib"}]}`+"\n")
	b.put("packages/lib/package.json", `{"name":"@shop/lib","version":"1.0.0","type":"module","main":"dist/store.js","types":"dist/store.d.ts"}`+"\n")
	b.put("packages/app/package.json", `{"name":"@shop/app","version":"1.0.0","type":"module","dependencies":{"@shop/lib":"1.0.0"}}`+"\n")
	b.put("packages/lib/src/store.ts", "/** Adds up items. */\nexport function «decl:computeTotal»(items: number[]): number {\n\treturn items.reduce((sum, n) => sum + n, 0);\n}\n")
	b.put("packages/lib/src/report.ts", "import { «import:computeTotal» } from \"./store.js\";\nexport const report = «ref:computeTotal»([1]);\n")
	b.put("packages/app/src/main.ts", "import { «import:computeTotal» } from \"@shop/lib\";\n\n/* "+odd+" */ export const total = «use:computeTotal»([]);\n")
	b.put("packages/app/src/invoice.ts", "import { «import:computeTotal» } from \"@shop/lib\";\nexport function «own:renderInvoice»(): number { return «ref:computeTotal»([2]); }\n")
	b.put("packages/tools/package.json", `{"name":"@shop/tools","version":"1.0.0","type":"module"}`+"\n")
	b.put("packages/tools/tsconfig.json", "{"+options+"}\n")
	b.put("packages/tools/src/tools.ts", "export function «other:sharpen»(): void {}\n")
	b.put("packages/app/src/broken.ts", "export const broken: number = «broken:undefinedName»;\n")
	link(t, filepath.Join(b.root, "node_modules", "@shop", "lib"), filepath.Join("..", "..", "packages", "lib"))
	link(t, filepath.Join(b.root, "node_modules", "@shop", "app"), filepath.Join("..", "..", "packages", "app"))
	return project{Language: "typescript", Query: "computeTotal", HoverHas: "Adds up items.", BrokenHas: "undefinedName"}
}

func ts7References(t testing.TB, b *builder) project {
	p := tsReferences(t, b)
	manifest, err := os.ReadFile(filepath.Join(serversDir(), "ts7", "node_modules", "typescript", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", "packages/app/", "packages/lib/"} { // where it looks from a package
		b.put(dir+"node_modules/typescript/package.json", string(manifest))
	}
	return p
}

func link(t testing.TB, path, target string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func pyPackages(b *builder) project {
	b.put("libs/store/src/store/__init__.py", "")
	b.put("libs/store/src/store/totals.py", "def «decl:compute_total»(items: list[int]) -> int:\n    \"\"\"Adds up items.\"\"\"\n    return sum(items)\n")
	b.put("services/app/src/app/__init__.py", "")
	b.put("services/app/src/app/main.py", "from store.totals import «import:compute_total»\nfrom app.invoice import render_invoice\n\nprint(\""+odd+"\", «use:compute_total»([]), render_invoice())\n")
	b.put("services/app/src/app/invoice.py", "from store.totals import «import:compute_total»\n\n\ndef «own:render_invoice»() -> int:\n    return «ref:compute_total»([1])\n")
	b.put("services/app/src/app/broken.py", "y = «broken:undefined_name»\n")
	return project{Language: "python", Query: "compute_total", HoverHas: "Adds up items.", BrokenHas: "undefined_name"}
}

// pyEnvironments has one configuration at the top that gives each project its
// search paths; a service opened alone has its own.
func pyEnvironments(_ testing.TB, b *builder) project {
	b.put("pyrightconfig.json", `{"executionEnvironments":[{"root":"services/app","extraPaths":["services/app/src","libs/store/src"]},{"root":"libs/store","extraPaths":["libs/store/src"]}]}`+"\n")
	b.put("libs/store/src/store/report.py", "from store.totals import «import:compute_total»\n\nreport = «ref:compute_total»([3])\n")
	b.put("libs/store/pyproject.toml", "[project]\nname = \"store\"\nversion = \"1\"\n")
	b.put("services/app/pyproject.toml", "[project]\nname = \"app\"\nversion = \"1\"\n\n[tool.pyright]\nextraPaths = [\"src\", \"../../libs/store/src\"]\n")
	return pyPackages(b)
}

// pyProjects has nothing at the top: two roots.
func pyProjects(_ testing.TB, b *builder) project {
	b.put("libs/store/pyproject.toml", "[project]\nname = \"store\"\nversion = \"1\"\n")
	b.put("services/app/pyproject.toml", "[project]\nname = \"app\"\nversion = \"1\"\n\n[tool.pyright]\nextraPaths = [\"../../libs/store/src\"]\n")
	return pyPackages(b)
}

// cppDatabases has one database beside the sources and one in a build folder.
func cppDatabases(_ testing.TB, b *builder) project {
	b.put("lib/include/store.h", "#pragma once\n\n/// Adds up items.\ninline int «decl:computeTotal»(const int *items, int n) {\n\tint total = 0;\n\tfor (int i = 0; i < n; i++) total += items[i];\n\treturn total;\n}\n")
	b.put("lib/src/report.cpp", "#include \"store.h\"\n\nint report() { return «ref:computeTotal»(nullptr, 0); }\n")
	b.put("app/src/main.cpp", "#include \"store.h\"\n\nint renderInvoice();\n\nint main() {\n\t/* "+odd+" */ return «use:computeTotal»(nullptr, 0) + renderInvoice();\n}\n")
	b.put("app/src/invoice.cpp", "#include \"store.h\"\n\nint «own:renderInvoice»() { return «ref:computeTotal»(nullptr, 1); }\n")
	b.put("app/src/broken.cpp", "int broken() { return «broken:undefinedName»; }\n")
	b.put("app/compile_commands.json", compileCommands(filepath.Join(b.root, "app"), "-I../lib/include", "src/main.cpp", "src/invoice.cpp", "src/broken.cpp"))
	b.put("lib/build/compile_commands.json", compileCommands(filepath.Join(b.root, "lib"), "-Iinclude", "src/report.cpp"))
	return project{Language: "cpp", Query: "computeTotal", HoverHas: "Adds up items.", BrokenHas: "undefinedName"}
}

func compileCommands(dir, include string, files ...string) string {
	var db []map[string]any
	for _, f := range files {
		db = append(db, map[string]any{"directory": dir, "file": f, "arguments": []string{"c++", "-std=c++17", include, "-c", f}})
	}
	raw, _ := json.MarshalIndent(db, "", " ")
	return string(raw)
}

func cargoWorkspace(_ testing.TB, b *builder) project {
	b.put("Cargo.toml", "[workspace]\nmembers = [\"crates/app\", \"crates/store\"]\nresolver = \"2\"\n")
	b.put("crates/store/Cargo.toml", "[package]\nname = \"store\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
	b.put("crates/app/Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nstore = { path = \"../store\" }\n")
	b.put("crates/store/src/lib.rs", "/// Adds up items.\npub fn «decl:compute_total»(items: &[i64]) -> i64 {\n    items.iter().sum()\n}\n\npub fn report() -> i64 {\n    «ref:compute_total»(&[1])\n}\n")
	b.put("crates/app/src/main.rs", "mod broken;\nmod invoice;\n\nfn main() {\n    /* "+odd+" */ let total = store::«use:compute_total»(&[]);\n    std::process::exit((total + invoice::render_invoice()) as i32);\n}\n")
	b.put("crates/app/src/invoice.rs", "pub fn «own:render_invoice»() -> i64 {\n    store::«ref:compute_total»(&[2])\n}\n")
	b.put("crates/app/src/broken.rs", "pub fn broken() -> i64 {\n    «broken:undefined_name»\n}\n")
	return project{Language: "rust", Query: "compute_total", HoverHas: "Adds up items.", BrokenHas: "in this scope"}
}

// TestInterpreter: packages of a virtual environment in the project are found, by
// looking without trust and by its interpreter with it; without trust it is not run.
func TestInterpreter(t *testing.T) {
	l := langNamed(t, "pyright")
	path := serverPath()
	require(t, path, l.Program)
	python := require(t, path, "python3")
	for _, trusted := range []bool{false, true} {
		t.Run(fmt.Sprintf("trusted=%v", trusted), func(t *testing.T) {
			root := realTemp(t)
			ran := filepath.Join(t.TempDir(), "ran")
			b := newBuilder(t, root)
			site := virtualEnv(b, "shop/.venv", python, ran)
			b.put("shop/pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n")
			b.put(site+"/ledgers/__init__.py", "def «decl:book_entry»(n: int) -> int:\n    \"\"\"Books one entry.\"\"\"\n    return n\n")
			b.put("shop/src/shop/__init__.py", "")
			b.put("shop/src/shop/main.py", "from ledgers import book_entry\n\nprint(«use:book_entry»(1), «broken:undefined_name»)\n")
			decl, use, broken := b.one("decl"), b.one("use"), b.one("broken")
			args := []string{}
			if trusted {
				args = append(args, "--trust")
			}
			for _, dir := range []string{"", "shop"} {
				h := startHost(t, filepath.Join(root, dir), environ(t, path), args...)
				at := func(m mark) mark { return m }
				if dir != "" {
					at = func(m mark) mark { return rebase(m, root, dir) }
				}
				q := map[string]any{"operation": "diagnostics", "filePath": at(use).Path}
				if a := h.ask(q); has(a, "(1 issue)", fmt.Sprintf("[ERROR] %d:%d", broken.Line, broken.Col)) != nil {
					t.Errorf("%q: the package does not resolve: %s", dir, clip(a.Text))
				}
				q = map[string]any{"operation": "goToDefinition", "filePath": at(use).Path, "line": use.Line, "character": use.Col}
				if a := h.ask(q); has(a, at(decl).String()+" [pyright]") != nil {
					t.Errorf("%q: definition: %s", dir, clip(a.Text))
				}
				q["operation"] = "hover"
				if a := h.ask(q); has(a, "Books one entry.") != nil {
					t.Errorf("%q: hover: %s", dir, clip(a.Text))
				}
			}
			_, err := os.Stat(ran)
			if !trusted && err == nil {
				t.Error("the interpreter of the workspace was run without trust")
			}
			if trusted && err != nil {
				t.Error("the interpreter of the trusted workspace was not asked")
			}
		})
	}
}

// virtualEnv makes an environment whose interpreter leaves a trace when it is run.
// It returns its package folder.
func virtualEnv(b *builder, rel, python, trace string) string {
	b.put(rel+"/pyvenv.cfg", "home = "+filepath.Dir(python)+"\ninclude-system-site-packages = false\n")
	site := rel + "/lib/python3.11/site-packages"
	script := "#!/bin/sh\n: >'" + trace + "'\nPYTHONPATH='" + filepath.Join(b.root, site) + "' exec '" + python + "' \"$@\"\n"
	b.put(rel+"/bin/python", script)
	for _, name := range []string{"python", "python3"} {
		p := filepath.Join(b.root, rel, "bin", name)
		if name != "python" {
			link(b.t, p, "python")
			continue
		}
		if err := os.Chmod(p, 0o755); err != nil {
			b.t.Fatal(err)
		}
	}
	return site
}
