package lsp

import "encoding/json"

// Symbol is a document or workspace symbol in one shape.
type Symbol struct {
	Name          string
	Kind          int
	Detail        string
	ContainerName string
	URI           string // empty in hierarchical document symbols
	Range         Range  // the whole symbol
	Selection     Range  // the name; equals Range where the server gives only one
	HasRange      bool   // false for a workspace symbol without range
	HasSelection  bool
	Children      []Symbol
	Raw           json.RawMessage // for workspaceSymbol/resolve
}

// maxDepth bounds the nesting that is read: real outlines have less than ten
// levels, and each level is scanned anew.
const maxDepth = 200

// DecodeSymbols accepts null and lists of DocumentSymbol, SymbolInformation and
// WorkspaceSymbol, also mixed, and one lone symbol (the answer to
// workspaceSymbol/resolve). Entries without a name are left out.
func DecodeSymbols(raw json.RawMessage) ([]Symbol, error) {
	var (
		all []Symbol
		uri names
	)
	err := list(raw, "symbols", func(v []byte) {
		if s, ok := symbol(v, &uri, maxDepth); ok {
			all = append(all, s)
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func symbol(v []byte, uri *names, depth int) (Symbol, bool) {
	s := Symbol{Raw: v}
	members(v, func(key, v []byte) {
		switch string(key) {
		case "name":
			s.Name = str(v)
		case "kind":
			s.Kind = whole(v)
		case "detail":
			s.Detail = str(v)
		case "containerName":
			s.ContainerName = str(v)
		case "range":
			s.Range, s.HasRange = span(v)
		case "selectionRange":
			s.Selection, s.HasSelection = span(v)
		case "location":
			s.locate(v, uri)
		case "children":
			if depth > 0 {
				s.Children = children(v, uri, depth-1)
			}
		}
	})
	switch {
	case !s.HasSelection:
		s.Selection = s.Range
	case !s.HasRange:
		s.Range, s.HasRange = s.Selection, true
	}
	return s, s.Name != ""
}

func (s *Symbol) locate(v []byte, uri *names) {
	members(v, func(key, v []byte) {
		switch string(key) {
		case "uri":
			s.URI = uri.str(v)
		case "range":
			s.Range, s.HasRange = span(v)
		}
	})
}

func children(v []byte, uri *names, depth int) (all []Symbol) {
	elements(v, func(v []byte) {
		if s, ok := symbol(v, uri, depth); ok {
			all = append(all, s)
		}
	})
	return all
}
