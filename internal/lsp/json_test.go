package lsp

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rebuild decodes a value by this package's own walk.
func rebuild(v []byte) any {
	switch {
	case isObject(v):
		m := map[string]any{}
		members(v, func(key, v []byte) { m[str(quoted(key))] = rebuild(v) })
		return m
	case isList(v):
		l := []any{}
		elements(v, func(v []byte) { l = append(l, rebuild(v)) })
		return l
	case isString(v):
		return str(v)
	case isNull(v):
		return nil
	case isTrue(v):
		return true
	case string(v) == "false":
		return false
	}
	return json.Number(v)
}

func FuzzWalk(f *testing.F) {
	for _, s := range []string{
		`null`, ` {} `, `[]`, `{"a":[1,-2.5e3,true,null,"x\"\\\u00e9é"],"b\n":{"c":[[],{}]}}`, `"\\\\\""`,
		`{"a":1`, `[1 2]`, `{"a" 1}`, `{,}`, `"\`, "[\"\xff\"]", `{"a":}`, "\t[ 1 ,\r\n2 ] ",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := root(raw, "fuzz")
		if !json.Valid(raw) {
			if err == nil {
				rebuild(v) // must end, and must not read beyond the text
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Skip(err) // deeper than encoding/json goes
		}
		if diff := cmp.Diff(want, rebuild(v)); diff != "" {
			t.Errorf("%q (-encoding/json +own):\n%s", raw, diff)
		}
	})
}

// FuzzDecode gives any text to every decoder: none may panic or hang.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`[{"uri":"file:///a","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}}]`,
		`[{"name":"n","kind":5,"location":{"uri":"u"},"children":[{"name":"m"}]}]`,
		`{"contents":[{"language":"go","value":"x"},"y"],"range":{}}`,
		`[{"from":{"uri":"u","name":"n"},"fromRanges":[{}]}]`,
		`{"kind":"","items":[{"code":{"value":1}}],"relatedDocuments":{"u":{"kind":"unchanged"}}}`,
		`{"capabilities":{"textDocumentSync":2,"diagnosticProvider":{}},"offsetEncoding":"utf-8"}`,
		`{"registrations":[{"id":"1","method":"m","registerOptions":{"watchers":[{"globPattern":{"baseUri":{"uri":"u"}}}]}}]}`,
		`{"uri":"u","version":1,"diagnostics":[{}]}`, `[[[[`, `{"`, `{"a":`, `"\`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		DecodeLocations(raw)
		DecodeSymbols(raw)
		DecodeHover(raw)
		DecodeHierarchyItems(raw)
		DecodeCalls(raw)
		DecodeDiagnostics(raw)
		DecodePublish(raw)
		DecodePull(raw)
		DecodeWorkspacePull(raw)
		DecodeActions(raw)
		DecodeUnregistrations(raw)
		ClientCapabilities(raw)
		rs, _ := DecodeRegistrations(raw)
		if c, err := ParseInitialize(raw); err == nil {
			c = c.With(rs)
			c.Supports(MethodHover, "go", "file:///a.go")
			c.Watchers()
		}
	})
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "17": 17, "4294967295": math.MaxUint32, "4294967296": math.MaxUint32,
		"-1": 0, "-99999999999999999999": 0, "1.9": 1, "1e3": 1000, "2E+2": 200,
		"99999999999999999999999": math.MaxUint32, "1e999": math.MaxUint32, "-1e999": 0,
	} {
		if got, ok := number([]byte(text), 0, math.MaxUint32); got != want || !ok {
			t.Errorf("%s: %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "null", "true", `"1"`, "{}", "[1]", "Infinity", "NaN", "nan", "inf"} {
		if got, ok := number([]byte(text), 0, 9); ok {
			t.Errorf("%s was taken for the number %d", text, got)
		}
	}
}

func TestBrokenMessages(t *testing.T) {
	for _, raw := range []string{`[{"uri":"u"}`, `[1 2]`, `{"uri"}`, `[] []`, `"abc`, `]`, `[,]`, `[{"a":1]`} {
		if got, err := DecodeLocations([]byte(raw)); err == nil && len(got) > 0 {
			t.Errorf("%s: %v", raw, got)
		}
	}
	for _, raw := range []string{`[{"uri":"u"}`, `[1 2]`, `[] []`, `"abc`, `7`, `"text"`, `true`} {
		if _, err := DecodeLocations([]byte(raw)); err == nil {
			t.Errorf("%s: no error", raw)
		}
	}
}
