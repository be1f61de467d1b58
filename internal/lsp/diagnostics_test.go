package lsp

import (
	"encoding/json"
	"testing"
)

func TestDecodeDiagnostics(t *testing.T) {
	const raw = `[
		{"range":` + jsonRange + `,"severity":1,"code":"E1","source":"go","message":"undefined: x","data":{"z":1, "a":2}},
		null, 3, "x",
		{"range":` + jsonOther + `,"message":{"kind":"markdown","value":"**no**"},"code":{"value":2304,"target":"https://x"},"severity":9},
		{"range":{"start":{"line":-4,"character":1.5},"end":null},"message":"odd place","code":99999999999999999999},
		{"message":"no range","code":null,"severity":"error","source":7},
		{"message":"object code","code":{"name":"n"}},
		{}
	]`
	got, err := DecodeDiagnostics(json.RawMessage(raw))
	if err != nil || len(got) != 6 {
		t.Fatalf("%d problems, %v", len(got), err)
	}
	for i, want := range []Diagnostic{
		{Range: rng(1, 2, 3, 4), Severity: 1, Code: "E1", Source: "go", Message: "undefined: x"},
		{Range: rng(1, 7, 1, 9), Code: "2304", Message: "**no**"},
		{Range: rng(0, 1, 0, 0), Code: "99999999999999999999", Message: "odd place"},
		{Message: "no range"},
		{Message: "object code", Code: `{"name":"n"}`},
		{},
	} {
		d := got[i]
		if d.Range != want.Range || d.Severity != want.Severity || d.Code != want.Code || d.Source != want.Source || d.Message != want.Message {
			t.Errorf("problem %d: %+v, want %+v", i, d, want)
		}
	}
	if want := `{"range":` + jsonRange + `,"severity":1,"code":"E1","source":"go","message":"undefined: x","data":{"z":1, "a":2}}`; string(got[0].Raw) != want {
		t.Errorf("Raw changed: %s", got[0].Raw)
	}
	for _, raw := range []string{"", "null", "[]", "{}"} {
		if got, err := DecodeDiagnostics(json.RawMessage(raw)); len(got) != 0 || err != nil {
			t.Errorf("%q: %v, %v", raw, got, err)
		}
	}
}

func TestDecodePublish(t *testing.T) {
	seven := int32(7)
	for raw, version := range map[string]*int32{
		`{"uri":"file:///a","diagnostics":[{"message":"m"}],"version":7}`:              &seven,
		`{"version":7.0,"uri":"file:///a","diagnostics":[{"message":"m"}]}`:            &seven,
		`{"uri":"file:///a","diagnostics":[{"message":"m"}]}`:                          nil,
		`{"uri":"file:///a","diagnostics":[{"message":"m"}],"version":null}`:           nil,
		`{"uri":"file:///a","diagnostics":[{"message":"m"}],"version":"7"}`:            nil,
		`{"uri":"file:///a","diagnostics":[{"message":"m"}],"version":99999999999999}`: nil,
	} {
		p, err := DecodePublish(json.RawMessage(raw))
		if err != nil || p.URI != "file:///a" || len(p.Diagnostics) != 1 || p.Diagnostics[0].Message != "m" {
			t.Errorf("%s: %+v, %v", raw, p, err)
			continue
		}
		if (p.Version == nil) != (version == nil) || version != nil && *p.Version != *version {
			t.Errorf("%s: version %v, want %v", raw, p.Version, version)
		}
	}
	for _, empty := range []string{`{"uri":"u"}`, `{"uri":"u","diagnostics":null}`, `{"uri":"u","diagnostics":{}}`, `{"uri":"u","diagnostics":[]}`} {
		if p, err := DecodePublish(json.RawMessage(empty)); err != nil || len(p.Diagnostics) != 0 {
			t.Errorf("%s: %v, %v", empty, p, err)
		}
	}
	for _, bad := range []string{``, `null`, `[]`, `{}`, `{"uri":3,"diagnostics":[]}`, `{"uri":"u","diagnostics":"x"}`} {
		if p, err := DecodePublish(json.RawMessage(bad)); err == nil {
			t.Errorf("%s: %v without an error", bad, p)
		}
	}
}

func TestDecodePull(t *testing.T) {
	for raw, want := range map[string]PullReport{
		`{"kind":"full","resultId":"r1","items":[{"message":"m"}]}`: {ResultID: "r1", Items: make([]Diagnostic, 1)},
		`{"kind":"full","items":[]}`:                                {},
		`{"kind":"full"}`:                                           {},
		`{"kind":"","items":[{"message":"m"}]}`:                     {Items: make([]Diagnostic, 1)},
		`{"items":[{"message":"m"}, null]}`:                         {Items: make([]Diagnostic, 1)},
		`{"kind":"","items":null}`:                                  {},
		`{"kind":7,"items":[]}`:                                     {},
		`{"kind":"unchanged","resultId":"r2"}`:                      {Unchanged: true, ResultID: "r2"},
		`{"kind":"unchanged","resultId":"r2","items":[{}]}`:         {Unchanged: true, ResultID: "r2"},
		`{"resultId":"r3"}`:                                         {Unchanged: true, ResultID: "r3"},
		`{"kind":"unchanged","resultId":4}`:                         {Unchanged: true, ResultID: "4"},
	} {
		got, err := DecodePull(json.RawMessage(raw))
		if err != nil || got.Unchanged != want.Unchanged || got.ResultID != want.ResultID || len(got.Items) != len(want.Items) {
			t.Errorf("%s: %+v, %v, want %+v", raw, got, err, want)
		}
	}
	for _, bad := range []string{``, `null`, `{}`, `[]`, `{"kind":""}`, `{"kind":"part"}`, `{"items":"none"}`, `7`} {
		if got, err := DecodePull(json.RawMessage(bad)); err == nil {
			t.Errorf("%s reads as %+v", bad, got)
		}
	}
}

func TestRelatedDocuments(t *testing.T) {
	got, err := DecodePull(json.RawMessage(`{"kind":"full","items":[],"relatedDocuments":{
		"file:///caf\u00e9.h":{"kind":"full","items":[{"message":"m"}]},
		"file:///b.h":{"kind":"unchanged","resultId":"x"},
		"file:///bad.h":17}}`))
	if err != nil || len(got.Related) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if r := got.Related[0]; r.URI != "file:///café.h" || len(r.Items) != 1 {
		t.Errorf("first: %+v", r)
	}
	if r := got.Related[1]; r.URI != "file:///b.h" || !r.Unchanged || r.ResultID != "x" {
		t.Errorf("second: %+v", r)
	}
}

func TestDecodeWorkspacePull(t *testing.T) {
	const items = `[{"uri":"file:///a","version":3,"kind":"full","items":[{"message":"m"}]},
		{"uri":"file:///b","version":null,"kind":"unchanged","resultId":"r"},
		null, {"uri":"file:///c"}, {"kind":"full","items":[]}, {"uri":"file:///d","kind":"","items":[]}]`
	for _, raw := range []string{`{"items":` + items + `}`, items} {
		got, err := DecodeWorkspacePull(json.RawMessage(raw))
		if err != nil || len(got) != 3 {
			t.Fatalf("%s: %+v, %v", raw, got, err)
		}
		if a := got[0]; a.URI != "file:///a" || a.Version == nil || *a.Version != 3 || len(a.Items) != 1 {
			t.Errorf("first: %+v", a)
		}
		if b := got[1]; b.URI != "file:///b" || b.Version != nil || !b.Unchanged || b.ResultID != "r" {
			t.Errorf("second: %+v", b)
		}
		if d := got[2]; d.URI != "file:///d" || d.Unchanged {
			t.Errorf("third: %+v", d)
		}
	}
	for _, raw := range []string{"", "null", "{}", `{"items":null}`, "[]"} {
		if got, err := DecodeWorkspacePull(json.RawMessage(raw)); len(got) != 0 || err != nil {
			t.Errorf("%q: %v, %v", raw, got, err)
		}
	}
}
