package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/config"
	"github.com/dragoman-dev/dragoman/internal/fleet"
	"github.com/dragoman-dev/dragoman/internal/intel"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/route"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// resolveKey names a choice: a server, its root, and the variant of the file.
type resolveKey struct{ name, root, variant string }

// resolution is a choice that was made and what it depends on.
type resolution struct {
	choice *catalog.Choice
	id     fleet.Identity
	// signature is that of choice.Installed when it was last looked at; guarded by
	// Workspace.mu.
	signature map[string]string
	looked    time.Time // at choice.Installed; guarded by Workspace.mu
	rechecked time.Time // choice.Missing; guarded by Workspace.mu
	// deps are the library folders; nil until asked for.
	deps   []string
	depsOK bool
}

// instance returns the server of a root as a candidate, making it (not starting
// it) when there is none. file chooses the variant; "" is the root's own.
func (w *Workspace) instance(ctx context.Context, s *config.Server, root, file, lang string) (intel.Candidate, error) {
	return w.instanceOf(ctx, s, root, w.variant(s, root, file), file, lang)
}

// variant is the entry's, believed for a second in each folder.
func (w *Workspace) variant(s *config.Server, root, file string) string {
	if s.Entry == nil || !s.Entry.HasVariants() {
		return ""
	}
	dir := root
	if file != "" {
		dir = filepath.Dir(file)
	}
	return w.variants.ask(s.Name+"\x00"+root+"\x00"+dir, func() string {
		return s.Entry.Variant(w.place(s, root, file))
	})
}

func (w *Workspace) instanceOf(ctx context.Context, s *config.Server, root, variant, file, lang string) (intel.Candidate, error) {
	r, err := w.resolve(ctx, s, root, variant, file)
	if err != nil {
		return intel.Candidate{}, err
	}
	// Waited for only when a server has to be made.
	wt := w.Watcher(ctx)
	if ctx.Err() != nil {
		return intel.Candidate{}, ctx.Err()
	}
	srv, err := w.fleet.Get(r.id, func() *server.Server {
		o := w.serverOptions(s, root, r.choice)
		o.Watcher = wt
		return server.New(o)
	})
	if err != nil {
		return intel.Candidate{}, &query.Error{Kind: query.Canceled, Server: s.Name, Message: "The workspace is closed.", Err: err}
	}
	if err := w.renew(ctx, r, srv); err != nil {
		return intel.Candidate{}, err
	}
	return intel.Candidate{
		Name: s.Name, LanguageID: lang, Server: srv, Linter: s.Entry != nil && s.Entry.Linter,
		Limited: r.choice.Limited, Missing: r.choice.Missing,
		SymbolCap: r.choice.Traits.SymbolCap, ReferenceCap: r.choice.Traits.ReferenceCap,
		DeclarationByDefinition: r.choice.Traits.DeclarationByDefinition,
		TSServer:                r.choice.Traits.TSServer,
	}, nil
}

// installedLife is how long the folders of installed packages are believed to be as
// they were.
const installedLife = 200 * time.Millisecond

// renew restarts a running server when packages were installed or removed since it
// started: nobody watches those folders, and a server that has read them does not
// look again.
func (w *Workspace) renew(ctx context.Context, r *resolution, srv *server.Server) error {
	if len(r.choice.Installed) == 0 {
		return nil
	}
	w.mu.Lock()
	last, soon := r.signature, time.Since(r.looked) < installedLife
	if !soon {
		r.looked = time.Now()
	}
	w.mu.Unlock()
	if soon {
		return nil
	}
	now := catalog.Signature(r.choice.Installed, last)
	w.mu.Lock()
	changed := r.signature != nil && !catalog.SameSignature(r.signature, now)
	r.signature = now
	w.mu.Unlock()
	if !changed {
		return nil
	}
	switch srv.Snapshot().State {
	case server.Starting, server.Warming, server.Ready:
		w.o.Log.Info("restarting: installed packages changed", "server", r.id.Name, "root", r.id.Root)
		if err := srv.Restart(ctx); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			w.o.Log.Warn("restart failed", "server", r.id.Name, "err", err)
		}
	}
	return nil
}

func (w *Workspace) place(s *config.Server, root, file string) *catalog.Place {
	return &catalog.Place{
		Workspace: w.Root, Root: root, File: file, Trusted: w.grounds.Trusted,
		Finder: w.finder, Has: w.has,
	}
}

// resolve chooses program and settings once for each key. A failure is not
// remembered: the next question looks again.
func (w *Workspace) resolve(ctx context.Context, s *config.Server, root, variant, file string) (*resolution, error) {
	key := resolveKey{s.Name, root, variant}
	w.mu.Lock()
	r := w.resolved[key]
	w.mu.Unlock()
	if r != nil && !w.outdated(r) {
		return r, nil
	}
	old := r
	if name := w.vetoed(ctx, s, root); name != "" {
		return nil, &query.Error{Kind: query.NotAdmitted, Server: s.Name,
			Message: fmt.Sprintf("%s may not run here: %s could make it run code, and the workspace is not trusted.", s.Name, name),
			Hint:    trustHint}
	}
	choice, err := w.choose(ctx, s, root, file)
	if err != nil {
		return nil, err
	}
	r = &resolution{choice: choice, id: fleet.Identity{
		Root: root, Name: s.Name, Hash: config.Hash(s), Variant: variant, Env: w.envDigest(s, choice),
	}}
	w.mu.Lock()
	defer w.mu.Unlock()
	if first := w.resolved[key]; first != old {
		return first, nil
	}
	w.resolved[key] = r
	return r, nil
}

// outdated reports that an input which was missing is there now, or the reverse.
func (w *Workspace) outdated(r *resolution) bool {
	if r.choice.Recheck == nil {
		return false
	}
	w.mu.Lock()
	soon := time.Since(r.rechecked) < installedLife
	if !soon {
		r.rechecked = time.Now()
	}
	w.mu.Unlock()
	return !soon && r.choice.Recheck() != r.choice.Missing
}

// vetoed names a file of the workspace that would lift the restriction under which
// a server runs without trust.
func (w *Workspace) vetoed(ctx context.Context, s *config.Server, root string) string {
	if w.grounds.Trusted || s.Entry == nil || len(s.Entry.Untrusted.Veto) == 0 {
		return ""
	}
	for _, name := range s.Entry.Untrusted.Veto {
		if w.markers.Exists(filepath.Join(root, name)) || w.has(ctx, name) {
			return name
		}
	}
	return ""
}

// choose resolves a server: by the catalogue, by its configured command, or both.
func (w *Workspace) choose(ctx context.Context, s *config.Server, root, file string) (*catalog.Choice, error) {
	var c *catalog.Choice
	var err error
	if s.Entry != nil {
		c, err = s.Entry.Resolve(ctx, w.place(s, root, file))
	}
	if s.Explicit {
		if err != nil || c == nil {
			c = &catalog.Choice{ID: s.Name, Traits: unknownTraits}
			if s.Entry != nil {
				c.Traits, c.InitializationOptions, c.Settings = s.Entry.Traits, s.Entry.InitializationOptions, s.Entry.Settings
			}
		}
		if c.Path, err = w.explicitPath(s); err != nil {
			return nil, err
		}
		c.Args = s.Args
	} else if s.Args != nil && c != nil {
		c.Args = s.Args
	}
	if err != nil {
		return nil, w.notInstalled(s, err)
	}
	c.InitializationOptions = catalog.Merge(c.InitializationOptions, s.InitializationOptions)
	c.Settings = catalog.Merge(c.Settings, s.Settings)
	for _, k := range sortedKeys(s.Env) {
		c.Env = append(c.Env, k+"="+s.Env[k])
	}
	return c, nil
}

// unknownTraits are those of a server that the catalogue does not know.
var unknownTraits = server.Traits{Readiness: server.Readiness{
	Mode: server.ReadyGrace, Grace: time.Second, Quiet: 300 * time.Millisecond,
}}

func (w *Workspace) explicitPath(s *config.Server) (string, error) {
	if s.Socket != nil && s.Command == "" {
		return "", &query.Error{Kind: query.Unsupported, Server: s.Name,
			Message: fmt.Sprintf("%s is configured as a server that already listens, which is not supported yet.", s.Name),
			Hint:    "Configure a command that speaks over standard input and output."}
	}
	if filepath.IsAbs(s.Command) {
		return s.Command, nil
	}
	path, err := w.finder.Look(s.Command)
	if err != nil {
		return "", &query.Error{Kind: query.NotInstalled, Server: s.Name, Err: err,
			Message: fmt.Sprintf("%s is not installed (%s not found on PATH).", s.Name, s.Command),
			Hint:    installHint(s, w.finder)}
	}
	return path, nil
}

func installHint(s *config.Server, f *catalog.Finder) string {
	if s.Entry != nil {
		return "Run `" + s.Entry.InstallLine(f) + "`."
	}
	return "Install it, or correct its command in the configuration."
}

func (w *Workspace) notInstalled(s *config.Server, err error) error {
	var m *catalog.MissingError
	if !errors.As(err, &m) {
		return err
	}
	return &query.Error{Kind: query.NotInstalled, Server: s.Name, Err: err,
		Message: upperFirst(m.Error()) + ".", Hint: "Run `" + m.Install + "`."}
}

// upperFirst leaves names of programs as they are written.
func upperFirst(s string) string {
	for _, word := range []string{"no ", "the "} {
		if strings.HasPrefix(s, word) {
			return strings.ToUpper(s[:1]) + s[1:]
		}
	}
	return s
}

// serverOptions wires one instance. Nothing here blocks.
func (w *Workspace) serverOptions(s *config.Server, root string, c *catalog.Choice) server.Options {
	o := server.Options{
		Name: s.Name, Root: root, Traits: c.Traits,
		InitializationOptions: c.InitializationOptions, Settings: c.Settings,
		LanguageID: func(path string) string { return route.LanguageID(s, path, w.header(w.ctx, path)) },
		Files: func(ctx context.Context, n int) []string {
			return w.nearRoot(ctx, s, root, n)
		},
		StartTimeout: s.StartupTimeout, StopTimeout: s.ShutdownTimeout,
		MaxFileSize: w.maxFileSize(), Log: w.o.Log.With("server", s.Name), Version: w.o.Version,
	}
	if s.MaxRestarts != nil {
		o.MaxRestarts = *s.MaxRestarts
	}
	if s.RestartOnCrash != nil && !*s.RestartOnCrash {
		o.MaxRestarts = -1
	}
	ceiling := w.settleLimit()
	if s.SettleTimeout > 0 {
		ceiling = s.SettleTimeout
	}
	if r := &o.Traits.Readiness; ceiling > 0 && (r.Ceiling == 0 || r.Ceiling > ceiling) {
		r.Ceiling = ceiling
	}
	spec := proc.Spec{Path: c.Path, Args: c.Args, Dir: root, Env: w.childEnv(c)}
	o.Dial = func(ctx context.Context) (proc.Handle, error) { return proc.Start(ctx, spec) }
	return o
}

// settleLimit leaves a fifth of the call limit for the question itself.
func (w *Workspace) settleLimit() time.Duration {
	limit := w.o.CallLimit
	if limit <= 0 {
		limit = w.conf.Settings.CallLimit
	}
	return limit * 4 / 5
}

func (w *Workspace) maxFileSize() int64 {
	if w.o.MaxFileSize > 0 {
		return w.o.MaxFileSize
	}
	return w.conf.Settings.MaxFileSize
}

// childEnv is the user's environment with the choice's laid over it. In an
// untrusted workspace PATH has no folder of the workspace.
func (w *Workspace) childEnv(c *catalog.Choice) []string {
	over := append([]string{}, c.Env...)
	if !w.grounds.Trusted {
		over = append([]string{"PATH=" + w.finder.ChildPath()}, over...)
	}
	return overlay(w.o.Env, over)
}

// overlay lets later entries win and keeps each name once.
func overlay(base, over []string) []string {
	last := map[string]string{}
	for _, kv := range over {
		if k, _, ok := strings.Cut(kv, "="); ok {
			last[k] = kv
		}
	}
	var out []string
	for _, kv := range base {
		k, _, _ := strings.Cut(kv, "=")
		if _, replaced := last[k]; !replaced {
			out = append(out, kv)
		}
	}
	for _, k := range sortedKeys(last) {
		out = append(out, last[k])
	}
	return out
}

// envDigest is what of program and environment tells two instances of the same
// configuration apart.
func (w *Workspace) envDigest(s *config.Server, c *catalog.Choice) string {
	parts := append([]string{catalog.Real(c.Path), string(c.InitializationOptions), string(c.Settings)}, c.Args...)
	if s.Entry != nil {
		for _, name := range s.Entry.ToolBinaries {
			if path, err := w.finder.Look(name); err == nil {
				parts = append(parts, catalog.Real(path))
			}
		}
		for _, name := range s.Entry.ToolVariables {
			if v := w.finder.Getenv(name); v != "" {
				parts = append(parts, name+"="+v)
			}
		}
	}
	return digest(parts)
}

// holds reports whether a library folder of the server holds the path.
func (w *Workspace) holds(ctx context.Context, name, path string) bool {
	real := catalog.Real(path)
	for _, dir := range w.dependencies(ctx, name) {
		if text.Within(dir, real) {
			return true
		}
	}
	return false
}

// dependencies lists the library folders of all resolved choices of a server.
func (w *Workspace) dependencies(ctx context.Context, name string) []string {
	w.mu.Lock()
	var rs []*resolution
	for k, r := range w.resolved {
		if name == "" || k.name == name {
			rs = append(rs, r)
		}
	}
	w.mu.Unlock()
	var out []string
	for _, r := range rs {
		out = append(out, w.depsOf(ctx, r)...)
	}
	sort.Strings(out)
	return out
}

// depsOf computes them once; two callers at once may both do it.
func (w *Workspace) depsOf(ctx context.Context, r *resolution) []string {
	w.mu.Lock()
	deps, ok := r.deps, r.depsOK
	w.mu.Unlock()
	if ok || r.choice.Dependencies == nil {
		return deps
	}
	deps = r.choice.Dependencies(ctx)
	w.mu.Lock()
	if ctx.Err() == nil {
		r.deps, r.depsOK = deps, true
	}
	w.mu.Unlock()
	return deps
}

// ReadableOutside reports whether a file outside the workspace may be asked about.
func (w *Workspace) ReadableOutside(path string) bool {
	switch w.conf.Settings.OutOfWorkspaceReads {
	case "any":
		return true
	case "off":
		return false
	}
	if _, err := os.Lstat(path); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	if w.holds(ctx, "", path) {
		return true
	}
	// Nothing was asked yet: the servers that would be.
	for i := range w.admitted {
		s := &w.admitted[i]
		if route.LanguageID(s, path, "") == "" {
			continue
		}
		roots, _ := w.rootsOf(ctx, s)
		for _, root := range roots {
			_, _ = w.resolve(ctx, s, root, "", "")
		}
	}
	return w.holds(ctx, "", path)
}

// Led remembers that an answer of the candidate led to a file outside.
func (w *Workspace) Led(path string, c intel.Candidate) {
	if text.Within(w.Root, path) {
		return
	}
	for _, in := range w.fleet.Live() {
		if in.Server == c.Server {
			w.led.put(path, in.ID)
			return
		}
	}
}
