package server

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const files = `
-- a.go --
package p

func A() {}
-- b.go --
package p

func B() { A() }
-- lib/c.go --
package lib
`

// fixture is a scripted server, its workspace and a Server that runs it.
type fixture struct {
	*Server
	t      *testing.T
	script *lsptest.Server
	root   string
}

// run makes a fixture; the server is closed at the end of the test's function by
// the cleanup, inside the same bubble.
func run(t *testing.T, script string, edit ...func(*Options)) *fixture {
	t.Helper()
	return runScripted(t, lsptest.New(t, script), edit...)
}

func runScripted(t *testing.T, script *lsptest.Server, edit ...func(*Options)) *fixture {
	t.Helper()
	root := lsptest.Workspace(t, files)
	o := Options{
		Name: "fake", Root: root, Version: "1",
		Dial: func(context.Context) (proc.Handle, error) { return script.Dial(), nil },
		LanguageID: func(path string) string {
			if filepath.Ext(path) == ".go" {
				return "go"
			}
			return ""
		},
		Files: func(context.Context, int) []string {
			return []string{filepath.Join(root, "a.go"), filepath.Join(root, "b.go"), filepath.Join(root, "lib", "c.go")}
		},
		Traits: Traits{Readiness: Readiness{Mode: ReadySelf}},
	}
	for _, e := range edit {
		e(&o)
	}
	f := &fixture{Server: New(o), t: t, script: script, root: root}
	t.Cleanup(func() {
		if err := f.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) path(name string) string { return filepath.Join(f.root, name) }

// session opens or fails the test.
func (f *fixture) session() *Session {
	f.t.Helper()
	s, err := f.Open(within(f.t, time.Minute))
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// within is a context that ends after d or with the test.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// none are params of a request without any.
func none() (any, error) { return nil, nil }

// at are params of a position request in the file.
func at(s *Session, path string) func() (any, error) {
	return func() (any, error) {
		snap, _ := s.mirror.Current(path)
		return map[string]any{"textDocument": documentID{snap.URI}, "position": map[string]int{"line": 0, "character": 0}}, nil
	}
}

// traits sets the traits.
func traits(tr Traits) func(*Options) {
	return func(o *Options) {
		if tr.Readiness.Mode == "" {
			tr.Readiness.Mode = ReadySelf
		}
		o.Traits = tr
	}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func methods(ms []lsptest.Message) (out []string) {
	for _, m := range ms {
		out = append(out, m.Method)
	}
	return out
}
