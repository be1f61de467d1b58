// Package jsonrpc speaks JSON-RPC 2.0 with LSP framing in both directions, and
// survives what real servers send.
//
// # What is tolerated
//
// Bytes on the peer's output that are no header (log lines, banners, blank lines,
// a byte order mark, the rest of a message whose length was wrong) are skipped and
// counted, up to the next Content-Length. A correctly framed body that is empty or
// no JSON is skipped and counted too; when its id can still be read and it answers
// one of our calls, that call fails at once. Envelopes are repaired where their
// meaning is plain (see envelope).
//
// # What ends the connection
//
// The end of the input, a failed read or write, and, each with an error that says
// so: a length above Options.MaxMessage (nothing is allocated for it), more than
// maxNoise bytes without a header, maxBadRun invalid bodies in a row, a backlog of
// notifications or of unread replies above maxBacklog messages of full size.
//
// # Goroutines
//
// Each connection has three, and Close waits for them: the reader resolves calls
// itself and never runs a handler; the dispatcher runs the handlers in the order of
// arrival; the writer is the only one that touches the peer's input, so that a peer
// that stops reading holds up nobody beyond his context.
//
// The package knows neither LSP methods (but for $/cancelRequest) nor processes.
package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
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
	CodeUnknown         = -32001 // also given to errors whose code is no number
	CodeRequestFailed   = -32803
	CodeServerCancelled = -32802
	CodeContentModified = -32801
	CodeRequestCancel   = -32800
)

// MethodNotFound is the answer to a request that nobody handles.
func MethodNotFound(method string) *Error {
	return &Error{Code: CodeMethodNotFound, Message: "method not found: " + method}
}

// Handler answers the peer. Notify and Answer are called from one dispatch
// goroutine in arrival order; Answer may return a function (type Deferred) to be
// run on a goroutine of its own where the answer needs time. A panic becomes
// CodeInternal. An error of Answer that is (or wraps) *Error is sent as it is, any
// other as CodeInternal.
//
// A handler that calls the same connection must do so with the context it was
// given: it marks the call as one that cannot wait for the dispatcher. For the same
// reason a handler must not wait for a lock that others hold during a Call.
type Handler interface {
	Notify(ctx context.Context, method string, params json.RawMessage)
	Answer(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// Deferred is a result that is computed off the dispatch goroutine. Its context
// ends when the peer cancels the request or the connection ends.
type Deferred func(ctx context.Context) (any, error)

// ErrClosed is wrapped by errors of calls on a connection that ended.
var ErrClosed = errors.New("connection closed")

// Options tune a connection; the zero value is right. The functions run on the
// reader goroutine (OnPanic on the goroutine that panicked): they must be quick and
// must not wait.
type Options struct {
	// MaxMessage is the largest message accepted, in bytes; default 64 MB.
	MaxMessage int
	// Coalesce maps a notification to a key under which only the newest queued one
	// is kept (publishDiagnostics per URI, progress report per token); "" keeps all.
	// The newest keeps its own place; an older one is kept as well where a response
	// arrived between the two, because that call may be waiting for it.
	Coalesce func(method string, params json.RawMessage) string
	// OnNoise is told about skipped bytes before a header and about skipped bodies.
	// The slice is valid during the call only and may be cut.
	OnNoise func(line []byte)
	// OnTraffic is told when bytes were read (hang detector).
	OnTraffic func()
	// OnPanic is told about a panic of a handler.
	OnPanic func(method string, value any, stack []byte)
}

// Limits that are not worth an option.
const (
	defaultMaxMessage = 64 << 20
	maxNoise          = 1 << 20 // bytes without a header
	maxBadRun         = 8       // invalid bodies in a row
	maxBacklog        = 4       // queued bytes, in units of MaxMessage
)

// Stats counts oddities.
type Stats struct {
	Noise      int64 // lines before a header and bodies that were skipped
	UnknownIDs int64 // responses to nothing, or to a call that was given up
	Repaired   int64 // envelopes that broke JSON-RPC but were understood
	Coalesced  int64 // notifications dropped for a newer one
	Panics     int64 // handlers that panicked
}
