//go:build integration

package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// host is an agent's host: it runs `dragoman mcp` and calls its tool.
type host struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
	mu     sync.Mutex // guards next, wait and writes
	next   int
	wait   map[int]chan json.RawMessage
	closed chan struct{}
	ended  sync.Once
}

// answer is one tool result.
type answer struct {
	Text  string
	Error bool
	Took  time.Duration
}

// startHost starts dragoman in dir.
func startHost(t testing.TB, dir string, env []string, args ...string) *host {
	t.Helper()
	h := &host{t: t, wait: map[int]chan json.RawMessage{}, closed: make(chan struct{})}
	h.cmd = exec.Command(binary, append([]string{"mcp", "--workspace", dir}, args...)...)
	h.cmd.Dir, h.cmd.Env = dir, env
	h.cmd.Stderr = &h.stderr
	var err error
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go h.read(stdout)
	t.Cleanup(h.stop)
	if _, err := h.rpc("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "integration", "version": "1"},
	}, 10*time.Second); err != nil {
		t.Fatalf("initialize: %v; stderr: %s", err, h.stderr.String())
	}
	h.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return h
}

func (h *host) read(r io.Reader) {
	defer close(h.closed)
	br := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := br.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			h.handle(line)
		}
		if err != nil {
			return
		}
	}
}

func (h *host) handle(line []byte) {
	var m struct {
		ID     *int            `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		h.t.Errorf("not MCP on stdout: %q", line)
		return
	}
	if m.ID == nil || m.Method != "" {
		return
	}
	h.mu.Lock()
	ch := h.wait[*m.ID]
	delete(h.wait, *m.ID)
	h.mu.Unlock()
	if ch == nil {
		return
	}
	if m.Error != nil {
		ch <- json.RawMessage(`{"protocolError":` + string(m.Error) + `}`)
		return
	}
	ch <- m.Result
}

func (h *host) send(v any) {
	b, _ := json.Marshal(v)
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = h.stdin.Write(append(b, '\n'))
}

func (h *host) rpc(method string, params any, limit time.Duration) (json.RawMessage, error) {
	ch := make(chan json.RawMessage, 1)
	h.mu.Lock()
	h.next++
	id := h.next
	h.wait[id] = ch
	h.mu.Unlock()
	h.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-ch:
		return r, nil
	case <-h.closed:
		return nil, fmt.Errorf("dragoman ended: %s", h.stderr.String())
	case <-timer.C:
		return nil, fmt.Errorf("%s: no answer within %s", method, limit)
	}
}

// ask calls the lsp tool; every call must end within 50 s and a little.
func (h *host) ask(args map[string]any) answer {
	start := time.Now()
	raw, err := h.rpc("tools/call", map[string]any{"name": "lsp", "arguments": args}, 60*time.Second)
	if err != nil {
		return answer{Text: err.Error(), Error: true, Took: time.Since(start)}
	}
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError       bool            `json:"isError"`
		ProtocolError json.RawMessage `json:"protocolError"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return answer{Text: err.Error(), Error: true, Took: time.Since(start)}
	}
	if r.ProtocolError != nil {
		return answer{Text: "protocol error: " + string(r.ProtocolError), Error: true, Took: time.Since(start)}
	}
	var parts []string
	for _, c := range r.Content {
		parts = append(parts, c.Text)
	}
	return answer{Text: strings.Join(parts, "\n"), Error: r.IsError, Took: time.Since(start)}
}

// stop ends stdin and expects dragoman to end.
func (h *host) stop() { h.ended.Do(h.end) }

func (h *host) end() {
	_ = h.stdin.Close()
	done := make(chan error, 1)
	go func() { done <- h.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(15 * time.Second):
		h.t.Errorf("dragoman did not end within 15 s after the end of stdin; stderr: %s", h.stderr.String())
		_ = h.cmd.Process.Signal(syscall.SIGKILL)
		<-done
	}
}
