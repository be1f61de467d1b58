// Package lsptest is a scripted language server for tests: in memory, as a child
// process (a test binary run again), and as a command. It plays a script, and it
// fails the script when the client breaks a rule of the protocol. It has its own
// framing so that faults of internal/jsonrpc cannot cancel out.
package lsptest

import (
	"testing"

	"github.com/dragoman-dev/dragoman/internal/proc"
)

// Server is a scripted server that ran or runs.
type Server struct{}

// New parses script (text or txtar, see doc.go) and returns a server to be dialled.
// Each Dial is a new generation that plays the script from the start. At the end
// of the test every broken rule and unmet expectation is an error of t.
func New(t testing.TB, script string) *Server { panic("unfilled") }

// Dial starts a generation in memory. It is durably blocking, so that it works
// inside a testing/synctest bubble.
func (s *Server) Dial() proc.Handle { panic("unfilled") }

// Received lists the methods that the client sent in this generation (1-based), in order.
func (s *Server) Received(generation int) []Message { panic("unfilled") }

// Message is one message from the client.
type Message struct {
	Method string
	ID     string // raw JSON, "" for notifications
	Params string // raw JSON
}
