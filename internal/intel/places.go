package intel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/query"
)

// uniqueLocations removes repeated locations and keeps the order.
func uniqueLocations(ls []lsp.Location) []lsp.Location {
	type key struct {
		uri  string
		rang lsp.Range
	}
	seen := make(map[key]bool, len(ls))
	return slices.DeleteFunc(ls, func(l lsp.Location) bool {
		k := key{l.URI, l.Range}
		if seen[k] {
			return true
		}
		seen[k] = true
		return false
	})
}

// sited is a result with its place before mapping.
type sited[T any] struct {
	item      T
	at        located
	generated bool
}

// siting finds where results lie; path names each once.
func siting[T any](d *Deps, items []T, uri func(T) string) []sited[T] {
	known := map[string]located{}
	out := make([]sited[T], 0, len(items))
	for _, item := range items {
		u := uri(item)
		at, ok := known[u]
		if !ok {
			at = d.locate(u)
			known[u] = at
		}
		out = append(out, sited[T]{item: item, at: at})
	}
	return out
}

// sift leaves out results in git-ignored files of the workspace, which are counted
// in a note, and marks those in generated files, which come last.
func sift[T any](ctx context.Context, q *question, results []sited[T]) []sited[T] {
	results = dropGone(q, results)
	results = dropIgnored(ctx, q, results)
	markGenerated(q, results)
	return results
}

// dropGone leaves out results in files that are not there any more: an index may
// remember what the disk has forgotten.
func dropGone[T any](q *question, all []sited[T]) []sited[T] {
	there := map[string]bool{"": true} // what is no file is not looked for
	return slices.DeleteFunc(all, func(r sited[T]) bool {
		known, asked := there[r.at.Path]
		if !asked {
			_, err := os.Lstat(r.at.Path)
			known = !errors.Is(err, fs.ErrNotExist)
			if !known {
				q.touch(r.at.Path)
			}
			there[r.at.Path] = known
		}
		return !known
	})
}

func dropIgnored[T any](ctx context.Context, q *question, all []sited[T]) []sited[T] {
	if q.r.IncludeIgnored || q.d.Ignore == nil {
		return all
	}
	ignored, err := q.ignored(ctx, insidePaths(all))
	if err != nil {
		q.book.note("partial", "results in git-ignored files are shown too, because git could not be asked.")
		return all
	}
	if len(ignored) == 0 {
		return all
	}
	kept := make([]sited[T], 0, len(all))
	for _, r := range all {
		if !ignored[r.at.Path] {
			kept = append(kept, r)
		}
	}
	if hidden := len(all) - len(kept); hidden > 0 {
		q.book.note("hidden", fmt.Sprintf("%s in git-ignored files not shown.", results(hidden)))
	}
	return kept
}

// insidePaths lists the workspace's files that hold results, each once.
func insidePaths[T any](all []sited[T]) []string {
	seen := map[string]bool{}
	var paths []string
	for _, r := range all {
		if r.at.Inside && !seen[r.at.Path] {
			seen[r.at.Path] = true
			paths = append(paths, r.at.Path)
		}
	}
	return paths
}

// ignored is the set of those paths that git ignores.
func (q *question) ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	flags, err := q.d.Ignore.Ignored(ctx, paths)
	if err != nil {
		return nil, err
	}
	var set map[string]bool
	for i, yes := range flags {
		if yes {
			if set == nil {
				set = map[string]bool{}
			}
			set[paths[i]] = true
		}
	}
	return set, nil
}

func markGenerated[T any](q *question, all []sited[T]) {
	paths := insidePaths(all)
	generated := generatedFiles(q.d.real(), paths)
	n := 0
	for i := range all {
		if generated[all[i].at.Path] {
			all[i].generated = true
			n++
		}
	}
	if n > 0 {
		q.book.note("generated", fmt.Sprintf("%s in generated files come last.", results(n)))
	}
}

// generatedLast moves results in generated files behind the others, which keep
// their order.
func generatedLast[T any](all []sited[T]) {
	slices.SortStableFunc(all, func(a, b sited[T]) int { return cmp.Compare(rank(a.generated), rank(b.generated)) })
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// byFile orders results: workspace first, then by path, generated files last.
func byFile[T any](a, b sited[T]) int {
	if a.generated != b.generated {
		return cmp.Compare(rank(a.generated), rank(b.generated))
	}
	if a.at.Inside != b.at.Inside {
		if a.at.Inside {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.at.Shown, b.at.Shown)
}

// sortReferences orders locations by file, line and column.
func sortReferences(all []sited[lsp.Location]) {
	slices.SortStableFunc(all, func(a, b sited[lsp.Location]) int {
		return cmp.Or(byFile(a, b), comparePositions(a.item.Range.Start, b.item.Range.Start),
			comparePositions(a.item.Range.End, b.item.Range.End))
	})
}

// mapped turns sited locations into places as shown.
func mapped(a *ask, all []sited[lsp.Location]) []query.Place {
	v := view{a: a}
	places := make([]query.Place, 0, len(all))
	for _, x := range all {
		places = append(places, v.placeAt(x.at, x.item.URI, v.span(x.at.Path, x.item.Range)))
	}
	return places
}

func locationURI(l lsp.Location) string { return l.URI }

// comparePositions orders wire positions.
func comparePositions(a, b lsp.Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Character, b.Character))
}

// cut applies the limit to a list.
func cut[T any](q *question, items []T, limit int) []T {
	if limit <= 0 || len(items) <= limit {
		return items
	}
	q.book.mu.Lock()
	q.book.truncated = true
	q.book.mu.Unlock()
	return items[:limit]
}

// count is a total, a lower bound where as many came as the server gives at most.
func count(shownTotal, fromServer, serverCap int) query.Count {
	return query.Count{N: shownTotal, AtLeast: serverCap > 0 && fromServer == serverCap}
}

func results(n int) string {
	if n == 1 {
		return "1 result"
	}
	return fmt.Sprintf("%d results", n)
}
