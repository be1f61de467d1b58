package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/dragoman-dev/dragoman/query"
)

// object reads a JSON object; a string that holds one is taken for it. Members
// that are null or an empty string count as missing.
func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || isNull(raw) {
		return nil, nil
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		raw = []byte(s)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return nil, errors.New("the arguments must be a JSON object")
	}
	for name, v := range fields {
		if isNull(v) || string(v) == `""` {
			delete(fields, name)
		}
	}
	return fields, nil
}

func isNull(raw []byte) bool { return string(raw) == "null" }

func (a *args) has(name string) bool { return len(a.fields[name]) > 0 }

// peek returns a string parameter without judging it: "" where it is missing, and
// the raw value where it is something else.
func (a *args) peek(name string) string {
	raw := a.fields[name]
	var s string
	if len(raw) > 0 && json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

func (a *args) text(name string) string {
	raw := a.fields[name]
	if len(raw) == 0 {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		a.fault("%s must be a string.", name)
	}
	return s
}

// number reads a number or a numeric string.
func (a *args) number(name string) (v float64, present, ok bool) {
	raw := a.fields[name]
	if len(raw) == 0 {
		return 0, false, true
	}
	s := string(raw)
	if raw[0] == '"' {
		if json.Unmarshal(raw, &s) != nil {
			return 0, true, false
		}
		s = strings.TrimSpace(s)
	}
	v, err := strconv.ParseFloat(s, 64)
	// A number too large for a float is still a number: it is past every end.
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(v) {
		return 0, true, false
	}
	return v, true, true
}

// positive reads a line or a column: fractions are floored, and what is beyond
// every file stays beyond it.
func (a *args) positive(name string) (int, bool) {
	v, present, ok := a.number(name)
	if !present {
		return 0, false
	}
	if v = math.Floor(v); !ok || v < 1 {
		a.fault("%s must be a positive number.", name)
		return 1, true
	}
	return int(min(v, math.MaxInt32)), true
}

func (a *args) limit() int {
	v, present, ok := a.number("limit")
	if !present {
		return 0
	}
	if !ok || v < 1 || v != math.Floor(v) {
		a.fault("limit must be a positive integer.")
		return 0
	}
	return int(min(v, math.MaxInt32))
}

func (a *args) flag(name string) bool {
	raw := a.fields[name]
	switch strings.ToLower(strings.Trim(string(raw), `" `)) {
	case "true":
		return true
	case "", "false":
		return false
	}
	a.fault("%s must be true or false.", name)
	return false
}

// decoded returns an object or an array; a string that holds one is taken for
// it, any other string stays a string. It is nil where there is none.
func (a *args) decoded(name string) json.RawMessage {
	raw := bytes.TrimSpace(a.fields[name])
	if len(raw) == 0 {
		return nil
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return raw
	}
	s = strings.TrimSpace(s)
	if s == "" {
		return nil
	}
	if (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return raw
}

// problems reads the diagnostics of a code action request; one object is taken
// for a list of one.
func (a *args) problems() []query.ProblemRef {
	raw := a.decoded("diagnostics")
	if raw == nil {
		return nil
	}
	if raw[0] == '{' {
		raw = append(append([]byte{'['}, raw...), ']')
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		a.fault("diagnostics must be an array of objects.")
		return nil
	}
	out := make([]query.ProblemRef, 0, len(list))
	for _, one := range list {
		p, err := problem(one)
		if err != nil {
			a.fault("diagnostics: %s.", err)
			return nil
		}
		out = append(out, p)
	}
	return out
}

// problem reads one diagnostic as the tool prints it: 1-based positions, severity
// as a word or LSP's number, code as a string or a number.
func problem(raw json.RawMessage) (query.ProblemRef, error) {
	fields, err := object(raw)
	if err != nil || fields == nil {
		return query.ProblemRef{}, errors.New("each must be an object with range and message")
	}
	a := args{fields: fields}
	p := query.ProblemRef{Message: a.text("message"), Source: a.text("source"), Raw: raw}
	p.Severity = severity(a.peek("severity"))
	p.Code = a.peek("code")
	p.Span, err = span(a.decoded("range"))
	if err == nil && len(a.faults) > 0 {
		err = errors.New(strings.TrimSuffix(a.faults[0], "."))
	}
	return p, err
}

func span(raw json.RawMessage) (query.Span, error) {
	ends, err := object(raw)
	if err != nil || ends == nil {
		return query.Span{}, errors.New("range must be {start, end}")
	}
	start, err := point(ends["start"])
	if err != nil {
		return query.Span{}, err
	}
	end := start
	if ends["end"] != nil {
		if end, err = point(ends["end"]); err != nil {
			return query.Span{}, err
		}
	}
	return query.Span{Start: start, End: end}, nil
}

func point(raw json.RawMessage) (query.Point, error) {
	fields, err := object(raw)
	if err != nil || fields == nil {
		return query.Point{}, errors.New("range must be {start, end}, each {line, character}")
	}
	a := args{fields: fields}
	line, ok := a.positive("line")
	column, hasColumn := a.positive("character")
	if !ok || len(a.faults) > 0 {
		return query.Point{}, errors.New("line and character must be positive numbers")
	}
	if !hasColumn {
		column = 1
	}
	return query.Point{Line: line, Column: column}, nil
}

// severity normalises LSP's numbers and words to the words that are printed.
func severity(s string) string {
	switch strings.ToUpper(strings.TrimSpace(s)) {
	case "1", "ERROR":
		return "ERROR"
	case "2", "WARNING", "WARN":
		return "WARNING"
	case "3", "INFO", "INFORMATION":
		return "INFO"
	case "4", "HINT":
		return "HINT"
	}
	return ""
}
