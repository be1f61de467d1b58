//go:build integration

package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	dragoman "github.com/dragoman-dev/dragoman"
	"github.com/dragoman-dev/dragoman/query"
)

// moved is a project as a workspace above it shows it.
func moved(p *project, prefix string) *project {
	q := *p
	at := func(m mark) mark {
		m.Path = prefix + "/" + m.Path
		return m
	}
	q.Decl, q.Use, q.Broken = at(p.Decl), at(p.Use), at(p.Broken)
	q.Refs = nil
	for _, m := range p.Refs {
		q.Refs = append(q.Refs, at(m))
	}
	return &q
}

// TestMixedMonorepo: five languages in one tree, opened at the top: each file is
// answered by its server in its own root, and the status shows them.
func TestMixedMonorepo(t *testing.T) {
	path := serverPath()
	root := realTemp(t)
	type part struct {
		l lang
		p *project
	}
	parts := map[string]part{}
	for name, dir := range map[string]string{
		"gopls": "backend", "typescript": "web", "pyright": "tools/ml", "clangd": "native", "rust-analyzer": "engine",
	} {
		l := langNamed(t, name)
		require(t, path, l.Program)
		parts[filepath.Join(root, dir)] = part{l, moved(l.Make(t, filepath.Join(root, dir), 10), dir)}
	}
	h := startHost(t, root, environ(t, path))
	var wg sync.WaitGroup
	for _, part := range parts {
		for name, q := range questions(part.l, part.p) {
			wg.Go(func() {
				if a := h.ask(q.args); q.check(a) != nil {
					t.Errorf("%s: %s after %s: %v\n%s", part.l.Name, name, a.Took.Round(time.Millisecond), q.check(a), clip(a.Text))
				}
			})
		}
	}
	wg.Wait()

	ws := open(t, root, path)
	for _, part := range parts {
		do(t, ws, query.References, part.p.Use) // waits until the server is ready
	}
	st := status(t, ws)
	if len(st.Servers) != len(parts) {
		t.Errorf("%d servers run, want %d", len(st.Servers), len(parts))
	}
	for _, s := range st.Servers {
		part, ok := parts[s.Root]
		if !ok || s.Name != part.l.Label || s.State != "READY" || s.PID == 0 {
			t.Errorf("status shows %s in %s as %s (pid %d)", s.Name, s.Root, s.State, s.PID)
		}
	}
}

// TestManyRoots: more projects than instances of one server are kept; all are
// answered, in turn and again.
func TestManyRoots(t *testing.T) {
	path := serverPath()
	require(t, path, "gopls")
	root := realTemp(t)
	var projects []*project
	for i := range 6 {
		dir := fmt.Sprintf("service%d", i)
		projects = append(projects, moved(goProject(t, filepath.Join(root, dir), 0), dir))
	}
	ws := open(t, root, path)
	for range 2 {
		for _, p := range projects {
			a := do(t, ws, query.Definition, p.Use)
			if got := a.Body.(*query.Places).Items; len(got) != 1 || got[0].Path != p.Decl.Path || got[0].Span.Start.Line != p.Decl.Line {
				t.Errorf("definition at %s: %+v, want %s", p.Use, got, p.Decl)
			}
			if n := len(status(t, ws).Servers); n > 4 {
				t.Errorf("%d instances of gopls", n)
			}
		}
	}
	// All at once: none is taken away from under a question.
	var wg sync.WaitGroup
	for _, p := range projects {
		wg.Go(func() {
			a, err := ws.Do(context.Background(), query.Request{Op: query.Definition, Target: query.Target{Path: p.Use.Path, At: &query.Point{Line: p.Use.Line, Column: p.Use.Col}}})
			if err != nil {
				t.Errorf("at once: %s: %v", p.Use, err)
				return
			}
			if got := a.Body.(*query.Places).Items; len(got) != 1 || got[0].Path != p.Decl.Path {
				t.Errorf("at once: %s: %+v", p.Use, got)
			}
		})
	}
	wg.Wait()
	// A search that cannot reach all of them says so.
	a, err := ws.Do(context.Background(), query.Request{Op: query.WorkspaceSymbol, Query: "nowhereToBeFound"})
	if err != nil || !strings.Contains(a.Unsure, "not asked in 2 of its folders") {
		t.Errorf("%v, %+v", err, a)
	}
}

func open(t *testing.T, root, path string) *dragoman.Workspace {
	t.Helper()
	ws, err := dragoman.Open(context.Background(), root, &dragoman.Options{Env: environ(t, path), UserConfig: "-", StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return ws
}

func do(t *testing.T, ws *dragoman.Workspace, op query.Op, m mark) *query.Answer {
	t.Helper()
	a, err := ws.Do(context.Background(), query.Request{Op: op, Target: query.Target{Path: m.Path, At: &query.Point{Line: m.Line, Column: m.Col}}})
	if err != nil {
		t.Fatalf("%s at %s: %v", op, m, err)
	}
	return a
}

func status(t *testing.T, ws *dragoman.Workspace) *query.Status {
	t.Helper()
	st, err := ws.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return st
}
