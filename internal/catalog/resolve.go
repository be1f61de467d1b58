package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/state"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// Place is where a server is to run and what may be used for it.
type Place struct {
	// Workspace and Root are absolute, symlinks resolved.
	Workspace, Root string
	// File is the file asked about; "" for the root as a whole.
	File string
	// Trusted says that the workspace's own programs may run.
	Trusted bool
	Finder  *Finder
	// Has reports whether the workspace holds a file that ends in one of the
	// extensions or has one of the names; nil: unknown.
	Has func(ctx context.Context, names ...string) bool
}

// Fact is one choice made for the project, for people.
type Fact struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// Choice is how a server is started for a place.
type Choice struct {
	// ID names the server that was chosen ("typescript-language-server", "typescript-7").
	ID string
	// Path is the absolute program.
	Path string
	Args []string
	// Env is laid over the environment, last wins.
	Env []string

	InitializationOptions json.RawMessage
	Settings              json.RawMessage
	Traits                server.Traits

	// Limited is what the missing trust left out, "" for nothing.
	Limited string
	// Missing is the needed input that is absent, as a sentence; the project then
	// does not count as wholly loaded.
	Missing string
	// Recheck computes Missing anew; nil where it cannot change. When it differs the
	// choice has to be made again.
	Recheck func() string
	Facts   []Fact
	// Installed lists folders and files of installed packages that no watcher follows;
	// when one changes (see Signature) the server has to be started anew to see it.
	Installed []string
	// unaffected: the entry's restriction takes nothing away from this project.
	unaffected bool
	// Dependencies computes the folders outside the workspace whose files may be
	// asked about; it may run `go env` or the like, outside the workspace. nil: none.
	Dependencies func(ctx context.Context) []string
}

// MissingError says that no program of a server was found.
type MissingError struct {
	Name string
	// Program is what was looked for.
	Program string
	// Why is a reason beyond "not on PATH", "" for none.
	Why string
	// Install is the command to run.
	Install string
}

func (e *MissingError) Error() string {
	if e.Why != "" {
		return e.Why
	}
	return fmt.Sprintf("%s is not installed (%s not found)", e.Name, e.Program)
}

// Resolve chooses program, settings and environment of the entry for a place.
func (e *Entry) Resolve(ctx context.Context, p *Place) (*Choice, error) {
	choose := e.choose
	if choose == nil {
		choose = chooseFirst
	}
	c, err := choose(ctx, p, e)
	if err != nil {
		return nil, err
	}
	if !p.Trusted && e.RunsWorkspaceCode == RunsRestrictable {
		c.InitializationOptions = Merge(c.InitializationOptions, e.Untrusted.InitializationOptions)
		c.Settings = Merge(c.Settings, e.Untrusted.Settings)
		c.Env = append(c.Env, e.Untrusted.Env...)
		if !c.unaffected {
			c.Limited = joinSay(e.Untrusted.Say, c.Limited)
		}
	}
	return c, nil
}

func joinSay(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + "; " + b
}

// base is a choice with the entry's own data for a program that was found.
func (e *Entry) base(id, path string, args []string) *Choice {
	return &Choice{
		ID: id, Path: path, Args: args, Traits: e.Traits,
		InitializationOptions: e.InitializationOptions, Settings: e.Settings,
	}
}

func chooseFirst(_ context.Context, p *Place, e *Entry) (*Choice, error) {
	for _, prog := range e.Programs {
		if path, err := p.Finder.LookIn(p, prog.Name); err == nil {
			return e.base(e.IDs[0], path, prog.Args), nil
		}
	}
	return nil, e.missing(p, "")
}

func (e *Entry) missing(p *Place, why string) error {
	for _, prog := range e.Programs {
		if path := p.Finder.refused(prog.Name); path != "" {
			return &MissingError{Name: e.Name, Program: prog.Name, Install: "dragoman trust",
				Why: fmt.Sprintf("%s lies inside the workspace, which is not trusted (%s)", prog.Name, path)}
		}
	}
	return &MissingError{Name: e.Name, Program: e.Programs[0].Name, Why: why, Install: e.InstallLine(p.Finder)}
}

// Merge lays patch over base: objects are merged deeply, anything else is
// replaced. Either may be nil; what is not JSON is ignored.
func Merge(base, patch json.RawMessage) json.RawMessage {
	if len(patch) == 0 {
		return base
	}
	if len(base) == 0 {
		return patch
	}
	var b, p map[string]json.RawMessage
	if json.Unmarshal(patch, &p) != nil || p == nil {
		return patch
	}
	if json.Unmarshal(base, &b) != nil || b == nil {
		return patch
	}
	for k, v := range p {
		b[k] = Merge(b[k], v)
	}
	out, err := json.Marshal(b)
	if err != nil {
		return base
	}
	return out
}

// Finder looks programs up: first the folders of DRAGOMAN_SERVER_PATH, then the
// user's PATH, then dragoman's own server folder. It runs nothing.
type Finder struct {
	// Env is the user's environment.
	Env []string
	// Servers is dragoman's own server folder.
	Servers string
	// Avoid is a folder whose programs must not be used (an untrusted workspace).
	Avoid string
}

// Getenv reads the user's environment.
func (f *Finder) Getenv(key string) string { return state.Getenv(f.Env, key) }

// Path lists the folders searched, in order, as a PATH value. Relative entries and
// those below Avoid are left out.
func (f *Finder) Path() string {
	var dirs []string
	for _, v := range []string{f.Getenv("DRAGOMAN_SERVER_PATH"), f.Getenv("PATH")} {
		dirs = append(dirs, filepath.SplitList(v)...)
	}
	if f.Servers != "" {
		dirs = append(dirs, filepath.Join(f.Servers, "bin"))
		own, _ := filepath.Glob(filepath.Join(f.Servers, "*", "bin"))
		npm, _ := filepath.Glob(filepath.Join(f.Servers, "*", "node_modules", ".bin"))
		dirs = append(append(dirs, own...), npm...)
	}
	return strings.Join(f.allowed(dirs), string(os.PathListSeparator))
}

func (f *Finder) allowed(dirs []string) []string {
	out := dirs[:0:0]
	for _, d := range dirs {
		if !filepath.IsAbs(d) || f.avoided(d) {
			continue
		}
		out = append(out, d)
	}
	return out
}

func (f *Finder) avoided(path string) bool {
	return f.Avoid != "" && (text.Within(f.Avoid, path) || text.Within(f.Avoid, Real(path)))
}

// ChildPath is the PATH that a server gets: the user's, without the folders that
// must be avoided.
func (f *Finder) ChildPath() string {
	return strings.Join(f.allowed(filepath.SplitList(f.Getenv("PATH"))), string(os.PathListSeparator))
}

// Look finds a program. A program that lies, links resolved, below Avoid is not found.
func (f *Finder) Look(name string) (string, error) {
	path, err := proc.LookPath(name, f.Path())
	if err != nil {
		return "", err
	}
	if f.avoided(path) {
		return "", &proc.NotFoundError{Path: name, Err: os.ErrPermission}
	}
	return path, nil
}

// refused is the program of that name that a search would find if nothing had to be
// avoided, "" for none.
func (f *Finder) refused(name string) string {
	if f.Avoid == "" {
		return ""
	}
	free := *f
	free.Avoid = ""
	path, err := free.Look(name)
	if err != nil || !f.avoided(path) {
		return ""
	}
	return path
}

// LookIn finds a program for a place: as Look does, and then, in a trusted
// workspace, among the project's own tools.
func (f *Finder) LookIn(p *Place, name string) (string, error) {
	path, err := f.Look(name)
	if err == nil || !p.Trusted {
		return path, err
	}
	var dirs []string
	for _, dir := range upward(p.Root, p.Workspace) {
		dirs = append(dirs, filepath.Join(dir, "node_modules", ".bin"),
			filepath.Join(dir, ".venv", "bin"), filepath.Join(dir, "venv", "bin"))
	}
	return proc.LookPath(name, strings.Join(dirs, string(os.PathListSeparator)))
}

// LookAll finds every program of that name in search order.
func (f *Finder) LookAll(name string) []string {
	var out []string
	for _, dir := range filepath.SplitList(f.Path()) {
		if path, err := proc.LookPath(name, dir); err == nil && !f.avoided(path) {
			out = append(out, path)
		}
	}
	return out
}

// Real resolves symlinks; a path that cannot be resolved is returned as it is.
func Real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// upward lists dir and its parents up to and including top; only dir when it is
// not below top.
func upward(dir, top string) []string {
	if !text.Within(top, dir) {
		return []string{dir}
	}
	out := []string{dir}
	for dir != top {
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
		out = append(out, dir)
	}
	return out
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// toJSON encodes a value made of maps and strings; it cannot fail for those.
func toJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}
