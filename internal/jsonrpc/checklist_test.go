package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bubble runs a sub-test in virtual time.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// answers sends a request, lets answer write what comes back, and returns the outcome.
func answers(t *testing.T, c *Conn, p *peer, answer func(m wire)) outcome {
	t.Helper()
	got := async(c, t.Context(), "ask")
	answer(p.mustRead())
	select {
	case o := <-got:
		return o
	case <-time.After(time.Minute):
		t.Fatal("the call was never answered")
		return outcome{}
	}
}

// alive fails the test unless an ordinary call works.
func alive(t *testing.T, c *Conn, p *peer) {
	t.Helper()
	o := answers(t, c, p, func(m wire) { p.reply(m, `"fine"`) })
	if o.err != nil || o.result != `"fine"` {
		t.Fatalf("the connection is unusable: %+v", o)
	}
}

func response1(id string, rest string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, rest)
}

func TestFraming(t *testing.T) {
	headers := map[string]string{
		"usual":               "Content-Length: %d\r\n\r\n",
		"lower case":          "content-length: %d\r\n\r\n",
		"upper case":          "CONTENT-LENGTH:%d\r\n\r\n",
		"type first":          "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
		"type last":           "Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
		"any type":            "Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n",
		"unknown field":       "Content-Length: %d\r\nX-Server: a b c\r\n\r\n",
		"line feeds only":     "Content-Length: %d\n\n",
		"spaces":              "Content-Length :  %d  \r\n\r\n",
		"byte order mark":     "\ufeffContent-Length: %d\r\n\r\n",
		"blank line before":   "\r\nContent-Length: %d\r\n\r\n",
		"the last length won": "Content-Length: 3\r\nContent-Length: %d\r\n\r\n",
	}
	for name, header := range headers {
		bubble(t, "C01 headers: "+name, func(t *testing.T) {
			c, p := dial(t, nil, Options{})
			o := answers(t, c, p, func(m wire) {
				body := response1(string(m.ID), `"result":"é 世界"`)
				p.raw(fmt.Sprintf(header, len(body)) + body)
			})
			if o.err != nil || o.result != `"é 世界"` {
				t.Fatalf("%+v", o)
			}
			if n := c.Stats().Noise; n != 0 {
				t.Errorf("%d lines counted as noise", n)
			}
		})
	}
	bubble(t, "C01 split over many writes", func(t *testing.T) {
		c, p := dial(t, nil, Options{})
		o := answers(t, c, p, func(m wire) {
			for _, b := range []byte(framed(response1(string(m.ID), `"result":[1,2]`))) {
				p.raw(string(b))
				time.Sleep(time.Millisecond)
			}
		})
		if o.err != nil || o.result != "[1,2]" {
			t.Fatalf("%+v", o)
		}
	})
	bubble(t, "C01 two messages in one write", func(t *testing.T) {
		var seen record
		c, p := dial(t, seen.handler(), Options{})
		o := answers(t, c, p, func(m wire) {
			p.raw(framed(`{"jsonrpc":"2.0","method":"first","params":{}}`) + framed(response1(string(m.ID), `"result":1`)))
		})
		if o.err != nil || !slices.Equal(seen.all(), []string{"first {}"}) {
			t.Fatalf("%+v %q", o, seen.all())
		}
	})
}

func TestNoise(t *testing.T) {
	noises := map[string]string{
		"log line":              "INFO starting up\n",
		"banner":                "\n*** Welcome ***\r\n\r\nversion 1.2\r\n\r\n",
		"looks like a field":    "warning: deprecated\n",
		"without a line's end":  "loading project... ",
		"binary":                "\x00\xff\xfe\n",
		"long line":             strings.Repeat("x", 200_000) + "\n",
		"long line, no end":     strings.Repeat("x", 200_000),
		"cut by the buffer":     strings.Repeat("x", readBuffer-7),
		"length without number": "Content-Length: many\r\n\r\n",
		"negative length":       "Content-Length: -5\r\n\r\n",
	}
	for name, noise := range noises {
		bubble(t, "C02 noise: "+name, func(t *testing.T) {
			told := 0
			c, p := dial(t, nil, Options{OnNoise: func([]byte) { told++ }})
			o := answers(t, c, p, func(m wire) { p.raw(noise + framed(response1(string(m.ID), `"result":1`))) })
			if o.err != nil || o.result != "1" {
				t.Fatalf("%+v", o)
			}
			if n := c.Stats().Noise; n == 0 || n != int64(told) {
				t.Errorf("counted %d, told of %d", n, told)
			}
			alive(t, c, p)
		})
	}
	bodies := map[string]string{
		"not JSON":      "oops",
		"cut JSON":      `{"jsonrpc":"2.0","method":"x","params":{`,
		"empty":         "",
		"a number":      "7",
		"no message":    `{"hello":"world"}`,
		"method number": `{"jsonrpc":"2.0","method":7}`,
		"more behind":   `{"jsonrpc":"2.0","method":"x"} {}`,
	}
	for name, body := range bodies {
		bubble(t, "C02 invalid body is skipped: "+name, func(t *testing.T) {
			var seen record
			c, p := dial(t, seen.handler(), Options{})
			p.send(body)
			alive(t, c, p)
			if c.Stats().Noise != 1 || len(seen.all()) != 0 {
				t.Errorf("noise %d, seen %q", c.Stats().Noise, seen.all())
			}
		})
	}
	for name, off := range map[string]int{"too short": -9, "too long": 11} {
		bubble(t, "C02 in step again after a length that was "+name, func(t *testing.T) {
			c, p := dial(t, &handler{}, Options{})
			body := `{"jsonrpc":"2.0","method":"x","params":{"text":"0123456789"}}`
			p.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body)+off, body))
			p.send(`{"jsonrpc":"2.0","method":"victim","params":{}}`)
			alive(t, c, p)
			if c.Stats().Noise == 0 {
				t.Error("not counted")
			}
		})
	}
}

func TestBroken(t *testing.T) {
	bubble(t, "C03 invalid response fails its call", func(t *testing.T) {
		c, p := dial(t, nil, Options{})
		o := answers(t, c, p, func(m wire) { p.send(response1(string(m.ID), `"result":{"a":`)) })
		var e *Error
		if !errors.As(o.err, &e) || e.Code != CodeParse {
			t.Fatalf("%+v", o)
		}
		alive(t, c, p)
	})
	for name, send := range map[string]func(p *peer) string{
		"larger than the limit": func(p *peer) string { p.raw("Content-Length: 1025\r\n\r\n"); return "larger than the limit" },
		"6 GB":                  func(p *peer) string { p.raw("Content-Length: 6442450944\r\n\r\n"); return "larger than the limit" },
		"more than a number":    func(p *peer) string { p.raw("Content-Length: 99999999999999999999\r\n\r\n"); return "larger" },
		"nothing but noise": func(p *peer) string {
			go func() { _, _ = io.WriteString(p.rw, strings.Repeat(strings.Repeat("z", 999)+"\n", maxNoise/1000+2)) }()
			return "not LSP"
		},
		"nothing but blank lines": func(p *peer) string {
			go func() { _, _ = io.WriteString(p.rw, strings.Repeat("\r\n", maxNoise/2+1)) }()
			return "not LSP"
		},
		"a header of lengths without end": func(p *peer) string {
			go func() { _, _ = io.WriteString(p.rw, strings.Repeat("Content-Length: 5\n", maxNoise/18+1)) }()
			return "not LSP"
		},
		"a header of fields without end": func(p *peer) string {
			go func() {
				_, _ = io.WriteString(p.rw, "Content-Length: 5\r\n"+strings.Repeat("X-Field: value\r\n", maxNoise/16+1))
			}()
			return "not LSP"
		},
		"nothing but invalid bodies": func(p *peer) string {
			for range maxBadRun {
				p.send("nonsense")
			}
			return "not JSON"
		},
		"the end":              func(p *peer) string { p.rw.Close(); return "closed its output" },
		"the end in a message": func(p *peer) string { p.raw("Content-Length: 10\r\n\r\n{"); p.rw.Close(); return "unexpected EOF" },
	} {
		bubble(t, "C03 connection ends: "+name, func(t *testing.T) {
			c, p := dial(t, nil, Options{MaxMessage: 1024})
			got := async(c, t.Context(), "ask")
			p.mustRead()
			go func() { _, _ = io.Copy(io.Discard, p.rw) }()
			want := send(p)
			o := <-got
			if !errors.Is(o.err, ErrClosed) || !strings.Contains(o.err.Error(), want) || !strings.HasPrefix(o.err.Error(), "ask: ") {
				t.Fatalf("pending call: %v", o.err)
			}
			<-c.Done()
			if err := c.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Err: %v", err)
			}
			if _, err := c.Call(t.Context(), "later", nil); !errors.Is(err, ErrClosed) {
				t.Errorf("later call: %v", err)
			}
			if err := c.Notify(t.Context(), "later", nil); !errors.Is(err, ErrClosed) {
				t.Errorf("later notification: %v", err)
			}
		})
	}
	t.Run("C03 a length is no reason to allocate", func(t *testing.T) {
		r := io.MultiReader(strings.NewReader("Content-Length: 60000000\r\n\r\nshort"))
		f := newFrameReader(r, defaultMaxMessage, func([]byte) {})
		b, err := f.next()
		if !errors.Is(err, io.ErrUnexpectedEOF) || cap(b) > 2*firstAlloc {
			t.Fatalf("%v, %d bytes allocated", err, cap(b))
		}
	})
}

func TestServerRequests(t *testing.T) {
	for _, id := range []string{"0", `"x"`, `"7"`, "7", "-1", "1.5", `"\u00e9\""`, "12345678901234567890"} {
		bubble(t, "C04 id of a server request comes back as it is: "+id, func(t *testing.T) {
			_, p := dial(t, &handler{answer: func(_ context.Context, method string, params json.RawMessage) (any, error) {
				return map[string]string{"method": method, "params": string(params)}, nil
			}}, Options{})
			p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"q","params":[1]}`)
			m := p.mustRead()
			if string(m.ID) != id || string(m.Result) != `{"method":"q","params":"[1]"}` || m.Error != nil {
				t.Fatalf("%+v", m)
			}
		})
	}
	for _, params := range []string{"", `,"params":null`} {
		bubble(t, "C07 handler runs without params "+params, func(t *testing.T) {
			var seen record
			h := seen.handler()
			h.answer = func(_ context.Context, method string, params json.RawMessage) (any, error) {
				seen.add(method + " " + string(params))
				return nil, nil
			}
			_, p := dial(t, h, Options{})
			p.send(`{"jsonrpc":"2.0","method":"n"` + params + `}`)
			p.send(`{"jsonrpc":"2.0","id":1,"method":"r"` + params + `}`)
			if m := p.mustRead(); string(m.Result) != "null" || m.Error != nil {
				t.Errorf("%+v", m)
			}
			if !slices.Equal(seen.all(), []string{"n ", "r "}) {
				t.Errorf("%q", seen.all())
			}
		})
	}
	for name, h := range map[string]Handler{"no handler": nil, "handler": &handler{}} {
		bubble(t, "C08 unknown methods, "+name, func(t *testing.T) {
			c, p := dial(t, h, Options{})
			p.send(`{"jsonrpc":"2.0","method":"$/unknown","params":{}}`)
			p.send(`{"jsonrpc":"2.0","method":"x/unknown","params":{}}`)
			p.send(`{"jsonrpc":"2.0","id":5,"method":"x/unknown","params":{}}`)
			m := p.mustRead() // the first thing that comes back answers the request
			if string(m.ID) != "5" || m.Error == nil || m.Error.Code != CodeMethodNotFound {
				t.Fatalf("%+v", m)
			}
			alive(t, c, p)
		})
	}
	bubble(t, "C10 a handler that asks the peer", func(t *testing.T) {
		var c *Conn
		ready := make(chan struct{})
		c, p := dial(t, &handler{answer: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
			<-ready
			return c.Call(ctx, "counter", nil)
		}}, Options{})
		close(ready)
		p.send(`{"jsonrpc":"2.0","id":"a","method":"q"}`)
		m := p.mustRead()
		if m.Method != "counter" {
			t.Fatalf("%+v", m)
		}
		p.send(`{"jsonrpc":"2.0","method":"between"}`)
		p.reply(m, "42")
		if m = p.mustRead(); string(m.ID) != `"a"` || string(m.Result) != "42" {
			t.Fatalf("%+v", m)
		}
		alive(t, c, p)
	})
}

func TestResponses(t *testing.T) {
	bubble(t, "C05 unknown and retired ids", func(t *testing.T) {
		c, p := dial(t, nil, Options{})
		for _, id := range []string{"4711", "-1", "0", `"abc"`, `"4711"`, "1.5", "1e3"} {
			p.send(response1(id, `"result":{}`))
		}
		p.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
		o := answers(t, c, p, func(m wire) {
			p.reply(m, "1")
			p.reply(m, "2")
		})
		if o.result != "1" {
			t.Fatalf("%+v", o)
		}
		alive(t, c, p)
		if n := c.Stats().UnknownIDs; n != 9 {
			t.Errorf("%d unknown ids counted, want 9", n)
		}
	})
	ok := func(want string) func(outcome) bool {
		return func(o outcome) bool { return o.err == nil && o.result == want }
	}
	fails := func(code int64, message string) func(outcome) bool {
		return func(o outcome) bool {
			e, is := o.err.(*Error)
			return is && e.Code == code && e.Message == message
		}
	}
	for _, test := range []struct {
		name, body string
		good       func(outcome) bool
		repaired   int64
	}{
		{"C06 neither result nor error", `{"jsonrpc":"2.0","id":ID}`, ok(""), 0},
		{"C06 result null", `{"jsonrpc":"2.0","id":ID,"result":null}`, ok(""), 0},
		{"error null beside a result", `{"jsonrpc":"2.0","id":ID,"error":null,"result":[]}`, ok("[]"), 1},
		{"error null and result null", `{"jsonrpc":"2.0","id":ID,"error":null,"result":null}`, ok(""), 1},
		{"result null beside an error", `{"jsonrpc":"2.0","id":ID,"result":null,"error":{"code":-32803,"message":"no"}}`, fails(-32803, "no"), 1},
		{"error", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32801,"message":"changed"}}`, fails(CodeContentModified, "changed"), 0},
		{"no jsonrpc member", `{"id":ID,"result":{"a":"\"}"}}`, ok(`{"a":"\"}"}`), 1},
		{"another jsonrpc version", `{"jsonrpc":"1.0","id":ID,"result":1}`, ok("1"), 0},
		{"id as a string", `{"jsonrpc":"2.0","id":"ID","result":1}`, ok("1"), 1},
		{"id as a float", `{"jsonrpc":"2.0","id":ID.0,"result":1}`, ok("1"), 1},
		{"unknown members", `{"jsonrpc":"2.0","meta":[{"id":99}],"id":ID,"trace":"t","result":1}`, ok("1"), 0},
		{"members in another order", "{ \"result\" : 1 ,\n\t\"id\" : ID , \"jsonrpc\" : \"2.0\" } \n", ok("1"), 0},
		{"an escaped name", `{"jsonrpc":"2.0","\u0069d":ID,"result":1}`, ok("1"), 0},
		{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":ID,"result":1}`, ok("1"), 0},
		{"error code is a word", `{"jsonrpc":"2.0","id":ID,"error":{"code":"EFAIL","message":"m"}}`, fails(CodeUnknown, "m"), 1},
		{"error code is digits in a string", `{"jsonrpc":"2.0","id":ID,"error":{"code":"-32601","message":"m"}}`, fails(-32601, "m"), 1},
		{"error code is a float", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601.0,"message":"m"}}`, fails(-32601, "m"), 1},
		{"error without a code", `{"jsonrpc":"2.0","id":ID,"error":{"message":"m"}}`, fails(CodeUnknown, "m"), 1},
		{"error is a string", `{"jsonrpc":"2.0","id":ID,"error":"broken"}`, fails(CodeUnknown, "broken"), 1},
		{"error without a message", `{"jsonrpc":"2.0","id":ID,"error":{"code":3}}`, fails(3, "error 3 without a message"), 0},
		{"error message is no string", `{"jsonrpc":"2.0","id":ID,"error":{"code":3,"message":{"a":1}}}`, fails(3, `{"a":1}`), 0},
	} {
		bubble(t, test.name, func(t *testing.T) {
			c, p := dial(t, nil, Options{})
			o := answers(t, c, p, func(m wire) { p.send(strings.ReplaceAll(test.body, "ID", string(m.ID))) })
			if !test.good(o) {
				t.Fatalf("%+v", o)
			}
			if n := c.Stats().Repaired; n != test.repaired {
				t.Errorf("repaired %d, want %d", n, test.repaired)
			}
			alive(t, c, p)
		})
	}
}

func TestCancel(t *testing.T) {
	for name, end := range map[string]struct {
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		"caller cancels": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, context.Canceled},
		"caller times out": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.DeadlineExceeded},
	} {
		bubble(t, "C100 "+name, func(t *testing.T) {
			c, p := dial(t, nil, Options{})
			ctx, cancel := end.ctx(t.Context())
			defer cancel()
			begin := time.Now()
			got := async(c, ctx, "slow")
			m := p.mustRead()
			if o := <-got; o.err != end.want || time.Since(begin) != time.Second {
				t.Fatalf("%+v after %v", o, time.Since(begin))
			}
			n := p.mustRead()
			if n.Method != "$/cancelRequest" || string(n.Params) != `{"id":`+string(m.ID)+`}` {
				t.Fatalf("%+v", n)
			}
			p.reply(m, `"late"`)
			alive(t, c, p) // its request is the next message: there was one notice only
			if c.Stats().UnknownIDs != 1 {
				t.Errorf("%+v", c.Stats())
			}
		})
	}
	bubble(t, "C100 a call that never left needs no notice", func(t *testing.T) {
		c, p := dial(t, nil, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		first := async(c, t.Context(), "first") // fills the pipe: nobody reads
		synctest.Wait()
		second := async(c, ctx, "second")
		synctest.Wait()
		cancel()
		if o := <-second; o.err != context.Canceled {
			t.Fatal(o)
		}
		p.reply(p.mustRead(), "1")
		if o := <-first; o.err != nil {
			t.Fatal(o)
		}
		alive(t, c, p)
	})
	bubble(t, "C100 a context that has ended sends nothing", func(t *testing.T) {
		c, p := dial(t, nil, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Call(ctx, "x", nil); err != context.Canceled {
			t.Fatal(err)
		}
		if err := c.Notify(ctx, "x", nil); err != context.Canceled {
			t.Fatal(err)
		}
		alive(t, c, p)
	})
}

func TestPressure(t *testing.T) {
	bubble(t, "C102 flood of publishes and progress", func(t *testing.T) {
		last := map[string]string{}
		handled := 0
		h := &handler{notify: func(_ context.Context, _ string, params json.RawMessage) {
			time.Sleep(10 * time.Millisecond) // slower than the flood
			var p struct{ Key, Value string }
			if err := json.Unmarshal(params, &p); err != nil {
				t.Error(err)
			}
			last[p.Key] = p.Value
			handled++
		}}
		key := func(_ string, params json.RawMessage) string {
			var p struct{ Key string }
			_ = json.Unmarshal(params, &p)
			return p.Key
		}
		c, p := dial(t, h, Options{Coalesce: key, MaxMessage: 1 << 10}) // the backlog may hold 4 KB
		begin := time.Now()
		o := answers(t, c, p, func(m wire) {
			for i := range 10_000 {
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"publish","params":{"Key":"f%d","Value":"%d"}}`, i%10, i))
			}
			p.reply(m, "1")
		})
		if o.err != nil || time.Since(begin) > 200*time.Millisecond {
			t.Fatalf("%+v after %v", o, time.Since(begin))
		}
		for i := range 10 {
			if got, want := last[fmt.Sprintf("f%d", i)], fmt.Sprint(9990+i); got != want {
				t.Errorf("file %d: last value %s, want %s", i, got, want)
			}
		}
		if n := c.Stats().Coalesced; int(n)+handled != 10_000 || handled > 30 {
			t.Errorf("handled %d, coalesced %d", handled, n)
		}
	})
	bubble(t, "C102 flood that cannot be coalesced ends the connection", func(t *testing.T) {
		block := make(chan struct{})
		c, p := dial(t, &handler{notify: func(context.Context, string, json.RawMessage) { <-block }}, Options{MaxMessage: 1 << 10})
		go func() {
			for {
				if _, err := io.WriteString(p.rw, framed(`{"jsonrpc":"2.0","method":"log","params":{"m":"x"}}`)); err != nil {
					return
				}
			}
		}()
		<-c.Done()
		if c.Err() != errBacklog {
			t.Error(c.Err())
		}
		close(block)
	})
	bubble(t, "C103 peer that does not read", func(t *testing.T) {
		c, p := dial(t, &handler{}, Options{})
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		calls := []chan outcome{}
		for range 20 {
			calls = append(calls, async(c, ctx, "x"))
		}
		if err := c.Notify(ctx, "n", nil); err != context.DeadlineExceeded {
			t.Error(err)
		}
		for _, got := range calls {
			if o := <-got; o.err != context.DeadlineExceeded {
				t.Error(o.err)
			}
		}
		if d := time.Since(begin); d != time.Second {
			t.Errorf("it took %v", d)
		}
		// What it sends is still read and handled, requests too.
		for i := range 100 {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"q"}`, i))
		}
		// And when it reads again, everything goes on.
		replies := 0
		for replies < 100 {
			if m := p.mustRead(); m.Error != nil {
				replies++
			}
		}
		alive(t, c, p)
	})
	bubble(t, "C103 replies nobody reads are bounded", func(t *testing.T) {
		c, p := dial(t, &handler{}, Options{MaxMessage: 1 << 10})
		go func() {
			for {
				if _, err := io.WriteString(p.rw, framed(`{"jsonrpc":"2.0","id":1,"method":"q"}`)); err != nil {
					return
				}
			}
		}()
		<-c.Done()
		if c.Err() != errUnread && c.Err() != errBacklog {
			t.Error(c.Err())
		}
	})
}
