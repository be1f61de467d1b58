package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
)

// keepBuffer is the largest buffer that is kept for the next message.
const keepBuffer = 64 << 10

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// message is an outgoing message under construction; the header is put in front of
// it last, so that it goes out in one write.
type message struct{ buf *bytes.Buffer }

var headerSpace [headerRoom]byte

func newMessage() message {
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	buf.Write(headerSpace[:])
	return message{buf}
}

// free gives the memory back; the message must not be used afterwards.
func (m message) free() {
	if m.buf.Cap() <= keepBuffer {
		buffers.Put(m.buf)
	}
}

func (m message) bytes() []byte { return frame(m.buf.Bytes()) }
func (m message) size() int     { return m.buf.Len() }

// request builds a request, or a notification when id is 0. Params that are nil or
// encode to null are left out: JSON-RPC allows only objects and arrays there.
func request(id int64, method string, params any) (message, error) {
	m := newMessage()
	m.buf.WriteString(`{"jsonrpc":"2.0"`)
	if id != 0 {
		m.buf.WriteString(`,"id":`)
		m.buf.Write(strconv.AppendInt(m.buf.AvailableBuffer(), id, 10))
	}
	m.buf.WriteString(`,"method":`)
	if err := m.encode(method); err != nil {
		m.free()
		return message{}, err
	}
	before := m.buf.Len()
	if params != nil {
		m.buf.WriteString(`,"params":`)
		start := m.buf.Len()
		if err := m.encode(params); err != nil {
			m.free()
			return message{}, err
		}
		if v := m.buf.Bytes()[start:]; len(v) == 0 || bytes.Equal(v, null) {
			m.buf.Truncate(before)
		}
	}
	m.buf.WriteByte('}')
	return m, nil
}

// reply builds the response to the peer's request; id is its raw token.
func reply(id json.RawMessage, result any, failure error) message {
	m := newMessage()
	m.buf.WriteString(`{"jsonrpc":"2.0","id":`)
	m.buf.Write(id)
	before := m.buf.Len()
	if failure == nil {
		m.buf.WriteString(`,"result":`)
		start := m.buf.Len()
		failure = m.encode(result)
		if failure == nil && m.buf.Len() == start {
			m.buf.Write(null)
		}
	}
	if failure != nil {
		m.buf.Truncate(before)
		m.encodeError(failure)
	}
	m.buf.WriteByte('}')
	return m
}

func (m message) encodeError(failure error) {
	var e *Error
	if !errors.As(failure, &e) {
		e = &Error{Code: CodeInternal, Message: failure.Error()}
	}
	m.buf.WriteString(`,"error":`)
	start := m.buf.Len()
	if m.encode(e) != nil { // its Data is no JSON
		m.buf.Truncate(start)
		_ = m.encode(&Error{Code: e.Code, Message: e.Message})
	}
}

func (m message) encode(v any) error {
	if raw, ok := v.(json.RawMessage); ok {
		m.buf.Write(raw)
		return nil
	}
	enc := json.NewEncoder(m.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	m.buf.Truncate(m.buf.Len() - 1) // the encoder's line feed
	return nil
}
