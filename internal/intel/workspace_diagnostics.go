package intel

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

// workspaceReport is what one server knows about the workspace.
type workspaceReport struct {
	byURI    map[string][]lsp.Diagnostic
	complete bool
}

func (w workspaceReport) empty() bool {
	for _, ds := range w.byURI {
		if len(ds) > 0 {
			return false
		}
	}
	return true
}

// fileProblem is a problem before mapping.
type fileProblem struct {
	item lsp.Diagnostic
	uri  string
	from *ask
}

// workspaceDiagnostics merges what all servers know, and says of how many files
// that is where it is not all.
func workspaceDiagnostics(ctx context.Context, q *question) (*query.Answer, error) {
	put := func(ctx context.Context, a *ask) (workspaceReport, error) {
		byURI, complete, err := a.sess.DiagnoseWorkspace(ctx)
		return workspaceReport{byURI, complete}, err
	}
	parts, err := every(ctx, q, subject{}, plan{lsp.MethodDiagnostic, server.Settled}, put, workspaceReport.empty)
	if err != nil {
		return nil, err
	}
	q.coverage(ctx, parts)
	body := &query.Problems{}
	ans := q.answer(body)
	all := problemsOf(q.d, parts)
	body.Files = groupProblems(all)
	body.FilesTotal = len(body.Files)
	for _, f := range body.Files {
		ans.Total.N += len(f.Problems)
	}
	body.Files = q.cutProblems(body.Files)
	return ans, nil
}

// coverage notes how many of the files the reports cover.
func (q *question) coverage(ctx context.Context, parts []part[workspaceReport]) {
	known, files, partial := 0, 0, false
	for _, p := range parts {
		if p.value.complete {
			continue
		}
		n := 0
		for uri := range p.value.byURI {
			if at := q.d.locate(uri); at.Inside && exists(at.Path) {
				n++
			}
		}
		total := -1
		if q.d.CountFiles != nil {
			total = q.d.CountFiles(ctx, p.c)
		}
		if total >= 0 && n >= total {
			continue
		}
		partial, known = true, known+n
		if total < 0 || files < 0 {
			files = -1
			continue
		}
		files += total
	}
	if !partial {
		return
	}
	text := fmt.Sprintf("Diagnostics known for %d of %d files.", known, files)
	if files < 0 {
		text = fmt.Sprintf("Diagnostics known for %d files only.", known)
	}
	q.book.note("partial", text)
	q.book.doubt("No problems are known, but not every file was looked at.")
}

// problemsOf lists the problems in files that still exist, workspace files first,
// by path and place.
func problemsOf(d *Deps, parts []part[workspaceReport]) []sited[fileProblem] {
	var items []fileProblem
	for _, p := range parts {
		for uri, ds := range p.value.byURI {
			for _, item := range ds {
				items = append(items, fileProblem{item, uri, p.a})
			}
		}
	}
	all := siting(d, items, func(f fileProblem) string { return f.uri })
	gone := map[string]bool{}
	all = slices.DeleteFunc(all, func(x sited[fileProblem]) bool {
		missing, known := gone[x.at.Path]
		if !known && x.at.Path != "" {
			missing = !exists(x.at.Path)
			gone[x.at.Path] = missing
		}
		return missing
	})
	slices.SortStableFunc(all, func(a, b sited[fileProblem]) int {
		return cmp.Or(byFile(a, b), cmp.Compare(a.item.from.c.Name, b.item.from.c.Name),
			comparePositions(a.item.item.Range.Start, b.item.item.Range.Start),
			comparePositions(a.item.item.Range.End, b.item.item.Range.End),
			cmp.Compare(a.item.item.Message, b.item.item.Message))
	})
	return all
}

// groupProblems maps sorted problems and groups them by file.
func groupProblems(all []sited[fileProblem]) (files []query.FileProblems) {
	vs := views{}
	for i, x := range all {
		v := vs.of(x.item.from)
		if i == 0 || all[i-1].at.Shown != x.at.Shown {
			files = append(files, query.FileProblems{Path: x.at.Shown, URI: x.item.uri})
		}
		f := &files[len(files)-1]
		f.Problems = append(f.Problems, v.problem(x.at.Path, x.item.item))
	}
	for i := range files {
		files[i].Problems = mergeProblems(files[i].Problems)
	}
	return files
}

// cutProblems applies the limit, which counts problems.
func (q *question) cutProblems(files []query.FileProblems) []query.FileProblems {
	left := q.limit
	for i := range files {
		if left <= 0 {
			q.book.truncated = true
			return files[:i]
		}
		files[i].Problems = cut(q, files[i].Problems, left)
		left -= len(files[i].Problems)
	}
	return files
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !os.IsNotExist(err)
}
