package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// load writes .lsp.json into a new workspace and reads it as a trusted one.
func load(t *testing.T, text string, env ...string) (*Config, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ".lsp.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Options{Workspace: dir, WorkspaceFile: path, Trusted: true, Env: env}), dir
}

func find(t *testing.T, c *Config, name string) *Server {
	t.Helper()
	for i := range c.Servers {
		if c.Servers[i].Name == name {
			return &c.Servers[i]
		}
	}
	t.Fatalf("no server %q; problems: %v", name, c.Problems)
	return nil
}

func has(c *Config, name string) bool {
	for i := range c.Servers {
		if c.Servers[i].Name == name {
			return true
		}
	}
	return false
}

func problems(c *Config) string {
	var out []string
	for _, p := range c.Problems {
		out = append(out, p.String())
	}
	return strings.Join(out, "\n")
}

func TestForms(t *testing.T) {
	tests := []struct {
		name, text, server string
		languages          []string
		extensions         map[string]string
	}{
		{"Claude's form", `{"mine": {"command": "mine-ls", "extensionToLanguage": {".foo": "foo"}}}`,
			"mine", nil, map[string]string{".foo": "foo"}},
		{"Qwen's form: the key is the language and the name", `{"lua": {"command": "lua-ls"}}`, "lua", []string{"lua"}, nil},
		{"Qwen's form with a name", `{"lua": {"command": "lua-ls", "name": "luals"}}`, "luals", []string{"lua"}, nil},
		{"lspServers", `{"lspServers": {"mine": {"command": "x", "languages": ["foo"]}}}`, "mine", []string{"foo"}, nil},
		{"languageServers", `{"languageServers": {"mine": {"command": "x", "languages": ["foo"]}}}`, "mine", []string{"foo"}, nil},
		{"comments, trailing commas, BOM", "\ufeff{\n// why\n\"lua\": {\"command\": \"lua-ls\", /* x */ \"args\": [\"-v\",],},\n}",
			"lua", []string{"lua"}, nil},
		{"two equal language keys are one server", `{"foo": {"command": "x-ls"}, "bar": {"command": "x-ls"}}`, "foo", []string{"foo", "bar"}, nil},
		{"extension without a dot", `{"mine": {"command": "x", "extensionToLanguage": {"foo": "foo"}}}`, "mine", nil, map[string]string{".foo": "foo"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := load(t, tt.text)
			s := find(t, c, tt.server)
			if d := cmp.Diff(tt.languages, s.Languages); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.extensions, s.ExtensionToLanguage); d != "" {
				t.Error(d)
			}
			if !s.TrustRequired || s.Layer != Workspace || !s.Explicit {
				t.Errorf("trustRequired %v, layer %v, explicit %v", s.TrustRequired, s.Layer, s.Explicit)
			}
			if p := problems(c); p != "" {
				t.Errorf("problems: %s", p)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	tests := []struct{ name, text, want string }{
		{"unknown key, nearest named, with its place", "{\n \"lua\": {\"comand\": \"x\"}}", `.lsp.json:2:10: unknown key "comand" in "lua" (did you mean "command"?)`},
		{"not JSON", `{"lua": `, ".lsp.json: is not valid JSON"},
		{"not an object", `[1]`, ".lsp.json:1:1: must be an object"},
		{"entry is no object", `{"lua": 3}`, "lua must be an object"},
		{"wrong type", `{"lua": {"command": ["x"]}}`, `command of "lua" must be a non-empty string, so this server is left out`},
		{"nested too deeply", deep, "is nested deeper than 64 levels"},
		{"NUL", "{\"lua\": {}}\x00", "contains a NUL byte"},
		{"too large", `{"lua": {"command": "` + strings.Repeat("x", 1<<20) + `"}}`, "is larger than 1 MB"},
		{"bad port", `{"x": {"socket": {"port": 70000}}}`, "has a port that is not between 1 and 65535"},
		{"bad time", `{"x": {"command": "y", "startupTimeout": -1}}`, "must be milliseconds or a duration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := load(t, tt.text)
			if len(c.Problems) != 1 || !strings.Contains(problems(c), tt.want) {
				t.Errorf("problems:\n%s\nwant one: %s", problems(c), tt.want)
			}
			if !has(c, "gopls") {
				t.Error("a fault of the file took the built-in servers away")
			}
		})
	}
}

func TestOneBadEntryKeepsTheOthers(t *testing.T) {
	c, _ := load(t, `{"bad": {"command": 1}, "lua": {"command": "lua-ls"}}`)
	if has(c, "bad") || !has(c, "lua") {
		t.Errorf("servers: bad %v, lua %v", has(c, "bad"), has(c, "lua"))
	}
}

func TestMergeOverCatalogue(t *testing.T) {
	t.Run("without command it patches", func(t *testing.T) {
		c, _ := load(t, `{"gopls": {"settings": {"gopls": {"staticcheck": true}}, "maxRestarts": 1}}`)
		s := find(t, c, "gopls")
		if s.Entry == nil || s.Command != "" || s.Explicit || string(s.Settings) != `{"gopls":{"staticcheck":true}}` || *s.MaxRestarts != 1 {
			t.Errorf("%+v", s)
		}
		if !s.TrustRequired {
			t.Error("a key of the workspace must make the server wait for trust")
		}
	})
	t.Run("with command it replaces, and what is known of the program stays", func(t *testing.T) {
		c, _ := load(t, `{"go": {"command": "gopls", "args": ["-v"]}}`)
		s := find(t, c, "go")
		if s.Entry == nil || s.Entry.Name != "gopls" || !cmp.Equal(s.Args, []string{"-v"}) {
			t.Errorf("%+v", s)
		}
		if has(c, "gopls") {
			t.Error("the built-in gopls would answer beside the configured one")
		}
		if c.Servers[0].Name != "go" {
			t.Error("configured servers come first")
		}
	})
	t.Run("enabled false", func(t *testing.T) {
		c, _ := load(t, `{"gopls": {"enabled": false}}`)
		if !find(t, c, "gopls").Disabled {
			t.Error("still enabled")
		}
	})
	t.Run("neither command nor known", func(t *testing.T) {
		c, _ := load(t, `{"nobody": {"languages": ["x"]}}`)
		if find(t, c, "nobody").Invalid == "" {
			t.Error("accepted")
		}
	})
}

func TestPlaceholders(t *testing.T) {
	c, dir := load(t, `{"a": {"command": "x", "args": ["${workspacePath}${/}y", "${env:TOKEN}"], "settings": {"p": "${CLAUDE_PROJECT_DIR}"}},
		"b": {"command": "x", "args": ["${env:MISSING}"], "languages": ["b"]}}`, "TOKEN=t")
	if d := cmp.Diff([]string{dir + string(filepath.Separator) + "y", "t"}, find(t, c, "a").Args); d != "" {
		t.Error(d)
	}
	if !strings.Contains(string(find(t, c, "a").Settings), dir) {
		t.Errorf("settings %s", find(t, c, "a").Settings)
	}
	if got := find(t, c, "b").Invalid; !strings.Contains(got, "${env:MISSING}") {
		t.Errorf("invalid %q", got)
	}
}

func TestDeniedEnvironment(t *testing.T) {
	t.Run("C110 environment names that load code, in any case", func(t *testing.T) {
		c, _ := load(t, `{"a": {"command": "x", "env": {"node_options": "1", "Ld_PreLoad": "1", "LD_LIBRARY_PATH": "1",
			"dyld_insert_libraries": "1", "bash_env": "1", "PythonHome": "1", "GIT_SSH_COMMAND": "1",
			"Path": "/evil", "OK": "1", "NUMBER": 3}}}`)
		s := find(t, c, "a")
		if d := cmp.Diff(map[string]string{"Path": "/evil", "OK": "1", "NUMBER": "3"}, s.Env); d != "" {
			t.Error(d)
		}
		if len(c.Problems) != 7 {
			t.Errorf("each dropped name is reported; got\n%s", problems(c))
		}
	})
}

func TestContainment(t *testing.T) {
	t.Run("C111 relative command through a symlink, and UNC paths", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("symlinks need rights on Windows")
		}
		dir, _ := filepath.EvalSymlinks(t.TempDir())
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "ls"), []byte("x"), 0o700))
		must(t, os.Symlink(outside, filepath.Join(dir, "link")))
		must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "bin", "ls"), []byte("x"), 0o700))
		file := filepath.Join(dir, ".lsp.json")
		for command, ok := range map[string]bool{
			"bin/ls": true, "./bin/ls": true, "link/ls": false, "../" + filepath.Base(outside) + "/ls": false,
			outside + "/ls": false, `\\\\host\\share\\ls`: false, "//host/share/ls": false, "bin/missing": false, "ls": true,
		} {
			must(t, os.WriteFile(file, []byte(`{"a": {"command": "`+command+`", "workspaceFolder": "link"}}`), 0o600))
			c := Load(Options{Workspace: dir, WorkspaceFile: file, Trusted: true})
			s := find(t, c, "a")
			if (s.Invalid == "") != ok {
				t.Errorf("%s: invalid %q", command, s.Invalid)
			}
			if ok && s.WorkspaceFolder != dir {
				t.Errorf("workspaceFolder through a symlink: %s", s.WorkspaceFolder)
			}
		}
	})
	t.Run("the user's file may name absolute programs", func(t *testing.T) {
		dir := t.TempDir()
		user := filepath.Join(dir, "config.json")
		must(t, os.WriteFile(user, []byte(`{"servers": {"a": {"command": "/opt/a", "languages": ["a"], "trustRequired": false}}}`), 0o600))
		s := find(t, Load(Options{Workspace: dir, UserFile: user}), "a")
		if s.Invalid != "" || s.TrustRequired || s.Layer != User {
			t.Errorf("%+v", s)
		}
	})
}

func TestUntrustedLayerIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".lsp.json")
	must(t, os.WriteFile(file, []byte(`{"evil": {"command": "./evil", "trustRequired": false}, "gopls": {"command": "./evil"}}`), 0o600))
	c := Load(Options{Workspace: dir, WorkspaceFile: file})
	if has(c, "evil") || find(t, c, "gopls").Command != "" {
		t.Error("an entry of an untrusted workspace was applied")
	}
	var names []string
	for _, s := range c.Untrusted {
		names = append(names, s.Name)
	}
	if d := cmp.Diff([]string{"evil", "gopls"}, names); d != "" {
		t.Error(d)
	}
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	user := filepath.Join(dir, "config.json")
	must(t, os.WriteFile(user, []byte(`{"settings": {"lsp": {"enabled": false}, "columns": "utf16", "callLimit": "20s",
		"maxFileSize": 1000, "trustedFolders": ["/a/*"], "colums": "x", "uncPaths": "maybe", "prewarm": "off"}}`), 0o600))
	c := Load(Options{Workspace: dir, UserFile: user})
	want := Settings{Columns: "utf16", OutOfWorkspaceReads: "dependencies", UNCPaths: "refuse",
		TrustedFolders: []string{"/a/*"}, CallLimit: 20 * time.Second, MaxFileSize: 1000}
	if d := cmp.Diff(want, c.Settings); d != "" {
		t.Error(d)
	}
	if p := problems(c); !strings.Contains(p, `unknown setting "colums" (did you mean "columns"?)`) ||
		!strings.Contains(p, "setting uncPaths must be one of refuse, allow") || len(c.Problems) != 2 {
		t.Errorf("problems:\n%s", p)
	}
}

func TestHash(t *testing.T) {
	base := func() Server {
		return Server{Name: "a", Transport: "stdio", Command: "x", Args: []string{"1", "2"}, Settings: []byte(`{"a":1,"b":{"c":2,"d":3}}`)}
	}
	one := base()
	h := Hash(&one)
	same := map[string]func(s *Server){
		"order of keys":      func(s *Server) { s.Settings = []byte(`{ "b": {"d":3, "c":2}, "a":1 }`) },
		"no part of it":      func(s *Server) { s.Handles = []string{"x"}; s.Priority = 3; s.RequestTimeout = 1 },
		"empty is absent":    func(s *Server) { s.Env = map[string]string{} },
		"where it came from": func(s *Server) { s.Layer = Workspace },
	}
	for name, change := range same {
		s := base()
		change(&s)
		if Hash(&s) != h {
			t.Errorf("%s changes the hash", name)
		}
	}
	other := map[string]func(s *Server){
		"order of args": func(s *Server) { s.Args = []string{"2", "1"} },
		"env":           func(s *Server) { s.Env = map[string]string{"A": "1"} },
		"settings":      func(s *Server) { s.Settings = []byte(`{"a":2}`) },
		"trust":         func(s *Server) { s.TrustRequired = true },
		"socket":        func(s *Server) { s.Socket = &Socket{Port: 1} },
	}
	for name, change := range other {
		s := base()
		change(&s)
		if Hash(&s) == h {
			t.Errorf("%s does not change the hash", name)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"lua": {"command": "lua-ls", "env": {"A": 1}}}`))
	f.Add([]byte(`{"lspServers": {"a": {"socket": {"port": "12"}}}}`))
	f.Add([]byte("\xef\xbb\xbf{/*"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := &file{name: "f"}
		file.parse(data)
		for _, p := range file.servers() {
			if p.Name == "" && len(p.Languages) == 0 {
				continue
			}
			_ = Hash(&p.Server)
		}
		for _, p := range file.problems {
			if p.Line < 0 || p.Message == "" {
				t.Errorf("problem without a place or message: %+v", p)
			}
		}
	})
}
