package lsp

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func rng(l1, c1, l2, c2 uint32) Range {
	return Range{Start: Position{Line: l1, Character: c1}, End: Position{Line: l2, Character: c2}}
}

const (
	jsonRange = `{"start":{"line":1,"character":2},"end":{"line":3,"character":4}}`
	jsonOther = `{"start":{"line":1,"character":7},"end":{"line":1,"character":9}}`
)

func TestDecodeLocations(t *testing.T) {
	t.Run("C57 null, Location, list, LocationLink and mixtures", func(t *testing.T) {
		const (
			plain = `{"uri":"file:///a","range":` + jsonOther + `}`
			link  = `{"originSelectionRange":` + jsonRange + `,"targetUri":"file:///a","targetRange":` + jsonRange + `,"targetSelectionRange":` + jsonOther + `}`
		)
		one := Location{URI: "file:///a", Range: rng(1, 7, 1, 9)}
		for raw, want := range map[string][]Location{
			"":                                  nil,
			" null ":                            nil,
			"[]":                                nil,
			"{}":                                nil,
			"[null]":                            nil,
			"[{}]":                              nil,
			"[17, \"x\", []]":                   nil,
			plain:                               {one},
			link:                                {one},
			"[" + plain + "]":                   {one},
			"[" + link + "]":                    {one},
			"[null," + plain + "," + link + "]": {one, one},
			"[\n" + link + " ,\t" + plain + "]": {one, one},
			`[{"range":` + jsonOther + `},` + plain + `]`: {one},
		} {
			got, err := DecodeLocations(json.RawMessage(raw))
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v %s", raw, err, diff)
			}
		}
	})
	for what, tt := range map[string]struct {
		raw  string
		want Location
	}{
		"order of members does not matter": {
			`{"targetSelectionRange":` + jsonOther + `,"targetRange":` + jsonRange + `,"targetUri":"u"}`,
			Location{"u", rng(1, 7, 1, 9)},
		},
		"link without selection": {
			`{"targetUri":"u","targetRange":` + jsonRange + `}`,
			Location{"u", rng(1, 2, 3, 4)},
		},
		"negative, fractional and huge numbers": {
			`{"uri":"u","range":{"start":{"line":-1,"character":2.9},"end":{"line":99999999999,"character":1e2}}}`,
			Location{"u", rng(0, 2, math.MaxUint32, 100)},
		},
		"numbers of a wrong type": {
			`{"uri":"u","range":{"start":{"line":"1","character":null},"end":{"line":5}}}`,
			Location{"u", rng(0, 0, 5, 0)},
		},
		"no range": {
			`{"uri":"u","range":[]}`,
			Location{URI: "u"},
		},
		"escapes in the URI, unknown members": {
			`{"uri":"file:\/\/\/caf\u00e9","data":{"range":[1,{"uri":"no"}]},"range":` + jsonOther + `}`,
			Location{"file:///café", rng(1, 7, 1, 9)},
		},
	} {
		got, err := DecodeLocations(json.RawMessage(tt.raw))
		if diff := cmp.Diff([]Location{tt.want}, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", what, err, diff)
		}
	}
}

// manyLocations is an answer with n locations in n/20 files.
func manyLocations(n int) json.RawMessage {
	var b strings.Builder
	b.WriteString("[")
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"uri":"file:///home/someone/project/internal/package%d/file.go","range":{"start":{"line":%d,"character":4},"end":{"line":%d,"character":12}}}`, i/20, i, i)
	}
	b.WriteString("]")
	return json.RawMessage(b.String())
}

func BenchmarkLocations(b *testing.B) {
	raw := manyLocations(10_000)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		got, err := DecodeLocations(raw)
		if err != nil || len(got) != 10_000 {
			b.Fatal(len(got), err)
		}
	}
}
