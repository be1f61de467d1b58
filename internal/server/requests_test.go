package server

import (
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/internal/diag"
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// asks sends one request of the server and compares the answer.
func asks(t *testing.T, f *fixture, method, params, want string) {
	t.Helper()
	began := time.Now()
	got, err := f.script.Request(1, method, raw(params))
	if err != nil {
		t.Errorf("%s %s: %v", method, params, err)
		return
	}
	if string(got) != want {
		t.Errorf("%s %s is answered %s, want %s", method, params, got, want)
	}
	if took := time.Since(began); took > 0 {
		t.Errorf("%s was answered after %v", method, took)
	}
}

// refused sends a request that must fail with code.
func refused(t *testing.T, f *fixture, method, params string, code int) {
	t.Helper()
	_, err := f.script.Request(1, method, raw(params))
	e, ok := err.(*lsptest.Error)
	if !ok || e.Code != code {
		t.Errorf("%s %s: got %v, want code %d", method, params, err, code)
	}
}

func TestServerRequests(t *testing.T) {
	bubble(t, "C26 configuration", func(t *testing.T) {
		f := run(t, ``, func(o *Options) {
			o.Settings = raw(`{"python":{"analysis":{"mode":"strict"},"venv.path":"/v"},"editor.tab":4,"editor.wrap":true,"gone":null}`)
			o.Traits.SectionDefaults = map[string]json.RawMessage{"css": raw(`{}`)}
		})
		f.session()
		asks(t, f, "workspace/configuration", `{"items":[{"section":"python.analysis"},{"section":"nope","scopeUri":"file:///x"},{"section":"css"},{"section":"python.analysis.mode"},{"section":"python.venv.path"},{"section":"editor"}]}`,
			`[{"mode":"strict"},null,{},"strict","/v",{"tab":4,"wrap":true}]`)
		asks(t, f, "workspace/configuration", `{"items":[{},{"section":""}]}`,
			"["+string(f.o.Settings)+","+string(f.o.Settings)+"]")
		asks(t, f, "workspace/configuration", `{"items":[]}`, `[]`)
	})
	bubble(t, "C26 without settings", func(t *testing.T) {
		f := run(t, ``)
		f.session()
		asks(t, f, "workspace/configuration", `{"items":[{"section":"gopls"},{}]}`, `[null,{}]`)
	})
	bubble(t, "C27 registrations", func(t *testing.T) {
		f := run(t, ``)
		s := f.session()
		asks(t, f, "client/registerCapability", `{"registrations":[{"id":"1","method":"textDocument/hover","registerOptions":{"documentSelector":[{"language":"rust"}]}},{"id":"9","method":"x/neverOffered"}]}`, `null`)
		asks(t, f, "client/registerCapability", `{"registrations":[{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.go"}]}}]}`, `null`)
		asks(t, f, "client/registerCapability", `{"registrations":[{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.mod","kind":2}]}}]}`, `null`)
		got := s.Capabilities().Watchers()
		if len(got) != 1 || got[0].Glob != "**/*.mod" || got[0].Kind != 2 {
			t.Errorf("the same id does not replace: %+v", got)
		}
	})
	bubble(t, "C28 unregistrations", func(t *testing.T) {
		f := run(t, `capabilities {"hoverProvider":null}`)
		s := f.session()
		has := func() bool { return s.Capabilities().Supports(lsp.MethodHover, "go", "file:///a.go") }
		asks(t, f, "client/registerCapability", `{"registrations":[{"id":"h","method":"textDocument/hover"}]}`, `null`)
		if !has() {
			t.Error("not registered")
		}
		asks(t, f, "client/unregisterCapability", `{"unregisterations":[{"id":"h","method":"textDocument/hover"},{"id":"never","method":"x"}]}`, `null`)
		if has() {
			t.Error("still registered")
		}
	})
	bubble(t, "C29 progress tokens", func(t *testing.T) {
		f := run(t, ``, traits(Traits{Readiness: Readiness{Mode: ReadyProgress, AppearWithin: time.Second}}))
		s := f.session()
		asks(t, f, "window/workDoneProgress/create", `{"token":7}`, `null`)
		time.Sleep(5 * time.Second)
		if s.Basis().Settled {
			t.Error("a created token does not count as live")
		}
	})
	bubble(t, "C30 workspace folders", func(t *testing.T) {
		f := run(t, ``)
		f.session()
		asks(t, f, "workspace/workspaceFolders", `null`, string(mustJSON([]folder{{URI: text.PathToURI(f.root), Name: "001"}})))
	})
	bubble(t, "C31 applyEdit is refused", func(t *testing.T) {
		f := run(t, ``)
		f.session()
		asks(t, f, "workspace/applyEdit", `{"edit":{"changes":{}}}`, `{"applied":false,"failureReason":"dragoman asked for no edit"}`)
	})
	bubble(t, "C32 showMessageRequest", func(t *testing.T) {
		f := run(t, ``)
		f.session()
		asks(t, f, "window/showMessageRequest", `{"type":1,"message":"Reload?","actions":[{"title":"Yes"}]}`, `null`)
		if got := f.Status().Messages; len(got) != 1 || got[0] != "Reload?" {
			t.Errorf("messages %v", got)
		}
	})
	bubble(t, "C33 showDocument", func(t *testing.T) {
		f := run(t, ``)
		f.session()
		asks(t, f, "window/showDocument", `{"uri":"https://example.com"}`, `{"success":false}`)
	})
	bubble(t, "C34 refreshes", func(t *testing.T) {
		f := run(t, ``)
		s := f.session()
		version := int32(1)
		s.problems.Sent("file:///a.go", 1)
		s.problems.Publish(diag.Pull(""), "file:///a.go", &version, nil)
		for _, what := range []string{"semanticTokens", "inlayHint", "inlineValue", "codeLens", "foldingRange", "textDocumentContent"} {
			asks(t, f, "workspace/"+what+"/refresh", `null`, `null`)
		}
		if _, got := s.problems.Get("file:///a.go"); got != diag.Fresh {
			t.Errorf("problems are %v after refreshes of other things", got)
		}
		asks(t, f, "workspace/diagnostic/refresh", `null`, `null`)
		if _, got := s.problems.Get("file:///a.go"); got != diag.Stale {
			t.Errorf("problems are %v after a refresh of diagnostics", got)
		}
	})
	bubble(t, "C35 malformed params", func(t *testing.T) {
		f := run(t, ``)
		f.session()
		for _, method := range []string{
			"workspace/configuration", "client/registerCapability", "client/unregisterCapability",
			"window/workDoneProgress/create", "window/showMessageRequest", "window/showDocument", "workspace/applyEdit",
		} {
			refused(t, f, method, `[1,2]`, -32602)
		}
		refused(t, f, "x/unknown", `{}`, -32601)
		asks(t, f, "workspace/configuration", `{"items":[{"section":"a"}]}`, `[null]`)
	})
	bubble(t, "C36 handler panics", func(t *testing.T) {
		var log lockedBuffer
		f := run(t, ``, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		s := f.session()
		s.answers = map[string]answer{"x/panic": func(*Session, json.RawMessage) (any, error) { panic("oops") }}
		refused(t, f, "x/panic", `{}`, -32603)
		s.answers = answers
		if !strings.Contains(log.String(), "bug in dragoman") {
			t.Errorf("nothing reported: %q", log.String())
		}
		asks(t, f, "workspace/codeLens/refresh", `null`, `null`)
	})
	bubble(t, "C08 unknown notifications mean nothing", func(t *testing.T) {
		f := run(t, ``)
		f.session()
		f.script.Send(1, "$/unknown", raw(`null`))
		f.script.Send(1, "x/unknown", raw(`{"a":1}`))
		for _, garbage := range []string{"$/progress", "window/logMessage", "textDocument/publishDiagnostics", "experimental/serverStatus"} {
			f.script.Send(1, garbage, raw(`[3]`))
		}
		synctest.Wait()
		asks(t, f, "workspace/codeLens/refresh", `null`, `null`)
	})
}

func TestSettingsStayOutOfTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		f := run(t, ``, func(o *Options) {
			o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			o.Settings = raw(`{"token":"s3cr3t"}`)
			o.InitializationOptions = raw(`{"key":"s3cr3t"}`)
		})
		f.session()
		asks(t, f, "workspace/configuration", `{"items":[{"section":"token"}]}`, `["s3cr3t"]`)
		if strings.Contains(log.String(), "s3cr3t") {
			t.Error("a setting is in the log")
		}
	})
}

// lockedBuffer is a writer that may be read meanwhile.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
