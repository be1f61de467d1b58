//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// mark is a place in a fixture, known from a «…» pair in its source.
type mark struct {
	Path      string // relative to the root, with slashes
	Line, Col int    // 1-based, in code points
	utf16     int    // 0-based, in UTF-16 units
}

func (m mark) String() string { return fmt.Sprintf("%s:%d:%d", m.Path, m.Line, m.Col) }

// project is a generated project and what is true of it.
type project struct {
	Root string
	// Decl is the name in the declaration, Use the use that is asked about.
	Decl, Use mark
	// Refs are all uses, the declaration not among them.
	Refs []mark
	// Query finds Decl by name.
	Query string
	// HoverHas must stand in the hover of Use.
	HoverHas string
	// Broken is a file with exactly one error, on Broken.Line, whose message has BrokenHas.
	Broken    mark
	BrokenHas string
	// Language is the LSP language id.
	Language string

	b *builder
	// refFile gives the name and source of a file that uses Decl (with marks), and
	// plainFile of one that does not; the number is that of the file.
	refFile, plainFile func(i int) (rel, src string)
	// declare makes a new file known where the language wants that (Rust's mod).
	declare func(i int)
}

// rewrite puts a file anew and corrects Refs.
func (p *project) rewrite(rel, src string) {
	p.forget(rel)
	p.b.put(rel, src)
	p.collect()
}

// remove deletes a file and corrects Refs.
func (p *project) remove(rel string) {
	p.forget(rel)
	if err := os.Remove(filepath.Join(p.Root, filepath.FromSlash(rel))); err != nil {
		p.b.t.Fatal(err)
	}
	p.collect()
}

func (p *project) forget(rel string) {
	for name, ms := range p.b.marks {
		kept := ms[:0:0]
		for _, m := range ms {
			if m.Path != rel {
				kept = append(kept, m)
			}
		}
		p.b.marks[name] = kept
	}
}

func (p *project) collect() {
	p.Decl, p.Use, p.Broken = p.b.one("decl"), p.b.one("use"), p.b.one("broken")
	p.Refs = nil
	for _, name := range p.b.refNames {
		p.Refs = append(p.Refs, p.b.marks[name]...)
	}
	sortMarks(p.Refs)
}

// builder writes files and collects marks by name: «name:text».
type builder struct {
	t     testing.TB
	root  string
	marks map[string][]mark
	// refNames are the marks that count as references for this server.
	refNames []string
}

func newBuilder(t testing.TB, root string) *builder {
	return &builder{t: t, root: root, marks: map[string][]mark{}, refNames: []string{"ref", "use", "import"}}
}

var markPattern = regexp.MustCompile(`«([a-z]+):([^»]*)»`)

// put writes one file; marks are taken out of the text.
func (b *builder) put(rel, src string) {
	b.t.Helper()
	lines := strings.Split(src, "\n")
	for i, line := range lines {
		for {
			loc := markPattern.FindStringSubmatchIndex(line)
			if loc == nil {
				break
			}
			before, name, text := line[:loc[0]], line[loc[2]:loc[3]], line[loc[4]:loc[5]]
			plain := strings.TrimPrefix(before, "\ufeff")
			b.marks[name] = append(b.marks[name], mark{
				Path: rel, Line: i + 1, Col: utf8.RuneCountInString(plain) + 1,
				utf16: len(utf16.Encode([]rune(plain))),
			})
			line = before + text + line[loc[1]:]
		}
		lines[i] = line
	}
	p := filepath.Join(b.root, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *builder) one(name string) mark {
	b.t.Helper()
	if len(b.marks[name]) != 1 {
		b.t.Fatalf("fixture has %d marks %q, want 1", len(b.marks[name]), name)
	}
	return b.marks[name][0]
}

// project collects what the marks say and writes the n numbered files.
func (b *builder) project(p project, n int) *project {
	p.Root, p.b = b.root, b
	for i := range n {
		if i%50 == 7 {
			b.put(p.refFile(i))
		} else {
			b.put(p.plainFile(i))
		}
	}
	p.collect()
	return &p
}

func sortMarks(ms []mark) {
	sort.Slice(ms, func(i, j int) bool {
		a, b := ms[i], ms[j]
		if a.Path != b.Path {
			return a.Path < b.Path
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Col < b.Col
	})
}

const odd = "é 世界 😀"

// goProject has n packages-and-files in all.
func goProject(t testing.TB, root string, n int) *project {
	b := newBuilder(t, root)
	b.put("go.mod", "module example.com/shop\n\ngo 1.26\n")
	b.put("store/store.go", "// Package store adds up orders.\npackage store\n\n// Item is one line of an order.\ntype Item struct{ Price, Count int }\n\n// ComputeTotal adds up items.\nfunc «decl:ComputeTotal»(items []Item) int {\n\ttotal := 0\n\tfor _, it := range items {\n\t\ttotal += it.Price * it.Count\n\t}\n\treturn total\n}\n")
	b.put("main.go", "package main\n\nimport \"example.com/shop/store\"\n\nfunc main() {\n\t/* "+odd+" */ println(store.«use:ComputeTotal»(nil))\n}\n")
	b.put("broken/broken.go", "package broken\n\n// Broken does not compile.\nfunc Broken() int {\n\treturn /* "+odd+" */ «broken:undefinedName»\n}\n")
	return b.project(project{
		Language: "go", Query: "ComputeTotal", HoverHas: "ComputeTotal adds up items.", BrokenHas: "undefinedName",
		refFile: func(i int) (string, string) {
			return fmt.Sprintf("p%03d/f%d.go", i/10, i), fmt.Sprintf("package p%03d\n\nimport \"example.com/shop/store\"\n\n// F%d adds up nothing.\nfunc F%d() int { /* %s */ return store.«ref:ComputeTotal»(nil) }\n", i/10, i, i, odd)
		},
		plainFile: func(i int) (string, string) {
			return fmt.Sprintf("p%03d/f%d.go", i/10, i), fmt.Sprintf("package p%03d\n\n// F%d is one of many.\nfunc F%d() int { return %d }\n", i/10, i, i, i)
		},
	}, n)
}

func tsProject(t testing.TB, root string, n int) *project {
	b := newBuilder(t, root)
	b.put("package.json", `{"name":"shop","version":"1.0.0","private":true}`+"\n")
	b.put("tsconfig.json", `{"compilerOptions":{"strict":true,"target":"es2022","module":"nodenext","moduleResolution":"nodenext","noEmit":true,"types":[]},"include":["src"]}`+"\n")
	b.put("src/store.ts", "export interface Item { price: number; count: number }\n\n/** Adds up items. */\nexport function «decl:computeTotal»(items: Item[]): number {\n\treturn items.reduce((sum, it) => sum + it.price * it.count, 0);\n}\n")
	b.put("src/main.ts", "import { «import:computeTotal» } from \"./store.js\";\n\n/* "+odd+" */ console.log(«use:computeTotal»([]));\ndeclare const console: { log(x: unknown): void };\n")
	b.put("src/broken.ts", "/* "+odd+" */ export const broken: number = «broken:undefinedName»;\n")
	return b.project(project{
		Language: "typescript", Query: "computeTotal", HoverHas: "Adds up items.", BrokenHas: "undefinedName",
		refFile: func(i int) (string, string) {
			return fmt.Sprintf("src/m%03d/f%d.ts", i/10, i), fmt.Sprintf("import { «import:computeTotal» } from \"../store.js\";\nexport function f%d(): number {\n\t/* %s */ return «ref:computeTotal»([]);\n}\n", i, odd)
		},
		plainFile: func(i int) (string, string) {
			return fmt.Sprintf("src/m%03d/f%d.ts", i/10, i), fmt.Sprintf("export function f%d(): number {\n\treturn %d;\n}\n", i, i)
		},
	}, n)
}

func pyProject(t testing.TB, root string, n int) *project {
	b := newBuilder(t, root)
	b.put("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n")
	b.put("shop/__init__.py", "")
	b.put("shop/store.py", "class Item:\n    \"\"\"One line of an order.\"\"\"\n\n    price: int = 0\n    count: int = 0\n\n\ndef «decl:compute_total»(items: list[Item]) -> int:\n    \"\"\"Adds up items.\"\"\"\n    return sum(it.price * it.count for it in items)\n")
	b.put("main.py", "from shop.store import «import:compute_total»\n\nprint(\""+odd+"\", «use:compute_total»([]))\n")
	b.put("shop/broken.py", "x = \""+odd+"\"; y = «broken:undefined_name»\n")
	for d := 0; d*10 < n; d++ {
		b.put(fmt.Sprintf("shop/p%03d/__init__.py", d), "")
	}
	return b.project(project{
		Language: "python", Query: "compute_total", HoverHas: "Adds up items.", BrokenHas: "undefined_name",
		refFile: func(i int) (string, string) {
			return fmt.Sprintf("shop/p%03d/f%d.py", i/10, i), fmt.Sprintf("from shop.store import «import:compute_total»\n\n\ndef f%d() -> tuple[str, int]:\n    return \"%s\", «ref:compute_total»([])\n", i, odd)
		},
		plainFile: func(i int) (string, string) {
			return fmt.Sprintf("shop/p%03d/f%d.py", i/10, i), fmt.Sprintf("def f%d() -> int:\n    return %d\n", i, i)
		},
	}, n)
}

func cppProject(t testing.TB, root string, n int) *project {
	b := newBuilder(t, root)
	b.put("include/store.h", "#pragma once\n\nstruct Item { int price; int count; };\n\n/// Adds up items.\nint computeTotal(const Item *items, int n);\n")
	b.put("src/store.cpp", "#include \"store.h\"\n\nint «decl:computeTotal»(const Item *items, int n) {\n\tint total = 0;\n\tfor (int i = 0; i < n; i++) total += items[i].price * items[i].count;\n\treturn total;\n}\n")
	b.put("src/main.cpp", "#include \"store.h\"\n\nint main() {\n\t/* "+odd+" */ return «use:computeTotal»(nullptr, 0);\n}\n")
	b.put("src/broken.cpp", "int broken() { /* "+odd+" */ return «broken:undefinedName»; }\n")
	files := []string{"src/store.cpp", "src/main.cpp", "src/broken.cpp"}
	for i := range n {
		files = append(files, fmt.Sprintf("src/m%03d/f%d.cpp", i/10, i))
	}
	type entry struct {
		Directory string   `json:"directory"`
		File      string   `json:"file"`
		Arguments []string `json:"arguments"`
	}
	var db []entry
	for _, f := range files {
		db = append(db, entry{root, f, []string{"c++", "-std=c++17", "-Iinclude", "-c", f}})
	}
	raw, _ := json.MarshalIndent(db, "", " ")
	b.put("compile_commands.json", string(raw))
	return b.project(project{
		Language: "cpp", Query: "computeTotal", HoverHas: "Adds up items.", BrokenHas: "undefinedName",
		refFile: func(i int) (string, string) {
			return fmt.Sprintf("src/m%03d/f%d.cpp", i/10, i), fmt.Sprintf("#include \"store.h\"\n\nint f%d() {\n\t/* %s */ return «ref:computeTotal»(nullptr, 0);\n}\n", i, odd)
		},
		plainFile: func(i int) (string, string) {
			return fmt.Sprintf("src/m%03d/f%d.cpp", i/10, i), fmt.Sprintf("int f%d() { return %d; }\n", i, i)
		},
	}, n)
}

func rustProject(t testing.TB, root string, n int) *project {
	b := newBuilder(t, root)
	b.put("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
	b.put("src/store.rs", "pub struct Item {\n    pub price: i64,\n    pub count: i64,\n}\n\n/// Adds up items.\npub fn «decl:compute_total»(items: &[Item]) -> i64 {\n    let mut total = 0;\n    for it in items {\n        total += it.price * it.count;\n    }\n    total\n}\n")
	b.put("src/main.rs", "fn main() {\n    /* "+odd+" */ let total = shop::store::«use:compute_total»(&[]);\n    std::process::exit(total as i32);\n}\n")
	b.put("src/broken.rs", "pub fn broken() -> i64 {\n    /* "+odd+" */ «broken:undefined_name»\n}\n")
	lib := "pub mod store;\npub mod broken;\n"
	for d := 0; d*10 < n; d++ {
		lib += fmt.Sprintf("pub mod m%03d;\n", d)
		mods := ""
		for i := d * 10; i < d*10+10 && i < n; i++ {
			mods += fmt.Sprintf("pub mod f%d;\n", i)
		}
		b.put(fmt.Sprintf("src/m%03d/mod.rs", d), mods)
	}
	b.put("src/lib.rs", lib)
	return b.project(project{
		Language: "rust", Query: "compute_total", HoverHas: "Adds up items.", BrokenHas: "in this scope",
		refFile: func(i int) (string, string) {
			return fmt.Sprintf("src/m%03d/f%d.rs", i/10, i), fmt.Sprintf("pub fn f%d() -> i64 {\n    /* %s */ crate::store::«ref:compute_total»(&[])\n}\n", i, odd)
		},
		plainFile: func(i int) (string, string) {
			return fmt.Sprintf("src/m%03d/f%d.rs", i/10, i), fmt.Sprintf("pub fn f%d() -> i64 {\n    %d\n}\n", i, i)
		},
		declare: func(i int) { appendTo(b, fmt.Sprintf("src/m%03d/mod.rs", i/10), fmt.Sprintf("pub mod f%d;\n", i)) },
	}, n)
}

// appendTo adds a line to a file of the fixture.
func appendTo(b *builder, rel, line string) {
	p := filepath.Join(b.root, filepath.FromSlash(rel))
	old, err := os.ReadFile(p)
	if err != nil {
		b.t.Fatal(err)
	}
	b.put(rel, string(old)+line)
}
