package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/config"
	"github.com/dragoman-dev/dragoman/internal/fleet"
	"github.com/dragoman-dev/dragoman/internal/intel"
	"github.com/dragoman-dev/dragoman/internal/route"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// Candidates finds the servers for a file (absolute), or for the whole workspace
// (path ""), in the order in which they are asked. Errors are *query.Error.
func (w *Workspace) Candidates(ctx context.Context, path, serverName string) ([]intel.Candidate, error) {
	if !w.conf.Settings.Enabled {
		return nil, unavailable("the setting lsp.enabled is false; run `dragoman config set lsp.enabled true`.")
	}
	if len(w.admitted) == 0 {
		return nil, unavailable("no server may run here; " + w.whySkipped())
	}
	if path == "" {
		return w.everywhere(ctx, serverName)
	}
	path = w.real(path)
	if !text.Within(w.Root, path) {
		return w.outside(ctx, path, serverName)
	}
	r := w.routes.ask(path+"\x00"+serverName, func() routed {
		q := route.Question{Workspace: w.Root, Path: path, Server: serverName, Header: w.header(ctx, path)}
		to, err := route.For(w.markers, w.admitted, q)
		return routed{to, err}
	})
	if r.err != nil {
		return nil, w.explain(r.err, path, serverName)
	}
	return w.build(ctx, r.to, path)
}

// routed is where a file is asked about.
type routed struct {
	to  []route.Candidate
	err error
}

func unavailable(hint string) error {
	return &query.Error{Kind: query.NoServer, Message: "LSP is unavailable (LSP disabled or not initialized)", Hint: hint}
}

func (w *Workspace) whySkipped() string {
	if len(w.skipped) == 0 {
		return "none is configured."
	}
	s := w.skipped[0]
	return strings.TrimSpace(fmt.Sprintf("%s: %s. %s", s.Name, s.Detail, s.Hint))
}

// build makes the instances of routed servers. Those that are not installed are
// left out as long as another one answers.
func (w *Workspace) build(ctx context.Context, to []route.Candidate, path string) ([]intel.Candidate, error) {
	var out []intel.Candidate
	var first error
	for _, r := range to {
		c, err := w.instance(ctx, r.Server, r.Root, path, r.LanguageID)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, first
	}
	return out, nil
}

// explain improves "no server" where a server exists that may not run.
func (w *Workspace) explain(err error, path, serverName string) error {
	var e *query.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, s := range slices.Concat(w.conf.Untrusted, w.conf.Servers) {
		for _, sk := range w.skipped {
			if sk.Name != s.Name || sk.Reason == "" {
				continue
			}
			if serverName == s.Name || serverName == "" && route.LanguageID(&s, path, "") != "" {
				return &query.Error{
					Kind: query.NotAdmitted, Server: s.Name, Path: e.Path,
					Message: fmt.Sprintf("%s may not run here: %s.", s.Name, sk.Detail), Hint: sk.Hint,
				}
			}
		}
	}
	return err
}

// outside routes a file that does not lie in the workspace: to the instance whose
// answer led there, else to a server whose libraries hold it.
func (w *Workspace) outside(ctx context.Context, path, serverName string) ([]intel.Candidate, error) {
	pool, err := route.Named(w.admitted, serverName)
	if err != nil {
		return nil, err
	}
	if id, ok := w.led.get(path); ok {
		if c, ok := w.live(ctx, id, path); ok && (serverName == "" || isOne(pool, id.Name)) {
			return []intel.Candidate{c}, nil
		}
	}
	var out []intel.Candidate
	for _, s := range pool {
		lang := route.LanguageID(s, path, w.header(ctx, path))
		if lang == "" {
			continue
		}
		roots, _ := w.rootsOf(ctx, s)
		for _, root := range roots {
			c, err := w.instance(ctx, s, root, "", lang)
			if err == nil && w.holds(ctx, s.Name, path) {
				out = append(out, c)
				break
			}
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, &query.Error{
		Kind: query.NoServer, Path: path,
		Message: fmt.Sprintf("%s is outside the workspace and no server here knows it.", path),
		Hint:    "Open the project that it belongs to with --workspace.",
	}
}

func isOne(pool []*config.Server, name string) bool {
	for _, s := range pool {
		if s.Name == name {
			return true
		}
	}
	return false
}

// live returns the running instance of an identity as a candidate for path.
func (w *Workspace) live(ctx context.Context, id fleet.Identity, path string) (intel.Candidate, bool) {
	for i := range w.admitted {
		s := &w.admitted[i]
		if s.Name != id.Name {
			continue
		}
		c, err := w.instanceOf(ctx, s, id.Root, id.Variant, path, route.LanguageID(s, path, w.header(ctx, path)))
		return c, err == nil && c.LanguageID != ""
	}
	return intel.Candidate{}, false
}

// everywhere lists the servers whose language occurs in the workspace, each with
// its roots.
func (w *Workspace) everywhere(ctx context.Context, serverName string) ([]intel.Candidate, error) {
	pool, err := route.Named(w.admitted, serverName)
	if err != nil {
		return nil, w.explain(err, "", serverName)
	}
	var out []intel.Candidate
	var first error
	for _, s := range pool {
		roots, left := w.rootsOf(ctx, s)
		for i, root := range roots {
			c, err := w.instance(ctx, s, root, "", "")
			if err != nil {
				if first == nil {
					first = err
				}
				break
			}
			if i == 0 {
				c.Unasked = left
			}
			out = append(out, c)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case first != nil:
		return nil, first
	case serverName != "":
		return nil, &query.Error{Kind: query.NoServer, Server: serverName,
			Message: fmt.Sprintf("The workspace has no file that %s serves.", serverName),
			Hint:    "Name another server, or none."}
	}
	return nil, unavailable("the workspace has no file of a language with a known server (" +
		titles() + "); add a server to .lsp.json.")
}

func titles() string {
	var out []string
	for _, e := range catalog.All() {
		out = append(out, e.Title)
	}
	return strings.Join(out, ", ")
}

// rootsOf lists the roots of a server that the workspace's files call for, at most
// as many as the fleet keeps: those of live instances first, then the roots nearest
// the top. left are the others, as shown.
func (w *Workspace) rootsOf(ctx context.Context, s *config.Server) (roots, left []string) {
	if s.WorkspaceFolder != "" {
		return []string{s.WorkspaceFolder}, nil
	}
	seen := map[string]bool{}
	add := func(root string) {
		if seen[root] {
			return
		}
		seen[root] = true
		if len(roots) == fleet.DefaultPerName {
			left = append(left, w.shown(root))
			return
		}
		roots = append(roots, root)
	}
	for _, in := range w.fleet.Live() {
		if in.ID.Name == s.Name {
			add(in.ID.Root)
		}
	}
	var found []string
	dirs := map[string]bool{}
	for _, f := range w.served(ctx, s, 20000) {
		dir := filepath.Dir(f)
		if dirs[dir] {
			continue
		}
		dirs[dir] = true
		if root, ok := route.Root(w.markers, s, w.Root, f); ok && !seen[root] {
			found = append(found, root)
		}
	}
	sort.SliceStable(found, func(i, j int) bool {
		if a, b := depth(found[i]), depth(found[j]); a != b {
			return a < b
		}
		return found[i] < found[j]
	})
	for _, root := range found {
		add(root)
	}
	return roots, left
}

func depth(path string) int { return strings.Count(path, string(filepath.Separator)) }

// eagerRoot is where an explicitly configured server starts before any question.
func (w *Workspace) eagerRoot(s *config.Server) string {
	if s.WorkspaceFolder != "" {
		return s.WorkspaceFolder
	}
	return w.Root
}

// header is the language of .h files in the folder of path.
func (w *Workspace) header(ctx context.Context, path string) string {
	if !strings.EqualFold(filepath.Ext(path), ".h") {
		return ""
	}
	dir := filepath.Dir(path)
	w.mu.Lock()
	id, ok := w.headers[dir]
	w.mu.Unlock()
	if ok {
		return id
	}
	id = catalog.Header(ctx, path, w.has)
	w.mu.Lock()
	w.headers[dir] = id
	w.mu.Unlock()
	return id
}
