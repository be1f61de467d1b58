package lsptest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// document is what the client told about a text; kept after close for its version.
type document struct {
	open    bool
	version int
	text    string
	lang    string
}

// units is how a server counts.
type units struct {
	encoding string // utf-8, utf-16, utf-32
	lfOnly   bool   // lines end at \n only
}

type wirePos struct{ Line, Character int }

type change struct {
	Range *struct{ Start, End wirePos } `json:"range"`
	Text  string                        `json:"text"`
}

// posError is a position that is not in the text; surrogate: inside a character.
type posError struct {
	surrogate bool
	text      string
}

func (e *posError) Error() string { return e.text }

// apply returns text after one change.
func apply(text string, c change, u units) (string, error) {
	if c.Range == nil {
		return c.Text, nil
	}
	start, err := offset(text, c.Range.Start, u)
	if err != nil {
		return text, err
	}
	end, err := offset(text, c.Range.End, u)
	if err != nil {
		return text, err
	}
	if end < start {
		return text, &posError{text: "the range ends before it starts"}
	}
	return text[:start] + c.Text + text[end:], nil
}

// offset turns a wire position into bytes; it accepts only positions that exist.
func offset(text string, p wirePos, u units) (int, error) {
	at := 0
	for range p.Line {
		n := lineEnd(text[at:], u)
		if n < 0 {
			return 0, &posError{text: fmt.Sprintf("line %d is past the last line", p.Line)}
		}
		at += n
	}
	if p.Line < 0 || p.Character < 0 {
		return 0, &posError{text: "a negative position"}
	}
	col, line := 0, lineText(text[at:], u)
	for i, c := range line {
		if col == p.Character {
			return at + i, nil
		}
		if col > p.Character {
			return 0, &posError{surrogate: true, text: fmt.Sprintf("%d:%d is inside a character (%s)", p.Line, p.Character, u.encoding)}
		}
		col += width(c, line[i:], u.encoding)
	}
	if col == p.Character {
		return at + len(line), nil
	}
	if col > p.Character {
		return 0, &posError{surrogate: true, text: fmt.Sprintf("%d:%d is inside a character (%s)", p.Line, p.Character, u.encoding)}
	}
	return 0, &posError{text: fmt.Sprintf("%d:%d is past the end of the line (%d %s units)", p.Line, p.Character, col, u.encoding)}
}

// width is how many units of the encoding the character takes.
func width(c rune, rest, encoding string) int {
	switch {
	case encoding == "utf-8":
		_, n := utf8.DecodeRuneInString(rest)
		return n
	case encoding == "utf-16" && c >= 0x10000:
		return 2
	}
	return 1
}

// lineEnd is the offset after the first line end, -1 when there is none.
func lineEnd(s string, u units) int {
	set := "\r\n"
	if u.lfOnly {
		set = "\n"
	}
	i := strings.IndexAny(s, set)
	if i < 0 {
		return -1
	}
	if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
		return i + 2
	}
	return i + 1
}

// lineText is the first line without its end.
func lineText(s string, u units) string {
	n := lineEnd(s, u)
	if n < 0 {
		return s
	}
	if u.lfOnly {
		return s[:n-1]
	}
	return strings.TrimRight(s[:n], "\r\n")
}

// didOpen, didChange and didSave params.
type docParams struct {
	TextDocument struct {
		URI        string `json:"uri"`
		LanguageID string `json:"languageId"`
		Version    *int   `json:"version"`
		Text       string `json:"text"`
	} `json:"textDocument"`
	ContentChanges []change `json:"contentChanges"`
	Text           *string  `json:"text"`
}

func parseDocParams(raw string) (p docParams, err error) {
	err = json.Unmarshal([]byte(raw), &p)
	return p, err
}
