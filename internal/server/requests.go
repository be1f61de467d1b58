package server

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/jsonrpc"
	"github.com/dragoman-dev/dragoman/internal/lsp"
)

// handler is what the server reaches of us. It never blocks: most servers wait
// for the answer before they do anything else.
type handler struct{ s *Session }

// answer is how one request of the server is answered.
type answer func(s *Session, params json.RawMessage) (any, error)

// answers is the table of what servers ask of a client. Nobody is at hand to
// choose or look, and nothing is ever written for a server.
var answers = map[string]answer{
	"workspace/configuration":               (*Session).answerConfiguration,
	"workspace/workspaceFolders":            (*Session).answerFolders,
	"workspace/applyEdit":                   (*Session).refuseEdit,
	"client/registerCapability":             (*Session).register,
	"client/unregisterCapability":           (*Session).unregister,
	"window/workDoneProgress/create":        (*Session).createProgress,
	"window/showMessageRequest":             (*Session).keepQuestion,
	"window/showDocument":                   (*Session).refuseDocument,
	"workspace/semanticTokens/refresh":      (*Session).agree,
	"workspace/inlayHint/refresh":           (*Session).agree,
	"workspace/inlineValue/refresh":         (*Session).agree,
	"workspace/codeLens/refresh":            (*Session).agree,
	"workspace/foldingRange/refresh":        (*Session).agree,
	"workspace/textDocumentContent/refresh": (*Session).agree,
	"workspace/diagnostic/refresh":          (*Session).refreshDiagnostics,
}

// Answer answers one request of the server, by the table.
func (h handler) Answer(_ context.Context, method string, params json.RawMessage) (any, error) {
	if h.s.stopping.Load() {
		return nil, nil
	}
	answer, known := h.s.answers[method]
	if !known {
		return nil, jsonrpc.MethodNotFound(method)
	}
	return answer(h.s, params)
}

// decode reads params or returns the error that the server gets.
func decode(params json.RawMessage, into any) error {
	if err := json.Unmarshal(params, into); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid params: " + err.Error()}
	}
	return nil
}

func (s *Session) agree(json.RawMessage) (any, error) { return nil, nil }

func (s *Session) refreshDiagnostics(json.RawMessage) (any, error) {
	s.problems.MarkPulls()
	return nil, nil
}

func (s *Session) answerFolders(json.RawMessage) (any, error) { return s.srv.folders(), nil }

func (s *Session) refuseEdit(params json.RawMessage) (any, error) {
	var p struct {
		Edit json.RawMessage `json:"edit"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	return map[string]any{"applied": false, "failureReason": "dragoman asked for no edit"}, nil
}

func (s *Session) refuseDocument(params json.RawMessage) (any, error) {
	var p struct {
		URI string `json:"uri"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	return map[string]any{"success": false}, nil
}

func (s *Session) keepQuestion(params json.RawMessage) (any, error) {
	var p message
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	s.said(p)
	return nil, nil
}

func (s *Session) createProgress(params json.RawMessage) (any, error) {
	var p struct {
		Token json.RawMessage `json:"token"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	if len(p.Token) == 0 {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid params: no token"}
	}
	s.track.created(tokenKey(p.Token))
	return nil, nil
}

func (s *Session) register(params json.RawMessage) (any, error) {
	rs, err := lsp.DecodeRegistrations(params)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	s.editCapabilities(func(c *lsp.Capabilities) *lsp.Capabilities { return c.With(rs) })
	return nil, nil
}

func (s *Session) unregister(params json.RawMessage) (any, error) {
	rs, err := lsp.DecodeUnregistrations(params)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	s.editCapabilities(func(c *lsp.Capabilities) *lsp.Capabilities { return c.Without(rs) })
	return nil, nil
}

// answerConfiguration answers exactly as many items as were asked, in their order.
func (s *Session) answerConfiguration(params json.RawMessage) (any, error) {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	out := make([]json.RawMessage, len(p.Items))
	for i, item := range p.Items {
		out[i] = s.srv.o.section(item.Section)
	}
	return out, nil
}

// section is the value of a dotted section of the settings: the whole settings
// for no section, the catalogue's default for one without settings, else null.
func (o *Options) section(name string) json.RawMessage {
	if name == "" {
		if hasContent(o.Settings) {
			return o.Settings
		}
	} else if v, ok := lookUp(o.Settings, name); ok {
		return v
	}
	if v, ok := o.Traits.SectionDefaults[name]; ok {
		return v
	}
	if name == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage("null")
}

// lookUp follows the dots of name through nested objects. Keys may hold dots
// themselves; the longest key wins, and keys below a section that are written in
// the dotted form are gathered into an object.
func lookUp(settings json.RawMessage, name string) (json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(settings, &m) != nil {
		return nil, false
	}
	if v, ok := m[name]; ok {
		return v, true
	}
	for i := len(name) - 1; i > 0; i-- {
		if name[i] != '.' {
			continue
		}
		if inner, ok := m[name[:i]]; ok {
			if v, ok := lookUp(inner, name[i+1:]); ok {
				return v, true
			}
		}
	}
	return gather(m, name+".")
}

// gather collects the keys that begin with prefix into an object without it.
func gather(m map[string]json.RawMessage, prefix string) (json.RawMessage, bool) {
	found := map[string]json.RawMessage{}
	for k, v := range m {
		if rest, ok := strings.CutPrefix(k, prefix); ok {
			found[rest] = v
		}
	}
	if len(found) == 0 {
		return nil, false
	}
	raw, err := json.Marshal(found)
	return raw, err == nil
}

// tokenKey is the identity of a progress token, a number or a string.
func tokenKey(raw json.RawMessage) string { return string(bytes.TrimSpace(raw)) }
