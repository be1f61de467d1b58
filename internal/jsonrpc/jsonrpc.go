// Package jsonrpc speaks JSON-RPC 2.0 with LSP framing in both directions, and
// survives what real servers send. It knows neither LSP methods nor processes.
package jsonrpc

import (
	"context"
	"encoding/json"
	"io"
)

// Error is a JSON-RPC error object.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Codes of JSON-RPC and LSP.
const (
	CodeParse           = -32700
	CodeInvalidRequest  = -32600
	CodeMethodNotFound  = -32601
	CodeInvalidParams   = -32602
	CodeInternal        = -32603
	CodeNotInitialized  = -32002
	CodeRequestFailed   = -32803
	CodeServerCancelled = -32802
	CodeContentModified = -32801
	CodeRequestCancel   = -32800
)

// Handler answers the peer. Notify and Answer are called from one dispatch
// goroutine in arrival order; Answer may return a function (type Deferred) to be
// run on a goroutine of its own where the answer needs time. A panic becomes
// CodeInternal.
type Handler interface {
	Notify(ctx context.Context, method string, params json.RawMessage)
	Answer(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// Deferred is a result that is computed off the dispatch goroutine.
type Deferred func(ctx context.Context) (any, error)

// ErrClosed is wrapped by errors of calls on a connection that ended.
var ErrClosed error

// Options tune a connection; the zero value is right.
type Options struct {
	// MaxMessage is the largest message accepted, in bytes; default 64 MB.
	MaxMessage int
	// Coalesce maps a notification to a key under which only the newest queued one
	// is kept (publishDiagnostics per URI, progress report per token); "" keeps all.
	Coalesce func(method string, params json.RawMessage) string
	// OnNoise is told about skipped bytes before a header.
	OnNoise func(line []byte)
	// OnTraffic is told when bytes were read (hang detector).
	OnTraffic func()
}

// Conn is one connection.
type Conn struct{}

// NewConn starts reading from r at once; Close (or the end of r) ends it.
func NewConn(r io.Reader, w io.WriteCloser, h Handler, o Options) *Conn { panic("unfilled") }

// Call sends a request and waits. It returns the raw result (null as nil), a
// *Error of the peer, ctx.Err() at once when ctx ends ($/cancelRequest is then
// sent off the caller's path), or an error that wraps ErrClosed. Notifications
// that arrived before the response were dispatched before it returns, except when
// called inside a handler. Order on the wire is the order of calls.
func (c *Conn) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	panic("unfilled")
}

// Notify sends a notification; waiting for the writer respects ctx.
func (c *Conn) Notify(ctx context.Context, method string, params any) error { panic("unfilled") }

// Done is closed when the connection ended; Err then says why (nil after Close).
func (c *Conn) Done() <-chan struct{} { panic("unfilled") }

// Err is the reason of the end.
func (c *Conn) Err() error { panic("unfilled") }

// Close fails pending calls at once, closes the writer, and waits for the
// connection's goroutines (the caller must have ended the reader's other end or
// given a reader that Close unblocks: when r is an io.Closer it is closed).
func (c *Conn) Close() error { panic("unfilled") }

// Stats counts oddities: noise lines, unknown response ids, repaired envelopes, coalesced notifications.
type Stats struct{ Noise, UnknownIDs, Repaired, Coalesced int64 }

// Stats returns the counters.
func (c *Conn) Stats() Stats { panic("unfilled") }
