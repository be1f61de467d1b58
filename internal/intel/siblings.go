package intel

import (
	"context"
	"slices"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/text"
)

const (
	// siblingsAsked bounds the other instances that are asked for references: with
	// the one that was asked first it is what is kept running.
	siblingsAsked = 3
	// siblingFiles bounds the files whose instance is looked up.
	siblingFiles = 200
)

// askSiblings asks the other instances of the server that serve one of the silent
// files: in a monorepo without a common configuration the package that declares a
// name has another root than those that use it. It returns what all found, and the
// files that stay silent.
func (a *ask) askSiblings(ctx context.Context, found []lsp.Location, silent []string) ([]lsp.Location, []string) {
	siblings := a.siblings(ctx, silent)
	if len(siblings) == 0 {
		return found, silent
	}
	ctx, cancel := withReserve(ctx, mergeReserve)
	defer cancel()
	for _, c := range siblings {
		more, b, err := one(ctx, a.q, c, a.file, plan{lsp.MethodReferences, server.Settled}, a.sameQuestion, none)
		if err != nil || b.wire() != a.wire() {
			continue // its files stay in the remark
		}
		found = union(found, more)
	}
	return found, a.withoutResult(silent, found)
}

func (a *ask) sameQuestion(ctx context.Context, b *ask) ([]lsp.Location, error) {
	if err := b.aim(ctx, a.at.Point); err != nil {
		return nil, err
	}
	return b.references(ctx, referenceContext{a.q.r.IncludeDeclaration})
}

// siblings are the other instances of the server for the files, each once.
func (a *ask) siblings(ctx context.Context, files []string) (list []Candidate) {
	for _, f := range files[:min(len(files), siblingFiles)] {
		cands, err := a.q.d.Candidates(ctx, f, a.q.r.Server)
		if err != nil {
			continue
		}
		for _, c := range cands {
			known := func(x Candidate) bool { return x.Server == c.Server }
			if c.Name != a.c.Name || c.Server == a.c.Server || slices.ContainsFunc(list, known) {
				continue
			}
			c.LanguageID = a.c.LanguageID // it is asked about the file of the question
			if list = append(list, c); len(list) == siblingsAsked {
				return list
			}
		}
	}
	return list
}

// union adds the locations of more that begin where none of found does.
func union(found, more []lsp.Location) []lsp.Location {
	type place struct {
		uri   string
		start lsp.Position
	}
	at := func(l lsp.Location) place { return place{text.CanonicalURI(l.URI), l.Range.Start} }
	known := make(map[place]bool, len(found))
	for _, l := range found {
		known[at(l)] = true
	}
	for _, l := range more {
		if !known[at(l)] {
			known[at(l)] = true
			found = append(found, l)
		}
	}
	return found
}
