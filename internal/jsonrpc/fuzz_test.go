package jsonrpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const smallBuffer = 64

// FuzzFraming: whatever stands before it and however it is cut, a good message is
// found, unless the input itself says otherwise.
func FuzzFraming(f *testing.F) {
	for _, s := range []string{
		"", "log line\n", "Content-Length: 5\r\n\r\nhello", "content-length:2\n\n{}", "Content-Length: 99999999999\r\n\r\n",
		"Content-Length: 3\r\nContent-Type: x\r\n\r\n{}\nContent-Length: 1", strings.Repeat("a", smallBuffer-3) + "Con", strings.Repeat(" ", 2*smallBuffer) + "\n", "\ufeff\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, prefix []byte) {
		const limit = 4 << 10
		good := `{"jsonrpc":"2.0","method":"found"}`
		// Swallowed by a length in the prefix, the message must be found behind it.
		input := append(bytes.Clone(prefix), "\n"+strings.Repeat(strings.Repeat("-", 1000)+"\n", limit/1000+1)+framed(good)...)
		whole := frames(t, bytes.NewReader(input), limit, readBuffer)
		pieces := frames(t, iotest.OneByteReader(bytes.NewReader(input)), limit, readBuffer)
		if strings.Join(whole, "\x00") != strings.Join(pieces, "\x00") {
			t.Fatalf("cut differently: %d and %d bodies", len(whole), len(pieces))
		}
		frames(t, bytes.NewReader(input), limit, smallBuffer) // long lines in pieces
		if len(whole) > 0 && whole[len(whole)-1] == "error" {
			return
		}
		if len(whole) == 0 || whole[len(whole)-1] != good {
			t.Fatalf("the message was not found: %.200q", whole)
		}
	})
}

// frames reads all bodies; a refused stream ends with "error".
func frames(t *testing.T, r io.Reader, limit, buffer int) []string {
	f := newFrameReader(r, limit, func([]byte) {})
	f.r = bufio.NewReaderSize(r, buffer)
	var all []string
	for {
		b, err := f.next()
		switch {
		case err == nil && len(b) > limit:
			t.Fatalf("%d bytes accepted", len(b))
		case err == nil:
			all = append(all, string(b))
		case err == io.EOF:
			return all
		case errors.Is(err, io.ErrUnexpectedEOF), err == errNoHeader, strings.Contains(err.Error(), "larger than the limit"):
			return append(all, "error")
		default:
			t.Fatal(err)
		}
	}
}

// FuzzEnvelope compares the scanner with encoding/json.
func FuzzEnvelope(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1,"]\"}"]}}`, `{"id":"x","method":"m","params":[]}`, `{}`, `[]`, `{"error":null}`,
		`{"method":"a\u0062"}`, `{"id":1,"id":2}`, ` { "a" : -1.5e3 , "b" : true } `, `{"result":"\\"}`, `{"a":1,}`, "\ufeff{}", `{"id":nul}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := scanEnvelope(body)
		e.callID()
		if e.err != nil {
			decodeError(e.err)
		}
		body = bytes.TrimPrefix(body, bom)
		var m map[string]json.RawMessage
		if json.Unmarshal(body, &m) != nil || m == nil {
			return // the scanner may accept more
		}
		var method string
		if raw, ok := m["method"]; ok && (json.Unmarshal(raw, &method) != nil || string(raw) == "null") {
			return
		}
		if err != nil {
			t.Fatalf("valid JSON refused: %v", err)
		}
		if e.method != method {
			t.Errorf("method %q, want %q", e.method, method)
		}
		for name, got := range map[string][]byte{"id": e.id, "params": e.params, "result": e.result, "error": e.err} {
			want := m[name]
			if string(want) == "null" {
				want = nil
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	})
}
