package lsp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const jsonItem = `{"name":"total","kind":12,"detail":"shop","uri":"file:///a","range":` + jsonRange + `,"selectionRange":` + jsonOther + `,"data":{"b":1.50, "a":[ ]}}`

func item() HierarchyItem {
	return HierarchyItem{
		Name: "total", Kind: 12, Detail: "shop", URI: "file:///a",
		Range: rng(1, 2, 3, 4), Selection: rng(1, 7, 1, 9), Raw: json.RawMessage(jsonItem),
	}
}

func TestDecodeHierarchyItems(t *testing.T) {
	for raw, want := range map[string][]HierarchyItem{
		"":                                    nil,
		"null":                                nil,
		"{}":                                  nil,
		"[null,{},{\"name\":\"x\"}]":          nil,
		jsonItem:                              {item()},
		"[" + jsonItem + "," + jsonItem + "]": {item(), item()},
	} {
		got, err := DecodeHierarchyItems(json.RawMessage(raw))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", raw, err, diff)
		}
	}
	got, err := DecodeHierarchyItems(json.RawMessage(`[{"uri":"u","range":` + jsonRange + `},{"uri":"u","selectionRange":` + jsonRange + `}]`))
	if err != nil || len(got) != 2 || got[0].Selection != got[0].Range || got[1].Range != got[1].Selection || got[1].Range != rng(1, 2, 3, 4) {
		t.Errorf("one range of two: %v, %v", got, err)
	}
}

func TestDecodeCalls(t *testing.T) {
	ranges := []Range{rng(1, 7, 1, 9)}
	for raw, want := range map[string][]Call{
		"null": nil,
		"[]":   nil,
		`[{"from":` + jsonItem + `,"fromRanges":[` + jsonOther + `]}]`:                   {{item(), ranges}},
		`[{"fromRanges":[null,` + jsonOther + `],"to":` + jsonItem + `}]`:                {{item(), ranges}},
		`[{"to":` + jsonItem + `,"fromRanges":null}]`:                                    {{item(), nil}},
		`[null,{"from":null},{"from":{"name":"no uri"}},{"to":` + jsonItem + `}]`:        {{item(), nil}},
		`[{"from":` + jsonItem + `,"fromRanges":{}},{"fromRanges":[` + jsonRange + `]}]`: {{item(), nil}},
	} {
		got, err := DecodeCalls(json.RawMessage(raw))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", raw, err, diff)
		}
	}
}
