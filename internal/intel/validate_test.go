package intel

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dragoman-dev/dragoman/query"
)

func TestValidate(t *testing.T) {
	at := func(line, column int) query.Target {
		return query.Target{Path: "a.go", At: &query.Point{Line: line, Column: column}}
	}
	for _, tc := range []struct {
		name string
		r    query.Request
		want string // "" is valid
	}{
		{"no file and no line", query.Request{Op: query.Hover},
			"filePath is required for hover.\nline is required for hover."},
		{"blank file", query.Request{Op: query.DocumentSymbol, Target: query.Target{Path: "  "}},
			"filePath is required for documentSymbol."},
		{"no line", query.Request{Op: query.References, Target: query.Target{Path: "a.go"}},
			"line is required for findReferences."},
		{"blank query", query.Request{Op: query.WorkspaceSymbol, Query: " \t"},
			"query is required for workspaceSymbol."},
		{"neither item nor place", query.Request{Op: query.IncomingCalls},
			"callHierarchyItem is required for incomingCalls."},
		{"half a place", query.Request{Op: query.OutgoingCalls, Target: query.Target{Path: "a.go"}},
			"line is required for outgoingCalls."},
		{"null is no item", query.Request{Op: query.OutgoingCalls, Item: json.RawMessage("null")},
			"callHierarchyItem is required for outgoingCalls."},
		{"line zero", query.Request{Op: query.Hover, Target: at(0, 1)}, "line must be a positive number."},
		{"everything wrong", query.Request{Op: query.CodeActions, Limit: -1, Target: query.Target{
			Span: &query.Span{Start: query.Point{Line: -1}, End: query.Point{}}}},
			"filePath is required for codeActions.\nline must be a positive number.\n" +
				"character must be a positive number.\nendLine must be a positive number.\n" +
				"endCharacter must be a positive number.\nlimit must be a positive integer."},
		{"an item is enough", query.Request{Op: query.IncomingCalls, Item: json.RawMessage("{}")}, ""},
		{"a place is enough", query.Request{Op: query.IncomingCalls, Target: at(1, 1)}, ""},
		{"nothing is needed", query.Request{Op: query.WorkspaceDiagnostics}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := validate(tc.r)
			if tc.want == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if query.KindOf(err) != query.BadRequest || err.Error() != tc.want {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestValidateUnknownOperation(t *testing.T) {
	err := validate(query.Request{Op: "rename"})
	for _, op := range query.Ops() {
		if !strings.Contains(err.Error(), string(op)) {
			t.Errorf("%v does not list %s", err, op)
		}
	}
}

// TestOperationTables fails when an operation is missing from a table.
func TestOperationTables(t *testing.T) {
	for _, op := range query.Ops() {
		if operations[op].run == nil {
			t.Errorf("%s is not answered", op)
		}
		if _, ok := required[op]; !ok {
			t.Errorf("%s is not validated", op)
		}
	}
}
