package render

import (
	"github.com/dragoman-dev/dragoman/query"
)

// Title is the short form that hosts show to people: "Found 3 references across 2 files".
func Title(a *query.Answer) string {
	p := printer{a: a}
	w := phrases(a.Op)
	n := shown(a.Body)
	switch {
	case n == 0 && a.Unsure != "":
		return "No answer yet"
	case n == 0:
		p.str("No ")
		p.str(w.nouns)
		p.str(" found")
	case a.Op == query.Hover:
		p.str("Hover for ")
		p.target()
	default:
		p.str("Found ")
		p.count(total(a), w)
		if f := files(a.Body); f > 1 {
			p.str(" across ")
			p.num(f)
			p.str(" files")
		}
	}
	return string(p.buf)
}

// files counts the files that a body names.
func files(b query.Body) int {
	seen := map[string]bool{}
	switch b := b.(type) {
	case *query.Places:
		for i := range b.Items {
			seen[b.Items[i].URI] = true
		}
	case *query.Found:
		for i := range b.Items {
			seen[b.Items[i].Place.URI] = true
		}
	case *query.Calls:
		for i := range b.Groups {
			for j := range b.Groups[i].Calls {
				seen[b.Groups[i].Calls[j].Place.URI] = true
			}
		}
	case *query.Problems:
		return b.FilesTotal
	}
	return len(seen)
}
