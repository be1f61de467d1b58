package dragoman

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// Multi is the backend of a program that was started where no workspace is (/, the
// home folder, a temporary folder): each absolute path asked about opens its own
// workspace, several side by side.
type Multi struct {
	o     *Options
	start string

	// turn has room for one: its holder may open a workspace, so that two questions
	// do not open the same folder.
	turn chan struct{}

	mu     sync.Mutex // guards the fields below; never held over I/O
	closed bool
	open   map[string]*Workspace
}

var _ query.Backend = (*Multi)(nil)

// OpenAuto opens no folder yet. start is where the program was started, for error
// messages. o may be nil. Close must be called.
func OpenAuto(start string, o *Options) *Multi {
	if o == nil {
		o = &Options{}
	}
	return &Multi{o: o, start: start, turn: make(chan struct{}, 1), open: map[string]*Workspace{}}
}

// OpenFound opens the folder that FindWorkspace chooses, or a Multi where there is
// none. dir is "" for the second.
func OpenFound(ctx context.Context, start string, o *Options) (b query.Backend, dir, how string, err error) {
	env := os.Environ()
	if o != nil && o.Env != nil {
		env = o.Env
	}
	dir, how, err = FindWorkspace(start, env)
	if err != nil {
		return nil, "", "", &query.Error{Kind: query.BadRequest, Message: upper(err.Error()) + ".", Err: err,
			Hint: "Name an existing folder with --workspace."}
	}
	if dir == "" {
		return OpenAuto(start, o), "", how, nil
	}
	ws, err := Open(ctx, dir, o)
	if err != nil {
		return nil, "", "", err
	}
	return ws, dir, how, nil
}

// Do answers in the workspace of the asked path.
func (m *Multi) Do(ctx context.Context, r query.Request) (*query.Answer, error) {
	ws, err := m.workspace(ctx, r)
	if err != nil {
		return nil, err
	}
	return ws.Do(ctx, r)
}

// workspace finds or opens the one for a request: that of its path; for questions
// without a path the only one that is open.
func (m *Multi) workspace(ctx context.Context, r query.Request) (*Workspace, error) {
	path := r.Target.Path
	if p, ok := text.URIToPath(path); ok {
		path = p
	}
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	m.mu.Lock()
	closed := m.closed
	m.mu.Unlock()
	if closed {
		return nil, &query.Error{Kind: query.Canceled, Op: r.Op, Message: "The workspace is closed."}
	}
	if !filepath.IsAbs(path) || text.IsUNC(path) {
		if all := m.all(); len(all) == 1 {
			return all[0], nil
		}
		return nil, &query.Error{
			Kind: query.BadRequest, Op: r.Op, Path: r.Target.Path,
			Message: fmt.Sprintf("No workspace is known: dragoman was started in %s.", m.start),
			Hint:    "Give an absolute path, or start it with --workspace DIR.",
		}
	}
	path = filepath.Clean(path)
	var innermost *Workspace
	for _, ws := range m.all() {
		if text.Within(ws.Root(), path) && (innermost == nil || len(ws.Root()) > len(innermost.Root())) {
			innermost = ws
		}
	}
	if innermost != nil {
		return innermost, nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil, &query.Error{Kind: query.BadRequest, Op: r.Op, Path: path, Err: err,
			Message: fmt.Sprintf("File not found: %s.", path), Hint: "Check the path."}
	}
	dir := workspaceOf(path, m.env())
	ws, err := Open(ctx, dir, m.o)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.open[dir] = ws
	m.mu.Unlock()
	return ws, nil
}

func (m *Multi) env() []string {
	if m.o.Env != nil {
		return m.o.Env
	}
	return os.Environ()
}

func (m *Multi) all() []*Workspace {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*Workspace
	for _, ws := range m.open {
		out = append(out, ws)
	}
	return out
}

// Status joins those of all open workspaces.
func (m *Multi) Status(ctx context.Context) (*query.Status, error) {
	joined := &query.Status{Servers: []query.ServerStatus{}}
	for _, ws := range m.all() {
		st, err := ws.Status(ctx)
		if err != nil {
			return nil, err
		}
		joined.Servers = append(joined.Servers, st.Servers...)
		joined.Skipped = append(joined.Skipped, st.Skipped...)
		joined.Notes = append(joined.Notes, "workspace "+st.Workspace)
		joined.Notes = append(joined.Notes, st.Notes...)
	}
	if len(joined.Notes) == 0 {
		joined.Notes = []string{"no workspace is open; each absolute path asked about opens its own"}
	}
	return joined, nil
}

// Close closes all workspaces in parallel.
func (m *Multi) Close(ctx context.Context) error {
	m.turn <- struct{}{} // bounded: opening reads two small files
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	<-m.turn
	all := m.all()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, ws := range all {
		wg.Go(func() { errs[i] = ws.Close(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
