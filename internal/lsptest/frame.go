package lsptest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// frameReader reads what the client sends and is strict about it.
type frameReader struct {
	r *bufio.Reader
	// complain is told about framing faults; reading goes on where it can.
	complain func(fault string)
}

// next returns one body. The error is io.EOF at a clean end.
func (f *frameReader) next() ([]byte, error) {
	length, err := f.header()
	if err != nil {
		return nil, err
	}
	body := make([]byte, length)
	if n, err := io.ReadFull(f.r, body); err != nil {
		f.complain(fmt.Sprintf("input ended after %d of %d bytes of a body", n, length))
		return nil, io.EOF
	}
	if bytes.HasPrefix(body, []byte("Content-Length")) {
		f.complain("a body begins with a header: the Content-Length before it was too large or a body is missing")
	}
	return body, nil
}

// header reads header lines up to the empty one.
func (f *frameReader) header() (length int, err error) {
	length = -1
	for lines := 0; ; lines++ {
		line, err := f.r.ReadString('\n')
		if err != nil {
			if line != "" || lines > 0 {
				f.complain(fmt.Sprintf("input ended inside a header: %q", line))
			}
			return 0, io.EOF
		}
		if i := strings.Index(line, "Content-Length: "); i > 0 {
			f.complain(fmt.Sprintf("stray bytes before a header: %q", clip(line)))
			line = line[i:]
		}
		if line == "\r\n" {
			if length < 0 {
				f.complain("a header without Content-Length")
				continue
			}
			return length, nil
		}
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\r\n"), ": ")
		switch {
		case !strings.HasSuffix(line, "\r\n") || !ok:
			f.complain(fmt.Sprintf("stray bytes where a header should be: %q", clip(line)))
		case name == "Content-Length":
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 || length >= 0 {
				f.complain(fmt.Sprintf("bad Content-Length: %q", clip(line)))
				continue
			}
			length = n
		case name != "Content-Type":
			f.complain(fmt.Sprintf("unknown header: %q", clip(line)))
		}
	}
}

// frameStyle is how messages to the client are written.
type frameStyle struct {
	header string // "", lowercase, content-type, content-type-first
	split  int
	join   bool
}

const contentType = "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"

// frame puts a header before body.
func (s frameStyle) frame(body []byte) []byte {
	n := strconv.Itoa(len(body))
	h := "Content-Length: " + n + "\r\n"
	switch s.header {
	case "lowercase":
		h = "content-length: " + n + "\r\n"
	case "content-type":
		h += contentType
	case "content-type-first":
		h = contentType + h
	}
	return append([]byte(h+"\r\n"), body...)
}

// pieces cuts b as asked for by split.
func (s frameStyle) pieces(b []byte) [][]byte {
	if s.split <= 0 {
		return [][]byte{b}
	}
	var out [][]byte
	for len(b) > s.split {
		out, b = append(out, b[:s.split]), b[s.split:]
	}
	return append(out, b)
}

// clip shortens text for a message to people.
func clip(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
