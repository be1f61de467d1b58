package server

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/dragoman-dev/dragoman/internal/diag"
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

const (
	ringSize   = 50
	maxMessage = 500 // bytes kept of what a server says
)

// notices is the table of notifications that mean something to us.
var notices = map[string]func(s *Session, params json.RawMessage){
	"textDocument/publishDiagnostics": (*Session).published,
	"$/progress":                      (*Session).progressed,
	"window/logMessage":               (*Session).logged,
	"window/showMessage":              (*Session).logged,
	"experimental/serverStatus":       (*Session).statusChanged,
	"textDocument/clangd.fileStatus":  (*Session).fileStatus,
}

// Notify takes one notification of the server; unknown ones mean nothing.
func (h handler) Notify(_ context.Context, method string, params json.RawMessage) {
	if take, known := notices[method]; known {
		take(h.s, params)
	}
}

// coalesce names the notifications of which only the newest counts.
func coalesce(method string, params json.RawMessage) string {
	switch method {
	case "textDocument/publishDiagnostics":
		var p struct {
			URI string `json:"uri"`
		}
		if json.Unmarshal(params, &p) == nil && p.URI != "" {
			return "publish " + p.URI
		}
	case "$/progress":
		var p struct {
			Token json.RawMessage `json:"token"`
			Value struct {
				Kind string `json:"kind"`
			} `json:"value"`
		}
		if json.Unmarshal(params, &p) == nil && p.Value.Kind == "report" {
			return "report " + tokenKey(p.Token)
		}
	}
	return ""
}

func (s *Session) published(params json.RawMessage) {
	p, err := lsp.DecodePublish(params)
	if err != nil {
		s.srv.o.Log.Debug("unreadable publishDiagnostics", "err", err)
		return
	}
	s.problems.Publish(diag.Push, text.CanonicalURI(p.URI), p.Version, p.Diagnostics)
}

func (s *Session) progressed(params json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.Token) == 0 {
		return
	}
	key := tokenKey(p.Token)
	if s.partials.take(key, p.Value) {
		return
	}
	var v progressValue
	if json.Unmarshal(p.Value, &v) == nil {
		s.track.progress(key, v)
	}
}

// message is what a server says to a person.
type message struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

func (s *Session) logged(params json.RawMessage) {
	var m message
	if json.Unmarshal(params, &m) == nil {
		s.said(m)
	}
}

// said keeps a message and looks for signals in it.
func (s *Session) said(m message) {
	s.talk.add(m)
	s.track.said(m.Message)
}

func (s *Session) statusChanged(params json.RawMessage) {
	var st serverStatus
	if json.Unmarshal(params, &st) == nil {
		s.track.status(st)
	}
}

// ring keeps the last messages.
type ring struct {
	mu   sync.Mutex // guards all
	msgs []message
	next int
}

func newRing(n int) *ring { return &ring{msgs: make([]message, 0, n)} }

func (r *ring) add(m message) {
	m.Message = clip(m.Message)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.msgs) < cap(r.msgs) {
		r.msgs = append(r.msgs, m)
		return
	}
	r.msgs[r.next] = m
	r.next = (r.next + 1) % len(r.msgs)
}

// all lists the messages, oldest first.
func (r *ring) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, 0, len(r.msgs))
	for i := range r.msgs {
		out = append(out, r.msgs[(r.next+i)%len(r.msgs)].Message)
	}
	return out
}

// clip shortens what a server says to a bounded, valid text.
func clip(s string) string {
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return strings.TrimSpace(s)
}

// fileStatus is clangd's word about what it does with one document.
func (s *Session) fileStatus(params json.RawMessage) {
	var p struct {
		URI   string `json:"uri"`
		State string `json:"state"`
	}
	if json.Unmarshal(params, &p) == nil && s.srv.o.Traits.FileStatus {
		s.track.buildState(text.CanonicalURI(p.URI), p.State == "idle")
	}
}
