package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
)

// PullReport is one document's part of a pull: Unchanged, or the full list. A kind
// that is missing or "" is full when items are there (gopls sends "").
type PullReport struct {
	URI       string // set in workspace reports and related documents
	Version   *int32
	Unchanged bool
	ResultID  string
	Items     []Diagnostic
	Related   []PullReport
}

// DecodePull decodes textDocument/diagnostic. What is neither a full report nor an
// unchanged one is an error: it must not read as "no problems".
func DecodePull(raw json.RawMessage) (PullReport, error) {
	v, err := root(raw, "diagnostic report")
	if err != nil {
		return PullReport{}, err
	}
	r, err := pullReport(v)
	if err != nil {
		return PullReport{}, err
	}
	members(member(v, "relatedDocuments"), func(key, v []byte) {
		related, err := pullReport(v)
		if err != nil {
			return
		}
		related.URI = str(quoted(key))
		r.Related = append(r.Related, related)
	})
	return r, nil
}

// quoted puts the quotes back on a key, which may hold escapes.
func quoted(key []byte) []byte {
	b := make([]byte, 0, len(key)+2)
	b = append(b, '"')
	b = append(b, key...)
	return append(b, '"')
}

func pullReport(v []byte) (PullReport, error) {
	var (
		r              PullReport
		kind           string
		hasItems, isID bool
		bad            error
	)
	ok := members(v, func(key, v []byte) {
		switch string(key) {
		case "uri":
			r.URI = str(v)
		case "version":
			r.Version = version(v)
		case "kind":
			kind = str(v)
		case "resultId":
			r.ResultID, isID = scalar(v), !isNull(v)
		case "items":
			hasItems = true
			r.Items, bad = diagnostics(v)
		}
	})
	switch {
	case !ok:
		return r, errors.New("diagnostic report: not an object")
	case bad != nil:
		return r, fmt.Errorf("diagnostic report: %w", bad)
	case kind == "unchanged", kind != "full" && !hasItems && isID:
		r.Unchanged, r.Items = true, nil
	case kind != "full" && !hasItems:
		return r, fmt.Errorf("diagnostic report: kind %q without items", kind)
	}
	return r, nil
}

// DecodeWorkspacePull decodes workspace/diagnostic (also a partial result). Reports
// that cannot be read, and those that name no document, are left out.
func DecodeWorkspacePull(raw json.RawMessage) ([]PullReport, error) {
	v, err := root(raw, "workspace diagnostic report")
	if err != nil {
		return nil, err
	}
	if isObject(v) {
		v = member(v, "items")
	}
	var all []PullReport
	err = list(v, "workspace diagnostic report", func(v []byte) {
		if r, err := pullReport(v); err == nil && r.URI != "" {
			all = append(all, r)
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
