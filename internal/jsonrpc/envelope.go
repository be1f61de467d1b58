package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// envelope is the outer object of a message. Its values alias the body.
//
// Repaired, and counted: no "jsonrpc" member, "error":null beside a result,
// "result":null beside an error, neither of the two (a null result), our id as a
// string or a float, an error that is no object or whose code is no number.
// Unknown members are ignored; of a member that comes twice the last counts.
type envelope struct {
	id, params, result, err []byte // raw values; nil when absent, params also when null
	method                  string
	version                 bool // there was a "jsonrpc" member
	nulls                   bool // a null error or result stood beside the other
}

var (
	errNotObject = errors.New("not a JSON object")
	errSyntax    = errors.New("invalid JSON")
	null         = []byte("null")
)

// scanEnvelope splits body into its members in one pass. Nested values are only
// delimited; who decodes them finds their faults. On error e holds what was read.
func scanEnvelope(body []byte) (e envelope, err error) {
	s := scanner{b: bytes.TrimPrefix(body, bom)}
	if !s.take('{') {
		return e, errNotObject
	}
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return e, errSyntax
		}
		key, ok := s.key()
		if !ok || !s.take(':') {
			return e, errSyntax
		}
		value, ok := s.value()
		if !ok {
			return e, errSyntax
		}
		if !e.set(key, value) {
			return e, errSyntax
		}
	}
	s.space()
	if s.i != len(s.b) {
		return e, errSyntax
	}
	e.settle()
	return e, nil
}

func (e *envelope) set(key string, value []byte) bool {
	switch key {
	case "jsonrpc":
		e.version = true
	case "id":
		e.id = value
	case "method":
		m, ok := unquote(value)
		e.method = m
		return ok
	case "params":
		e.params = value
	case "result":
		e.result = value
	case "error":
		e.err = value
	}
	return true
}

// settle drops nulls that mean absent.
func (e *envelope) settle() {
	if bytes.Equal(e.id, null) {
		e.id = nil
	}
	if bytes.Equal(e.params, null) {
		e.params = nil
	}
	both := e.result != nil && e.err != nil
	if bytes.Equal(e.err, null) {
		e.err, e.nulls = nil, both
	}
	if bytes.Equal(e.result, null) {
		e.result, e.nulls = nil, both
	}
}

// callID reads the id of a response to one of our calls, which are numbers.
func (e *envelope) callID() (id int64, repaired, ok bool) {
	text := string(e.id)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, false, true
	}
	if s, isString := unquote(e.id); isString {
		text = s
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false, false
	}
	return int64(f), true, true
}

// decodeError reads an error object as far as it is one.
func decodeError(raw []byte) (e *Error, repaired bool) {
	var o struct {
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return &Error{Code: CodeUnknown, Message: textOf(raw)}, true
	}
	e = &Error{Message: textOf(o.Message), Data: o.Data}
	code, err := strconv.ParseInt(string(o.Code), 10, 64)
	if err != nil {
		code, repaired = looseCode(o.Code), true
	}
	e.Code = code
	if e.Message == "" {
		e.Message = "error " + strconv.FormatInt(code, 10) + " without a message"
	}
	return e, repaired
}

func looseCode(raw []byte) int64 {
	f, err := strconv.ParseFloat(textOf(raw), 64)
	if err != nil || math.Abs(f) > 1<<53 {
		return CodeUnknown
	}
	return int64(f)
}

// textOf is the string in raw, or raw itself when it is none.
func textOf(raw []byte) string {
	if s, ok := unquote(raw); ok {
		return s
	}
	return string(raw)
}

func unquote(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var s string
	return s, json.Unmarshal(raw, &s) == nil
}

// scanner walks over JSON text without decoding it.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) space() {
	for s.i < len(s.b) && s.b[s.i] <= ' ' {
		s.i++
	}
}

// take consumes c after white space.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) key() (string, bool) {
	s.space()
	raw, ok := s.value()
	if !ok {
		return "", false
	}
	switch string(raw) { // no allocation for the usual ones
	case `"jsonrpc"`:
		return "jsonrpc", true
	case `"id"`:
		return "id", true
	case `"method"`:
		return "method", true
	case `"params"`:
		return "params", true
	case `"result"`:
		return "result", true
	case `"error"`:
		return "error", true
	}
	return unquote(raw)
}

// value delimits one value.
func (s *scanner) value() ([]byte, bool) {
	s.space()
	start := s.i
	if start == len(s.b) {
		return nil, false
	}
	var ok bool
	switch s.b[start] {
	case '"':
		ok = s.str()
	case '{', '[':
		ok = s.nested()
	default:
		ok = s.scalar()
	}
	return s.b[start:s.i:s.i], ok
}

// str consumes a string; s.i stands on its opening quote.
func (s *scanner) str() bool {
	s.i++
	for {
		n := bytes.IndexByte(s.b[s.i:], '"')
		if n < 0 {
			return false
		}
		end := s.i + n
		s.i = end + 1
		slashes := 0
		for s.b[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return true
		}
	}
}

// nested consumes an object or an array by counting brackets.
func (s *scanner) nested() bool {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			if !s.str() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.i++
		if depth == 0 {
			return true
		}
	}
	return false
}

func (s *scanner) scalar() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] > ' ' && bytes.IndexByte([]byte(`,:]}[{"`), s.b[s.i]) < 0 {
		s.i++
	}
	return json.Valid(s.b[start:s.i])
}
