package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dragoman-dev/dragoman/query"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a backend that answers by function.
type fake struct {
	do func(context.Context, query.Request) (*query.Answer, error)
}

func (f fake) Do(ctx context.Context, r query.Request) (*query.Answer, error) {
	if f.do == nil {
		return echo(ctx, r)
	}
	return f.do(ctx, r)
}
func (fake) Status(context.Context) (*query.Status, error) { return &query.Status{}, nil }
func (fake) Close(context.Context) error                   { return nil }

// echo answers a hover with the request, so that tests see what arrived.
func echo(_ context.Context, r query.Request) (*query.Answer, error) {
	if r.Target.Path == "missing.go" {
		return nil, &query.Error{Kind: query.BadRequest, Message: "missing.go does not exist.", Hint: "Check the path; it is relative to the workspace."}
	}
	if r.Target.Path == "panic.go" {
		panic("deliberate")
	}
	got, err := json.Marshal(r)
	return &query.Answer{Op: query.Hover, Path: r.Target.Path, At: r.Target.At, Body: &query.Prose{Markdown: string(got)}, Total: query.Count{N: 1}}, err
}

// peer is a raw client of a server that runs until the test ends.
type peer struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Reader
	done  chan error
}

func serve(t *testing.T, o Options) *peer {
	t.Helper()
	if o.Backend == nil {
		o.Backend = fake{}
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	p := &peer{t: t, in: inW, lines: newReader(outR), done: make(chan error, 1)}
	go func() {
		err := Serve(ctx, o, inR, outW)
		outW.Close()
		p.done <- err
	}()
	t.Cleanup(func() {
		inW.Close()
		go io.Copy(io.Discard, p.lines)
		select {
		case <-p.done:
		case <-time.After(10 * time.Second):
			t.Error("the server did not end with its input")
		}
		cancel()
	})
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *peer) receive() string {
	p.t.Helper()
	line, err := p.lines.ReadString('\n')
	if err != nil {
		p.t.Fatalf("reading an answer: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func (p *peer) handshake() {
	p.t.Helper()
	p.send(initialize)
	p.receive()
	p.send(initialized)
}

func toolCall(id string, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"lsp","arguments":` + arguments + `}}`
}

// result is what a tool call returned.
type result struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Error  json.RawMessage
	Result struct {
		IsError bool
		Meta    map[string]any `json:"_meta"`
		Content []struct{ Text string }
	}
}

func parseResult(t *testing.T, line string) result {
	t.Helper()
	var r result
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return r
}

func (r result) text() string {
	if len(r.Result.Content) == 0 {
		return ""
	}
	return r.Result.Content[0].Text
}

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 64<<10) }
