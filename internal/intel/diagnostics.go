package intel

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dragoman-dev/dragoman/internal/diag"
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

// report is what one server says about a file.
type report struct {
	items []lsp.Diagnostic
	fresh diag.Freshness
}

// diagnostics merges what all servers of a file report, by line.
func diagnostics(ctx context.Context, q *question) (*query.Answer, error) {
	put := func(ctx context.Context, a *ask) (report, error) { return a.diagnose(ctx) }
	empty := func(r report) bool { return len(r.items) == 0 }
	parts, err := every(ctx, q, q.file, plan{lsp.MethodDiagnostic, server.Settled}, put, empty)
	if err != nil {
		return nil, err
	}
	file := query.FileProblems{Path: q.file.Shown}
	for _, p := range parts {
		file.URI = p.a.uri()
		q.freshness(p)
		v := view{a: p.a}
		for _, d := range p.value.items {
			file.Problems = append(file.Problems, v.problem(q.file.Path, d))
		}
	}
	file.Problems = mergeProblems(file.Problems)
	body := &query.Problems{}
	ans := q.answer(body)
	ans.Total.N = len(file.Problems)
	if len(file.Problems) > 0 {
		file.Problems = cut(q, file.Problems, q.limit)
		body.Files, body.FilesTotal = []query.FileProblems{file}, 1
	}
	return ans, nil
}

// diagnose brings the file's problems up to date. When the text changed while they
// were awaited they are asked for once more.
func (a *ask) diagnose(ctx context.Context) (report, error) {
	if a.snap.Map == nil {
		return report{}, badRequest("", fmt.Sprintf("%s is not a file; only files have diagnostics.", a.file.Shown), "")
	}
	for try := 0; ; try++ {
		items, fresh, err := a.sess.Diagnose(ctx, a.snap, a.c.LanguageID)
		if err != nil || !a.changedMeanwhile() || try == 1 {
			a.stale = a.stale || err == nil && a.changedMeanwhile()
			return report{items, fresh}, err
		}
		if err := a.ensure(ctx); err != nil {
			return report{}, err
		}
	}
}

// freshness records how current one server's report is, and says so where it is
// not: silence is no claim, and old problems are marked.
func (q *question) freshness(p part[report]) {
	q.book.freshness(p.c.Name, shownFreshness(p.value.fresh))
	switch p.value.fresh {
	case diag.None:
		silent := fmt.Sprintf("%s has not reported anything about %s yet, which is not the same as no issues.", p.c.Name, q.file.Shown)
		q.book.doubt(silent)
		if len(p.value.items) == 0 {
			q.book.silent = append(q.book.silent, silent)
		}
	case diag.Stale:
		q.book.stale = true
		old := fmt.Sprintf("the problems of %s are those of an older text.", p.c.Name)
		q.book.doubt(fmt.Sprintf("%s has not reported on the present text of %s yet.", p.c.Name, q.file.Shown))
		if len(p.value.items) > 0 {
			q.book.note("stale", old)
		}
	}
}

func shownFreshness(f diag.Freshness) query.Freshness {
	switch f {
	case diag.Fresh:
		return query.Fresh
	case diag.Settled:
		return query.SettledByTime
	case diag.Stale:
		return query.Stale
	}
	return query.NoneReported
}

var severities = [...]string{"ERROR", "ERROR", "WARNING", "INFO", "HINT"}

// severity is the word for a severity; without one it counts as an error, as LSP
// leaves it to the client and hiding an error is the worse mistake.
func severity(n int) string {
	if n < 0 || n >= len(severities) {
		return "INFO"
	}
	return severities[n]
}

// problem maps a diagnostic of the file at path.
func (v *view) problem(path string, d lsp.Diagnostic) query.Problem {
	return query.Problem{Span: v.span(path, d.Range), Severity: severity(d.Severity), Code: d.Code,
		Source: d.Source, Servers: []string{v.a.c.Name}, Message: d.Message}
}

// mergeProblems sorts problems by place and joins those that several servers report.
func mergeProblems(all []query.Problem) []query.Problem {
	slices.SortStableFunc(all, func(a, b query.Problem) int {
		return cmp.Or(comparePoints(a.Span.Start, b.Span.Start), comparePoints(a.Span.End, b.Span.End),
			cmp.Compare(slices.Index(severities[1:], a.Severity), slices.Index(severities[1:], b.Severity)),
			cmp.Compare(a.Message, b.Message), cmp.Compare(a.Code, b.Code))
	})
	merged := all[:0]
	for _, p := range all {
		if n := len(merged); n > 0 && sameProblem(merged[n-1], p) {
			for _, s := range p.Servers {
				if !slices.Contains(merged[n-1].Servers, s) {
					merged[n-1].Servers = append(merged[n-1].Servers, s)
				}
			}
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

func sameProblem(a, b query.Problem) bool {
	return a.Span == b.Span && a.Severity == b.Severity && a.Message == b.Message && a.Code == b.Code
}

func comparePoints(a, b query.Point) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
