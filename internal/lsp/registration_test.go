package lsp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func register(t *testing.T, c *Capabilities, params string) *Capabilities {
	t.Helper()
	rs, err := DecodeRegistrations(json.RawMessage(params))
	if err != nil {
		t.Fatalf("%s: %v", params, err)
	}
	return c.With(rs)
}

func unregister(t *testing.T, c *Capabilities, params string) *Capabilities {
	t.Helper()
	rs, err := DecodeUnregistrations(json.RawMessage(params))
	if err != nil {
		t.Fatalf("%s: %v", params, err)
	}
	return c.Without(rs)
}

const goFile = "file:///w/a.go"

func TestRegister(t *testing.T) {
	t.Run("C27 registrations are kept by id and method, and never change an older view", func(t *testing.T) {
		before := parse(t, `{"capabilities":{}}`)
		after := register(t, before, `{"registrations":[
			{"id":"1","method":"textDocument/hover"},
			{"id":"1","method":"textDocument/definition","registerOptions":{"documentSelector":[{"language":"python"}]}},
			{"id":"2","method":"vendor/unheard-of","registerOptions":{"x":1}},
			{"id":3,"method":"textDocument/references","registerOptions":null},
			null, {"id":"4"}]}`)
		if got := offered(before, "go", goFile); got != nil {
			t.Errorf("the older view now offers %v", got)
		}
		if diff := cmp.Diff([]Feature{MethodReferences, MethodHover}, offered(after, "go", goFile)); diff != "" {
			t.Error(diff)
		}
		again := register(t, after, `{"registrations":[{"id":"1","method":"textDocument/definition","registerOptions":{"documentSelector":[{"language":"go"}]}}]}`)
		if !again.Supports(MethodDefinition, "go", goFile) || again.Supports(MethodDefinition, "python", "file:///w/a.py") {
			t.Error("a duplicate id did not replace the registration")
		}
		if after.Supports(MethodDefinition, "go", goFile) {
			t.Error("replacing a registration changed the older view")
		}
		gone := unregister(t, again, `{"unregisterations":[{"id":"1","method":"textDocument/definition"}]}`)
		if gone.Supports(MethodDefinition, "go", goFile) || !gone.Supports(MethodHover, "go", goFile) {
			t.Error("a duplicate was stacked, or the same id of another method went too")
		}
		if !again.Supports(MethodDefinition, "go", goFile) {
			t.Error("removing a registration changed the older view")
		}
	})
	for _, bad := range []string{``, `null`, `[]`, `{"registrations":"x"}`, `{"registrations":[1`} {
		if got, err := DecodeRegistrations(json.RawMessage(bad)); err == nil {
			t.Errorf("%q: %v without an error", bad, got)
		}
	}
	if got, err := DecodeRegistrations(json.RawMessage(`{}`)); len(got) != 0 || err != nil {
		t.Errorf("no registrations: %v, %v", got, err)
	}
}

func TestUnregister(t *testing.T) {
	t.Run("C28 misspelt and right key, unknown ids, the static capability stays", func(t *testing.T) {
		for _, key := range []string{"unregisterations", "unregistrations"} {
			c := register(t, parse(t, `{"capabilities":{"hoverProvider":true}}`), `{"registrations":[
				{"id":"h","method":"textDocument/hover"},{"id":"d","method":"textDocument/definition"}]}`)
			c = unregister(t, c, `{"`+key+`":[{"id":"h","method":"textDocument/hover"},{"id":"d","method":"textDocument/definition"}]}`)
			if diff := cmp.Diff([]Feature{MethodHover}, offered(c, "go", goFile)); diff != "" {
				t.Errorf("%s: %s", key, diff)
			}
			c = unregister(t, c, `{"`+key+`":[{"id":"h","method":"textDocument/hover"},{"id":"?","method":"x"},null]}`)
			if !c.Supports(MethodHover, "go", goFile) {
				t.Errorf("%s: removing an inactive registration took the static capability", key)
			}
		}
		c := register(t, parse(t, `{}`), `{"registrations":[{"id":"h","method":"textDocument/hover"}]}`)
		c = unregister(t, c, `{"unregisterations":[{"id":"h","method":"textDocument/definition"},{"id":"x","method":"textDocument/hover"}]}`)
		if !c.Supports(MethodHover, "go", goFile) {
			t.Error("an unknown id or another method removed the registration")
		}
	})
}

func TestSelectors(t *testing.T) {
	t.Run("C37 a definition registered for a language, scheme or pattern", func(t *testing.T) {
		static := parse(t, `{"capabilities":{}}`)
		if static.Supports(MethodDefinition, "go", goFile) {
			t.Fatal("supported before it was registered")
		}
		for _, tt := range []struct {
			selector, language, uri string
			want                    bool
		}{
			{`null`, "go", goFile, true},
			{`[]`, "go", goFile, false},
			{`[{}]`, "go", goFile, false},
			{`[{"language":"go"}]`, "go", goFile, true},
			{`[{"language":"go"}]`, "python", "file:///w/a.py", false},
			{`[{"language":"*"}]`, "python", "file:///w/a.py", true},
			{`["go"]`, "go", goFile, true},
			{`["go"]`, "gotmpl", goFile, false},
			{`{"language":"go"}`, "go", goFile, true},
			{`[null, 7, {"language":"go"}]`, "go", goFile, true},
			{`[{"scheme":"file"}]`, "go", goFile, true},
			{`[{"scheme":"FILE"}]`, "go", goFile, true},
			{`[{"scheme":"file"}]`, "java", "jdt://contents/a.class", false},
			{`[{"language":"java","scheme":"file"},{"language":"java","scheme":"jdt"}]`, "java", "jdt://contents/a.class", true},
			{`[{"language":"go","scheme":"untitled"}]`, "go", goFile, false},
			{`[{"pattern":"**/*.rs"},{"pattern":"**/Cargo.toml"}]`, "toml", "file:///w/x/Cargo.toml", true},
			{`[{"pattern":"**/*.rs"},{"pattern":"**/Cargo.toml"}]`, "toml", "file:///w/x/other.toml", false},
			{`[{"pattern":"**/*.{go,mod}"}]`, "go", goFile, true},
			{`[{"pattern":"**/my file.go"}]`, "go", "file:///w/my%20file.go", true},
			{`[{"pattern":"/w/**"}]`, "go", goFile, true},
			{`[{"pattern":"*.go"}]`, "go", goFile, true},
			{`[{"pattern":"*.py"}]`, "go", goFile, false},
			{`[{"language":"python","pattern":"**/*.go"}]`, "go", goFile, false},
			{`[{"pattern":{"baseUri":"file:///w","pattern":"**/*.go"}}]`, "go", goFile, true},
			{`[{"pattern":{"baseUri":"file:///w/","pattern":"*.go"}}]`, "go", goFile, true},
			{`[{"pattern":{"baseUri":{"uri":"file:///w","name":"w"},"pattern":"*.go"}}]`, "go", goFile, true},
			{`[{"pattern":{"baseUri":"file:///w/sub","pattern":"**/*.go"}}]`, "go", goFile, false},
			{`[{"pattern":{"baseUri":"file:///wide","pattern":"**"}}]`, "go", goFile, false},
			{`[{"pattern":"**/*.class"}]`, "java", "jdt://contents/x/a.class?=y", true},
			{`[{"language":"python","notebook":"*"}]`, "python", "file:///w/a.py", false},
			{`[{"language":"python","notebook":"*"},{"language":"python"}]`, "python", "file:///w/a.py", true},
			{`[{"language":"go"}]`, "", "", true}, // a question about the whole workspace
		} {
			c := register(t, static, `{"registrations":[{"id":"d","method":"textDocument/definition","registerOptions":{"documentSelector":`+tt.selector+`}}]}`)
			if got := c.Supports(MethodDefinition, tt.language, tt.uri); got != tt.want {
				t.Errorf("selector %s, %s %s: %v, want %v", tt.selector, tt.language, tt.uri, got, tt.want)
			}
		}
	})
	t.Run("jdtls registers without options", func(t *testing.T) {
		c := register(t, parse(t, `{"capabilities":{}}`), `{"registrations":[{"id":"4e0f","method":"textDocument/references"}]}`)
		if !c.Supports(MethodReferences, "java", "file:///w/A.java") {
			t.Error("not supported")
		}
	})
	t.Run("call hierarchy under either name", func(t *testing.T) {
		for _, method := range []string{"textDocument/prepareCallHierarchy", "textDocument/callHierarchy"} {
			c := register(t, parse(t, `{}`), `{"registrations":[{"id":"c","method":"`+method+`"}]}`)
			if !c.Supports(MethodCallHierarchy, "go", goFile) {
				t.Errorf("%s: not supported", method)
			}
			if c = unregister(t, c, `{"unregisterations":[{"id":"c","method":"`+method+`"}]}`); c.Supports(MethodCallHierarchy, "go", goFile) {
				t.Errorf("%s: not removed", method)
			}
		}
	})
}

func TestDiagnosticProviders(t *testing.T) {
	t.Run("C38 providers with different identifiers are listed apart", func(t *testing.T) {
		c := register(t, parse(t, `{"capabilities":{"diagnosticProvider":{"identifier":"native","interFileDependencies":true,"workspaceDiagnostics":false}}}`),
			`{"registrations":[
				{"id":"1","method":"textDocument/diagnostic","registerOptions":{"identifier":"lint","workspaceDiagnostics":true,"documentSelector":[{"language":"go"}]}},
				{"id":"2","method":"textDocument/diagnostic","registerOptions":{"identifier":"types","documentSelector":[{"language":"python"}]}},
				{"id":"3","method":"textDocument/diagnostic","registerOptions":{"identifier":"native","documentSelector":null}}]}`)
		native := DiagnosticProvider{Identifier: "native", InterFile: true}
		lint := DiagnosticProvider{Identifier: "lint", Workspace: true}
		types := DiagnosticProvider{Identifier: "types"}
		if diff := cmp.Diff([]DiagnosticProvider{native, lint}, c.DiagnosticProviders("go", goFile)); diff != "" {
			t.Errorf("go: %s", diff)
		}
		if diff := cmp.Diff([]DiagnosticProvider{native, types}, c.DiagnosticProviders("python", "file:///w/a.py")); diff != "" {
			t.Errorf("python: %s", diff)
		}
		if diff := cmp.Diff([]DiagnosticProvider{native, lint, types}, c.DiagnosticProviders("", "")); diff != "" {
			t.Errorf("workspace: %s", diff)
		}
		if !c.Supports(MethodWorkspaceDiag, "", "") {
			t.Error("workspace diagnostics not seen")
		}
		c = unregister(t, c, `{"unregisterations":[{"id":"1","method":"textDocument/diagnostic"}]}`)
		if c.Supports(MethodWorkspaceDiag, "", "") || !c.Supports(MethodDiagnostic, "go", goFile) {
			t.Error("wrong support after the workspace provider went")
		}
	})
	if got := parse(t, `{"capabilities":{"diagnosticProvider":null}}`).DiagnosticProviders("go", goFile); got != nil {
		t.Errorf("null: %v", got)
	}
	if got := parse(t, `{"capabilities":{"diagnosticProvider":true}}`).DiagnosticProviders("go", goFile); len(got) != 1 {
		t.Errorf("true: %v", got)
	}
}

func TestRegisteredSync(t *testing.T) {
	c := register(t, parse(t, `{"capabilities":{"textDocumentSync":{"openClose":true,"change":2}}}`), `{"registrations":[
		{"id":"textDocument/didSave","method":"textDocument/didSave","registerOptions":{"includeText":false,"documentSelector":[{"pattern":"**/*.rs"},{"pattern":"**/Cargo.toml"}]}}]}`)
	if got, want := c.Sync("rust", "file:///w/a.rs"), (Sync{OpenClose: true, Change: SyncIncremental, Save: true}); got != want {
		t.Errorf("a.rs: %+v, want %+v", got, want)
	}
	if got, want := c.Sync("go", goFile), (Sync{OpenClose: true, Change: SyncIncremental}); got != want {
		t.Errorf("a.go: %+v, want %+v", got, want)
	}
	c = register(t, parse(t, `{}`), `{"registrations":[
		{"id":"1","method":"textDocument/didOpen","registerOptions":{"documentSelector":["go"]}},
		{"id":"2","method":"textDocument/didChange","registerOptions":{"documentSelector":["go"],"syncKind":1}},
		{"id":"3","method":"textDocument/didSave","registerOptions":{"documentSelector":["go"],"includeText":true}}]}`)
	if got, want := c.Sync("go", goFile), (Sync{OpenClose: true, Change: SyncFull, Save: true, IncludeText: true}); got != want {
		t.Errorf("registered: %+v, want %+v", got, want)
	}
	if got := c.Sync("python", "file:///w/a.py"); got != (Sync{}) {
		t.Errorf("registered for another language: %+v", got)
	}
}

func TestWatchers(t *testing.T) {
	c := register(t, parse(t, `{}`), `{"registrations":[
		{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[
			{"globPattern":"**/*.{mod,work}","kind":7},
			{"globPattern":{"baseUri":"file:///w%20x","pattern":"**/*.{go,mod,sum,work}"},"kind":7},
			{"globPattern":{"baseUri":{"name":"w","uri":"file:///w"},"pattern":"**/biome.json"}},
			{"globPattern":"/home/someone/.config/rust-analyzer","kind":1},
			{"globPattern":"**","kind":0},
			{"globPattern":"*.x","kind":"all"},
			null, {}, {"globPattern":7}, {"globPattern":{"baseUri":"file:///w"}}]}},
		{"id":"o","method":"workspace/didChangeWatchedFiles","registerOptions":null}]}`)
	want := []FileWatcher{
		{"", "**/*.{mod,work}", 7},
		{"/w x", "**/*.{go,mod,sum,work}", 7},
		{"/w", "**/biome.json", 7},
		{"", "/home/someone/.config/rust-analyzer", 1},
		{"", "**", 7},
		{"", "*.x", 7},
	}
	if diff := cmp.Diff(want, c.Watchers()); diff != "" {
		t.Error(diff)
	}
	if !c.Supports(MethodDidChangeWatched, "", "") {
		t.Error("not supported")
	}
	c = unregister(t, c, `{"unregisterations":[{"id":"w","method":"workspace/didChangeWatchedFiles"}]}`)
	if got := c.Watchers(); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}
