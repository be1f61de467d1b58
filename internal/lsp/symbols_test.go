package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameSymbols compares without Raw.
func sameSymbols(want, got []Symbol) string {
	return cmp.Diff(want, got, cmpopts.IgnoreFields(Symbol{}, "Raw"), cmpopts.EquateEmpty())
}

func TestDecodeSymbols(t *testing.T) {
	whole, name := rng(1, 2, 3, 4), rng(1, 7, 1, 9)
	t.Run("C60 flat and nested document symbols", func(t *testing.T) {
		const nested = `[{"name":"Shop","kind":5,"detail":"class","range":` + jsonRange + `,"selectionRange":` + jsonOther + `,"tags":[1],"children":[
			{"name":"total","kind":6,"range":` + jsonRange + `,"selectionRange":` + jsonOther + `,"children":[]},
			{"name":"items","kind":8,"range":` + jsonRange + `,"selectionRange":` + jsonOther + `,"children":null}]}]`
		got, err := DecodeSymbols(json.RawMessage(nested))
		want := []Symbol{{
			Name: "Shop", Kind: 5, Detail: "class", Range: whole, Selection: name, HasRange: true, HasSelection: true,
			Children: []Symbol{
				{Name: "total", Kind: 6, Range: whole, Selection: name, HasRange: true, HasSelection: true},
				{Name: "items", Kind: 8, Range: whole, Selection: name, HasRange: true, HasSelection: true},
			},
		}}
		if diff := sameSymbols(want, got); diff != "" || err != nil {
			t.Errorf("nested: %v %s", err, diff)
		}
		const flat = `[{"name":"total","kind":6,"containerName":"Shop","deprecated":false,"location":{"uri":"file:///a","range":` + jsonRange + `}}]`
		got, err = DecodeSymbols(json.RawMessage(flat))
		want = []Symbol{{Name: "total", Kind: 6, ContainerName: "Shop", URI: "file:///a", Range: whole, Selection: whole, HasRange: true}}
		if diff := sameSymbols(want, got); diff != "" || err != nil {
			t.Errorf("flat: %v %s", err, diff)
		}
	})
	t.Run("C61 a workspace symbol without range is told from one at 0:0", func(t *testing.T) {
		const raw = `[{"name":"a","kind":12,"location":{"uri":"file:///a"},"data":{"id":7}},
			{"name":"b","kind":12,"location":{"uri":"file:///a","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}}]`
		got, err := DecodeSymbols(json.RawMessage(raw))
		if err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
		if got[0].HasRange || !got[1].HasRange || got[0].URI != "file:///a" {
			t.Errorf("HasRange %v and %v, want false and true", got[0].HasRange, got[1].HasRange)
		}
		if want := `{"name":"a","kind":12,"location":{"uri":"file:///a"},"data":{"id":7}}`; string(got[0].Raw) != want {
			t.Errorf("Raw %s, want %s", got[0].Raw, want)
		}
		resolved, err := DecodeSymbols(json.RawMessage(`{"name":"a","kind":12,"location":{"uri":"file:///a","range":` + jsonRange + `}}`))
		if err != nil || len(resolved) != 1 || resolved[0].Range != whole {
			t.Errorf("resolved: %v, %v", resolved, err)
		}
	})
	t.Run("odd entries", func(t *testing.T) {
		const raw = `[null, 3, {}, {"name":""}, {"name":17,"kind":1},
			{"name":"only selection","kind":"Class","selectionRange":` + jsonOther + `},
			{"name":"no place","kind":3,"location":null,"children":{}}]`
		got, err := DecodeSymbols(json.RawMessage(raw))
		want := []Symbol{
			{Name: "only selection", Range: name, Selection: name, HasRange: true, HasSelection: true},
			{Name: "no place", Kind: 3},
		}
		if diff := sameSymbols(want, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	})
	t.Run("hostile depth ends", func(t *testing.T) {
		raw := strings.Repeat(`[{"name":"n","children":`, 3_000) + "[]" + strings.Repeat("}]", 3_000)
		got, err := DecodeSymbols(json.RawMessage(raw))
		if err != nil || len(got) != 1 {
			t.Fatal(len(got), err)
		}
		depth := 0
		for ; len(got) > 0; got = got[0].Children {
			depth++
		}
		if depth != maxDepth+1 {
			t.Errorf("read %d levels, want %d", depth, maxDepth+1)
		}
	})
	for _, raw := range []string{"", "null", "[]", "{}"} {
		if got, err := DecodeSymbols(json.RawMessage(raw)); got != nil || err != nil {
			t.Errorf("%q: %v, %v", raw, got, err)
		}
	}
}

func TestKinds(t *testing.T) {
	for kind, want := range map[int]string{1: "File", 5: "Class", 12: "Function", 22: "EnumMember", 26: "TypeParameter", 0: "Unknown", -1: "Unknown", 27: "Unknown"} {
		if got := KindName(kind); got != want {
			t.Errorf("kind %d is %s, want %s", kind, got, want)
		}
	}
	for kind := 1; kind <= 26; kind++ {
		if got := KindNumber(strings.ToLower(KindName(kind))); got != kind {
			t.Errorf("%s is %d, want %d", KindName(kind), got, kind)
		}
	}
	for _, name := range []string{"", "unknown", "classy"} {
		if got := KindNumber(name); got != 0 {
			t.Errorf("%q is %d", name, got)
		}
	}
}

func BenchmarkSymbols(b *testing.B) {
	var parts []string
	for i := range 10_000 {
		parts = append(parts, fmt.Sprintf(`{"name":"Symbol%d","kind":12,"detail":"func()","range":%s,"selectionRange":%s,"children":[]}`, i, jsonRange, jsonOther))
	}
	raw := json.RawMessage("[" + strings.Join(parts, ",") + "]")
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		got, err := DecodeSymbols(raw)
		if err != nil || len(got) != 10_000 {
			b.Fatal(len(got), err)
		}
	}
}
