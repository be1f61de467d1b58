package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dragoman-dev/dragoman/internal/text"
)

func parse(t *testing.T, raw string) *Capabilities {
	t.Helper()
	c, err := ParseInitialize(json.RawMessage(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return c
}

// offered lists the features that are offered for a document.
func offered(c *Capabilities, languageID, uri string) []Feature {
	var all []Feature
	for _, f := range []Feature{
		MethodDefinition, MethodReferences, MethodHover, MethodDocumentSymbol, MethodWorkspaceSymbol,
		MethodImplementation, MethodCallHierarchy, MethodDiagnostic, MethodWorkspaceDiag, MethodCodeAction, MethodDidChangeWatched,
	} {
		if c.Supports(f, languageID, uri) {
			all = append(all, f)
		}
	}
	return all
}

func TestCapabilityShapes(t *testing.T) {
	t.Run("C25 booleans, objects, null and missing; textDocumentSync as number, object, absent", func(t *testing.T) {
		for value, want := range map[string]bool{
			`true`: true, `{}`: true, `{"workDoneProgress":true}`: true,
			`false`: false, `null`: false, `1`: false, `"true"`: false, `[]`: false,
		} {
			c := parse(t, `{"capabilities":{"hoverProvider":`+value+`,"definitionProvider":true}}`)
			if got := c.Supports(MethodHover, "go", "file:///a.go"); got != want {
				t.Errorf("hoverProvider %s: %v, want %v", value, got, want)
			}
			if !c.Supports(MethodDefinition, "go", "file:///a.go") {
				t.Errorf("hoverProvider %s took the definition with it", value)
			}
		}
		for value, want := range map[string]Sync{
			`null`:           {},
			`0`:              {},
			`1`:              {OpenClose: true, Change: SyncFull, Save: true},
			`2`:              {OpenClose: true, Change: SyncIncremental, Save: true},
			`2.0`:            {OpenClose: true, Change: SyncIncremental, Save: true},
			`9`:              {},
			`"2"`:            {},
			`{}`:             {},
			`{"change":2}`:   {Change: SyncIncremental},
			`{"change":"x"}`: {},
			`{"openClose":true,"change":1,"save":true}`:                 {OpenClose: true, Change: SyncFull, Save: true},
			`{"openClose":true,"change":1,"save":false}`:                {OpenClose: true, Change: SyncFull},
			`{"openClose":true,"change":2,"save":{}}`:                   {OpenClose: true, Change: SyncIncremental, Save: true},
			`{"openClose":true,"change":0,"save":{"includeText":true}}`: {OpenClose: true, Save: true, IncludeText: true},
			`{"openClose":1,"change":2}`:                                {Change: SyncIncremental},
		} {
			c := parse(t, `{"capabilities":{"textDocumentSync":`+value+`}}`)
			if got := c.Sync("go", "file:///a.go"); got != want {
				t.Errorf("textDocumentSync %s: %+v, want %+v", value, got, want)
			}
		}
		for _, raw := range []string{`{}`, `{"capabilities":null}`, `{"capabilities":[]}`, `{"capabilities":{}}`} {
			c := parse(t, raw)
			if got := offered(c, "go", "file:///a.go"); got != nil || c.Sync("go", "") != (Sync{}) {
				t.Errorf("%s offers %v", raw, got)
			}
		}
	})
	for _, raw := range []string{``, `null`, `[]`, `"x"`, `{"capabilities":`} {
		if _, err := ParseInitialize(json.RawMessage(raw)); err == nil {
			t.Errorf("%q is an initialize result", raw)
		}
	}
}

func TestGrantedEncoding(t *testing.T) {
	t.Run("C54 utf-8, utf-16, utf-32, nothing, offsetEncoding, nonsense", func(t *testing.T) {
		for raw, want := range map[string]text.Encoding{
			`{"capabilities":{"positionEncoding":"utf-8"}}`:                            text.UTF8,
			`{"capabilities":{"positionEncoding":"utf-16"}}`:                           text.UTF16,
			`{"capabilities":{"positionEncoding":"utf-32"}}`:                           text.UTF32,
			`{"capabilities":{"positionEncoding":"UTF-8"}}`:                            text.UTF8,
			`{"capabilities":{}}`:                                                      text.UTF16,
			`{"capabilities":{"positionEncoding":null}}`:                               text.UTF16,
			`{"capabilities":{"positionEncoding":17}}`:                                 text.UTF16,
			`{"capabilities":{"positionEncoding":""},"offsetEncoding":"utf-8"}`:        text.UTF8,
			`{"capabilities":{},"offsetEncoding":"utf-8"}`:                             text.UTF8,
			`{"offsetEncoding":"utf-32"}`:                                              text.UTF32,
			`{"capabilities":{"offsetEncoding":"utf-8"}}`:                              text.UTF8,
			`{"capabilities":{"positionEncoding":"utf-16"},"offsetEncoding":"utf-8"}`:  text.UTF16,
			`{"capabilities":{"positionEncoding":"utf-16"},"offsetEncoding":"latin1"}`: text.UTF16,
		} {
			if got := parse(t, raw).Encoding(); got != want {
				t.Errorf("%s: %v, want %v", raw, got, want)
			}
		}
		for _, raw := range []string{`{"capabilities":{"positionEncoding":"latin1"}}`, `{"offsetEncoding":"bytes"}`} {
			if c, err := ParseInitialize(json.RawMessage(raw)); err == nil {
				t.Errorf("%s: counted as %v", raw, c.Encoding())
			}
		}
	})
}

func TestServerInfo(t *testing.T) {
	for raw, want := range map[string]string{
		`{}`:                          "",
		`{"serverInfo":null}`:         "",
		`{"serverInfo":"gopls"}`:      "",
		`{"serverInfo":{"name":"x"}}`: "x",
		`{"serverInfo":{"name":"x","version":"1.2 (abc)"}}`:                            "x 1.2 (abc)",
		`{"serverInfo":{"name":"x","version":"1.2\nbuilt today"}}`:                     "x 1.2",
		`{"serverInfo":{"name":"x","version":"{\"Main\":{\"Version\":\"v0.23.0\"}}"}}`: "x v0.23.0",
		`{"serverInfo":{"name":"x","version":"{\"broken"}}`:                            "x",
		`{"serverInfo":{"name":"x","version":7}}`:                                      "x",
	} {
		if got := parse(t, raw).ServerInfo(); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestRecordedServers(t *testing.T) {
	all := []Feature{
		MethodDefinition, MethodReferences, MethodHover, MethodDocumentSymbol, MethodWorkspaceSymbol,
		MethodImplementation, MethodCallHierarchy, MethodDiagnostic, MethodCodeAction,
	}
	without := func(left ...Feature) []Feature {
		var some []Feature
	next:
		for _, f := range all {
			for _, l := range left {
				if f == l {
					continue next
				}
			}
			some = append(some, f)
		}
		return some
	}
	incremental := Sync{OpenClose: true, Change: SyncIncremental}
	saved := Sync{OpenClose: true, Change: SyncIncremental, Save: true}
	withText := Sync{OpenClose: true, Change: SyncIncremental, Save: true, IncludeText: true}
	recorded := map[string]struct {
		encoding text.Encoding
		info     string
		sync     Sync
		features []Feature
		pull     []DiagnosticProvider
		resolves bool // code actions
	}{
		"gopls":                      {text.UTF16, "gopls v0.23.0", saved, without(MethodDiagnostic), nil, true},
		"rust-analyzer":              {text.UTF8, "rust-analyzer 1.95.0 (5980761 2026-04-14)", incremental, all, []DiagnosticProvider{{Identifier: "rust-analyzer", InterFile: true}}, true},
		"clangd":                     {text.UTF8, "clangd version 22.1.1 linux x86_64-unknown-linux-gnu", saved, without(MethodDiagnostic), nil, false},
		"clangd-14":                  {text.UTF16, "clangd Debian clangd version 14.0.6 linux+grpc x86_64-pc-linux-gnu", saved, without(MethodDiagnostic), nil, false},
		"jdtls":                      {text.UTF16, "JDT Language Server (Standard) 1.59.0-SNAPSHOT", withText, []Feature{MethodImplementation, MethodCallHierarchy, MethodCodeAction}, nil, true},
		"ts7":                        {text.UTF8, "typescript-go 7.0.2", saved, all, []DiagnosticProvider{{Identifier: "typescript", InterFile: true}}, false},
		"typescript-language-server": {text.UTF16, "", saved, without(MethodDiagnostic), nil, true},
		"pyright":                    {text.UTF16, "", saved, without(MethodImplementation, MethodDiagnostic), nil, false},
		"ruff":                       {text.UTF8, "ruff 0.17.6", incremental, []Feature{MethodHover, MethodDiagnostic, MethodCodeAction}, []DiagnosticProvider{{Identifier: "Ruff"}}, true},
		"css-ls":                     {text.UTF16, "", saved, without(MethodWorkspaceSymbol, MethodImplementation, MethodCallHierarchy), []DiagnosticProvider{{}}, false},
		"bash-language-server":       {text.UTF16, "", Sync{OpenClose: true, Change: SyncFull, Save: true}, without(MethodImplementation, MethodCallHierarchy, MethodDiagnostic), nil, false},
		"zuban":                      {text.UTF8, "zuban 0.10.2", incremental, without(MethodCallHierarchy), []DiagnosticProvider{{InterFile: true}}, false},
		"pylsp":                      {text.UTF16, "pylsp 1.15.0", withText, without(MethodWorkspaceSymbol, MethodImplementation, MethodCallHierarchy, MethodDiagnostic), nil, false},
	}
	files, err := filepath.Glob("testdata/initialize/*.json")
	if err != nil || len(files) != len(recorded) {
		t.Fatalf("%d recordings, want %d (%v)", len(files), len(recorded), err)
	}
	for name, want := range recorded {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata/initialize", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			c := parse(t, string(raw))
			if c.Encoding() != want.encoding || c.ServerInfo() != want.info {
				t.Errorf("%v, %q, want %v, %q", c.Encoding(), c.ServerInfo(), want.encoding, want.info)
			}
			if got := c.Sync("any", "file:///a"); got != want.sync {
				t.Errorf("sync %+v, want %+v", got, want.sync)
			}
			if diff := cmp.Diff(want.features, offered(c, "any", "file:///a")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want.pull, c.DiagnosticProviders("any", "file:///a")); diff != "" {
				t.Error(diff)
			}
			if got := c.Resolves(MethodCodeAction); got != want.resolves {
				t.Errorf("resolves code actions: %v, want %v", got, want.resolves)
			}
		})
	}
}

func TestResolves(t *testing.T) {
	c := parse(t, `{"capabilities":{"workspaceSymbolProvider":{"resolveProvider":true},"codeActionProvider":{"resolveProvider":false}}}`)
	if !c.Resolves(MethodWorkspaceSymbol) || c.Resolves(MethodCodeAction) {
		t.Error("static resolveProvider misread")
	}
	c = c.With([]Registration{{ID: "1", Method: "textDocument/codeAction", Options: json.RawMessage(`{"resolveProvider":true,"documentSelector":["rust"]}`)}})
	if !c.Resolves(MethodCodeAction) {
		t.Error("registered resolveProvider not seen")
	}
}
