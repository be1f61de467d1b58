package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// DecodeHover returns one markdown text of string, MarkedString, list and
// MarkupContent (code fences for {language,value}); "" for null and empty. Parts of
// a list are paragraphs. r is nil where the server names no range.
func DecodeHover(raw json.RawMessage) (markdown string, r *Range, err error) {
	v, err := root(raw, "hover")
	switch {
	case err != nil || isNull(v):
		return "", nil, err
	case !isObject(v):
		// The contents without the object around them.
		if !isString(v) && !isList(v) {
			return "", nil, fmt.Errorf("hover: neither an object nor null")
		}
		return markup(v), nil, nil
	}
	contents := []byte(nil)
	ok := members(v, func(key, v []byte) {
		switch string(key) {
		case "contents":
			contents = v
		case "range":
			if s, ok := span(v); ok {
				r = &s
			}
		}
	})
	if !ok {
		return "", nil, fmt.Errorf("hover: not valid JSON")
	}
	return markup(contents), r, nil
}

// markup is the text of a string, MarkedString, MarkupContent, or a list of them.
func markup(v []byte) string {
	switch {
	case isString(v):
		return strings.TrimSpace(str(v))
	case isObject(v):
		return markedString(v)
	}
	var parts []string
	elements(v, func(v []byte) {
		if isList(v) {
			return
		}
		if s := markup(v); s != "" {
			parts = append(parts, s)
		}
	})
	return strings.Join(parts, "\n\n")
}

func markedString(v []byte) string {
	value := str(member(v, "value"))
	language := member(v, "language")
	if !isString(language) {
		return strings.TrimSpace(value)
	}
	value = strings.Trim(value, "\n")
	if strings.TrimSpace(value) == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(value, fence) {
		fence += "`"
	}
	return fence + str(language) + "\n" + value + "\n" + fence
}
