package catalog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
)

// world is a home with tools beside a workspace.
type world struct {
	t          *testing.T
	home, work string
}

// newWorld writes archives for the home (tools in bin/, executable) and the workspace.
func newWorld(t *testing.T, home, work string) *world {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("executable bits")
	}
	w := &world{t, lsptest.Workspace(t, home), lsptest.Workspace(t, work)}
	for _, root := range []string{w.home, w.work} {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			slash := filepath.ToSlash(path)
			if err == nil && d.Type().IsRegular() && (strings.Contains(slash, "bin/") || strings.Contains(slash, "/shims/")) {
				return os.Chmod(path, 0o755)
			}
			return err
		})
	}
	return w
}

func (w *world) place(trusted bool, env ...string) *Place {
	f := &Finder{Env: append([]string{"HOME=" + w.home, "PATH=" + filepath.Join(w.home, "bin")}, env...)}
	if !trusted {
		f.Avoid = w.work
	}
	return &Place{Workspace: w.work, Root: w.work, Trusted: trusted, Finder: f}
}

func (w *world) link(from, to string) {
	w.t.Helper()
	if err := os.Symlink(filepath.Join(w.home, to), filepath.Join(w.home, from)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) resolve(name string, p *Place) *Choice {
	w.t.Helper()
	c, err := ByName(name).Resolve(context.Background(), p)
	if err != nil {
		w.t.Fatalf("resolve %s: %v", name, err)
	}
	return c
}

func TestTable(t *testing.T) {
	for _, e := range All() {
		if e.Name == "" || len(e.IDs) == 0 || len(e.Programs) == 0 || len(e.Extensions) == 0 ||
			len(e.Install) == 0 || e.RunsWorkspaceCode == "" || e.Title == "" || e.Traits.Readiness.Mode == "" {
			t.Errorf("%s: something is missing", e.Name)
		}
		for ext := range e.Extensions {
			if !strings.HasPrefix(ext, ".") || ext != strings.ToLower(ext) {
				t.Errorf("%s: extension %q", e.Name, ext)
			}
		}
		for _, raw := range [][]byte{e.InitializationOptions, e.Settings, e.Untrusted.InitializationOptions, e.Untrusted.Settings, e.Traits.ExtraCapabilities} {
			if len(raw) > 0 && string(Merge(raw, []byte(`{}`))) == "{}" && string(raw) != "{}" {
				t.Errorf("%s: not a JSON object: %s", e.Name, raw)
			}
		}
		if e.RunsWorkspaceCode == RunsRestrictable && e.Untrusted.Say == "" {
			t.Errorf("%s: does not say what is limited", e.Name)
		}
	}
}

func TestMerge(t *testing.T) {
	got := Merge([]byte(`{"a":{"b":1,"c":[1]},"d":2}`), []byte(`{"a":{"c":[2],"e":3}}`))
	if string(got) != `{"a":{"b":1,"c":[2],"e":3},"d":2}` {
		t.Error(string(got))
	}
}

func TestTypeScriptByProject(t *testing.T) {
	const home = `
-- bin/typescript-language-server --
-- bin7/tsc --
-- lib/node_modules/typescript/package.json --
{"version": "6.0.3"}
-- lib/node_modules/typescript/lib/tsserver.js --
-- lib/node_modules/typescript/bin/tsserver --
-- seven/node_modules/typescript/package.json --
{"version": "7.0.2"}
-- seven/node_modules/typescript/bin/tsc --
`
	own := func(version string, tsserver bool) string {
		s := "-- a.ts --\n-- node_modules/typescript/bin/tsc --\n-- node_modules/typescript/package.json --\n{\"version\": \"" + version + "\"}\n"
		if tsserver {
			s += "-- node_modules/typescript/lib/tsserver.js --\n"
		}
		return s
	}
	tests := []struct {
		name, work string
		trusted    bool
		id         string
		contains   string // the tsserver or program that is used
		limited    bool
	}{
		{"no TypeScript of its own", "-- a.ts --\n", false, "typescript-language-server", "lib/node_modules/typescript/lib/tsserver.js", false},
		{"own 5, trusted", own("5.4.5", true), true, "typescript-language-server", "WORK/node_modules/typescript/lib/tsserver.js", false},
		{"own 5, untrusted", own("5.4.5", true), false, "typescript-language-server", "lib/node_modules/typescript/lib/tsserver.js", true},
		{"own 7, trusted", own("7.0.2", false), true, "typescript-7", "WORK/node_modules/typescript/bin/tsc", false},
		{"own 7, untrusted", own("7.1.0", false), false, "typescript-7", "HOME/seven/node_modules/typescript/bin/tsc", true},
		{"7 asked for, not installed", "-- a.ts --\n-- package.json --\n{\"devDependencies\": {\"typescript\": \"^7.0.0\"}}\n-- node_modules/x --\n", false,
			"typescript-7", "HOME/seven/node_modules/typescript/bin/tsc", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, home, tt.work)
			w.link("bin/tsserver", "lib/node_modules/typescript/bin/tsserver")
			p := w.place(tt.trusted, "DRAGOMAN_SERVER_PATH="+filepath.Join(w.home, "seven/node_modules/typescript/bin"))
			c := w.resolve("typescript", p)
			want := strings.NewReplacer("WORK", w.work, "HOME", w.home).Replace(tt.contains)
			if c.ID != tt.id || !strings.Contains(c.Path+" "+string(c.InitializationOptions), want) {
				t.Errorf("%s %s %s\nwant %s with %s", c.ID, c.Path, c.InitializationOptions, tt.id, want)
			}
			if (c.Limited != "") != tt.limited {
				t.Errorf("limited %q", c.Limited)
			}
			if tt.id == "typescript-7" != c.Traits.IgnoresExit {
				t.Error("traits of the other server")
			}
		})
	}
	t.Run("a project's own copy is never the server of an untrusted workspace", func(t *testing.T) {
		w := newWorld(t, "-- x --\n", own("7.0.2", false))
		_, err := ByName("typescript").Resolve(context.Background(), w.place(false, "PATH="+filepath.Join(w.work, "node_modules/typescript/bin")))
		var m *MissingError
		if !errors.As(err, &m) || !strings.Contains(m.Error(), "without trust") {
			t.Errorf("%v", err)
		}
	})
	t.Run("declared packages that are not installed", func(t *testing.T) {
		w := newWorld(t, home, "-- package.json --\n{\"dependencies\": {\"react\": \"1\"}}\n")
		w.link("bin/tsserver", "lib/node_modules/typescript/bin/tsserver")
		if c := w.resolve("typescript", w.place(false)); !strings.Contains(c.Missing, "node_modules") {
			t.Errorf("missing %q", c.Missing)
		}
	})
}

func TestPythonInterpreter(t *testing.T) {
	const home = `
-- bin/pyright-langserver --
-- bin/python3 --
-- .pyenv/versions/3.9.1/bin/python --
-- .pyenv/version --
3.9.1
-- .pyenv/shims/python3 --
-- active/bin/python --
-- active/pyvenv.cfg --
-- .cache/pypoetry/virtualenvs/shop-front-AbC-py3.11/bin/python --
-- .cache/pypoetry/virtualenvs/shop-front-AbC-py3.11/pyvenv.cfg --
`
	const venv = "-- .venv/bin/python --\n-- .venv/pyvenv.cfg --\n-- .venv/lib/python3.11/site-packages/x.py --\n"
	tests := []struct {
		name, work string
		trusted    bool
		env        []string
		file       string
		want       string // in settings
		absent     string
	}{
		{"none", "-- a.py --\n", true, nil, "", `"autoSearchPaths":true`, "pythonPath"},
		{".venv, trusted", venv, true, nil, "", `"pythonPath":"WORK/.venv/bin/python"`, "extraPaths"},
		{".venv, untrusted: looked at, not run", venv, false, nil, "", `"extraPaths":["WORK/.venv/lib/python3.11/site-packages"]`, "pythonPath"},
		{"activated", venv, true, []string{"VIRTUAL_ENV=HOME/active"}, "", `"pythonPath":"HOME/active/bin/python"`, ""},
		{"nearest the file", venv + "-- sub/venv/bin/python --\n-- sub/venv/pyvenv.cfg --\n", true, nil, "sub/a.py", `WORK/sub/venv/bin/python`, ""},
		{"pyenv", "-- .python-version --\n3.9.1\n", true, nil, "", `HOME/.pyenv/versions/3.9.1/bin/python`, ""},
		{"behind pyenv's shim", "-- a.py --\n", false, []string{"PATH=HOME/.pyenv/shims:HOME/bin"}, "", `"pythonPath":"HOME/.pyenv/versions/3.9.1/bin/python"`, ""},
		{"pyenv may not lead elsewhere", "-- .python-version --\n../../evil\n", true, nil, "", `"autoSearchPaths":true`, "pythonPath"},
		{"Poetry", "-- poetry.lock --\n-- pyproject.toml --\n[tool.poetry]\nname = \"Shop_Front\"\n", true, nil, "", "shop-front-AbC-py3.11/bin/python", ""},
		{"outside the workspace needs no trust", "-- .python-version --\n3.9.1\n", false, nil, "", `HOME/.pyenv/versions/3.9.1/bin/python`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, home, tt.work)
			in := strings.NewReplacer("WORK", w.work, "HOME", w.home)
			var env []string
			for _, kv := range tt.env {
				env = append(env, in.Replace(kv))
			}
			p := w.place(tt.trusted, env...)
			if tt.file != "" {
				p.File = filepath.Join(w.work, tt.file)
			}
			c := w.resolve("pyright", p)
			if s := string(c.Settings); !strings.Contains(s, in.Replace(tt.want)) || tt.absent != "" && strings.Contains(s, tt.absent) {
				t.Errorf("settings %s\nwant %s, not %q", s, in.Replace(tt.want), tt.absent)
			}
		})
	}
	t.Run("one instance per interpreter", func(t *testing.T) {
		w := newWorld(t, home, venv+"-- sub/venv/bin/python --\n-- sub/venv/pyvenv.cfg --\n")
		e := ByName("pyright")
		a, b := w.place(true), w.place(true)
		a.File, b.File = filepath.Join(w.work, "a.py"), filepath.Join(w.work, "sub", "b.py")
		if e.Variant(a) == e.Variant(b) {
			t.Errorf("both %q", e.Variant(a))
		}
	})
}

func TestRustToolchain(t *testing.T) {
	const home = `
-- .rustup/settings.toml --
default_toolchain = "stable-x86"
-- .rustup/toolchains/stable-x86/bin/rust-analyzer --
-- .rustup/toolchains/nightly-x86/bin/rustc --
-- cargo/bin/rustup --
`
	const crate = "-- Cargo.toml --\n[package]\n"
	proxy := func(w *world) *Place {
		w.link("cargo/bin/rust-analyzer", "cargo/bin/rustup")
		return w.place(false, "PATH="+filepath.Join(w.home, "cargo", "bin"))
	}
	t.Run("the proxy stands for the toolchain's own program", func(t *testing.T) {
		w := newWorld(t, home, crate)
		c := w.resolve("rust-analyzer", proxy(w))
		dir := filepath.Join(w.home, ".rustup/toolchains/stable-x86")
		if c.Path != filepath.Join(dir, "bin/rust-analyzer") {
			t.Error(c.Path)
		}
		if env := strings.Join(c.Env, "\n"); !strings.Contains(env, "RUSTC="+dir+"/bin/rustc") || !strings.Contains(env, "RUSTC_WRAPPER=\n") {
			t.Errorf("an untrusted crate could bring its own compiler: %s", env)
		}
		if !strings.Contains(string(c.InitializationOptions), `"buildScripts":{"enable":false}`) {
			t.Error(string(c.InitializationOptions))
		}
	})
	t.Run("without the component it is not installed", func(t *testing.T) {
		w := newWorld(t, home, crate+"-- rust-toolchain.toml --\n[toolchain]\nchannel = \"nightly\"\n")
		_, err := ByName("rust-analyzer").Resolve(context.Background(), proxy(w))
		var m *MissingError
		if !errors.As(err, &m) || m.Install != "rustup component add rust-analyzer rust-src" || !strings.Contains(m.Error(), "nightly-x86") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a path in a toolchain file is not followed", func(t *testing.T) {
		w := newWorld(t, home, crate+"-- rust-toolchain.toml --\n[toolchain]\nchannel = \"../../evil\"\n")
		if c := w.resolve("rust-analyzer", proxy(w)); !strings.Contains(c.Path, "stable-x86") {
			t.Error(c.Path)
		}
	})
}

func TestCompileDatabase(t *testing.T) {
	tests := []struct{ name, work, arg, missing string }{
		{"beside the sources", "-- compile_commands.json --\n[]\n", "", ""},
		{"in build", "-- build/compile_commands.json --\n[]\n", "", ""},
		{"flags only", "-- compile_flags.txt --\n-Wall\n", "", ""},
		{"where clangd does not look", "-- cmake-build-debug/compile_commands.json --\n[]\n", "--compile-commands-dir=WORK/cmake-build-debug", ""},
		{"none", "-- a.c --\n", "", "no compile_commands.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "-- bin/clangd --\n", tt.work)
			c := w.resolve("clangd", w.place(false))
			args := strings.Join(c.Args, " ")
			if want := strings.ReplaceAll(tt.arg, "WORK", w.work); strings.Contains(args, "--compile-commands-dir") != (want != "") || !strings.Contains(args, want) {
				t.Errorf("args %s", args)
			}
			if !strings.Contains(c.Missing, tt.missing) || (tt.missing == "") != (c.Missing == "") {
				t.Errorf("missing %q", c.Missing)
			}
		})
	}
}

func TestHeaderLanguage(t *testing.T) {
	dir := lsptest.Workspace(t, "-- c/a.c --\n-- c/a.h --\n-- cpp/a.cc --\n-- cpp/a.h --\n-- both/a.c --\n-- both/a.cpp --\n-- none/a.h --\n")
	only := func(exts ...string) func(context.Context, ...string) bool {
		return func(_ context.Context, names ...string) bool {
			for _, n := range names {
				for _, e := range exts {
					if n == e {
						return true
					}
				}
			}
			return false
		}
	}
	tests := []struct {
		path string
		has  func(context.Context, ...string) bool
		want string
	}{
		{"c/a.h", only(".cpp"), "c"}, {"cpp/a.h", only(".c"), "cpp"}, {"both/a.h", nil, "cpp"},
		{"none/a.h", only(".c"), "c"}, {"none/a.h", only(".c", ".cc"), "cpp"}, {"none/a.h", only(), "cpp"},
	}
	for _, tt := range tests {
		if got := Header(context.Background(), filepath.Join(dir, tt.path), tt.has); got != tt.want {
			t.Errorf("%s: %s", tt.path, got)
		}
	}
}

func TestLookup(t *testing.T) {
	w := newWorld(t, "-- bin/gopls --\n-- other/bin/gopls --\n-- servers/x/bin/only --\n", "-- node_modules/.bin/only --\n-- bin/gopls --\n-- go.mod --\nmodule x\n")
	evil := filepath.Join(w.work, "bin")
	t.Run("programs of an untrusted workspace are not found, also through links", func(t *testing.T) {
		link := filepath.Join(w.home, "linked")
		if err := os.Symlink(evil, link); err != nil {
			t.Fatal(err)
		}
		f := &Finder{Env: []string{"PATH=" + evil + ":" + link + ":relative:" + filepath.Join(w.home, "bin")}, Avoid: w.work}
		if got, err := f.Look("gopls"); err != nil || got != filepath.Join(w.home, "bin", "gopls") {
			t.Errorf("%s %v", got, err)
		}
		if f.ChildPath() != filepath.Join(w.home, "bin") {
			t.Errorf("a server would search %s", f.ChildPath())
		}
	})
	t.Run("a program that is refused is not called missing", func(t *testing.T) {
		p := w.place(false)
		p.Finder = &Finder{Env: []string{"PATH=" + evil}, Avoid: w.work}
		if err := os.Chmod(filepath.Join(evil, "gopls"), 0o755); err != nil {
			t.Fatal(err)
		}
		err := ByName("gopls").missing(p, "")
		if !strings.Contains(err.Error(), "inside the workspace, which is not trusted") {
			t.Error(err)
		}
	})
	t.Run("order", func(t *testing.T) {
		f := &Finder{Env: []string{"PATH=" + filepath.Join(w.home, "bin"), "DRAGOMAN_SERVER_PATH=" + filepath.Join(w.home, "other", "bin")},
			Servers: filepath.Join(w.home, "servers")}
		if got, _ := f.Look("gopls"); got != filepath.Join(w.home, "other", "bin", "gopls") {
			t.Error(got)
		}
		if got, _ := f.Look("only"); got != filepath.Join(w.home, "servers", "x", "bin", "only") {
			t.Error(got)
		}
	})
	t.Run("tools of a trusted workspace come last", func(t *testing.T) {
		p := w.place(true)
		if err := os.Chmod(filepath.Join(w.work, "node_modules", ".bin", "only"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got, err := p.Finder.LookIn(p, "only"); err != nil || !strings.HasPrefix(got, w.work) {
			t.Errorf("%s %v", got, err)
		}
		p = w.place(false)
		if got, err := p.Finder.LookIn(p, "only"); err == nil {
			t.Errorf("found %s without trust", got)
		}
	})
}

func TestUntrustedGo(t *testing.T) {
	const home = "-- bin/gopls --\n-- bin/go --\n-- VERSION --\ngo1.26.8\n"
	tests := []struct {
		name, work, flags string
		limited           bool
	}{
		{"plain", "-- go.mod --\nmodule x\ngo 1.26.0\n", "GOFLAGS=-mod=readonly -buildvcs=false", false},
		{"vendored", "-- go.mod --\nmodule x\n-- vendor/modules.txt --\n", "GOFLAGS=-buildvcs=false", false},
		{"newer toolchain", "-- go.mod --\nmodule x\ngo 1.27.1\n", "GOFLAGS=-mod=readonly -buildvcs=false", true},
		{"newer toolchain line", "-- go.mod --\nmodule x\ngo 1.20\ntoolchain go1.30.0\n", "GOFLAGS=-mod=readonly -buildvcs=false", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, home, tt.work)
			c := w.resolve("gopls", w.place(false))
			if d := cmp.Diff([]string{tt.flags, "GOTOOLCHAIN=local", "GOVCS=*:off"}, c.Env); d != "" {
				t.Error(d)
			}
			if (c.Limited != "") != tt.limited {
				t.Errorf("limited %q", c.Limited)
			}
			if c := w.resolve("gopls", w.place(true)); len(c.Env) != 0 || c.Limited != "" {
				t.Errorf("trusted: %v %q", c.Env, c.Limited)
			}
		})
	}
}

func TestSignature(t *testing.T) {
	dir := lsptest.Workspace(t, "-- nm/a/x --\n-- nm/.cache/x --\n-- nm/.package-lock.json --\n{}\n")
	paths := []string{filepath.Join(dir, "nm"), filepath.Join(dir, "nm", ".package-lock.json"), filepath.Join(dir, "nm", "@types")}
	steps := []struct {
		name    string
		do      func() error
		changed bool
	}{
		{"nothing", func() error { return nil }, false},
		{"a tool's cache", func() error { return os.Mkdir(filepath.Join(dir, "nm", ".vite"), 0o755) }, false},
		{"a package came", func() error { return os.Mkdir(filepath.Join(dir, "nm", "b"), 0o755) }, true},
		{"first types", func() error { return os.MkdirAll(filepath.Join(dir, "nm", "@types", "c"), 0o755) }, true},
		{"a package went", func() error { return os.RemoveAll(filepath.Join(dir, "nm", "a")) }, true},
		{"only the record was written", func() error {
			return os.WriteFile(filepath.Join(dir, "nm", ".package-lock.json"), []byte("{ }"), 0o600)
		}, true},
	}
	last := Signature(paths, nil)
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatal(err)
		}
		now := Signature(paths, last)
		if SameSignature(last, now) == s.changed {
			t.Errorf("%s: changed %v", s.name, !s.changed)
		}
		last = now
	}
}

func TestOlderThan(t *testing.T) {
	for version, want := range map[string]bool{"5.4.3": true, "5.4.4": false, "5.10.0": false, "4.9.5": true, "6.0.3": false, "5.4.4-beta": false} {
		if olderThan(version, 5, 4, 4) != want {
			t.Error(version)
		}
	}
}
