package lsp

import "encoding/json"

// HierarchyItem is a call- or type-hierarchy item; Raw is the object as sent.
type HierarchyItem struct {
	Name      string
	Kind      int
	Detail    string
	URI       string
	Range     Range
	Selection Range
	Raw       json.RawMessage
}

// DecodeHierarchyItems accepts null, one object or a list. Entries that name no
// URI are left out.
func DecodeHierarchyItems(raw json.RawMessage) ([]HierarchyItem, error) {
	var (
		all []HierarchyItem
		uri names
	)
	err := list(raw, "hierarchy items", func(v []byte) {
		if it := hierarchyItem(v, &uri); it.URI != "" {
			all = append(all, it)
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func hierarchyItem(v []byte, uri *names) HierarchyItem {
	it := HierarchyItem{Raw: v}
	var hasRange, hasSelection bool
	members(v, func(key, v []byte) {
		switch string(key) {
		case "name":
			it.Name = str(v)
		case "kind":
			it.Kind = whole(v)
		case "detail":
			it.Detail = str(v)
		case "uri":
			it.URI = uri.str(v)
		case "range":
			it.Range, hasRange = span(v)
		case "selectionRange":
			it.Selection, hasSelection = span(v)
		}
	})
	switch {
	case !hasSelection:
		it.Selection = it.Range
	case !hasRange:
		it.Range = it.Selection
	}
	return it
}

// Call is one entry of incoming or outgoing calls.
type Call struct {
	Item   HierarchyItem
	Ranges []Range // fromRanges
}

// DecodeCalls accepts null and lists with "from" or "to". Entries whose item names
// no URI are left out.
func DecodeCalls(raw json.RawMessage) ([]Call, error) {
	var (
		all []Call
		uri names
	)
	err := list(raw, "calls", func(v []byte) {
		if c := call(v, &uri); c.Item.URI != "" {
			all = append(all, c)
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func call(v []byte, uri *names) (c Call) {
	members(v, func(key, v []byte) {
		switch string(key) {
		case "from", "to":
			c.Item = hierarchyItem(v, uri)
		case "fromRanges":
			elements(v, func(v []byte) {
				if r, ok := span(v); ok {
					c.Ranges = append(c.Ranges, r)
				}
			})
		}
	})
	return c
}
