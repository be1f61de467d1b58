package workspace

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/config"
	"github.com/dragoman-dev/dragoman/internal/fleet"
	"github.com/dragoman-dev/dragoman/internal/route"
	"github.com/dragoman-dev/dragoman/query"
)

// Live is an instance with what people want to know of it.
type Live struct {
	fleet.Instance
	Command          []string
	Limited, Missing string
}

// Live lists the instances, most recently asked first.
func (w *Workspace) Live() []Live {
	w.mu.Lock()
	byID := map[fleet.Identity]*resolution{}
	for _, r := range w.resolved {
		byID[r.id] = r
	}
	w.mu.Unlock()
	var out []Live
	for _, in := range w.fleet.Live() {
		l := Live{Instance: in}
		if r := byID[in.ID]; r != nil {
			l.Command = append([]string{r.choice.Path}, r.choice.Args...)
			l.Limited, l.Missing = r.choice.Limited, r.choice.Missing
		}
		out = append(out, l)
	}
	return out
}

// MaxFileSize is the limit in force, in bytes.
func (w *Workspace) MaxFileSize() int64 { return w.maxFileSize() }

// IgnoreState says how git-ignored files are known.
func (w *Workspace) IgnoreState() string {
	if w.files.git == "" {
		return "built-in matcher (git is not on PATH; unusual patterns may be misread)"
	}
	return "git"
}

// Fact is one choice made for the project.
type Fact = catalog.Fact

// Report tells about one server whose language occurs in the workspace.
type Report struct {
	Language string   `json:"language"`
	Files    int      `json:"files"`
	Server   string   `json:"server"`
	Program  string   `json:"program,omitempty"`
	Roots    []string `json:"roots,omitempty"`
	Facts    []Fact   `json:"facts,omitempty"`
	Limited  string   `json:"limited,omitempty"`
	// Problem is why it does not answer, or not wholly; Run what would change that.
	Problem string `json:"problem,omitempty"`
	Run     string `json:"run,omitempty"`
}

// Reports tells, for each admitted server whose language occurs, how it would be
// run. It starts nothing. files is the number of files in the workspace.
func (w *Workspace) Reports(ctx context.Context) (reports []Report, files int) {
	all, _ := w.files.list(ctx)
	for i := range w.admitted {
		s := &w.admitted[i]
		n := 0
		for _, f := range all {
			if route.LanguageID(s, f, "cpp") != "" {
				n++
			}
		}
		if n > 0 {
			reports = append(reports, w.report(ctx, s, n))
		}
	}
	return reports, len(all)
}

func (w *Workspace) report(ctx context.Context, s *config.Server, n int) Report {
	r := Report{Language: language(s), Files: n, Server: s.Name}
	roots, left := w.rootsOf(ctx, s)
	for _, root := range roots {
		r.Roots = append(r.Roots, w.shown(root))
	}
	r.Roots = append(r.Roots, left...)
	if len(roots) == 0 {
		roots = []string{w.Root}
	}
	file := ""
	if near := w.nearRoot(ctx, s, roots[0], 1); len(near) > 0 {
		file = near[0]
	}
	res, err := w.resolve(ctx, s, roots[0], w.variant(s, roots[0], file), file)
	var e *query.Error
	switch {
	case errors.As(err, &e):
		r.Problem, r.Run = e.Message, e.Hint
	case err != nil:
		r.Problem = err.Error()
	default:
		r.Program, r.Facts, r.Limited = res.choice.Path, res.choice.Facts, res.choice.Limited
		r.Problem = res.choice.Missing
	}
	return r
}

func language(s *config.Server) string {
	if s.Entry != nil {
		return s.Entry.Title
	}
	if len(s.Languages) > 0 {
		return s.Languages[0]
	}
	return s.Name
}

func (w *Workspace) shown(path string) string {
	if rel, err := filepath.Rel(w.Root, path); err == nil {
		return rel
	}
	return path
}
