//go:build integration

package integration

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsp"
)

// rawClient is a client that does not wait: it speaks LSP correctly, answers what
// servers ask, and asks its own questions at once. It is the control.
type rawClient struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	root   string
	mu     sync.Mutex // guards next, wait, notes and writes
	next   int
	wait   map[int]chan rawReply
	closed chan struct{}
	ended  sync.Once
}

type rawReply struct {
	Result json.RawMessage
	Err    string
}

type rawMessage struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// startRaw starts a server and does the handshake.
func startRaw(t testing.TB, root string, env []string, initOptions any, argv ...string) *rawClient {
	t.Helper()
	c := &rawClient{root: root, wait: map[int]chan rawReply{}, closed: make(chan struct{})}
	c.cmd = exec.Command(argv[0], argv[1:]...)
	c.cmd.Dir, c.cmd.Env = root, env
	setGroup(c.cmd)
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.stdin = stdin
	go c.read(stdout)
	t.Cleanup(c.stop)
	if initOptions == nil {
		initOptions = map[string]any{}
	}
	_, err = c.call("initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": fileURI(root), "rootPath": root,
		"workspaceFolders":      []any{map[string]any{"uri": fileURI(root), "name": filepath.Base(root)}},
		"initializationOptions": initOptions,
		"capabilities":          rawCapabilities(),
	}, 60*time.Second)
	if err != nil {
		t.Fatalf("initialize: %v", err)
	}
	c.notify("initialized", map[string]any{})
	return c
}

// rawCapabilities are dragoman's own, so that both are given the same answers, but
// for the encoding, which this client speaks alone.
func rawCapabilities() json.RawMessage {
	return lsp.ClientCapabilities(json.RawMessage(`{"general":{"positionEncodings":["utf-16"]},"offsetEncoding":["utf-16"]}`))
}

func (c *rawClient) read(r io.Reader) {
	defer close(c.closed)
	br := bufio.NewReader(r)
	for {
		n := -1
		for {
			line, err := br.ReadString('\n')
			if err != nil {
				return
			}
			line = strings.TrimSpace(line)
			if line == "" {
				break
			}
			if k, v, ok := strings.Cut(line, ":"); ok && strings.EqualFold(k, "content-length") {
				n, _ = strconv.Atoi(strings.TrimSpace(v))
			}
		}
		if n < 0 {
			continue
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(br, body); err != nil {
			return
		}
		var m rawMessage
		if json.Unmarshal(body, &m) == nil {
			c.handle(m)
		}
	}
}

func (c *rawClient) handle(m rawMessage) {
	switch {
	case m.Method != "" && m.ID != nil:
		c.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": rawAnswer(m)})
	case m.Method == "":
		id, err := strconv.Atoi(string(m.ID))
		if err != nil {
			return
		}
		c.mu.Lock()
		ch := c.wait[id]
		delete(c.wait, id)
		c.mu.Unlock()
		if ch == nil {
			return
		}
		if m.Error != nil {
			ch <- rawReply{Err: fmt.Sprintf("%d %s", m.Error.Code, m.Error.Message)}
			return
		}
		ch <- rawReply{Result: m.Result}
	}
}

func rawAnswer(m rawMessage) any {
	if m.Method != "workspace/configuration" {
		return nil
	}
	var p struct {
		Items []json.RawMessage `json:"items"`
	}
	_ = json.Unmarshal(m.Params, &p)
	out := make([]any, len(p.Items))
	for i := range out {
		out[i] = map[string]any{}
	}
	return out
}

func (c *rawClient) send(v any) {
	b, _ := json.Marshal(v)
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.stdin, "Content-Length: %d\r\n\r\n%s", len(b), b)
}

func (c *rawClient) notify(method string, params any) {
	c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (c *rawClient) call(method string, params any, limit time.Duration) (json.RawMessage, error) {
	ch := make(chan rawReply, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.wait[id] = ch
	c.mu.Unlock()
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-ch:
		if r.Err != "" {
			return nil, errors.New(r.Err)
		}
		return r.Result, nil
	case <-c.closed:
		return nil, errors.New("server ended")
	case <-timer.C:
		return nil, errors.New("timed out")
	}
}

// open sends didOpen for a file of the root.
func (c *rawClient) open(t testing.TB, rel, language string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.root, rel))
	if err != nil {
		t.Fatal(err)
	}
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": fileURI(filepath.Join(c.root, rel)), "languageId": language, "version": 1, "text": string(text)}})
}

// at makes position params of a mark, whose wire position is in UTF-16.
func (c *rawClient) at(m mark) map[string]any {
	return map[string]any{
		"textDocument": map[string]any{"uri": fileURI(filepath.Join(c.root, m.Path))},
		"position":     map[string]any{"line": m.Line - 1, "character": m.utf16},
	}
}

// references counts the locations that the server gives at once.
func (c *rawClient) references(m mark) (int, error) {
	p := c.at(m)
	p["context"] = map[string]any{"includeDeclaration": false}
	raw, err := c.call("textDocument/references", p, 60*time.Second)
	if err != nil {
		return 0, err
	}
	var ls []json.RawMessage
	_ = json.Unmarshal(raw, &ls)
	return len(ls), nil
}

// symbols counts the workspace symbols that the server gives at once.
func (c *rawClient) symbols(q string) (int, error) {
	raw, err := c.call("workspace/symbol", map[string]any{"query": q}, 60*time.Second)
	if err != nil {
		return 0, err
	}
	var ls []json.RawMessage
	_ = json.Unmarshal(raw, &ls)
	return len(ls), nil
}

func (c *rawClient) stop() { c.ended.Do(c.end) }

func (c *rawClient) end() {
	_, _ = c.call("shutdown", nil, 2*time.Second)
	c.notify("exit", nil)
	_ = c.stdin.Close()
	select {
	case <-c.closed:
	case <-time.After(2 * time.Second):
	}
	killGroup(c.cmd)
	_ = c.cmd.Wait()
}

func fileURI(path string) string {
	var b strings.Builder
	b.WriteString("file://")
	for i := 0; i < len(path); i++ {
		ch := path[i]
		switch {
		case ch >= 'a' && ch <= 'z', ch >= 'A' && ch <= 'Z', ch >= '0' && ch <= '9', strings.IndexByte("/-_.~", ch) >= 0:
			b.WriteByte(ch)
		default:
			fmt.Fprintf(&b, "%%%02X", ch)
		}
	}
	return b.String()
}
