package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ruleNames are the rules of doc.go.
var ruleNames = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`framing jsonrpc request-id before-reply
		initialize-once before-initialized process-id roots open-twice not-open
		request-not-open open-close change-kind first-version version range surrogate
		save watched-files capability cancel answer unanswered configuration shutdown
		after-shutdown exit trace disk left-running`) {
		m[n] = true
	}
	return m
}()

// providers names the capability that a request needs.
var providers = map[string]string{
	"textDocument/definition":           "definitionProvider",
	"textDocument/declaration":          "declarationProvider",
	"textDocument/typeDefinition":       "typeDefinitionProvider",
	"textDocument/implementation":       "implementationProvider",
	"textDocument/references":           "referencesProvider",
	"textDocument/hover":                "hoverProvider",
	"textDocument/documentSymbol":       "documentSymbolProvider",
	"textDocument/documentHighlight":    "documentHighlightProvider",
	"textDocument/signatureHelp":        "signatureHelpProvider",
	"textDocument/completion":           "completionProvider",
	"textDocument/codeAction":           "codeActionProvider",
	"textDocument/inlayHint":            "inlayHintProvider",
	"textDocument/rename":               "renameProvider",
	"textDocument/formatting":           "documentFormattingProvider",
	"textDocument/diagnostic":           "diagnosticProvider",
	"textDocument/prepareCallHierarchy": "callHierarchyProvider",
	"textDocument/prepareTypeHierarchy": "typeHierarchyProvider",
	"workspace/symbol":                  "workspaceSymbolProvider",
	"workspace/executeCommand":          "executeCommandProvider",
}

// syncWish is what the server asked to be told about documents.
type syncWish struct {
	openClose   bool
	change      int
	save        bool
	includeText bool
}

// learn reads the result of initialize that was sent.
func (r *run) learn(result string) {
	var res struct {
		Capabilities   rawObject `json:"capabilities"`
		OffsetEncoding string    `json:"offsetEncoding"`
	}
	_ = json.Unmarshal([]byte(result), &res) // a malformed result is what the script wants
	r.caps, r.encoding = res.Capabilities, "utf-16"
	if res.OffsetEncoding != "" {
		r.encoding = res.OffsetEncoding
	}
	var enc string
	if json.Unmarshal(res.Capabilities["positionEncoding"], &enc) == nil && enc != "" {
		r.encoding = enc
	}
	r.sync = parseSync(res.Capabilities["textDocumentSync"])
}

func parseSync(raw json.RawMessage) (w syncWish) {
	var kind int
	if json.Unmarshal(raw, &kind) == nil && kind != 0 {
		return syncWish{openClose: true, change: kind, save: true}
	}
	var o struct {
		OpenClose bool            `json:"openClose"`
		Change    int             `json:"change"`
		Save      json.RawMessage `json:"save"`
	}
	_ = json.Unmarshal(raw, &o) // absent or malformed: nothing is wished
	w = syncWish{openClose: o.OpenClose, change: o.Change}
	w.save, w.includeText = parseSave(o.Save)
	return w
}

func parseSave(raw json.RawMessage) (save, includeText bool) {
	var o struct {
		IncludeText bool `json:"includeText"`
	}
	switch s := string(raw); {
	case s == "" || s == "null" || s == "false":
		return false, false
	case s == "true":
		return true, false
	}
	_ = json.Unmarshal(raw, &o) // an odd value still wishes to be told
	return true, o.IncludeText
}

// wish is the static wish and what is registered.
func (r *run) wish() syncWish {
	w := r.sync
	for _, reg := range r.registered {
		switch reg.method {
		case "textDocument/didOpen", "textDocument/didClose":
			w.openClose = true
		case "textDocument/didChange":
			var o struct{ SyncKind int }
			_ = json.Unmarshal([]byte(reg.options), &o)
			w.change = o.SyncKind
		case "textDocument/didSave":
			var o struct{ IncludeText bool }
			_ = json.Unmarshal([]byte(reg.options), &o)
			w.save, w.includeText = true, w.includeText || o.IncludeText
		}
	}
	return w
}

func (r *run) isRegistered(method string) bool {
	for _, reg := range r.registered {
		if reg.method == method {
			return true
		}
	}
	return false
}

// check looks at a request or notification and keeps the state that rules need.
// Called with mu held.
func (r *run) check(m *inbound) {
	r.checkID(m)
	r.checkPhase(m)
	switch m.Method {
	case "initialize":
		r.checkInitialize(m)
	case "textDocument/didOpen", "textDocument/didChange", "textDocument/didSave", "textDocument/didClose":
		r.checkDocument(m)
	case "workspace/didChangeWatchedFiles":
		if !r.isRegistered(m.Method) {
			r.complain("watched-files", "the server has not registered for it", m)
		}
	case "$/setTrace":
		r.complain("trace", "nobody asked for it", m)
	case "$/cancelRequest":
		r.checkCancel(m)
	default:
		if m.ID != "" {
			r.checkRequest(m)
		}
	}
}

func (r *run) checkID(m *inbound) {
	if m.ID == "" {
		return
	}
	if c := m.ID[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
		r.complain("request-id", "an id is a number or a string", m)
	}
	if r.requests[m.ID] != nil {
		r.complain("request-id", "the id was used before", m)
	}
}

// checkPhase checks the order of the handshake and the end.
func (r *run) checkPhase(m *inbound) {
	if m.Method == "initialize" && r.initSeen || m.Method == "initialized" && r.initializedSeen {
		r.complain("initialize-once", "sent a second time", m)
	}
	ending := m.Method == "exit" || m.Method == "$/cancelRequest"
	switch {
	case r.shutdownSeen:
		if !ending {
			r.complain("after-shutdown", "sent after shutdown", m)
		}
	case m.Method == "initialize":
		r.initSeen = true
	case !r.initReplied:
		if !ending {
			r.complain("before-reply", "sent before the answer to initialize", m)
		}
	case m.Method == "initialized":
		r.initializedSeen = true
	case !r.initializedSeen && !ending && m.Method != "shutdown":
		r.complain("before-initialized", "sent before initialized", m)
	}
	switch m.Method {
	case "shutdown":
		r.shutdownSeen = true
		for _, a := range r.asked {
			a.beforeShutdown = true
		}
	case "exit":
		r.exitSeen = true
	}
}

func (r *run) checkInitialize(m *inbound) {
	var p struct {
		ProcessID        *int    `json:"processId"`
		RootPath         *string `json:"rootPath"`
		RootURI          *string `json:"rootUri"`
		WorkspaceFolders []struct{ URI, Name string }
	}
	if err := json.Unmarshal([]byte(m.Params), &p); err != nil {
		r.complain("roots", "params cannot be read: "+err.Error(), m)
		return
	}
	if p.ProcessID == nil || *p.ProcessID != r.s.owner {
		r.complain("process-id", fmt.Sprintf("processId is not %d", r.s.owner), m)
	}
	if p.RootURI == nil || uriPath(*p.RootURI) == "" {
		r.complain("roots", "rootUri is no file URI", m)
		return
	}
	r.rootURI, r.root = *p.RootURI, filepath.Clean(uriPath(*p.RootURI))
	if p.RootPath == nil || filepath.Clean(*p.RootPath) != r.root {
		r.complain("roots", "rootPath is not the path of rootUri", m)
	}
	if len(p.WorkspaceFolders) == 0 || p.WorkspaceFolders[0].URI != *p.RootURI || p.WorkspaceFolders[0].Name == "" {
		r.complain("roots", "the first of workspaceFolders is not rootUri with a name", m)
	}
}

// checkDocument follows the text of documents.
func (r *run) checkDocument(m *inbound) {
	p, err := parseDocParams(m.Params)
	if err != nil || p.TextDocument.URI == "" {
		r.complain("jsonrpc", fmt.Sprintf("params cannot be read: %v", err), m)
		return
	}
	d := r.docs[p.TextDocument.URI]
	if d == nil {
		d = &document{}
		r.docs[p.TextDocument.URI] = d
	}
	wish, verb := r.wish(), strings.TrimPrefix(m.Method, "textDocument/")
	if verb != "didOpen" && !d.open {
		r.complain("not-open", "the document is not open", m)
		return
	}
	switch verb {
	case "didOpen":
		r.didOpen(m, d, p, wish)
	case "didChange":
		r.didChange(m, d, p, wish)
	case "didSave":
		if !wish.save {
			r.complain("save", "the server does not want didSave", m)
		}
		if (p.Text != nil) != wish.includeText || p.Text != nil && *p.Text != d.text {
			r.complain("save", "the text is not as the server wants it (includeText), or differs from what it knows", m)
		}
	case "didClose":
		if !wish.openClose {
			r.complain("open-close", "the server does not want didClose", m)
		}
		d.open = false
	}
	m.version, m.text, m.lang = d.version, d.text, d.lang
}

func (r *run) didOpen(m *inbound, d *document, p docParams, wish syncWish) {
	if !wish.openClose {
		r.complain("open-close", "the server does not want didOpen", m)
	}
	if d.open {
		r.complain("open-twice", "the document is open", m)
	}
	if d.version == 0 && (p.TextDocument.Version == nil || *p.TextDocument.Version != 1) {
		r.complain("first-version", "the first version is not 1", m)
	}
	if p.TextDocument.LanguageID == "" {
		r.complain("jsonrpc", "languageId is missing", m)
	}
	r.checkVersion(m, d, p.TextDocument.Version)
	d.open, d.text, d.lang = true, p.TextDocument.Text, p.TextDocument.LanguageID
}

func (r *run) didChange(m *inbound, d *document, p docParams, wish syncWish) {
	if wish.change == 0 {
		r.complain("change-kind", "the server does not want didChange", m)
	}
	r.checkVersion(m, d, p.TextDocument.Version)
	if len(p.ContentChanges) == 0 {
		r.complain("change-kind", "no changes", m)
	}
	for _, c := range p.ContentChanges {
		if c.Range != nil && wish.change == 1 {
			r.complain("change-kind", "a range, but the server wants whole texts", m)
		}
		text, err := apply(d.text, c, units{r.encoding, r.sc.lfOnly})
		var pe *posError
		if errors.As(err, &pe) {
			name := "range"
			if pe.surrogate {
				name = "surrogate"
			}
			r.complain(name, pe.text, m)
		}
		d.text = text
	}
}

func (r *run) checkVersion(m *inbound, d *document, v *int) {
	if v == nil || *v <= d.version {
		r.complain("version", fmt.Sprintf("the version is not above %d", d.version), m)
		return
	}
	d.version = *v
}

func (r *run) checkCancel(m *inbound) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal([]byte(m.Params), &p) // a malformed one names no request
	req := r.requests[string(p.ID)]
	if req == nil || req.cancelled {
		r.complain("cancel", "no such request, or cancelled before", m)
	}
}

// checkRequest checks requests about documents and features.
func (r *run) checkRequest(m *inbound) {
	if name := providers[m.Method]; name != "" && r.initReplied && !r.isRegistered(m.Method) {
		if v := string(r.caps[name]); v == "" || v == "null" || v == "false" {
			r.complain("capability", name+" is not offered", m)
		}
	}
	if m.uri == "" || !strings.HasPrefix(m.Method, "textDocument/") {
		return
	}
	d := r.docs[m.uri]
	if d == nil || !d.open {
		if r.wish().openClose {
			r.complain("request-not-open", "the document is not open", m)
		}
		return
	}
	m.version, m.text, m.lang = d.version, d.text, d.lang
	if r.sc.checkDisk {
		disk, err := os.ReadFile(uriPath(m.uri))
		if text := strings.TrimPrefix(string(disk), "\ufeff"); err != nil || text != d.text {
			r.complain("disk", fmt.Sprintf("the document is not what is on disk: %q, on disk %q (%v)", clip(d.text), clip(text), err), m)
		}
	}
}

// checkEnd is called once when the client ended the process (by exit, the end of
// input, Terminate or Kill). Called with mu held.
func (r *run) checkEnd(how string) {
	if !r.initOK || r.stopped || r.ignored["shutdown"] && r.shutdownSeen {
		return
	}
	hanging := false
	for _, q := range r.requests {
		hanging = hanging || !q.answered
	}
	kill := how == "Kill" || how == "Terminate"
	if !r.shutdownSeen && !(kill && hanging) {
		r.complain("shutdown", how+" without shutdown", nil)
	}
	if r.shutdownAnswered && !r.exitSeen && !r.ignored["exit"] {
		r.complain("exit", how+" without exit", nil)
	}
	for _, a := range r.asked {
		if a.beforeShutdown && !a.answered {
			r.complain("unanswered", fmt.Sprintf("our request %s id %s was not answered", a.method, a.id), nil)
		}
	}
}
