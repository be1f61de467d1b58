package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
)

// echo answers requests on OS pipes with a result of the given size, as fast as a
// peer can: it reads the id with the scanner under test and nothing else.
func echo(b *testing.B, r io.Reader, w io.Writer, size int) {
	result := fmt.Sprintf(`{"x":%q}`, strings.Repeat("y", size))
	f := newFrameReader(r, defaultMaxMessage, func([]byte) {})
	var out []byte
	for {
		body, err := f.next()
		if err != nil {
			return
		}
		e, err := scanEnvelope(body)
		if err != nil {
			b.Error(err)
			return
		}
		out = fmt.Appendf(out[:0], `Content-Length: %d`+"\r\n\r\n", len(`{"jsonrpc":"2.0","id":,"result":}`)+len(e.id)+len(result))
		out = append(append(append(out, `{"jsonrpc":"2.0","id":`...), e.id...), `,"result":`...)
		out = append(append(out, result...), '}')
		if _, err := w.Write(out); err != nil {
			return
		}
	}
}

func benchmark(b *testing.B, size, callers int) {
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	var peer sync.WaitGroup
	peer.Go(func() { echo(b, inR, outW, size) })
	c := NewConn(outR, inW, nil, Options{})
	params := json.RawMessage(fmt.Sprintf(`{"textDocument":{"uri":%q}}`, strings.Repeat("u", 200)))
	b.ReportAllocs()
	b.ResetTimer()
	work := make(chan struct{})
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range work {
				if _, err := c.Call(context.Background(), "textDocument/hover", params); err != nil {
					b.Error(err)
				}
			}
		})
	}
	if callers == 1 { // without the channel between
		for range b.N {
			if _, err := c.Call(context.Background(), "textDocument/hover", params); err != nil {
				b.Fatal(err)
			}
		}
	} else {
		for range b.N {
			work <- struct{}{}
		}
	}
	close(work)
	wg.Wait()
	b.StopTimer()
	c.Close()
	outW.Close()
	peer.Wait()
	inR.Close()
}

func BenchmarkCall(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("result=%d/callers=%d", size, callers), func(b *testing.B) { benchmark(b, size, callers) })
		}
	}
}

func BenchmarkScan(b *testing.B) {
	var one bytes.Buffer
	one.WriteString(`{"jsonrpc":"2.0","id":7,"result":[`)
	for i := range 10_000 {
		if i > 0 {
			one.WriteByte(',')
		}
		fmt.Fprintf(&one, `{"uri":"file:///home/someone/project/internal/package/file%d.go","range":{"start":{"line":%d,"character":4},"end":{"line":%d,"character":19}}}`, i%100, i, i)
	}
	one.WriteString(`]}`)
	b.SetBytes(int64(one.Len()))
	for range b.N {
		if _, err := scanEnvelope(one.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFloor is what the pipes and the peer cost without a Conn.
func BenchmarkFloor(b *testing.B) {
	inR, inW, _ := os.Pipe()
	outR, outW, _ := os.Pipe()
	var peer sync.WaitGroup
	peer.Go(func() { echo(b, inR, outW, 1<<10) })
	f := newFrameReader(outR, defaultMaxMessage, func([]byte) {})
	m, _ := request(1, "textDocument/hover", json.RawMessage(fmt.Sprintf(`{"textDocument":{"uri":%q}}`, strings.Repeat("u", 200))))
	raw := m.bytes()
	for b.Loop() {
		if _, err := inW.Write(raw); err != nil {
			b.Fatal(err)
		}
		if _, err := f.next(); err != nil {
			b.Fatal(err)
		}
	}
	inW.Close()
	peer.Wait()
	for _, f := range []*os.File{inR, outR, outW} {
		f.Close()
	}
}
