package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// The decoders walk the raw JSON instead of filling structs: a member of a wrong
// type is then only skipped, unions need no second try, and a list of thousands of
// locations costs a few allocations.

// isNull reports a value that is missing or null.
func isNull(v []byte) bool { return len(v) == 0 || v[0] == 'n' }

func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }

func isList(v []byte) bool { return len(v) > 0 && v[0] == '[' }

func isString(v []byte) bool { return len(v) > 0 && v[0] == '"' }

func isTrue(v []byte) bool { return string(v) == "true" }

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// valueEnd is the end of the value that begins at i; -1 when there is none. It
// checks brackets and strings, not what stands between them.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return groupEnd(b, i)
	case '}', ']', ',', ':':
		return -1
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', '}', ']', ':', '"', '{', '[', ' ', '\n', '\t', '\r':
			return i
		}
	}
	return i
}

func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return -1
		}
		i += j
		back := i
		for b[back-1] == '\\' { // ends at the opening quote at the latest
			back--
		}
		if (i-back)%2 == 0 {
			return i + 1
		}
	}
	return -1
}

func groupEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			continue
		}
		i++
	}
	return -1
}

// elements calls f with each value of a list; false when the list is broken.
func elements(list []byte, f func(v []byte)) bool {
	if !isList(list) {
		return false
	}
	i := space(list, 1)
	if i < len(list) && list[i] == ']' {
		return true
	}
	for {
		end := valueEnd(list, i)
		if end < 0 {
			return false
		}
		f(list[i:end:end])
		i = space(list, end)
		if i >= len(list) || list[i] != ',' {
			return i < len(list) && list[i] == ']'
		}
		i = space(list, i+1)
	}
}

// members calls f with each key, without quotes and escapes as written, and value
// of an object; false when the object is broken.
func members(object []byte, f func(key, v []byte)) bool {
	if !isObject(object) {
		return false
	}
	i := space(object, 1)
	if i < len(object) && object[i] == '}' {
		return true
	}
	for {
		if i >= len(object) || object[i] != '"' {
			return false
		}
		end := stringEnd(object, i)
		if end < 0 {
			return false
		}
		key := object[i+1 : end-1]
		if i = space(object, end); i >= len(object) || object[i] != ':' {
			return false
		}
		i = space(object, i+1)
		if end = valueEnd(object, i); end < 0 {
			return false
		}
		f(key, object[i:end:end])
		i = space(object, end)
		if i >= len(object) || object[i] != ',' {
			return i < len(object) && object[i] == '}'
		}
		i = space(object, i+1)
	}
}

// member is the value of one key; nil when it is absent.
func member(object []byte, name string) (found []byte) {
	members(object, func(key, v []byte) {
		if string(key) == name {
			found = v
		}
	})
	return found
}

// root cuts white space off a message; an error when it is no whole value.
func root(raw json.RawMessage, what string) ([]byte, error) {
	i := space(raw, 0)
	if i == len(raw) {
		return nil, nil
	}
	end := valueEnd(raw, i)
	if end < 0 || space(raw, end) != len(raw) {
		return nil, fmt.Errorf("%s: not valid JSON", what)
	}
	return raw[i:end:end], nil
}

// list calls f with each entry of a result that should be a list: null and {} are
// empty ones, and a lone object with members is its own only entry.
func list(raw json.RawMessage, what string, f func(v []byte)) error {
	v, err := root(raw, what)
	if err != nil {
		return err
	}
	switch {
	case isNull(v):
		return nil
	case isObject(v):
		if space(v, 1) < len(v)-1 {
			f(v)
		}
		return nil
	case !isList(v):
		return fmt.Errorf("%s: neither a list nor null", what)
	case !elements(v, f):
		return fmt.Errorf("%s: not valid JSON", what)
	}
	return nil
}

// str is the text of a string; "" for anything else.
func str(v []byte) string {
	if !isString(v) || len(v) < 2 {
		return ""
	}
	inner := v[1 : len(v)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// scalar is the text of a string, and the notation of a number or a boolean.
func scalar(v []byte) string {
	if isString(v) {
		return str(v)
	}
	if isNull(v) || isObject(v) || isList(v) {
		return ""
	}
	return string(v)
}

// number is a JSON number cut to a whole one between low and high; false for
// anything else.
func number(v []byte, low, high int64) (int64, bool) {
	if len(v) == 0 || len(v) > 400 {
		return 0, false
	}
	if n, ok := digits(v); ok {
		return max(low, min(n, high)), true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	switch {
	case v[0] != '-' && (v[0] < '0' || v[0] > '9'), math.IsNaN(f), err != nil && !math.IsInf(f, 0):
		return 0, false
	case f <= float64(low):
		return low, true
	case f >= float64(high):
		return high, true
	}
	return int64(f), true
}

// digits reads the short unsigned numbers that nearly all numbers are.
func digits(v []byte) (n int64, ok bool) {
	if len(v) > 18 {
		return 0, false
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// whole is a small number, 0 for anything else.
func whole(v []byte) int {
	n, _ := number(v, math.MinInt32, math.MaxInt32)
	return int(n)
}

// version is a document version; nil when it is absent or none.
func version(v []byte) *int32 {
	const far = math.MaxInt32 + 1
	n, ok := number(v, -far, far)
	if !ok || n < math.MinInt32 || n > math.MaxInt32 {
		return nil
	}
	n32 := int32(n)
	return &n32
}

func position(v []byte) (p Position) {
	members(v, func(key, v []byte) {
		switch string(key) {
		case "line":
			n, _ := number(v, 0, math.MaxUint32)
			p.Line = uint32(n)
		case "character":
			n, _ := number(v, 0, math.MaxUint32)
			p.Character = uint32(n)
		}
	})
	return p
}

// span is a range; false when v is none.
func span(v []byte) (r Range, ok bool) {
	members(v, func(key, v []byte) {
		switch string(key) {
		case "start":
			r.Start = position(v)
			ok = true
		case "end":
			r.End = position(v)
		}
	})
	return r, ok
}

// names keeps the text of the last URI: neighbours in a list mostly share it.
type names struct {
	raw  []byte
	text string
}

func (n *names) str(v []byte) string {
	if n.raw == nil || !bytes.Equal(n.raw, v) {
		n.raw, n.text = v, str(v)
	}
	return n.text
}
