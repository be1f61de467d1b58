package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dragoman-dev/dragoman/query"
)

// TestToolIsPinned holds what a model reads: the decisive sentence, the uses, a
// line for each operation with its needs, an example that works, and the sizes at
// which hosts cut.
func TestToolIsPinned(t *testing.T) {
	const decisive = "ALWAYS use LSP as the PRIMARY tool for code intelligence queries when available. Do NOT use grep_search or glob first."
	if !strings.HasPrefix(description, decisive) {
		t.Error("the description does not begin with the decisive sentence")
	}
	for _, s := range []string{
		"finding symbol definitions", "analyzing code structure", "understanding type information", "refactoring code", "diagnosing errors",
		"searching file contents by pattern (use grep)", "finding files by name (use glob)", "reading file contents (use read)",
	} {
		if !strings.Contains(description, s) {
			t.Errorf("the description lacks %q", s)
		}
	}
	for _, op := range query.Ops() {
		if n := strings.Count(description, "\n- "+string(op)+": "); n != 1 {
			t.Errorf("%s has %d lines in the description", op, n)
		}
	}
	_, ex, _ := strings.Cut(description, "Example: ")
	if _, err := Parse(json.RawMessage(ex)); err != nil {
		t.Errorf("the example does not work: %v", err)
	}
	if len(description) > 2000 || len(instructions) > 2000 {
		t.Errorf("description %d bytes, instructions %d bytes; hosts cut at 2000", len(description), len(instructions))
	}
}

func TestSchemaKnowsEveryParameter(t *testing.T) {
	var s struct {
		Properties map[string]struct {
			Enum []string
		}
		Required []string
	}
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		t.Fatal(err)
	}
	for _, name := range parameters() {
		if _, ok := s.Properties[name]; !ok {
			t.Errorf("the schema lacks %s", name)
		}
	}
	if len(s.Properties) != len(parameters()) || len(s.Required) != 1 || s.Required[0] != "operation" {
		t.Errorf("the schema has %d parameters, required %v", len(s.Properties), s.Required)
	}
	want := fmt.Sprint(query.Ops())
	if got := fmt.Sprint(s.Properties["operation"].Enum); got != want {
		t.Errorf("operations %s, want %s", got, want)
	}
}

func TestHandshakeIsSmallAndSoon(t *testing.T) {
	// A backend that is still being opened must not hold up the handshake.
	p := serve(t, Options{Version: "test", Backend: fake{func(ctx context.Context, _ query.Request) (*query.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}})
	start := time.Now()
	p.send(initialize)
	p.receive()
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("initialize took %s", took)
	}
	p.send(initialized, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	first := p.receive()
	if len(first) > 6<<10 {
		t.Errorf("tools/list has %d bytes, more than 6 KB", len(first))
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if again := p.receive(); again != first {
		t.Error("tools/list changed within a session")
	}
}

func TestSDKClient(t *testing.T) {
	for _, version := range []string{"", "2025-11-25"} {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- Serve(t.Context(), Options{Backend: fake{}, Version: "test"}, inR, outW) }()
		client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
		s, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "lsp", Arguments: map[string]any{"operation": "hover", "filePath": "é 世界.go", "line": 3}})
		if err != nil || res.IsError || !strings.HasPrefix(res.Content[0].(*mcp.TextContent).Text, "Hover for é 世界.go:3:1:\n\n") {
			t.Errorf("%q: %+v, %v", version, res, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Errorf("Serve returned %v at the end of input", err)
		}
	}
}

func TestParallelCalls(t *testing.T) {
	p := serve(t, Options{})
	p.handshake()
	const n = 50
	go func() {
		for i := range n {
			p.send(toolCall(fmt.Sprint(i+1), fmt.Sprintf(`{"operation":"hover","filePath":"f%d.go","line":%d}`, i+1, i+1)))
		}
	}()
	seen := map[string]bool{}
	for range n {
		r := parseResult(t, p.receive())
		if want := fmt.Sprintf("Hover for f%s.go:%s:1:", r.ID, r.ID); !strings.HasPrefix(r.text(), want) || r.Result.IsError {
			t.Errorf("answer %s is %q", r.ID, r.text())
		}
		seen[string(r.ID)] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d questions were answered", len(seen), n)
	}
}

func TestCancelledCall(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	p := serve(t, Options{Backend: fake{func(ctx context.Context, r query.Request) (*query.Answer, error) {
		if r.Target.Path != "slow.go" {
			return echo(ctx, r)
		}
		close(started)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}}})
	p.handshake()
	p.send(toolCall("1", `{"operation":"hover","filePath":"slow.go","line":1}`))
	<-started
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"no longer wanted"}}`)
	if err := <-ended; err != context.Canceled {
		t.Errorf("the question ended with %v", err)
	}
	p.receive() // the SDK answers a cancelled call
	p.send(toolCall("2", `{"operation":"hover","filePath":"a.go","line":1}`))
	if r := parseResult(t, p.receive()); string(r.ID) != "2" || r.Result.IsError {
		t.Errorf("the next question: %+v", r)
	}
}

func TestCallLimit(t *testing.T) {
	p := serve(t, Options{CallLimit: 20 * time.Millisecond, Backend: fake{func(ctx context.Context, _ query.Request) (*query.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}})
	p.handshake()
	p.send(toolCall("1", `{"operation":"hover","filePath":"slow.go","line":1}`))
	if r := parseResult(t, p.receive()); !r.Result.IsError || !strings.HasPrefix(r.text(), "No answer came within the time limit.\nHint: ") {
		t.Errorf("got %+v", r)
	}
}

func TestProgress(t *testing.T) {
	seen := make(chan struct{})
	p := serve(t, Options{Backend: fake{func(ctx context.Context, r query.Request) (*query.Answer, error) {
		for i := range 1000 {
			query.Report(ctx, query.Progress{Server: "gopls", Message: "Loading\x1b packages", Percent: i / 10})
		}
		if r.Target.Path == "a.go" {
			<-seen
		}
		return echo(ctx, r)
	}}})
	p.handshake()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":7},"name":"lsp","arguments":{"operation":"hover","filePath":"a.go","line":1}}}`)
	notes := 0
	for {
		r := parseResult(t, p.receive())
		if r.Method == "" {
			break
		}
		if notes++; notes == 1 {
			close(seen)
		}
		var params struct {
			ProgressToken float64
			Message       string
		}
		if err := json.Unmarshal(r.Params, &params); err != nil {
			t.Fatal(err)
		}
		if r.Method != "notifications/progress" || params.ProgressToken != 7 || !strings.HasPrefix(params.Message, `gopls: Loading\x1b packages (`) {
			t.Errorf("%s %s", r.Method, r.Params)
		}
	}
	if notes > 5 {
		t.Errorf("%d notifications for 1000 reports in a moment", notes)
	}
	p.send(toolCall("2", `{"operation":"hover","filePath":"b.go","line":1}`))
	if r := parseResult(t, p.receive()); r.Method != "" {
		t.Errorf("progress without a token: %s", r.Method)
	}
}

func TestQuestionsInFlightAtTheEndOfInput(t *testing.T) {
	release := make(chan struct{})
	p := serve(t, Options{Backend: fake{func(ctx context.Context, r query.Request) (*query.Answer, error) {
		select {
		case <-release:
			return echo(ctx, r)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}})
	p.handshake()
	p.send(toolCall("1", `{"operation":"hover","filePath":"a.go","line":1}`))
	p.in.Close()
	close(release)
	if r := parseResult(t, p.receive()); string(r.ID) != "1" || r.Result.IsError {
		t.Errorf("got %+v", r)
	}
	if _, err := p.lines.ReadString('\n'); err != io.EOF {
		t.Errorf("the server did not end: %v", err)
	}
}

func TestHungQuestionAtTheEndOfInput(t *testing.T) {
	p := serve(t, Options{Grace: 20 * time.Millisecond, Backend: fake{func(ctx context.Context, _ query.Request) (*query.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}})
	p.handshake()
	p.send(toolCall("1", `{"operation":"hover","filePath":"a.go","line":1}`))
	p.in.Close()
	if _, err := io.ReadAll(p.lines); err != nil {
		t.Error(err)
	}
}

func TestHugeLines(t *testing.T) {
	const limit = 2 << 20
	p := serve(t, Options{maxLine: limit})
	p.handshake()
	const long = limit + 1
	go func() {
		io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`)
		chunk := strings.Repeat("x", 1<<20)
		for n := 0; n < long; n += len(chunk) {
			io.WriteString(p.in, chunk)
		}
		p.send(`"}}`)
		p.send(toolCall("2", `{"operation":"workspaceSymbol","query":"`+strings.Repeat("é", 1<<19)+`"}`))
	}()
	if got := p.receive(); !strings.Contains(got, "longer than 2 MB") {
		t.Errorf("got %.200s", got)
	}
	if r := parseResult(t, p.receive()); string(r.ID) != "2" || r.Result.IsError {
		t.Errorf("the next message: %.200s", r.text())
	}
}

func TestBatch(t *testing.T) {
	p := serve(t, Options{})
	p.handshake()
	p.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	got := p.receive() + p.receive()
	if !strings.Contains(got, `"id":1`) || !strings.Contains(got, `"id":2`) {
		t.Errorf("got %s", got)
	}
}

func TestSignalEndsServing(t *testing.T) {
	inR, inW := io.Pipe()
	defer inW.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := Serve(ctx, Options{Backend: fake{}}, inR, io.Discard); err != context.Canceled {
			t.Errorf("Serve returned %v", err)
		}
	})
	cancel()
	wg.Wait()
}

// BenchmarkCall compares a call of the tool with one of a tool that does nothing
// on the same SDK and transport.
func BenchmarkCall(b *testing.B) {
	b.Run("lsp", func(b *testing.B) { benchmark(b, New(Options{Backend: constant{}}), true) })
	b.Run("nothing", func(b *testing.B) { benchmark(b, nothing(), true) })
	b.Run("nothing on the SDK's transport", func(b *testing.B) { benchmark(b, nothing(), false) })
}

// constant answers every hover with the same answer.
type constant struct{ fake }

func (constant) Do(context.Context, query.Request) (*query.Answer, error) {
	return &query.Answer{Op: query.Hover, Path: "a.go", At: &query.Point{Line: 3, Column: 1}, Total: query.Count{N: 1},
		Body: &query.Prose{Markdown: "```go\nfunc f(a int) error\n```\n\nf does what it should."}}, nil
}

func nothing() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "nothing", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{}})
	s.AddTool(&mcp.Tool{Name: "lsp", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hover for a.go:3:1:\n\n```go\nfunc f(a int) error\n```\n\nf does what it should."}}}, nil
		})
	return s
}

func benchmark(b *testing.B, s *mcp.Server, own bool) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var tr mcp.Transport = &mcp.IOTransport{Reader: inR, Writer: outW}
	if own {
		o := Options{}
		o.defaults()
		tr = &transport{in: inR, out: outW, log: o.Logger, grace: o.Grace}
	}
	go s.Run(b.Context(), tr)
	p := &peer{in: inW, lines: newReader(outR)}
	p.t = new(testing.T)
	p.handshake()
	line := toolCall("1", `{"operation":"hover","filePath":"a.go","line":3,"character":1}`)
	b.ReportAllocs()
	for b.Loop() {
		p.send(line)
		p.receive()
	}
	inW.Close()
}
