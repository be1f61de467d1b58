// Package mcpserver shows an agent the tools of dragoman over MCP: schemas,
// descriptions, annotations, instructions, and the way from a tool call to a
// question and back to text.
//
// It knows package query and how render prints it. It must never know a
// language server, a configuration file, or how questions are answered.
package mcpserver

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

//go:embed instructions.md
var instructions string

// CallLimit is the time after which a tool call is ended whatever the backend
// does. Backends end after 50 s by themselves and say why; hosts cut at 60 s.
const CallLimit = 55 * time.Second

// Options says what is served. Backend is required.
type Options struct {
	Backend query.Backend
	// Version is the version of dragoman that clients are told.
	Version string
	// Logger gets what must not go to stdout; nil discards it.
	Logger *slog.Logger
	// CallLimit bounds one tool call; 0 means the constant CallLimit.
	CallLimit time.Duration
	// MaxChars bounds an answer's text; 0 means render.DefaultMaxChars.
	MaxChars int
	// Grace is how long questions in flight may still be answered after the end
	// of input; 0 means 5 s.
	Grace time.Duration

	// maxLine replaces the constant in tests.
	maxLine int
}

func (o *Options) defaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.CallLimit <= 0 {
		o.CallLimit = CallLimit
	}
	if o.Grace <= 0 {
		o.Grace = 5 * time.Second
	}
}

// New returns an MCP server with the tools of dragoman. It does not close the
// backend.
func New(o Options) *mcp.Server {
	o.defaults()
	s := mcp.NewServer(
		&mcp.Implementation{Name: "dragoman", Title: "dragoman", Version: o.Version},
		&mcp.ServerOptions{
			Instructions: instructions,
			Logger:       o.Logger,
			// Only tools, whose list never changes; no logging.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
				c.TTLMs = int((24 * time.Hour).Milliseconds())
			},
		})
	t := &lspTool{o: o}
	s.AddTool(toolDefinition(), t.call)
	s.AddReceivingMiddleware(recoverPanics(o.Logger))
	return s
}

// Serve answers MCP messages from in on out until in ends or ctx does. It
// returns nil at the end of input and ctx's error else; it does not close the
// backend.
func Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	o.defaults()
	return New(o).Run(ctx, &transport{in: in, out: out, log: o.Logger, grace: o.Grace, limit: o.maxLine})
}

// recoverPanics turns a panic while a message is handled into an error that the
// agent sees, and logs it: one faulty question must not end the session.
func recoverPanics(log *slog.Logger) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				r := recover()
				if r == nil {
					return
				}
				log.Error("panic while handling a message", "method", method, "panic", r, "stack", string(debug.Stack()))
				fault := &query.Error{Kind: query.Internal, Message: fmt.Sprintf("dragoman failed while it answered: %v.", r)}
				if method == "tools/call" {
					res, err = errorResult(fault), nil
					return
				}
				res, err = nil, fault
			}()
			return next(ctx, method, req)
		}
	}
}

// errorResult is err as a tool result: never a protocol error, so that the model sees it.
func errorResult(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		IsError: true,
		Content: []mcp.Content{&mcp.TextContent{Text: render.Error(err)}},
	}
}
