package render

import (
	"encoding/json"
	"strings"

	"github.com/dragoman-dev/dragoman/query"
)

// body writes the answer's body, or why there is none.
func (p *printer) body() {
	if shown(p.a.Body) == 0 {
		p.empty()
		return
	}
	switch b := p.a.Body.(type) {
	case *query.Places:
		p.places(b)
	case *query.Outline:
		p.outline(b)
	case *query.Found:
		p.found(b)
	case *query.Prose:
		p.prose(b)
	case *query.Items:
		p.items(b)
	case *query.Calls:
		p.calls(b)
	case *query.Problems:
		p.problems(b)
	case *query.Actions:
		p.actions(b)
	}
}

// empty says that nothing was found, or why that is not known.
func (p *printer) empty() {
	if p.a.Unsure != "" {
		p.safe(p.a.Unsure)
		return
	}
	if c, ok := p.a.Body.(*query.Calls); ok && len(c.Groups) > 0 {
		p.calls(c)
		return
	}
	p.str(phrases(p.a.Op).none)
	p.subject()
	p.str(".")
}

// subject writes what was asked about.
func (p *printer) subject() {
	switch p.a.Op {
	case query.WorkspaceDiagnostics:
	case query.WorkspaceSymbol:
		p.quoted(p.a.Query)
	default:
		p.target()
	}
}

// quoted writes s in double quotes, control characters escaped.
func (p *printer) quoted(s string) {
	p.str(`"`)
	p.safe(clip(s, longestEcho))
	p.str(`"`)
}

// target writes path:line:col [server].
func (p *printer) target() {
	p.safe(p.a.Path)
	if p.a.At != nil {
		p.str(":")
		p.point(*p.a.At)
	}
	if p.a.Server != "" {
		p.str(" [")
		p.safe(p.a.Server)
		p.str("]")
	}
}

func (p *printer) point(at query.Point) {
	p.num(at.Line)
	p.str(":")
	p.num(at.Column)
}

// at writes path:line:col.
func (p *printer) at(pl *query.Place) {
	p.safe(pl.Path)
	p.str(":")
	p.point(pl.Span.Start)
}

// label writes " [pyright, ruff]"; nothing for no server.
func (p *printer) label(servers ...string) { p.labelSource(servers, "") }

// labelSource writes " [server: source]" where the source is another name.
func (p *printer) labelSource(servers []string, source string) {
	if len(servers) == 0 && source == "" {
		return
	}
	p.str(" [")
	for i, s := range servers {
		if i > 0 {
			p.str(", ")
		}
		p.safe(s)
		if strings.EqualFold(s, source) {
			source = ""
		}
	}
	if source != "" {
		if len(servers) > 0 {
			p.str(": ")
		}
		p.safe(source)
	}
	p.str("]")
}

// kinded writes name (Kind).
func (p *printer) kinded(s *query.Symbol) {
	p.safe(s.Name)
	if s.Kind != "" {
		p.str(" (")
		p.safe(s.Kind)
		p.str(")")
	}
}

func (p *printer) head() {
	p.str(phrases(p.a.Op).head)
	p.target()
	p.str(":")
}

func (p *printer) placeLines(items []query.Place) {
	for i := range items {
		p.item(i + 1)
		p.at(&items[i])
		p.label(items[i].Servers...)
	}
}

func (p *printer) places(b *query.Places) {
	p.head()
	if p.a.Op == query.References && isCut(p.a) {
		p.line()
		p.str("Found ")
		p.num(len(b.Items))
		p.str(" of ")
		p.count(total(p.a), phrases(p.a.Op))
		p.str(".")
	}
	p.placeLines(b.Items)
}

func (p *printer) symbolLines(items []query.Symbol) {
	for i := range items {
		s := &items[i]
		p.item(i + 1)
		p.kinded(s)
		if s.Container != "" {
			p.str(" in ")
			p.safe(s.Container)
		}
		p.str(" - ")
		p.at(&s.Place)
		p.label(s.Place.Servers...)
	}
}

func (p *printer) outline(b *query.Outline) {
	p.head()
	p.symbolLines(b.Items)
}

func (p *printer) found(b *query.Found) {
	w := phrases(p.a.Op)
	p.str(w.head)
	p.num(len(b.Items))
	p.str(" of ")
	p.count(total(p.a), w)
	p.str(" for query ")
	p.quoted(p.a.Query)
	p.str(":")
	p.symbolLines(b.Items)
	p.endNote()
	p.topReferences(b)
}

func (p *printer) topReferences(b *query.Found) {
	if b.Top == nil || len(b.References) == 0 {
		return
	}
	p.str("\n\nReferences for top match (")
	p.safe(b.Top.Name)
	p.str("):")
	p.placeLines(b.References)
	p.more(len(b.References), b.RefTotal)
}

// prose writes the markdown after a blank line; it keeps its line ends and tabs.
func (p *printer) prose(b *query.Prose) {
	p.head()
	p.str("\n\n")
	md := strings.TrimSpace(strings.ReplaceAll(b.Markdown, "\r\n", "\n"))
	p.buf = appendEscaped(p.buf, md, true)
}

func (p *printer) items(b *query.Items) {
	p.head()
	raws := make([]json.RawMessage, 0, len(b.Items))
	for i := range b.Items {
		it := &b.Items[i]
		p.item(i + 1)
		p.detailed(it)
		p.str(" - ")
		p.at(&it.Place)
		p.label(it.Place.Servers...)
		raws = append(raws, it.JSON)
	}
	p.endNote()
	p.section("Call hierarchy items", raws)
}

// detailed writes name (Kind) detail.
func (p *printer) detailed(it *query.Item) {
	p.kinded(&it.Symbol)
	if it.Detail != "" {
		p.str(" ")
		p.safe(it.Detail)
	}
}

// maxSites is the number of call sites that a call's line shows.
const maxSites = 3

func (p *printer) calls(b *query.Calls) {
	var raws []json.RawMessage
	for i := range b.Groups {
		g := &b.Groups[i]
		if i > 0 {
			p.str("\n\n")
		}
		p.callGroup(g)
		if p.o.IncludeJSON {
			raws = appendCallJSON(raws, p.a.Op, g)
		}
	}
	if len(raws) == 0 {
		return
	}
	p.endNote()
	title := "Incoming calls"
	if p.a.Op == query.OutgoingCalls {
		title = "Outgoing calls"
	}
	p.section(title, raws)
}

func (p *printer) callGroup(g *query.CallGroup) {
	w := phrases(p.a.Op)
	first := w.head
	if len(g.Calls) == 0 {
		first = w.none
	}
	p.str(first)
	p.safe(g.Of.Name)
	p.str(" at ")
	p.at(&g.Of.Place)
	if len(g.Calls) == 0 {
		p.str(".")
		return
	}
	p.str(":")
	for i := range g.Calls {
		p.item(i + 1)
		p.call(&g.Calls[i])
	}
}

// call writes name (Kind) - path:l:c (calls at 18:3, 21:1, 22:1, +2 more) [server].
func (p *printer) call(c *query.Call) {
	p.detailed(&c.Item)
	p.str(" - ")
	p.at(&c.Place)
	for i, at := range c.Sites {
		switch {
		case i == 0:
			p.str(" (calls at ")
		case i == maxSites:
			p.str(", +")
			p.num(len(c.Sites) - maxSites)
			p.str(" more")
		default:
			p.str(", ")
		}
		if i == maxSites {
			break
		}
		p.point(at)
	}
	if len(c.Sites) > 0 {
		p.str(")")
	}
	p.label(c.Place.Servers...)
}
