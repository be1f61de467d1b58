package intel

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

// scripted is a server of a fixture.
type scripted struct {
	name   string
	script string
	traits server.Traits
	// tune changes the candidate.
	tune func(*Candidate)
}

// fixture is a workspace whose servers are scripted.
type fixture struct {
	t       *testing.T
	root    string
	d       *Deps
	servers map[string]*lsptest.Server
	cands   []Candidate
}

// self is a server that is always settled.
var self = server.Traits{Readiness: server.Readiness{Mode: server.ReadySelf}}

// bubble runs f on a fixture in virtual time.
func bubble(t *testing.T, archive string, servers []scripted, f func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newFixture(t, archive, servers)) })
}

// lone is one server that is always settled.
func lone(script string) []scripted {
	return []scripted{{name: "one", script: script, traits: self}}
}

func newFixture(t *testing.T, archive string, servers []scripted) *fixture {
	t.Helper()
	root := lsptest.Workspace(t, archive)
	f := &fixture{t: t, root: root, servers: map[string]*lsptest.Server{}}
	f.d = &Deps{Root: root, RealRoot: root, Candidates: f.candidates}
	for _, s := range servers {
		f.add(s)
	}
	return f
}

func (f *fixture) add(s scripted) {
	f.t.Helper()
	peer := lsptest.New(f.t, s.script)
	srv := server.New(server.Options{
		Name: s.name, Root: f.root, Traits: s.traits,
		Dial:       func(context.Context) (proc.Handle, error) { return peer.Dial(), nil },
		LanguageID: func(string) string { return "go" },
		Files: func(context.Context, int) []string {
			found, _ := filepath.Glob(filepath.Join(f.root, "*.go"))
			return found
		},
	})
	f.t.Cleanup(func() {
		if err := srv.Close(context.Background()); err != nil {
			f.t.Error(err)
		}
	})
	c := Candidate{Name: s.name, LanguageID: "go", Server: srv}
	if s.tune != nil {
		s.tune(&c)
	}
	f.servers[s.name] = peer
	f.cands = append(f.cands, c)
}

func (f *fixture) candidates(_ context.Context, _, serverName string) ([]Candidate, error) {
	if serverName == "" {
		return f.cands, nil
	}
	for _, c := range f.cands {
		if c.Name == serverName {
			return []Candidate{c}, nil
		}
	}
	return nil, badRequest("", "No server is named "+serverName+".", "")
}

// ask fails the test when there is no answer.
func (f *fixture) ask(r query.Request) *query.Answer {
	f.t.Helper()
	a, err := Do(f.t.Context(), f.d, r)
	if err != nil {
		f.t.Fatalf("%s: %v (%s)", r.Op, err, query.KindOf(err))
	}
	return a
}

// refused returns the error of a question that must have one.
func (f *fixture) refused(r query.Request) *query.Error {
	f.t.Helper()
	a, err := Do(f.t.Context(), f.d, r)
	e, ok := err.(*query.Error)
	if !ok {
		f.t.Fatalf("%s: answer %+v, error %v; want a *query.Error", r.Op, a, err)
	}
	return e
}

// at is a request about a point of a file.
func at(op query.Op, path string, line, column int) query.Request {
	return query.Request{Op: op, Target: query.Target{Path: path, At: &query.Point{Line: line, Column: column}}}
}

// placesOf prints places as "path:line:col [servers]".
func placesOf(a *query.Answer) string {
	var places []query.Place
	switch b := a.Body.(type) {
	case *query.Places:
		places = b.Items
	case *query.Outline:
		for _, s := range b.Items {
			places = append(places, s.Place)
		}
	case *query.Found:
		for _, s := range b.Items {
			places = append(places, s.Place)
		}
	}
	return shownPlaces(places)
}

func shownPlaces(places []query.Place) string {
	var out []string
	for _, p := range places {
		out = append(out, p.Path+":"+point(p.Span.Start))
	}
	return strings.Join(out, " ")
}

func point(p query.Point) string {
	raw, _ := json.Marshal([]int{p.Line, p.Column})
	return strings.ReplaceAll(strings.Trim(string(raw), "[]"), ",", ":")
}

func hasNote(a *query.Answer, code, text string) bool {
	return slices.ContainsFunc(a.Notes, func(n query.Note) bool {
		return n.Code == code && strings.Contains(n.Text, text)
	})
}

// want compares what is printed.
func want(t *testing.T, what, got, wanted string) {
	t.Helper()
	if got != wanted {
		t.Errorf("%s:\ngot  %s\nwant %s", what, got, wanted)
	}
}

// rangeJSON is a wire range on one line.
func rangeJSON(line, from, to int) string {
	raw, _ := json.Marshal(map[string]any{
		"start": map[string]int{"line": line, "character": from},
		"end":   map[string]int{"line": line, "character": to},
	})
	return string(raw)
}

const soon = 100 * time.Millisecond
