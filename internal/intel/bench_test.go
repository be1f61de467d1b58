package intel

import (
	"context"
	"os"
	"testing"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

// BenchmarkHover is a whole question; BenchmarkHoverRaw is the bare call that it
// contains. Their difference is what the product adds.
func BenchmarkHover(b *testing.B) {
	d, _ := benchmarked(b)
	r := at(query.Hover, "hover.go", 12, 8)
	for b.Loop() {
		if _, err := Do(b.Context(), d, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHoverRaw(b *testing.B) {
	_, sess := benchmarked(b)
	snap, _ := sess.Mirror().Current(sess.Mirror().Open()[0].Path)
	params := positionParams{documentID{snap.URI}, lsp.Position{Line: 11, Character: 7}}
	for b.Loop() {
		if _, err := sess.Call(b.Context(), "textDocument/hover", func() (any, error) { return params, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarked is a warm server with hover.go of this folder open.
func benchmarked(b *testing.B) (*Deps, *server.Session) {
	root, err := os.Getwd() // a file that was just written would be read each time
	if err != nil {
		b.Fatal(err)
	}
	peer := lsptest.New(b, `on hover reply {"contents":{"kind":"markdown","value":"func run()"}}`)
	srv := server.New(server.Options{Name: "one", Root: root, Traits: self,
		Dial:       func(context.Context) (proc.Handle, error) { return peer.Dial(), nil },
		LanguageID: func(string) string { return "go" }})
	b.Cleanup(func() { _ = srv.Close(context.Background()) })
	cands := []Candidate{{Name: "one", LanguageID: "go", Server: srv}}
	d := &Deps{Root: root, RealRoot: root, Candidates: func(context.Context, string, string) ([]Candidate, error) { return cands, nil }}
	if _, err := Do(b.Context(), d, at(query.Hover, "hover.go", 12, 8)); err != nil {
		b.Fatal(err)
	}
	sess, err := srv.Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return d, sess
}
