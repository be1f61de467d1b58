package render

import "github.com/dragoman-dev/dragoman/query"

// words are the phrases of one operation; the shape of the answer decides how
// they are used.
type words struct {
	// head begins the list, none stands where it would be empty.
	head, none string
	// noun and nouns count the items.
	noun, nouns string
}

// phrases holds the words of the operations.
func phrases(op query.Op) words {
	switch op {
	case query.Definition:
		return words{"Definitions for ", "No definitions found for ", "definition", "definitions"}
	case query.Implementation:
		return words{"Implementations for ", "No implementations found for ", "implementation", "implementations"}
	case query.References:
		return words{"References for ", "No references found for ", "reference", "references"}
	case query.Hover:
		return words{"Hover for ", "No hover information found for ", "hover", "hovers"}
	case query.DocumentSymbol:
		return words{"Document symbols for ", "No document symbols found for ", "symbol", "symbols"}
	case query.WorkspaceSymbol:
		return words{"Found ", "No symbols found for query ", "symbol", "symbols"}
	case query.PrepareCallHierarchy:
		return words{"Call hierarchy items for ", "No call hierarchy items found for ", "call hierarchy item", "call hierarchy items"}
	case query.IncomingCalls:
		return words{"Incoming calls for ", "No incoming calls found for ", "incoming call", "incoming calls"}
	case query.OutgoingCalls:
		return words{"Outgoing calls for ", "No outgoing calls found for ", "outgoing call", "outgoing calls"}
	case query.Diagnostics:
		return words{"Diagnostics for ", "No diagnostics found for ", "issue", "issues"}
	case query.WorkspaceDiagnostics:
		return words{"Workspace diagnostics", "No diagnostics found in the workspace", "issue", "issues"}
	case query.CodeActions:
		return words{"Code actions at ", "No code actions available at ", "code action", "code actions"}
	}
	return words{string(op) + " for ", "Nothing found for ", "result", "results"}
}

// count writes "1 issue", "3 issues", "100+ symbols".
func (p *printer) count(c query.Count, w words) {
	p.str(c.String())
	p.str(" ")
	if c.N == 1 && !c.AtLeast {
		p.str(w.noun)
		return
	}
	p.str(w.nouns)
}
