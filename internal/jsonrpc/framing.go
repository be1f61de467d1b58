package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

const (
	readBuffer   = 64 << 10
	firstAlloc   = 4 << 20 // a longer body grows with what really arrives
	contentField = "content-length"
)

var (
	bom = []byte("\xef\xbb\xbf")

	errNoHeader = errors.New("the peer's output is not LSP: no whole Content-Length header in the last megabyte")
)

// frameReader cuts a byte stream into message bodies.
type frameReader struct {
	r     *bufio.Reader
	max   int
	noise func(line []byte) // told about every skipped line
	rest  []byte            // start of the line that follows, already read
	cut   bool              // the line that follows is the rest of a longer one
	lost  int               // bytes read since the last whole header
}

func newFrameReader(r io.Reader, max int, noise func([]byte)) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, readBuffer), max: max, noise: noise}
}

// next returns the next body in memory of its own; it may be empty or no JSON.
func (f *frameReader) next() ([]byte, error) {
	n, err := f.header()
	if err != nil {
		return nil, err
	}
	return f.body(n)
}

// header reads lines up to the blank one that follows a Content-Length.
func (f *frameReader) header() (int, error) {
	length := -1
	for {
		line, whole, err := f.line()
		if err != nil {
			if len(line) > 0 {
				f.noise(line)
			}
			return 0, err
		}
		text := bytes.TrimSpace(bytes.TrimPrefix(line, bom))
		if len(text) == 0 && whole && length >= 0 {
			f.lost = 0
			return length, nil
		}
		f.lost += len(line) // also what looks like a field: a header has an end
		before, n, ok := parseLength(text)
		switch {
		case ok && n > int64(f.max):
			return 0, fmt.Errorf("a message of %d bytes is larger than the limit of %d", n, f.max)
		case ok:
			length = int(n)
			if len(before) > 0 {
				f.noise(before)
			}
		case len(text) == 0 || isContentType(text):
		case length < 0 || !isField(text):
			f.noise(text)
		}
		if f.lost > maxNoise {
			return 0, errNoHeader
		}
	}
}

// line returns the next line, or, when that is longer than the buffer, a piece of it
// (whole is false). A piece never ends inside a length.
func (f *frameReader) line() (line []byte, whole bool, err error) {
	line, err = f.r.ReadSlice('\n')
	if len(f.rest) > 0 {
		line = append(f.rest, line...)
		f.rest = nil
	}
	whole = !f.cut
	f.cut = err == bufio.ErrBufferFull
	if !f.cut {
		return line, whole, err
	}
	end := lengthStart(line)
	f.rest = bytes.Clone(line[end:])
	return line[:end], false, nil
}

// lengthStart is where a length may begin that the end of line cuts.
func lengthStart(line []byte) int {
	for i := max(0, len(line)-40); i < len(line); i++ {
		if hasPrefixFold(line[i:], contentField[:min(len(contentField), len(line)-i)]) {
			return i
		}
	}
	return len(line)
}

func (f *frameReader) body(n int) ([]byte, error) {
	if n <= firstAlloc {
		b := make([]byte, n)
		_, err := io.ReadFull(f.r, b)
		return b, unexpected(err)
	}
	var b bytes.Buffer
	b.Grow(firstAlloc)
	_, err := io.CopyN(&b, f.r, int64(n))
	return b.Bytes(), unexpected(err)
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// parseLength finds the length at the end of a line; before is what a peer wrote
// in front of it without ending its line.
func parseLength(line []byte) (before []byte, n int64, ok bool) {
	i := lastFold(line, contentField)
	if i < 0 {
		return nil, 0, false
	}
	value, found := bytes.CutPrefix(bytes.TrimSpace(line[i+len(contentField):]), []byte(":"))
	value = bytes.TrimSpace(value)
	if !found || len(value) == 0 || len(bytes.Trim(value, "0123456789")) > 0 {
		return nil, 0, false
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil { // more digits than a number holds
		n = math.MaxInt64
	}
	return line[:i], n, true
}

// lastFold is the last index of the lower-case ASCII pattern in b, without regard
// to case.
func lastFold(b []byte, pattern string) int {
	for i := len(b) - len(pattern); i >= 0; i-- {
		if b[i]|0x20 == pattern[0] && hasPrefixFold(b[i:], pattern) {
			return i
		}
	}
	return -1
}

func hasPrefixFold(b []byte, pattern string) bool {
	if len(b) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != pattern[i] {
			return false
		}
	}
	return true
}

func isContentType(line []byte) bool { return hasPrefixFold(line, "content-type:") }

// isField reports whether line has the shape of a header field, name: value.
func isField(line []byte) bool {
	i := bytes.IndexByte(line, ':')
	if i <= 0 {
		return false
	}
	for _, c := range line[:i] {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// headerRoom is kept free in front of an outgoing body for its header.
const headerRoom = 40

// frame writes the header in front of the body that starts at headerRoom, and
// returns the message as one piece.
func frame(buf []byte) []byte {
	var h [headerRoom]byte
	head := append(h[:0], "Content-Length: "...)
	head = strconv.AppendInt(head, int64(len(buf)-headerRoom), 10)
	head = append(head, "\r\n\r\n"...)
	start := headerRoom - len(head)
	copy(buf[start:], head)
	return buf[start:]
}
