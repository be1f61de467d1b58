package proc

import (
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// tailSize is how much of stderr is kept, in bytes.
const tailSize = 4 << 10

// tail keeps the last part of a stream.
type tail struct {
	mu   sync.Mutex // guards what follows
	ring [tailSize]byte
	n    int64 // bytes seen so far
}

// drain reads r to its end.
func (t *tail) drain(r io.Reader) {
	buf := make([]byte, 8<<10)
	for {
		n, err := r.Read(buf)
		t.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (t *tail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if over := len(p) - tailSize; over > 0 {
		p = p[over:]
		t.n += int64(over)
	}
	for len(p) > 0 {
		k := copy(t.ring[t.n%tailSize:], p)
		p = p[k:]
		t.n += int64(k)
	}
}

// text is what is kept, without half a character at its start.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n <= tailSize {
		return strings.ToValidUTF8(string(t.ring[:t.n]), "\uFFFD")
	}
	at := t.n % tailSize
	all := append(append(make([]byte, 0, tailSize), t.ring[at:]...), t.ring[:at]...)
	for len(all) > 0 && !utf8.RuneStart(all[0]) {
		all = all[1:]
	}
	return strings.ToValidUTF8(string(all), "\uFFFD")
}
