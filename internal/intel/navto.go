package intel

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// navtoItem is what tsserver finds: positions are 1-based, in UTF-16 units.
type navtoItem struct {
	Name, Kind, File, ContainerName string
	Start, End                      navtoPoint
}

type navtoPoint struct{ Line, Offset uint32 }

func (p navtoPoint) position() lsp.Position {
	return lsp.Position{Line: max(p.Line, 1) - 1, Character: max(p.Offset, 1) - 1}
}

func (i *navtoItem) symbol() lsp.Symbol {
	s := lsp.Symbol{Name: i.Name, Kind: navtoKind(i.Kind), ContainerName: i.ContainerName, HasRange: true}
	s.URI = text.PathToURI(filepath.FromSlash(i.File))
	s.Range = lsp.Range{Start: i.Start.position(), End: i.End.position()}
	s.Selection = s.Range
	return s
}

// navtoKinds are tsserver's words that differ from LSP's.
var navtoKinds = map[string]string{
	"enum member": "EnumMember", "JSX attribute": "Property", "local class": "Class", "local function": "Function",
	"const": "Constant", "getter": "Method", "setter": "Method",
}

func navtoKind(word string) int {
	if name, ok := navtoKinds[word]; ok {
		word = name
	}
	if kind := lsp.KindNumber(word); kind != 0 {
		return kind
	}
	return lsp.KindNumber("Variable")
}

// navto searches all projects of a server in front of tsserver, whose own
// workspace/symbol searches only that of the document touched last. ok is false
// where the server does not pass the question on.
func (a *ask) navto(ctx context.Context, wanted string) (found []lsp.Symbol, ok bool) {
	raw, err := a.call(ctx, "workspace/executeCommand", func() (any, error) {
		return map[string]any{
			"command":   "typescript.tsserverRequest",
			"arguments": []any{"navto", map[string]any{"searchValue": wanted}},
		}, nil
	})
	var reply struct {
		Type string
		Body []navtoItem
	}
	if err != nil || json.Unmarshal(raw, &reply) != nil || reply.Type != "response" {
		return nil, false
	}
	for i := range reply.Body {
		found = append(found, reply.Body[i].symbol())
	}
	return found, true
}
