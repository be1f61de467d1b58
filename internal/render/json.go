package render

import (
	"encoding/json"
	"errors"

	"github.com/dragoman-dev/dragoman/query"
)

// document is the machine form of an answer. Fields are only ever added.
type document struct {
	Operation query.Op     `json:"operation"`
	Path      string       `json:"path,omitempty"`
	At        *query.Point `json:"at,omitempty"`
	Query     string       `json:"query,omitempty"`
	Server    string       `json:"server,omitempty"`
	// Result is the body in the form of package query; positions are 1-based.
	Result query.Body `json:"result"`
	// Total counts the items before the limit; with TotalAtLeast it is a lower bound.
	Total        int                 `json:"total"`
	TotalAtLeast bool                `json:"totalAtLeast,omitempty"`
	Shown        int                 `json:"shown"`
	Settled      bool                `json:"settled"`
	Stale        bool                `json:"stale"`
	Truncated    bool                `json:"truncated"`
	Unsure       string              `json:"unsure,omitempty"`
	Servers      []query.ServerBasis `json:"servers"`
	Notes        []query.Note        `json:"notes"`
}

// JSON prints a for machines: one object, without a newline at its end.
func JSON(a *query.Answer) ([]byte, error) {
	t := total(a)
	d := document{
		Operation: a.Op, Path: a.Path, At: a.At, Query: a.Query, Server: a.Server,
		Result: whole(a.Body), Total: t.N, TotalAtLeast: t.AtLeast, Shown: shown(a.Body),
		Settled: a.Basis.Settled, Stale: a.Basis.Stale,
		Truncated: a.Basis.Truncated || isCut(a),
		Unsure:    a.Unsure, Servers: a.Basis.Servers, Notes: a.Notes,
	}
	if d.Servers == nil {
		d.Servers = []query.ServerBasis{}
	}
	if d.Notes == nil {
		d.Notes = []query.Note{}
	}
	return marshal(d)
}

// whole returns the body with empty lists where there are none, so that readers
// never meet null.
func whole(b query.Body) query.Body {
	switch b := b.(type) {
	case *query.Places:
		return &query.Places{Items: orEmpty(b.Items)}
	case *query.Outline:
		return &query.Outline{Items: orEmpty(b.Items)}
	case *query.Found:
		c := *b
		c.Items = orEmpty(b.Items)
		return &c
	case *query.Items:
		return &query.Items{Items: orEmpty(b.Items)}
	case *query.Actions:
		return &query.Actions{Items: orEmpty(b.Items)}
	case *query.Problems:
		return &query.Problems{Files: orEmpty(b.Files), FilesTotal: b.FilesTotal}
	case *query.Calls:
		gs := make([]query.CallGroup, len(b.Groups))
		for i, g := range b.Groups {
			g.Calls = orEmpty(g.Calls)
			gs[i] = g
		}
		return &query.Calls{Groups: gs}
	}
	return b
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// JSONError prints err for machines: {"error": {"kind", "message", "hint", …}}.
func JSONError(err error) ([]byte, error) {
	type fault struct {
		Kind      query.Kind `json:"kind"`
		Message   string     `json:"message"`
		Hint      string     `json:"hint,omitempty"`
		Operation query.Op   `json:"operation,omitempty"`
		Server    string     `json:"server,omitempty"`
		Path      string     `json:"path,omitempty"`
	}
	f := fault{Kind: query.KindOf(err)}
	f.Message, f.Hint = sentence(err)
	var e *query.Error
	if errors.As(err, &e) {
		f.Operation, f.Server, f.Path = e.Op, e.Server, e.Path
	}
	return marshal(map[string]fault{"error": f})
}

// marshal is json.Marshal without HTML escaping and with indentation.
func marshal(v any) ([]byte, error) {
	var b sliceWriter
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b[:len(b)-1], nil
}

type sliceWriter []byte

func (w *sliceWriter) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

// appendCallJSON appends the calls of g in LSP's form: the item under from or
// to, and where the calls are. The positions of the call sites are LSP's (0-based),
// as those inside the item are.
func appendCallJSON(dst []json.RawMessage, op query.Op, g *query.CallGroup) []json.RawMessage {
	key := "from"
	if op == query.OutgoingCalls {
		key = "to"
	}
	type position struct {
		Line      int `json:"line"`
		Character int `json:"character"`
	}
	for i := range g.Calls {
		c := &g.Calls[i]
		sites := make([]position, len(c.Sites))
		for j, at := range c.Sites {
			sites[j] = position{at.Line - 1, at.Column - 1}
		}
		at, err := json.Marshal(sites)
		if err != nil {
			continue
		}
		item := c.JSON
		if len(item) == 0 {
			item = json.RawMessage("null")
		}
		raw := make([]byte, 0, len(item)+len(at)+40)
		raw = append(raw, `{"`...)
		raw = append(raw, key...)
		raw = append(raw, `":`...)
		raw = append(raw, item...)
		raw = append(raw, `,"fromPositions":`...)
		raw = append(raw, at...)
		raw = append(raw, '}')
		dst = append(dst, raw)
	}
	return dst
}
