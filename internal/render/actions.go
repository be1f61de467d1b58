package render

import (
	"encoding/json"

	"github.com/dragoman-dev/dragoman/query"
)

func (p *printer) actions(b *query.Actions) {
	p.head()
	var raws []json.RawMessage
	for i := range b.Items {
		p.item(i + 1)
		p.action(&b.Items[i])
		if p.o.IncludeJSON {
			raws = append(raws, b.Items[i].JSON)
		}
	}
	if p.o.IncludeJSON {
		p.endNote()
		p.section("Code actions", raws)
	}
}

// action writes title [kind] (preferred) (has edit) (has command) (disabled: reason) [server].
func (p *printer) action(a *query.Action) {
	p.safe(a.Title)
	if a.Kind != "" {
		p.str(" [")
		p.safe(a.Kind)
		p.str("]")
	}
	if a.Preferred {
		p.str(" (preferred)")
	}
	switch {
	case a.HasEdit:
		p.str(" (has edit)")
	case a.EditOnResolve:
		p.str(" (edit on resolve)")
	}
	if a.HasCommand {
		p.str(" (has command)")
	}
	if a.Disabled != "" {
		p.str(" (disabled: ")
		p.safe(a.Disabled)
		p.str(")")
	}
	if a.Server != "" {
		p.label(a.Server)
	}
}
