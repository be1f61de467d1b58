package lsp

import (
	"encoding/json"
	"testing"
)

func TestDecodeHover(t *testing.T) {
	t.Run("C62 string, MarkedString, list, MarkupContent and nothing", func(t *testing.T) {
		for raw, want := range map[string]string{
			``:                         "",
			`null`:                     "",
			`{}`:                       "",
			`{"contents":null}`:        "",
			`{"contents":""}`:          "",
			`{"contents":[]}`:          "",
			`{"contents":["", null]}`:  "",
			`{"contents":17}`:          "",
			`{"contents":"plain\n"}`:   "plain",
			`{"contents":["a"," b "]}`: "a\n\nb",
			`{"contents":{"language":"go","value":"func f()"}}`:                              "```go\nfunc f()\n```",
			`{"contents":{"language":"","value":"x"}}`:                                       "```\nx\n```",
			`{"contents":{"language":"md","value":"` + "```\\nx\\n```" + `"}}`:               "````md\n```\nx\n```\n````",
			`{"contents":{"language":"go","value":" "}}`:                                     "",
			`{"contents":[{"language":"go","value":"\n\tfunc f()\n"},"Doc.",{"value":"x"}]}`: "```go\n\tfunc f()\n```\n\nDoc.\n\nx",
			`{"contents":{"kind":"markdown","value":"**b**\n"}}`:                             "**b**",
			`{"contents":{"kind":"plaintext","value":"caf\u00e9"}}`:                          "café",
			`"no object around it"`:                                                          "no object around it",
			`["no", {"value":"object"}]`:                                                     "no\n\nobject",
		} {
			got, r, err := DecodeHover(json.RawMessage(raw))
			if got != want || r != nil || err != nil {
				t.Errorf("%s: %q, %v, %v, want %q", raw, got, r, err, want)
			}
		}
	})
	_, r, err := DecodeHover(json.RawMessage(`{"contents":"x","range":` + jsonRange + `}`))
	if err != nil || r == nil || *r != rng(1, 2, 3, 4) {
		t.Errorf("range %v, %v", r, err)
	}
	for _, raw := range []string{`17`, `{"contents":"x"`, `{"contents" "x"}`, `true`} {
		if got, _, err := DecodeHover(json.RawMessage(raw)); err == nil {
			t.Errorf("%s: %q without an error", raw, got)
		}
	}
}
