package render

import (
	"slices"

	"github.com/dragoman-dev/dragoman/query"
)

func (p *printer) problems(b *query.Problems) {
	if p.a.Op == query.WorkspaceDiagnostics {
		p.workspaceProblems(b)
		return
	}
	p.str(phrases(p.a.Op).head)
	p.target()
	p.str(" (")
	p.count(total(p.a), phrases(p.a.Op))
	p.str("):")
	n := 0
	for i := range b.Files {
		for j := range b.Files[i].Problems {
			n++
			pr := &b.Files[i].Problems[j]
			p.item(n)
			p.problemHead(pr)
			p.labelSource(pr.Servers, pr.Source)
			p.str(": ")
			p.safe(pr.Message)
		}
	}
}

// problemHead writes [ERROR] 15:5 (2322).
func (p *printer) problemHead(pr *query.Problem) {
	p.str("[")
	p.safe(pr.Severity)
	p.str("] ")
	p.point(pr.Span.Start)
	if pr.Code != "" {
		p.str(" (")
		p.safe(pr.Code)
		p.str(")")
	}
}

func (p *printer) workspaceProblems(b *query.Problems) {
	w := phrases(p.a.Op)
	p.str(w.head)
	p.str(" (")
	p.count(total(p.a), w)
	p.str(" in ")
	files := query.Count{N: max(b.FilesTotal, len(b.Files))}
	p.count(files, words{noun: "file", nouns: "files"})
	p.str("):")
	for i := range b.Files {
		for _, group := range byLabel(b.Files[i].Problems) {
			p.str("\n\n")
			p.safe(b.Files[i].Path)
			p.label(group[0].Servers...)
			p.str(":")
			p.problemLines(group)
		}
	}
}

func (p *printer) problemLines(prs []query.Problem) {
	for i := range prs {
		p.line()
		p.starts = append(p.starts, len(p.buf))
		p.str("  ")
		p.problemHead(&prs[i])
		p.str(": ")
		p.safe(prs[i].Message)
	}
}

// byLabel splits the problems of a file into one group for each set of servers,
// in the order of first appearance.
func byLabel(prs []query.Problem) [][]query.Problem {
	var groups [][]query.Problem
next:
	for _, pr := range prs {
		for i := range groups {
			if slices.Equal(groups[i][0].Servers, pr.Servers) {
				groups[i] = append(groups[i], pr)
				continue next
			}
		}
		groups = append(groups, []query.Problem{pr})
	}
	return groups
}
