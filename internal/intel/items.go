package intel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/lsp"
)

// member is one field of a JSON object, with its value byte for byte.
type member struct {
	name  string
	value json.RawMessage
}

// members splits a JSON object, keeping order and bytes.
func members(raw json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	var out []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		out = append(out, member{name.(string), value})
	}
	return out, nil
}

// object joins members to a JSON object.
func object(ms []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range ms {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a string always marshals
	return raw
}

func field(ms []member, name string) json.RawMessage {
	for _, m := range ms {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// itemOrder is how an item's fields are printed; others follow, serverName is last.
var itemOrder = []string{"name", "kind", "tags", "detail", "uri", "range", "selectionRange", "data"}

// shownItem is the object that people and agents get for an item: LSP's fields,
// the kind as a lower-case word, and the server's name.
func shownItem(item lsp.HierarchyItem, server string) json.RawMessage {
	have, err := members(item.Raw)
	if err != nil {
		have = nil
	}
	out := make([]member, 0, len(have)+1)
	for _, name := range itemOrder {
		if value := field(have, name); value != nil {
			out = append(out, member{name, value})
		}
	}
	for _, m := range have {
		if !slices.Contains(itemOrder, m.name) && m.name != "serverName" {
			out = append(out, m)
		}
	}
	for i := range out {
		if out[i].name == "kind" {
			out[i].value = quoted(strings.ToLower(lsp.KindName(item.Kind)))
		}
	}
	return object(append(out, member{"serverName", quoted(server)}))
}

// addedFields are those that printers and other tools add to LSP's item.
var addedFields = []string{"serverName", "kind_name", "rawKind", "documentRevision"}

// wireItem reads an item as it was printed, or written by hand, back into what
// goes to the server, and names the server it is of.
func wireItem(raw json.RawMessage) (item lsp.HierarchyItem, server string, err error) {
	have, err := members(unquotedObject(raw))
	if err != nil {
		return item, "", badRequest("", "callHierarchyItem must be an object as prepareCallHierarchy prints it.", "")
	}
	for _, name := range []string{"name", "uri", "range", "selectionRange"} {
		if field(have, name) == nil {
			return item, "", badRequest("", fmt.Sprintf("callHierarchyItem lacks %s.", name),
				"Pass an item as prepareCallHierarchy prints it.")
		}
	}
	_ = json.Unmarshal(field(have, "serverName"), &server) // absent or of another type: no server named
	kind := wireKind(have)
	out := []member{}
	for _, m := range have {
		if m.name != "kind" && !slices.Contains(addedFields, m.name) {
			out = append(out, m)
		}
	}
	out = slices.Insert(out, 1, member{"kind", json.RawMessage(fmt.Sprint(kind))})
	items, err := lsp.DecodeHierarchyItems(object(out))
	if err != nil || len(items) != 1 || !hasRanges(have) {
		return item, "", badRequest("", "callHierarchyItem has a field of a wrong type.",
			"Pass an item as prepareCallHierarchy prints it.")
	}
	items[0].Raw = object(out)
	return items[0], server, nil
}

func hasRanges(have []member) bool {
	var r lsp.Range
	return json.Unmarshal(field(have, "range"), &r) == nil && json.Unmarshal(field(have, "selectionRange"), &r) == nil
}

// unquotedObject accepts an object that was sent as a JSON string.
func unquotedObject(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return json.RawMessage(s)
	}
	return raw
}

// functionKind is the kind of an item that names none.
const functionKind = 12

// wireKind is the kind's number: of a word, of a number, or of rawKind.
func wireKind(have []member) int {
	for _, name := range []string{"kind", "rawKind"} {
		var number int
		if json.Unmarshal(field(have, name), &number) == nil && number > 0 {
			return number
		}
		var word string
		if json.Unmarshal(field(have, name), &word) == nil && lsp.KindNumber(word) > 0 {
			return lsp.KindNumber(word)
		}
	}
	return functionKind
}
