package lsp

import "encoding/json"

// Location is a place in a document. Decoding a LocationLink keeps
// targetSelectionRange as Range.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// DecodeLocations accepts null, one object, or a list, of Location and
// LocationLink in any mixture; entries that name no URI are left out.
func DecodeLocations(raw json.RawMessage) ([]Location, error) {
	var (
		all []Location
		uri names
	)
	err := list(raw, "locations", func(v []byte) {
		if l := location(v, &uri); l.URI != "" {
			all = append(all, l)
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func location(v []byte, uri *names) (l Location) {
	var whole Range
	selected := false
	members(v, func(key, v []byte) {
		switch string(key) {
		case "uri", "targetUri":
			l.URI = uri.str(v)
		case "range", "targetRange":
			whole, _ = span(v)
		case "targetSelectionRange":
			l.Range, selected = span(v)
		}
	})
	if !selected {
		l.Range = whole
	}
	return l
}
