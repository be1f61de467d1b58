package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestOrder(t *testing.T) {
	bubble(t, "a call returns after the notifications before its response", func(t *testing.T) {
		var seen record
		c, p := dial(t, &handler{notify: func(_ context.Context, method string, _ json.RawMessage) {
			time.Sleep(time.Second)
			seen.add(method)
		}}, Options{})
		begin := time.Now()
		o := answers(t, c, p, func(m wire) {
			p.send(`{"jsonrpc":"2.0","method":"before1"}`)
			p.send(`{"jsonrpc":"2.0","method":"before2"}`)
			p.reply(m, "1")
			p.send(`{"jsonrpc":"2.0","method":"after"}`)
		})
		if got := seen.all(); o.err != nil || !slices.Equal(got, []string{"before1", "before2"}) {
			t.Fatalf("%+v, dispatched %q", o, got)
		}
		if d := time.Since(begin); d != 2*time.Second {
			t.Errorf("it took %v", d)
		}
	})
	bubble(t, "what a waiting call depends on is not coalesced away", func(t *testing.T) {
		var seen record
		h := seen.handler()
		slow := h.notify
		h.notify = func(ctx context.Context, method string, params json.RawMessage) {
			time.Sleep(time.Second)
			slow(ctx, method, params)
		}
		c, p := dial(t, h, Options{Coalesce: func(m string, _ json.RawMessage) string { return m }})
		o := answers(t, c, p, func(m wire) {
			p.send(`{"jsonrpc":"2.0","method":"other","params":[0]}`)
			for i := range 3 {
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"publish","params":[%d]}`, i))
			}
			p.reply(m, "1")
			p.send(`{"jsonrpc":"2.0","method":"publish","params":[3]}`)
		})
		if got := seen.all(); o.err != nil || !slices.Equal(got, []string{"other [0]", "publish [2]"}) {
			t.Fatalf("%+v, dispatched %q", o, got)
		}
	})
	bubble(t, "the newest keeps its own place", func(t *testing.T) {
		var seen record
		gate := make(chan struct{})
		h := seen.handler()
		note := h.notify
		h.notify = func(ctx context.Context, method string, params json.RawMessage) {
			<-gate
			note(ctx, method, params)
		}
		_, p := dial(t, h, Options{Coalesce: func(m string, _ json.RawMessage) string {
			if m == "end" {
				return ""
			}
			return m
		}})
		for _, m := range []string{"first", "a", "b", "end", "a", "end"} {
			p.send(`{"jsonrpc":"2.0","method":"` + m + `"}`)
		}
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if got := seen.all(); !slices.Equal(got, []string{"first ", "b ", "end ", "a ", "end "}) {
			t.Errorf("%q", got)
		}
	})
	bubble(t, "order on the wire is the order of calls", func(t *testing.T) {
		c, p := dial(t, nil, Options{})
		var calls []chan outcome
		for i := range 50 { // nobody reads yet: all of them wait for their turn
			calls = append(calls, async(c, t.Context(), fmt.Sprint("m", i)))
			synctest.Wait()
		}
		for i := range 50 {
			m := p.mustRead()
			if m.Method != fmt.Sprint("m", i) {
				t.Fatalf("%s came as number %d", m.Method, i)
			}
			p.reply(m, "1")
		}
		for _, got := range calls {
			if o := <-got; o.err != nil {
				t.Error(o.err)
			}
		}
	})
}

func TestHandlers(t *testing.T) {
	bubble(t, "errors and panics", func(t *testing.T) {
		panics := 0
		c, p := dial(t, &handler{
			notify: func(context.Context, string, json.RawMessage) { panic("in a notification") },
			answer: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
				switch method {
				case "own":
					return nil, fmt.Errorf("wrapped: %w", &Error{Code: CodeRequestFailed, Message: "no", Data: json.RawMessage(`{"a":1}`)})
				case "plain":
					return nil, errors.New("something")
				case "unencodable":
					return make(chan int), nil
				case "bad data":
					return nil, &Error{Code: 5, Message: "m", Data: json.RawMessage(`{`)}
				case "later":
					return Deferred(func(context.Context) (any, error) { panic("deferred") }), nil
				}
				panic("in an answer")
			},
		}, Options{OnPanic: func(string, any, []byte) { panics++ }})
		p.send(`{"jsonrpc":"2.0","method":"n"}`)
		for method, want := range map[string]Error{
			"own":         {Code: CodeRequestFailed, Message: "no", Data: json.RawMessage(`{"a":1}`)},
			"plain":       {Code: CodeInternal, Message: "something"},
			"unencodable": {Code: CodeInternal, Message: "json: unsupported type: chan int"},
			"bad data":    {Code: 5, Message: "m"},
			"later":       {Code: CodeInternal, Message: "internal error while handling later"},
			"panic":       {Code: CodeInternal, Message: "internal error while handling panic"},
		} {
			p.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
			m := p.mustRead()
			if m.Error == nil || m.Error.Code != want.Code || m.Error.Message != want.Message || string(m.Error.Data) != string(want.Data) {
				t.Errorf("%s: %+v", method, m.Error)
			}
		}
		if panics != 3 || c.Stats().Panics != 3 {
			t.Errorf("told of %d panics, counted %d", panics, c.Stats().Panics)
		}
		alive(t, c, p)
	})
	bubble(t, "a panic of Coalesce", func(t *testing.T) {
		var seen record
		c, p := dial(t, seen.handler(), Options{Coalesce: func(string, json.RawMessage) string { panic("key") }})
		p.send(`{"jsonrpc":"2.0","method":"n"}`)
		alive(t, c, p)
		if len(seen.all()) != 1 || c.Stats().Panics != 1 {
			t.Errorf("%q %+v", seen.all(), c.Stats())
		}
	})
	bubble(t, "a deferred answer holds up nobody and can be cancelled", func(t *testing.T) {
		c, p := dial(t, &handler{answer: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
			if method == "fast" {
				return true, nil
			}
			return Deferred(func(ctx context.Context) (any, error) {
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(time.Hour):
					return "slow", nil
				}
			}), nil
		}}, Options{})
		p.send(`{"jsonrpc":"2.0","id":"s","method":"slow"}`)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"fast"}`)
		if m := p.mustRead(); string(m.ID) != "2" || string(m.Result) != "true" {
			t.Fatalf("%+v", m)
		}
		p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"s"}}`)
		if m := p.mustRead(); string(m.ID) != `"s"` || m.Error == nil || m.Error.Code != CodeRequestCancel {
			t.Fatalf("%+v", m)
		}
		p.send(`{"jsonrpc":"2.0","id":3,"method":"slow"}`)
		if m := p.mustRead(); string(m.ID) != "3" || string(m.Result) != `"slow"` {
			t.Fatalf("%+v", m)
		}
		p.send(`{"jsonrpc":"2.0","id":4,"method":"slow"}`)
		alive(t, c, p)
		c.Close() // ends the one still in work
	})
	bubble(t, "a deferred answer may ask the peer", func(t *testing.T) {
		var c *Conn
		c, p := dial(t, &handler{answer: func(context.Context, string, json.RawMessage) (any, error) {
			return Deferred(func(ctx context.Context) (any, error) { return c.Call(ctx, "back", nil) }), nil
		}}, Options{})
		synctest.Wait()
		p.send(`{"jsonrpc":"2.0","id":1,"method":"q"}`)
		m := p.mustRead()
		p.reply(m, `[7]`)
		if m = p.mustRead(); string(m.Result) != "[7]" {
			t.Fatalf("%+v", m)
		}
	})
}

func TestClose(t *testing.T) {
	bubble(t, "pending calls fail at once, also with a silent peer", func(t *testing.T) {
		c, p := dial(t, nil, Options{})
		got := async(c, t.Context(), "a")
		p.mustRead()
		stuck := async(c, t.Context(), "b") // nobody reads it
		synctest.Wait()
		waiting := async(c, t.Context(), "c")
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for _, ch := range []chan outcome{got, stuck, waiting} {
			if o := <-ch; !errors.Is(o.err, ErrClosed) {
				t.Errorf("%+v", o)
			}
		}
		if c.Err() != nil {
			t.Errorf("Err after Close: %v", c.Err())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "tells handlers and waits for them", func(t *testing.T) {
		ended := false
		c, p := dial(t, &handler{notify: func(ctx context.Context, _ string, _ json.RawMessage) {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
		}}, Options{})
		p.send(`{"jsonrpc":"2.0","method":"n"}`)
		synctest.Wait()
		c.Close()
		if !ended {
			t.Error("Close did not wait for the handler")
		}
	})
	bubble(t, "what came before the peer's end is dispatched", func(t *testing.T) {
		var seen record
		c, p := dial(t, &handler{notify: func(ctx context.Context, method string, _ json.RawMessage) {
			time.Sleep(time.Second)
			seen.add(fmt.Sprint(method, ctx.Err()))
		}}, Options{})
		got := async(c, t.Context(), "x")
		m := p.mustRead()
		p.send(`{"jsonrpc":"2.0","method":"a"}`)
		p.send(`{"jsonrpc":"2.0","method":"b"}`)
		p.reply(m, "1")
		p.rw.Close()
		<-c.Done()
		if o := <-got; o.err != nil || o.result != "1" {
			t.Errorf("%+v", o)
		}
		if !slices.Equal(seen.all(), []string{"a<nil>", "b<nil>"}) {
			t.Errorf("%q", seen.all())
		}
		if !errors.Is(c.Err(), io.EOF) {
			t.Errorf("Err: %v", c.Err())
		}
	})
	bubble(t, "a notification was written when Notify returns", func(t *testing.T) {
		c, p := dial(t, nil, Options{})
		got := make(chan wire, 1)
		go func() { m, _ := p.read(); got <- m }()
		if err := c.Notify(t.Context(), "exit", nil); err != nil {
			t.Fatal(err)
		}
		c.Close()
		if m := <-got; m.Method != "exit" {
			t.Errorf("%+v", m)
		}
	})
}

func TestParams(t *testing.T) {
	type none *struct{}
	for _, test := range []struct {
		name   string
		params any
		want   string
	}{
		{"nil is left out", nil, ""},
		{"null is left out", none(nil), ""},
		{"raw null is left out", json.RawMessage("null"), ""},
		{"empty raw is left out", json.RawMessage(nil), ""},
		{"raw is sent as it is", json.RawMessage(`{"a": 1}`), `{"a": 1}`},
		{"no HTML escapes", map[string]string{"t": "<&>"}, `{"t":"<&>"}`},
	} {
		bubble(t, test.name, func(t *testing.T) {
			c, p := dial(t, nil, Options{})
			got := make(chan wire, 1)
			go func() { m, _ := p.read(); got <- m }()
			if err := c.Notify(t.Context(), "n", test.params); err != nil {
				t.Fatal(err)
			}
			if m := <-got; string(m.Params) != test.want {
				t.Errorf("%q", m.Params)
			}
		})
	}
	bubble(t, "what cannot be encoded is the caller's error", func(t *testing.T) {
		c, p := dial(t, nil, Options{})
		if _, err := c.Call(t.Context(), "x", make(chan int)); err == nil || errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if err := c.Notify(t.Context(), "x", make(chan int)); err == nil || errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		alive(t, c, p)
	})
}

func TestOneWrite(t *testing.T) {
	w := &writes{}
	r, other := io.Pipe()
	c := NewConn(r, w, nil, Options{})
	defer other.Close()
	defer c.Close()
	for i := range 5 {
		if err := c.Notify(t.Context(), "n", strings.Repeat("x", i*20_000)); err != nil {
			t.Fatal(err)
		}
	}
	for i, m := range w.all {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":"%s"}`, strings.Repeat("x", i*20_000))
		if m != framed(body) {
			t.Errorf("write %d: %.60q", i, m)
		}
	}
	if len(w.all) != 5 {
		t.Errorf("%d writes", len(w.all))
	}
}

type writes struct{ all []string }

func (w *writes) Write(p []byte) (int, error) { w.all = append(w.all, string(p)); return len(p), nil }
func (w *writes) Close() error                { return nil }

func TestTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		_, p := dial(t, nil, Options{OnTraffic: func() { n++ }})
		synctest.Wait()
		if n != 0 {
			t.Errorf("traffic before any byte")
		}
		p.raw("Cont") // also a part of a header is a sign of life
		synctest.Wait()
		if n == 0 {
			t.Error("not told")
		}
	})
}

// TestPipes asks over real pipes from many goroutines at once: no answer may go to
// another call.
func TestPipes(t *testing.T) {
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	server := NewConn(inR, outW, &handler{answer: func(_ context.Context, _ string, params json.RawMessage) (any, error) {
		return Deferred(func(context.Context) (any, error) { return params, nil }), nil
	}}, Options{})
	c := NewConn(outR, inW, nil, Options{})
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 100 {
				params := fmt.Sprintf(`[%d,%d,%q]`, g, i, strings.Repeat("p", i*i))
				got, err := c.Call(t.Context(), "echo", json.RawMessage(params))
				if err != nil || string(got) != params {
					t.Errorf("%v: %.40s for %.40s", err, got, params)
					return
				}
			}
		})
	}
	wg.Wait()
	c.Close()
	<-server.Done()
	server.Close()
}

func TestStuckPipe(t *testing.T) {
	t.Run("C103 a full pipe holds up neither callers nor Close", func(t *testing.T) {
		unread, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r, silent, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer unread.Close()
		defer silent.Close()
		c := NewConn(r, w, nil, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		big := strings.Repeat("x", 1<<20)
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if _, err := c.Call(ctx, "x", big); err != context.DeadlineExceeded {
					t.Error(err)
				}
				if err := c.Notify(ctx, "x", big); err != context.DeadlineExceeded {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestQueueModel checks the queue against a plain list.
func TestQueueModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue(1 << 30)
		q.busy = true // a handler runs
		type entry struct{ key, what string }
		var model []entry
		var got []string
		for i := range rapid.IntRange(0, 40).Draw(t, "steps") {
			what := fmt.Sprint(i)
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				q.deliver(func() { got = append(got, what) })
				for j := range model {
					model[j].key = ""
				}
				model = append(model, entry{"", what})
			default:
				key := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "key")
				_, _ = q.push(&item{method: what, key: key})
				if key != "" {
					model = slices.DeleteFunc(model, func(e entry) bool { return e.key == key })
				}
				model = append(model, entry{key, what})
			}
		}
		q.finish()
		for it := q.pop(); it != nil; it = q.pop() {
			if it.deliver != nil {
				it.deliver()
			} else {
				got = append(got, it.method)
			}
		}
		var want []string
		for _, e := range model {
			want = append(want, e.what)
		}
		if !slices.Equal(got, want) || q.bytes != 0 {
			t.Fatalf("got %v, want %v, %d bytes left", got, want, q.bytes)
		}
	})
}
