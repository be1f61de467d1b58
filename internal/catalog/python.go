package catalog

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// pythonEnv is an environment that was found for a file.
type pythonEnv struct {
	// Interpreter is its python, "" when only its packages were found.
	Interpreter string
	// Prefix is the environment's folder.
	Prefix string
	// How says which marker led there.
	How string
	// Inside: the environment lies in the workspace.
	Inside bool
}

// findPython chooses the interpreter for a place: an activated environment, then
// the markers nearest the file (.venv, venv; uv and Poetry keep theirs there; conda
// and pyenv names of the project), then none (the server asks the user's PATH).
func findPython(p *Place) *pythonEnv {
	f := p.Finder
	if env := venvAt(f.Getenv("VIRTUAL_ENV"), "VIRTUAL_ENV", p); env != nil {
		return env
	}
	start := p.Root
	if p.File != "" {
		start = filepath.Dir(p.File)
	}
	for _, dir := range upward(start, p.Workspace) {
		for _, name := range []string{f.Getenv("UV_PROJECT_ENVIRONMENT"), ".venv", "venv", "env"} {
			if name == "" {
				continue
			}
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, name)
			}
			if env := venvAt(path, name, p); env != nil {
				return env
			}
		}
		if env := poetryEnv(dir, p); env != nil {
			return env
		}
		if env := pyenvEnv(dir, p); env != nil {
			return env
		}
	}
	if env := venvAt(f.Getenv("CONDA_PREFIX"), "CONDA_PREFIX", p); env != nil {
		return env
	}
	return pyenvGlobal(p)
}

// pyenvGlobal finds the interpreter behind pyenv's shim, which is a slow script.
func pyenvGlobal(p *Place) *pythonEnv {
	shim, err := p.Finder.Look("python3")
	root := pyenvRoot(p)
	if err != nil || filepath.Dir(shim) != filepath.Join(root, "shims") {
		return nil
	}
	version := p.Finder.Getenv("PYENV_VERSION")
	if version == "" {
		b, _ := os.ReadFile(filepath.Join(root, "version"))
		version, _, _ = strings.Cut(string(b), "\n")
	}
	version, _, _ = strings.Cut(strings.TrimSpace(version), ":")
	return pyenvVersion(root, version, "pyenv", p)
}

func pyenvRoot(p *Place) string {
	if root := p.Finder.Getenv("PYENV_ROOT"); root != "" {
		return root
	}
	return filepath.Join(p.Finder.Getenv("HOME"), ".pyenv")
}

func pyenvVersion(root, version, how string, p *Place) *pythonEnv {
	if version == "" || strings.ContainsAny(version, `/\*?[`) || strings.HasPrefix(version, ".") {
		return nil
	}
	return venvAt(filepath.Join(root, "versions", version), how, p)
}

func venvAt(prefix, how string, p *Place) *pythonEnv {
	if prefix == "" || !filepath.IsAbs(prefix) || !isDir(prefix) {
		return nil
	}
	python := pythonIn(prefix)
	if python == "" && !isFile(filepath.Join(prefix, "pyvenv.cfg")) {
		return nil
	}
	inside := (&Finder{Avoid: p.Workspace}).avoided(prefix)
	return &pythonEnv{Interpreter: python, Prefix: prefix, How: how, Inside: inside}
}

func pythonIn(prefix string) string {
	names := []string{"bin/python", "bin/python3"}
	if runtime.GOOS == "windows" {
		names = []string{`Scripts\python.exe`, "python.exe"}
	}
	for _, n := range names {
		if path := filepath.Join(prefix, n); isFile(path) {
			return path
		}
	}
	return ""
}

// poetryEnv finds the environment that Poetry keeps in its cache for a project:
// NAME-HASH-pyVERSION. Without running Poetry the hash is not known, so only a
// single match counts.
func poetryEnv(dir string, p *Place) *pythonEnv {
	if !isFile(filepath.Join(dir, "poetry.lock")) {
		return nil
	}
	name := projectName(filepath.Join(dir, "pyproject.toml"))
	cache := p.Finder.Getenv("POETRY_CACHE_DIR")
	if cache == "" {
		home := p.Finder.Getenv("HOME")
		cache = filepath.Join(home, ".cache", "pypoetry")
		if runtime.GOOS == "darwin" {
			cache = filepath.Join(home, "Library", "Caches", "pypoetry")
		}
	}
	if name == "" || strings.ContainsAny(name, `*?[\/`) {
		return nil
	}
	found, _ := filepath.Glob(filepath.Join(cache, "virtualenvs", name+"-*-py*"))
	if len(found) != 1 {
		return nil
	}
	return venvAt(found[0], "Poetry", p)
}

// projectName reads the first `name = "…"` of a pyproject.toml.
func projectName(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for n := 0; sc.Scan() && n < 200; n++ {
		k, v, ok := strings.Cut(sc.Text(), "=")
		if ok && strings.TrimSpace(k) == "name" {
			name := strings.Trim(strings.TrimSpace(v), `"'`)
			return strings.ReplaceAll(strings.ToLower(name), "_", "-")
		}
	}
	return ""
}

// pyenvEnv follows a .python-version file to a version that pyenv has installed.
func pyenvEnv(dir string, p *Place) *pythonEnv {
	b, err := os.ReadFile(filepath.Join(dir, ".python-version"))
	if err != nil || len(b) > 200 {
		return nil
	}
	version := strings.TrimSpace(strings.SplitN(string(b), "\n", 2)[0])
	return pyenvVersion(pyenvRoot(p), version, ".python-version", p)
}

// pythonVariant tells instances apart by interpreter.
func pythonVariant(p *Place) string {
	if env := findPython(p); env != nil {
		return env.Prefix
	}
	return ""
}

// sitePackages lists the package folders of an environment without running it.
func sitePackages(prefix string) []string {
	var out []string
	for _, pattern := range []string{"lib/python3*/site-packages", "lib64/python3*/site-packages", "Lib/site-packages"} {
		found, _ := filepath.Glob(filepath.Join(globEscape(prefix), pattern))
		out = append(out, found...)
	}
	return realDirs(out...)
}

func globEscape(s string) string {
	if runtime.GOOS == "windows" {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// choosePyright tells the server which interpreter is the project's. In an
// untrusted workspace an interpreter that lies in it is not run: its packages are
// found by looking.
func choosePyright(ctx context.Context, p *Place, e *Entry) (*Choice, error) {
	c, err := chooseFirst(ctx, p, e)
	if err != nil {
		return nil, err
	}
	env := findPython(p)
	c.unaffected = env == nil || !env.Inside
	var deps []string
	switch {
	case env == nil:
		c.Facts = []Fact{{"Python", "the first on PATH"}}
		if _, err := p.Finder.Look("python3"); err != nil {
			if _, err := p.Finder.Look("python"); err != nil {
				c.Missing = "no Python interpreter was found, so installed packages are unknown"
			}
		}
		deps = pathPythonDirs(p)
	case p.Trusted || !env.Inside:
		c.Facts = []Fact{{"Python", env.Interpreter + " (" + env.How + ")"}}
		c.Settings = Merge(c.Settings, toJSON(map[string]any{"python": map[string]any{
			"pythonPath": env.Interpreter, "defaultInterpreterPath": env.Interpreter}}))
		deps = append(sitePackages(env.Prefix), basePythonDirs(env.Prefix)...)
	default:
		sites := sitePackages(env.Prefix)
		c.Facts = []Fact{{"Python", env.Prefix + " (" + env.How + "; read, not run)"}}
		c.Settings = Merge(c.Settings, toJSON(map[string]any{"python": map[string]any{
			"analysis": map[string]any{"extraPaths": sites}}}))
		deps = append(sites, basePythonDirs(env.Prefix)...)
	}
	if env != nil {
		c.Installed = sitePackages(env.Prefix)
	}
	c.Dependencies = func(context.Context) []string {
		return realDirs(append(deps, globalPackage(c.Path))...)
	}
	return c, nil
}

// globalPackage is the npm package (or installation folder) a program belongs to.
func globalPackage(program string) string {
	if globalNodeModules(program) == "" {
		return ""
	}
	return packageOf(Real(program))
}

// basePythonDirs finds the standard library behind a virtual environment
// (pyvenv.cfg's home) or of the prefix itself.
func basePythonDirs(prefix string) []string {
	base := prefix
	if b, err := os.ReadFile(filepath.Join(prefix, "pyvenv.cfg")); err == nil {
		for line := range strings.Lines(string(b)) {
			k, v, ok := strings.Cut(line, "=")
			if ok && strings.TrimSpace(k) == "home" {
				base = filepath.Dir(strings.TrimSpace(v))
			}
		}
	}
	found, _ := filepath.Glob(filepath.Join(globEscape(base), "lib", "python3*"))
	return realDirs(found...)
}

// pathPythonDirs guesses the library folders of the user's own python.
func pathPythonDirs(p *Place) []string {
	var out []string
	for _, name := range []string{"python3", "python"} {
		for _, path := range p.Finder.LookAll(name) {
			out = append(out, basePythonDirs(filepath.Dir(filepath.Dir(Real(path))))...)
		}
	}
	found, _ := filepath.Glob(filepath.Join(globEscape(pyenvRoot(p)), "versions", "*", "lib", "python3*"))
	return append(append(out, found...), "/usr/lib/python3/dist-packages")
}
