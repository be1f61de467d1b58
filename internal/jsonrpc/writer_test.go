package jsonrpc

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// lockedBuffer is written by the writer and read by the test.
type lockedBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestCancelDoesNotOvertake: a cancellation that comes while its request waits for
// the writer is written behind it; a server could not tell what it cancels otherwise.
func TestCancelDoesNotOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 20 {
			var w lockedBuffer
			x, done := newWriter(&w, 1<<20), make(chan struct{})
			<-x.token
			m, err := request(1, "a/b", nil)
			if err != nil {
				t.Fatal(err)
			}
			x.out <- outgoing{message: m}
			if err := x.later(cancelRequest(1)); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Go(func() { _ = x.run(done) })
			synctest.Wait()
			close(done)
			wg.Wait()
			asked, cancelled := strings.Index(w.String(), "a/b"), strings.Index(w.String(), "$/cancelRequest")
			if asked < 0 || cancelled < asked {
				t.Fatalf("wrote %q", w.String())
			}
		}
	})
}
