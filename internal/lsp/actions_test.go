package lsp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDecodeActions(t *testing.T) {
	const raw = `[
		{"title":"Run","command":"srv.run","arguments":[1]},
		{"title":"Fix","kind":"quickfix","isPreferred":true,"edit":{"changes":{}},"diagnostics":[]},
		{"title":"Ask","kind":"refactor.extract","command":{"title":"x","command":"y"},"edit":null},
		{"title":"Lazy","kind":"source","data":{"n": 1}},
		{"title":"Off","disabled":{"reason":"no selection"}},
		{"title":"Off too","disabled":{}, "isPreferred":"yes"},
		null, 4, {"kind":"quickfix"}, {"title":7}
	]`
	got, err := DecodeActions(json.RawMessage(raw))
	want := []CodeAction{
		{Title: "Run", HasCommand: true, IsCommand: true},
		{Title: "Fix", Kind: "quickfix", Preferred: true, HasEdit: true},
		{Title: "Ask", Kind: "refactor.extract", HasCommand: true},
		{Title: "Lazy", Kind: "source"},
		{Title: "Off", Disabled: "no selection"},
		{Title: "Off too", Disabled: "no reason given"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(CodeAction{}, "Raw")); diff != "" || err != nil {
		t.Fatalf("%v %s", err, diff)
	}
	if want := `{"title":"Lazy","kind":"source","data":{"n": 1}}`; string(got[3].Raw) != want {
		t.Errorf("Raw %s, want %s", got[3].Raw, want)
	}
	for _, raw := range []string{"", "null", "[]", "{}"} {
		if got, err := DecodeActions(json.RawMessage(raw)); len(got) != 0 || err != nil {
			t.Errorf("%q: %v, %v", raw, got, err)
		}
	}
}
