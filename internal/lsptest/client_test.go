package lsptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dragoman-dev/dragoman/internal/proc"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	Main()
	goleak.VerifyTestMain(m)
}

// fakeTB collects errors instead of failing.
type fakeTB struct {
	testing.TB
	mu       sync.Mutex
	errs     []string
	cleanups []func()
}

func (f *fakeTB) Helper() {}
func (f *fakeTB) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs = append(f.errs, fmt.Sprintf(format, args...))
}
func (f *fakeTB) Fatalf(format string, args ...any) { f.Errorf(format, args...) }
func (f *fakeTB) Cleanup(fn func())                 { f.cleanups = append(f.cleanups, fn) }

func (f *fakeTB) end() []string {
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		f.cleanups[i]()
	}
	return f.errs
}

// client is a tiny client: it sends what it is told and collects what it gets.
type client struct {
	t     *testing.T
	h     proc.Handle
	mu    sync.Mutex
	got   []map[string]any
	noise []string
	done  chan struct{}
	// answer makes the raw answer to a request of the server; nil: result null.
	answer func(method string, id, params json.RawMessage) string
}

func connect(t *testing.T, h proc.Handle) *client {
	c := &client{t: t, h: h, done: make(chan struct{})}
	go c.read()
	return c
}

func (c *client) read() {
	defer close(c.done)
	r := bufio.NewReader(c.h.Stdout())
	for {
		n := -1
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			line = strings.TrimRight(line, "\r\n")
			if line == "" {
				break
			}
			if k, v, ok := strings.Cut(line, ": "); ok && strings.EqualFold(k, "content-length") {
				fmt.Sscan(v, &n)
			} else if !strings.HasPrefix(line, "Content-Type") {
				c.mu.Lock()
				c.noise = append(c.noise, line)
				c.mu.Unlock()
				break
			}
		}
		if n < 0 {
			continue
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		c.take(body)
	}
}

func (c *client) take(body []byte) {
	var m map[string]any
	json.Unmarshal(body, &m)
	c.mu.Lock()
	c.got = append(c.got, m)
	c.mu.Unlock()
	var req struct {
		ID, Params json.RawMessage
		Method     string
	}
	json.Unmarshal(body, &req)
	if req.Method == "" || req.ID == nil {
		return
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":null}`, req.ID)
	if c.answer != nil {
		answer = c.answer(req.Method, req.ID, req.Params)
	}
	if answer != "" {
		c.body(answer)
	}
}

// body sends a framed body.
func (c *client) body(s string) { c.bytes(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s)) }

func (c *client) bytes(s string) { io.WriteString(c.h.Stdin(), s) }

func (c *client) notify(method, params string) {
	c.body(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

func (c *client) request(id, method, params string) {
	c.body(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
}

func initParams(root string) string {
	uri := fileURI(root)
	return fmt.Sprintf(`{"processId":%d,"rootPath":%q,"rootUri":%q,"workspaceFolders":[{"uri":%q,"name":"w"}],"capabilities":{}}`, os.Getpid(), root, uri, uri)
}

func (c *client) start(root string) {
	c.request("1", "initialize", initParams(root))
	synctest.Wait()
	c.notify("initialized", "{}")
	synctest.Wait()
}

func (c *client) stop() {
	c.request("99", "shutdown", "null")
	synctest.Wait()
	c.notify("exit", "null")
	select {
	case <-c.h.Done():
		<-c.done
	case <-time.After(time.Minute):
		c.t.Error("the server did not end on exit")
		c.h.Kill()
	}
}

func open(path, text string) string {
	return fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"go","version":1,"text":%q}}`, fileURI(path), text)
}

// find gives the last answer to id, as JSON.
func (c *client) reply(id float64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.got) - 1; i >= 0; i-- {
		if c.got[i]["id"] == id && c.got[i]["method"] == nil {
			b, _ := json.Marshal(c.got[i])
			return string(b)
		}
	}
	return ""
}
func (c *client) methods() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.got {
		if s, ok := m["method"].(string); ok {
			out = append(out, s)
		}
	}
	return out
}
