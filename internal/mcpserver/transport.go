package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest message that is read; longer ones are skipped.
const maxLine = 64 << 20

// transport is MCP over lines, more patient than the SDK's: a line that is no
// JSON is dropped, a message that is no JSON-RPC is answered with an error, and
// neither ends the session. At the end of input the questions in flight get a
// moment to be answered.
type transport struct {
	in    io.Reader
	out   io.Writer
	log   *slog.Logger
	grace time.Duration
	// limit is the length of the longest message that is read; 0 means maxLine.
	limit int
}

// Connect implements mcp.Transport.
func (t *transport) Connect(context.Context) (mcp.Connection, error) {
	if t.limit == 0 {
		t.limit = maxLine
	}
	c := &conn{t: t, incoming: make(chan jsonrpc.Message), closed: make(chan struct{}),
		idle: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
	go c.readLines()
	return c, nil
}

type conn struct {
	t *transport
	// incoming is closed by readLines at the end of input.
	incoming chan jsonrpc.Message
	// closed is closed by Close.
	closed    chan struct{}
	closeOnce sync.Once
	// idle gets a value when the last question in flight is answered.
	idle chan struct{}

	// turn holds a value while somebody writes: messages must not interleave.
	turn chan struct{}
	// open counts the requests that were read and not answered yet.
	open atomic.Int64
}

// SessionID implements mcp.Connection; lines have no sessions.
func (c *conn) SessionID() string { return "" }

// Close implements mcp.Connection. A reader that can be closed is closed, so that
// readLines ends; standard input ends with the process.
func (c *conn) Close() error {
	c.closeOnce.Do(func() {
		close(c.closed)
		if r, ok := c.t.in.(io.Closer); ok {
			r.Close()
		}
	})
	return nil
}

// Read implements mcp.Connection.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-c.incoming:
		if ok {
			return m, nil
		}
		return nil, c.drain(ctx)
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// drain waits at the end of input until every question is answered, for the
// grace time at most: the SDK cancels them as soon as it sees the end.
func (c *conn) drain(ctx context.Context) error {
	timer := time.NewTimer(c.t.grace)
	defer timer.Stop()
	for {
		if c.open.Load() <= 0 {
			return io.EOF
		}
		select {
		case <-c.idle:
		case <-timer.C:
			return io.EOF
		case <-c.closed:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Write implements mcp.Connection.
func (c *conn) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err == nil {
		err = c.writeLine(ctx, data)
	}
	if _, ok := m.(*jsonrpc.Response); ok && c.open.Add(-1) <= 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
	return err
}

func (c *conn) writeLine(ctx context.Context, data []byte) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err := c.t.out.Write(append(data, '\n'))
	<-c.turn
	return err
}

// readLines hands on the messages of the input until it ends.
func (c *conn) readLines() {
	defer close(c.incoming)
	r := bufio.NewReaderSize(c.t.in, 64<<10)
	for {
		line, err := c.readLine(r)
		if len(line) > 0 && !c.deliver(line) {
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.t.log.Warn("reading input failed", "error", err)
			}
			return
		}
	}
}

// readLine returns the next line without blanks around it, nil for one that is
// too long. The slice is the caller's.
func (c *conn) readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > c.t.limit; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d MB", c.t.limit>>20))
		}
		line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\xef\xbb\xbf"))
		return line, err
	}
}

// deliver hands on the messages of one line; false means that the connection is closed.
func (c *conn) deliver(line []byte) bool {
	if line[0] == '[' {
		var batch []json.RawMessage
		if json.Unmarshal(line, &batch) == nil {
			for _, one := range batch {
				if !c.deliverOne(one) {
					return false
				}
			}
			return true
		}
	}
	return c.deliverOne(line)
}

func (c *conn) deliverOne(raw []byte) bool {
	if raw[0] != '{' {
		c.t.log.Warn("dropped a line that is no JSON", "bytes", len(raw))
		return true
	}
	m, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		c.reject(raw, err)
		return true
	}
	if req, ok := m.(*jsonrpc.Request); ok && req.IsCall() {
		c.open.Add(1)
	}
	select {
	case c.incoming <- m:
		return true
	case <-c.closed:
		return false
	}
}

// reject drops a line that is no JSON and answers JSON that is no message.
func (c *conn) reject(raw []byte, err error) {
	var head struct {
		ID json.RawMessage `json:"id"`
	}
	if !json.Valid(raw) {
		c.t.log.Warn("dropped a line that is no JSON", "bytes", len(raw))
		return
	}
	c.t.log.Warn("refused a message", "error", err)
	_ = json.Unmarshal(raw, &head)
	c.refuse(head.ID, jsonrpc.CodeInvalidRequest, "this is no JSON-RPC 2.0 message")
}

// refuse writes an error response outside the SDK.
func (c *conn) refuse(id json.RawMessage, code int, message string) {
	if len(id) == 0 || id[0] == '{' || id[0] == '[' {
		id = json.RawMessage("null")
	}
	data, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message},
	})
	if err != nil {
		return
	}
	if err := c.writeLine(context.Background(), data); err != nil {
		c.t.log.Warn("answering a broken message failed", "error", err)
	}
}
