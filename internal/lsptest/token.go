package lsptest

import (
	"fmt"
	"strconv"
	"strings"
)

type tokenKind int

const (
	word tokenKind = iota
	quoted
	data // JSON, or from a section
	colon
	separator
)

// token is a word of a statement; key is what stands before "=".
type token struct {
	kind tokenKind
	key  string
	text string
}

// json is the word where JSON is expected: a quoted word is a JSON string.
func (t token) json() string {
	if t.kind == quoted {
		return toJSON(t.text)
	}
	return t.text
}

func (t token) String() string {
	if t.key != "" {
		return t.key + "=" + t.text
	}
	return t.text
}

// tokens cuts a line into words.
func (sc *script) tokens(line string) ([]token, error) {
	var out []token
	for {
		line = strings.TrimLeft(line, " \t\r")
		if line == "" || line[0] == '#' {
			return out, nil
		}
		t, rest, err := sc.token(line)
		if err != nil {
			return nil, err
		}
		line = rest
		if t.kind == word && t.key == "" && (t.text == "|" || t.text == ";") {
			t = token{kind: separator}
		}
		if bare, ok := strings.CutSuffix(t.text, ":"); ok && t.kind == word {
			if t.text = bare; bare != "" || t.key != "" {
				out = append(out, t)
			}
			t = token{kind: colon}
		}
		out = append(out, t)
	}
}

// token reads one word, with its key.
func (sc *script) token(line string) (token, string, error) {
	text, rest, kind, err := sc.value(line)
	if err != nil || kind != word {
		return token{kind: kind, text: text}, rest, err
	}
	key, val, ok := strings.Cut(text, "=")
	if !ok || key == "" || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return token{text: text}, rest, nil
	}
	if val == "" || strings.ContainsRune(`"{[@`, rune(val[0])) {
		val, rest, kind, err = sc.value(line[len(key)+1:])
	}
	return token{kind: kind, key: key, text: val}, rest, err
}

// value reads a quoted text, a JSON value, a section, or a bare word.
func (sc *script) value(s string) (text, rest string, kind tokenKind, err error) {
	switch {
	case s == "":
		return "", "", data, nil
	case s[0] == '"':
		q, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", quoted, fmt.Errorf("unfinished quotation: %s", s)
		}
		text, err := strconv.Unquote(q)
		return text, s[len(q):], quoted, err
	case s[0] == '{' || s[0] == '[':
		n := jsonEnd(s)
		if n < 0 {
			return "", "", data, fmt.Errorf("unfinished JSON: %s", s)
		}
		return s[:n], s[n:], data, nil
	}
	n := strings.IndexAny(s, " \t\r")
	if n < 0 {
		n = len(s)
	}
	text, rest = s[:n], s[n:]
	if name, ok := strings.CutPrefix(text, "@"); ok {
		text, ok = sc.files[name]
		if !ok {
			return "", "", data, fmt.Errorf("there is no section %q", name)
		}
		return text, rest, data, nil
	}
	return text, rest, word, nil
}

// jsonEnd finds the end of the object or list at the start of s; ${…} inside is fine.
func jsonEnd(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
