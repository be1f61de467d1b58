package intel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// foundSymbol is a workspace symbol and the servers that gave it, the first of
// which is asked more about it.
type foundSymbol struct {
	symbol  lsp.Symbol
	from    *ask
	servers []string
}

// workspaceSymbol merges what all servers find, exact names first, and adds the
// references of the best match.
func workspaceSymbol(ctx context.Context, q *question) (*query.Answer, error) {
	params := struct {
		Query string `json:"query"`
	}{strings.TrimSpace(q.r.Query)}
	put := func(ctx context.Context, a *ask) ([]lsp.Symbol, error) {
		if a.c.TSServer {
			if found, ok := a.navto(ctx, params.Query); ok {
				return found, nil
			}
		}
		raw, err := a.call(ctx, string(lsp.MethodWorkspaceSymbol), func() (any, error) { return params, nil })
		if err != nil {
			return nil, err
		}
		return lsp.DecodeSymbols(raw)
	}
	parts, err := every(ctx, q, subject{}, plan{lsp.MethodWorkspaceSymbol, server.Settled}, put, none)
	if err != nil {
		return nil, err
	}
	merged, capped := mergeSymbols(parts)
	all := siting(q.d, merged, func(f foundSymbol) string { return f.symbol.URI })
	all = sift(ctx, q, all)
	bestFirst(all, params.Query)
	found := &query.Found{}
	ans := q.answer(found)
	ans.Query = params.Query
	ans.Total = query.Count{N: len(all), AtLeast: capped}
	q.showSymbols(ctx, found, cut(q, all, q.limit))
	return ans, nil
}

// mergeSymbols joins the servers' lists; capped says that one of them is as long
// as its server makes them.
func mergeSymbols(parts []part[[]lsp.Symbol]) (merged []foundSymbol, capped bool) {
	type key struct {
		name, uri string
		start     lsp.Position
	}
	index := map[key]int{}
	for _, p := range parts {
		capped = capped || p.c.SymbolCap > 0 && len(p.value) == p.c.SymbolCap
		for _, s := range p.value {
			k := key{s.Name, text.CanonicalURI(s.URI), s.Selection.Start}
			if i, ok := index[k]; ok {
				if !slices.Contains(merged[i].servers, p.c.Name) {
					merged[i].servers = append(merged[i].servers, p.c.Name)
				}
				continue
			}
			index[k] = len(merged)
			merged = append(merged, foundSymbol{s, p.a, []string{p.c.Name}})
		}
	}
	return merged, capped
}

// bestFirst puts exact names before others and generated files last, and else
// keeps the servers' order.
func bestFirst(all []sited[foundSymbol], wanted string) {
	slices.SortStableFunc(all, func(a, b sited[foundSymbol]) int {
		return cmp.Or(cmp.Compare(rank(a.generated), rank(b.generated)),
			cmp.Compare(nameRank(a.item.symbol.Name, wanted), nameRank(b.item.symbol.Name, wanted)))
	})
}

func nameRank(name, wanted string) int {
	plain := plainName(name)
	switch {
	case name == wanted || plain == wanted:
		return 0
	case strings.EqualFold(name, wanted) || strings.EqualFold(plain, wanted):
		return 1
	}
	return 2
}

// showSymbols maps the symbols that are shown and asks for the references of the first.
func (q *question) showSymbols(ctx context.Context, found *query.Found, shown []sited[foundSymbol]) {
	for i := range shown {
		q.resolveRange(ctx, &shown[i].item)
	}
	for _, a := range asks(shown) {
		a.correct(symbolNames(a, shown))
	}
	vs := views{}
	for _, x := range shown {
		v := vs.of(x.item.from)
		s := v.symbol(x.item.symbol, x.item.symbol.URI)
		s.Place.Servers = x.item.servers
		found.Items = append(found.Items, s)
	}
	if len(found.Items) > 0 {
		q.topReferences(ctx, found, shown[0])
	}
}

func asks(shown []sited[foundSymbol]) (list []*ask) {
	for _, x := range shown {
		if !slices.Contains(list, x.item.from) {
			list = append(list, x.item.from)
		}
	}
	return list
}

func symbolNames(a *ask, shown []sited[foundSymbol]) (names []named) {
	for _, x := range shown {
		if s := x.item.symbol; x.item.from == a && s.HasSelection {
			names = append(names, named{s.URI, s.Selection, plainName(s.Name)})
		}
	}
	return names
}

// resolveRange asks for the range of a symbol that came without one.
func (q *question) resolveRange(ctx context.Context, f *foundSymbol) {
	if f.symbol.HasRange {
		return
	}
	if f.from.sess.Capabilities().Resolves(lsp.MethodWorkspaceSymbol) {
		raw, err := f.from.call(ctx, "workspaceSymbol/resolve", func() (any, error) { return f.symbol.Raw, nil })
		if err == nil {
			full, err := lsp.DecodeSymbols(append(append(json.RawMessage("["), raw...), ']'))
			if err == nil && len(full) == 1 && full[0].HasRange {
				f.symbol = full[0]
				return
			}
		}
	}
	q.book.note("partial", fmt.Sprintf("%s gives no positions for some symbols; their files' first line is shown.", f.from.c.Name))
}

// topLimit is how many references of the best match are shown.
func (q *question) topLimit() int { return min(20, max(q.limit, 5)) }

// topReferences adds the references of the best match; a failure is only noted.
func (q *question) topReferences(ctx context.Context, found *query.Found, top sited[foundSymbol]) {
	if top.at.Path == "" || !top.item.symbol.HasRange {
		return
	}
	found.Top = &found.Items[0]
	file := subject{Path: top.at.Path, Shown: top.at.Shown}
	c := q.sameServer(ctx, file, top.item.from.c)
	put := func(ctx context.Context, a *ask) ([]lsp.Location, error) {
		if err := a.stand(found.Top.Place.Span.Start); err != nil {
			return nil, err
		}
		return a.references(ctx, referenceContext{})
	}
	refs, a, err := one(ctx, q, c, file, plan{lsp.MethodReferences, server.Initialized}, put, none)
	if err != nil {
		if !isUnsupported(err) {
			q.book.note("partial", "the references of the top match could not be found: "+q.sentence(c, err))
		}
		return
	}
	all := sift(ctx, q, siting(q.d, refs, locationURI))
	sortReferences(all)
	found.RefTotal = count(len(all), len(refs), c.ReferenceCap)
	found.References = mapped(a, cut(q, all, q.topLimit()))
}

// sameServer is the candidate with the language of the file.
func (q *question) sameServer(ctx context.Context, file subject, c Candidate) Candidate {
	cands, err := q.d.Candidates(ctx, file.Path, q.r.Server)
	if err != nil {
		return c
	}
	for _, other := range cands {
		if other.Server == c.Server {
			return other
		}
	}
	return c
}
