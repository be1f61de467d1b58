package lsptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Message is one message from the client: a request or a notification.
type Message struct {
	Method string
	ID     string // raw JSON, "" for notifications
	Params string // raw JSON
}

// inbound is a message as it was read.
type inbound struct {
	Message
	isAnswer bool
	result   json.RawMessage
	hasRes   bool
	failure  json.RawMessage
	hasErr   bool

	uri      string // textDocument.uri
	position struct{ Line, Character int }
	token    json.RawMessage // workDoneToken
	partial  json.RawMessage // partialResultToken

	hung bool // guarded by run.mu

	// State of a document after this message, for expect.
	version int
	text    string
	lang    string
}

// parseMessage reads a body; the faults are what is wrong with it.
func parseMessage(body []byte) (m *inbound, faults []string) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, []string{"not a JSON object: " + err.Error()}
	}
	if v := string(fields["jsonrpc"]); v != `"2.0"` {
		faults = append(faults, fmt.Sprintf("jsonrpc is %s", or(v, "absent")))
	}
	m = &inbound{}
	if raw, ok := fields["id"]; ok {
		m.ID = string(raw)
	}
	if raw, ok := fields["params"]; ok {
		m.Params = string(raw)
		if c := raw[0]; c != '{' && c != '[' && c != 'n' {
			faults = append(faults, "params are neither object, list nor null")
		}
	}
	m.result, m.hasRes = fields["result"]
	m.failure, m.hasErr = fields["error"]
	raw, hasMethod := fields["method"]
	if hasMethod {
		if json.Unmarshal(raw, &m.Method) != nil || m.Method == "" {
			faults = append(faults, "method is no string")
		}
		if m.hasRes || m.hasErr {
			faults = append(faults, "a message with a method has a result or an error")
		}
	} else {
		m.isAnswer = true
		if m.ID == "" {
			return nil, append(faults, "a message with neither method nor id")
		}
	}
	m.look()
	return m, faults
}

// look reads the parts of the params that rules and templates need.
func (m *inbound) look() {
	var p struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
		Position           struct{ Line, Character int } `json:"position"`
		WorkDoneToken      json.RawMessage               `json:"workDoneToken"`
		PartialResultToken json.RawMessage               `json:"partialResultToken"`
	}
	if json.Unmarshal([]byte(m.Params), &p) != nil {
		return
	}
	m.uri, m.position = p.TextDocument.URI, p.Position
	m.token, m.partial = p.WorkDoneToken, p.PartialResultToken
}

// String is the message for people.
func (m *inbound) String() string {
	switch {
	case m.isAnswer && m.hasErr:
		return clip(fmt.Sprintf("answer %s error %s", m.ID, m.failure))
	case m.isAnswer:
		return clip(fmt.Sprintf("answer %s %s", m.ID, m.result))
	case m.ID != "":
		return clip(fmt.Sprintf("%s id %s %s", m.Method, m.ID, m.Params))
	}
	return clip(m.Method + " " + m.Params)
}

type rawObject map[string]json.RawMessage

// rawJSON marks text as JSON; what is no JSON goes out as it is (scripts may want that).
func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

// toJSON encodes v; raw parts that are no JSON are a fault of the script and are shown as a string.
func toJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return strconv.Quote("lsptest: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// fileURI makes the URI of an absolute path.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// uriPath is the path of a file URI, "" for others.
func uriPath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	p := u.Path
	if len(p) > 2 && p[0] == '/' && p[2] == ':' {
		p = strings.ToUpper(p[1:2]) + p[2:]
	}
	return filepath.FromSlash(p)
}

var template = regexp.MustCompile(`\$\{[a-z]+(?::[^}]*)?\}`)

// expand replaces ${…}.
func (x *turn) expand(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	return template.ReplaceAllStringFunc(s, func(t string) string {
		name, arg, _ := strings.Cut(t[2:len(t)-1], ":")
		if v, ok := x.r.variable(name, arg); ok {
			return v
		}
		if v, ok := x.m.variable(name); ok {
			return v
		}
		return t
	})
}

// variable gives the templates about the message.
func (m *inbound) variable(name string) (string, bool) {
	if m == nil {
		return "", false
	}
	switch name {
	case "id":
		return m.ID, true
	case "params":
		return or(m.Params, "null"), true
	case "uri":
		return m.uri, true
	case "line":
		return strconv.Itoa(m.position.Line), true
	case "character":
		return strconv.Itoa(m.position.Character), true
	case "token":
		return or(string(m.token), "null"), true
	case "partial":
		return or(string(m.partial), "null"), true
	}
	return "", false
}

// sameJSON compares two values.
func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return toJSON(x) == toJSON(y)
}
