package intel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

var hierarchyPlan = plan{lsp.MethodCallHierarchy, server.Settled}

// prepareCallHierarchy lists the callables at a point, each with the object to
// ask for its calls.
func prepareCallHierarchy(ctx context.Context, q *question) (*query.Answer, error) {
	put := func(ctx context.Context, a *ask) ([]lsp.HierarchyItem, error) {
		if err := a.aim(ctx, *start(q.r.Target)); err != nil {
			return nil, err
		}
		return a.prepare(ctx)
	}
	found, a, err := first(ctx, q, q.file, hierarchyPlan, put, none)
	if err != nil {
		return nil, err
	}
	a.correct(itemNames(found))
	shown := cut(q, found, q.limit)
	items := make([]query.Item, 0, len(shown))
	v := view{a: a}
	for _, item := range shown {
		items = append(items, v.item(item))
	}
	ans := q.answer(&query.Items{Items: items})
	ans.Total.N = len(found)
	q.placed(ans, a)
	return ans, nil
}

// prepare asks for the items at the spot; when the unit of the position proves
// wrong, once more in the right one.
func (a *ask) prepare(ctx context.Context) ([]lsp.HierarchyItem, error) {
	raw, err := a.call(ctx, string(lsp.MethodCallHierarchy), a.positionParams)
	if err != nil {
		return nil, err
	}
	items, err := lsp.DecodeHierarchyItems(raw)
	if err == nil && a.correct(itemNames(items)) && a.ambiguous() {
		if raw, err = a.call(ctx, string(lsp.MethodCallHierarchy), a.positionParams); err != nil {
			return nil, err
		}
		return lsp.DecodeHierarchyItems(raw)
	}
	return items, err
}

func itemNames(items []lsp.HierarchyItem) []named {
	names := make([]named, 0, len(items))
	for _, i := range items {
		names = append(names, named{i.URI, i.Selection, plainName(i.Name)})
	}
	return names
}

// item maps an item and remembers of which state it is.
func (v *view) item(i lsp.HierarchyItem) query.Item {
	s := v.symbol(lsp.Symbol{Name: i.Name, Kind: i.Kind, Detail: i.Detail, Selection: i.Selection,
		Range: i.Range, HasSelection: true, HasRange: true}, i.URI)
	v.a.q.d.items.remember(keyOf(v.a.c.Name, i), v.a.originOf(v, i.URI))
	return query.Item{Symbol: s, JSON: shownItem(i, v.a.c.Name)}
}

// direction tells incoming from outgoing calls.
type direction struct {
	method   string
	incoming bool
}

func incomingCalls(ctx context.Context, q *question) (*query.Answer, error) {
	return q.calls(ctx, direction{"callHierarchy/incomingCalls", true})
}

func outgoingCalls(ctx context.Context, q *question) (*query.Answer, error) {
	return q.calls(ctx, direction{"callHierarchy/outgoingCalls", false})
}

// itemCalls are the calls of one asked item.
type itemCalls struct {
	of    lsp.HierarchyItem
	calls []lsp.Call
}

func noCalls(groups []itemCalls) bool {
	for _, g := range groups {
		if len(g.calls) > 0 {
			return false
		}
	}
	return true
}

func (q *question) calls(ctx context.Context, dir direction) (*query.Answer, error) {
	if hasItem(q.r) {
		return q.callsOfItem(ctx, dir)
	}
	put := func(ctx context.Context, a *ask) ([]itemCalls, error) {
		if err := a.aim(ctx, *start(q.r.Target)); err != nil {
			return nil, err
		}
		items, err := a.prepare(ctx)
		if err != nil {
			return nil, err
		}
		return a.callsOf(ctx, dir, items)
	}
	groups, a, err := first(ctx, q, q.file, hierarchyPlan, put, noCalls)
	if err != nil {
		return nil, err
	}
	ans := q.callsAnswer(ctx, a, dir, groups)
	if len(groups) > 0 {
		at := a.at.Point
		ans.At = &at
		return ans, nil
	}
	q.placed(ans, a)
	return ans, nil
}

// callsOfItem asks the server that the item is of.
func (q *question) callsOfItem(ctx context.Context, dir direction) (*query.Answer, error) {
	item, name, err := wireItem(q.r.Item)
	if err != nil {
		return nil, err
	}
	if q.file, err = q.d.resolve(item.URI); err != nil {
		return nil, err
	}
	given := q.r.Server
	if q.r.Server == "" {
		q.r.Server = name
	}
	put := func(ctx context.Context, a *ask) ([]itemCalls, error) {
		current, err := a.currentItem(ctx, item)
		if err != nil {
			return nil, err
		}
		return a.callsOf(ctx, dir, []lsp.HierarchyItem{current})
	}
	groups, a, err := first(ctx, q, q.file, hierarchyPlan, put, noCalls)
	q.r.Server = given
	if err != nil {
		return nil, err
	}
	return q.callsAnswer(ctx, a, dir, groups), nil
}

// currentItem is the item itself while its generation and text are those in which
// it was handed out, else the same item prepared anew. An item of unknown origin
// is taken as it is when its name stands where it says and nothing opaque hangs on it.
func (a *ask) currentItem(ctx context.Context, item lsp.HierarchyItem) (lsp.HierarchyItem, error) {
	if a.snap.Map == nil {
		return item, nil
	}
	v := view{a: a}
	known, ok := a.q.d.items.recall(keyOf(a.c.Name, item))
	if ok && known == a.originOf(&v, item.URI) {
		return item, nil
	}
	inPlace := reads(a.snap.Map, item.Selection.Start, a.wire(), plainName(item.Name))
	if !ok && inPlace && !hasData(item) {
		return item, nil
	}
	fresh, found := a.prepareAgain(ctx, item)
	switch {
	case found:
		return fresh, nil
	case !ok && inPlace:
		return item, nil
	}
	return item, &query.Error{Kind: query.StaleText, Server: a.c.Name, Path: a.file.Shown,
		Message: fmt.Sprintf("The call-hierarchy item %q is stale: %s has changed since it was prepared.", item.Name, a.file.Shown),
		Hint:    "Ask prepareCallHierarchy again, or ask for the calls by position."}
}

func hasData(item lsp.HierarchyItem) bool {
	fields, err := members(item.Raw)
	return err == nil && field(fields, "data") != nil
}

// prepareAgain prepares the item at its selection and picks the one of the same
// name and kind.
func (a *ask) prepareAgain(ctx context.Context, item lsp.HierarchyItem) (lsp.HierarchyItem, bool) {
	raw, err := a.call(ctx, string(lsp.MethodCallHierarchy), func() (any, error) {
		return positionParams{documentID{a.uri()}, item.Selection.Start}, nil
	})
	if err != nil {
		return item, false
	}
	items, err := lsp.DecodeHierarchyItems(raw)
	if err != nil {
		return item, false
	}
	for _, i := range items {
		if i.Name == item.Name && i.Kind == item.Kind {
			return i, true
		}
	}
	return item, false
}

// callsOf asks for the calls of each item.
func (a *ask) callsOf(ctx context.Context, dir direction, items []lsp.HierarchyItem) ([]itemCalls, error) {
	groups := make([]itemCalls, 0, len(items))
	for _, item := range items {
		raw, err := a.call(ctx, dir.method, func() (any, error) {
			return struct {
				Item json.RawMessage `json:"item"`
			}{item.Raw}, nil
		})
		if err != nil {
			return nil, err
		}
		calls, err := lsp.DecodeCalls(raw)
		if err != nil {
			return nil, err
		}
		groups = append(groups, itemCalls{item, calls})
	}
	return groups, nil
}

func (q *question) callsAnswer(ctx context.Context, a *ask, dir direction, groups []itemCalls) *query.Answer {
	body := &query.Calls{}
	ans := q.answer(body)
	v := view{a: a}
	for _, g := range groups {
		all := siting(q.d, g.calls, func(c lsp.Call) string { return c.Item.URI })
		all = sift(ctx, q, all)
		sortCalls(all, dir)
		group := query.CallGroup{Of: v.item(g.of), Total: query.Count{N: len(all)}}
		for _, x := range cut(q, all, q.limit) {
			group.Calls = append(group.Calls, v.call(x.item, g.of, dir))
		}
		ans.Total.N += len(all)
		body.Groups = append(body.Groups, group)
	}
	return ans
}

// sortCalls orders calls by where they happen: incoming ones by caller's file and
// site, outgoing ones by their sites in the asked item.
func sortCalls(all []sited[lsp.Call], dir direction) {
	for i := range all {
		sites := all[i].item.Ranges
		slices.SortFunc(sites, func(a, b lsp.Range) int { return comparePositions(a.Start, b.Start) })
		all[i].item.Ranges = slices.Compact(sites)
	}
	slices.SortStableFunc(all, func(a, b sited[lsp.Call]) int {
		if dir.incoming {
			return cmp.Or(byFile(a, b), comparePositions(firstSite(a.item), firstSite(b.item)))
		}
		return cmp.Or(cmp.Compare(rank(a.generated), rank(b.generated)),
			comparePositions(firstSite(a.item), firstSite(b.item)))
	})
}

// firstSite sorts calls without a site last.
func firstSite(c lsp.Call) lsp.Position {
	if len(c.Ranges) == 0 {
		return lsp.Position{Line: ^uint32(0)}
	}
	return c.Ranges[0].Start
}

// call maps a call; its sites lie in the caller's file, which is the other item's
// for incoming calls and the asked item's for outgoing ones.
func (v *view) call(c lsp.Call, of lsp.HierarchyItem, dir direction) query.Call {
	out := query.Call{Item: v.item(c.Item)}
	caller := of.URI
	if dir.incoming {
		caller = c.Item.URI
	}
	path := v.a.q.d.locate(caller).Path
	for _, r := range c.Ranges {
		out.Sites = append(out.Sites, v.span(path, r).Start)
	}
	return out
}
