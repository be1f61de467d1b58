// Package catalog is what dragoman knows about known language servers: how they
// are started and installed, which files and roots are theirs, how they tell that
// they know the project, what they would run of a workspace, and which of the
// project's tools (TypeScript, Python interpreter, Rust toolchain, compile
// database) they must be told about. Knowledge is data in servers.go; choices
// that look at the disk are one file per language.
//
// It never starts a process of the workspace and never decides whether a server
// may run.
package catalog

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/server"
)

// Runs says what of the workspace's own code a server would execute.
type Runs string

// The tiers (see trust).
const (
	// RunsNothing starts anywhere.
	RunsNothing Runs = "no"
	// RunsRestrictable starts in an untrusted workspace with restricted settings.
	RunsRestrictable Runs = "restrictable"
	// RunsCode waits for trust.
	RunsCode Runs = "yes"
)

// Program is one way to start a server: a name looked up on PATH, and arguments.
type Program struct {
	Name string
	Args []string
}

// Restriction is what an untrusted workspace changes.
type Restriction struct {
	// InitializationOptions and Settings are merged over the entry's (objects deeply).
	InitializationOptions, Settings json.RawMessage
	// Env is added last ("K=V").
	Env []string
	// Veto names files that, anywhere in the workspace, would lift the restriction
	// from inside; with one of them the server waits for trust.
	Veto []string
	// Say names what is limited, as part of a sentence.
	Say string
}

// Recipe is one way to install a server.
type Recipe struct {
	// Needs is the installer's program ("npm").
	Needs string
	// Line is the command to run, with pinned versions.
	Line string
}

// Entry is one known server.
type Entry struct {
	// Name is the configured name shown in brackets; ID is the server's own, also
	// accepted where a server is named.
	Name string
	IDs  []string
	// Title names the languages for people.
	Title     string
	Languages []string
	Programs  []Program
	// Extensions (lower case, with the dot) and Filenames map to language ids.
	Extensions map[string]string
	Filenames  map[string]string
	// Markers are groups of names that make a folder a root, first group first.
	Markers []Group
	// MarkerVeto names files that make a folder's tree another server's (deno.json).
	MarkerVeto []string
	Linter     bool

	Traits                server.Traits
	InitializationOptions json.RawMessage
	Settings              json.RawMessage

	RunsWorkspaceCode Runs
	Untrusted         Restriction

	// Toolchain names the programs and variables whose values tell two instances
	// of the same configuration apart.
	ToolBinaries, ToolVariables []string
	Install                     []Recipe

	// choose fills a Choice by looking at the project; nil means the first program found.
	choose func(ctx context.Context, p *Place, e *Entry) (*Choice, error)
	// variant tells instances of one root apart by the file asked about; nil: one.
	variant func(p *Place) string
}

// Group is one group of root markers.
type Group struct {
	Names []string
	// Containing narrows it to files that hold this text ("[workspace]"), "" to none.
	Containing string
	// Outermost takes the outermost folder that has one, not the nearest.
	Outermost bool
}

// All returns the known servers in the order in which they are asked. The entries
// are shared: callers must not change them.
func All() []*Entry { return entries }

// ByName finds an entry by its name or one of its ids; nil when unknown.
func ByName(name string) *Entry {
	for _, e := range entries {
		if e.Name == name {
			return e
		}
		for _, id := range e.IDs {
			if id == name {
				return e
			}
		}
	}
	return nil
}

// ByProgram finds the entry that starts with the program (a path or a name); nil
// when unknown.
func ByProgram(program string) *Entry {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe")
	for _, e := range entries {
		for _, p := range e.Programs {
			if p.Name == base && p.Name != "tsc" { // tsc alone says nothing
				return e
			}
		}
	}
	return nil
}

// Language returns the language id that the entry gives to a file; "" when it
// does not serve it.
func (e *Entry) Language(path string) string {
	base := filepath.Base(path)
	if id := e.Filenames[base]; id != "" {
		return id
	}
	return e.Extensions[strings.ToLower(filepath.Ext(base))]
}

// Variant tells instances of one root apart ("" for most servers): the Python
// interpreter nearest the file.
func (e *Entry) Variant(p *Place) string {
	if e.variant == nil {
		return ""
	}
	return e.variant(p)
}

// HasVariants reports whether Variant depends on the file.
func (e *Entry) HasVariants() bool { return e.variant != nil }

// InstallLine is the first recipe whose installer is at hand, else the first.
func (e *Entry) InstallLine(f *Finder) string {
	for _, r := range e.Install {
		if _, err := f.Look(r.Needs); err == nil {
			return r.Line
		}
	}
	if len(e.Install) > 0 {
		return e.Install[0].Line
	}
	return ""
}

// LanguageExtensions lists the extensions (with the dot) of every known server
// that has the language, for scans of the same language; nil when unknown.
func LanguageExtensions(languageID string) map[string]bool {
	var out map[string]bool
	for _, e := range entries {
		has := false
		for _, id := range e.Extensions {
			has = has || id == languageID
		}
		if !has {
			continue
		}
		if out == nil {
			out = map[string]bool{}
		}
		for ext := range e.Extensions {
			out[ext] = true
		}
	}
	return out
}

// extensionsOf is the usual extensions of languages that configuration files name
// without extensions.
var extensionsOf = map[string][]string{
	"typescript": {".ts", ".mts", ".cts"}, "typescriptreact": {".tsx"},
	"javascript": {".js", ".mjs", ".cjs"}, "javascriptreact": {".jsx"},
	"python": {".py", ".pyi", ".pyw"}, "go": {".go"}, "rust": {".rs"},
	"c": {".c", ".h"}, "cpp": {".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".h"},
	"objective-c": {".m"}, "objective-cpp": {".mm"}, "csharp": {".cs"}, "fsharp": {".fs", ".fsi", ".fsx"},
	"ruby": {".rb"}, "shellscript": {".sh", ".bash", ".zsh"}, "bash": {".sh", ".bash"}, "java": {".java"},
	"kotlin": {".kt", ".kts"}, "swift": {".swift"}, "php": {".php"}, "lua": {".lua"}, "zig": {".zig"},
	"yaml": {".yaml", ".yml"}, "json": {".json"}, "jsonc": {".jsonc"}, "toml": {".toml"}, "css": {".css"},
	"scss": {".scss"}, "less": {".less"}, "html": {".html", ".htm"}, "markdown": {".md"}, "vue": {".vue"},
	"svelte": {".svelte"}, "astro": {".astro"}, "dart": {".dart"}, "elixir": {".ex", ".exs"}, "scala": {".scala", ".sc"},
	"haskell": {".hs"}, "ocaml": {".ml", ".mli"}, "terraform": {".tf"}, "perl": {".pl", ".pm"}, "r": {".r"},
}

// filenamesOf does the same for whole names.
var filenamesOf = map[string]string{
	"Dockerfile": "dockerfile", "Containerfile": "dockerfile", "Makefile": "makefile", "CMakeLists.txt": "cmake",
	"Gemfile": "ruby", "Rakefile": "ruby", "go.mod": "go.mod", "go.sum": "go.sum", "go.work": "go.work",
}

// LanguageAmong picks the one of languages that a file usually has; "" when none.
func LanguageAmong(languages []string, path string) string {
	base := filepath.Base(path)
	ext := strings.ToLower(filepath.Ext(base))
	for _, id := range languages {
		if filenamesOf[base] == id {
			return id
		}
		for _, e := range extensionsOf[id] {
			if e == ext {
				return id
			}
		}
		if extensionsOf[id] == nil && ext == "."+id {
			return id
		}
	}
	return ""
}
