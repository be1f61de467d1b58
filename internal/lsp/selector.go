package lsp

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/text"
)

// selector says for which documents a provider is meant.
type selector struct {
	all     bool // no selector was given
	filters []filter
}

// filter is a DocumentFilter; "" stands for a criterion that is not given.
type filter struct {
	language, scheme string
	pattern          pattern
}

// pattern is a glob, relative to a folder where base is not "".
type pattern struct{ base, glob string }

// parseSelector reads documentSelector: null is every document, a list its filters,
// of which those for notebook cells match nothing here.
func parseSelector(v []byte) selector {
	if isNull(v) {
		return selector{all: true}
	}
	var s selector
	add := func(v []byte) {
		if f, ok := parseFilter(v); ok {
			s.filters = append(s.filters, f)
		}
	}
	if isList(v) {
		elements(v, add)
	} else {
		add(v)
	}
	return s
}

// parseFilter also takes a string, which names a language.
func parseFilter(v []byte) (f filter, ok bool) {
	if isString(v) {
		f.language = str(v)
		return f, f.language != ""
	}
	ok = isObject(v)
	members(v, func(key, v []byte) {
		switch string(key) {
		case "language":
			f.language = str(v)
		case "scheme":
			f.scheme = str(v)
		case "pattern":
			f.pattern = parsePattern(v)
		case "notebook":
			ok = ok && isNull(v)
		}
	})
	return f, ok && f != filter{}
}

// parsePattern reads a glob or a relative pattern, whose base is a URI or a folder.
func parsePattern(v []byte) (p pattern) {
	if isString(v) {
		return pattern{glob: str(v)}
	}
	members(v, func(key, v []byte) {
		switch string(key) {
		case "pattern":
			p.glob = str(v)
		case "baseUri":
			if isObject(v) {
				v = member(v, "uri")
			}
			p.base = folder(str(v))
		}
	})
	return p
}

// folder is the path of a folder's URI; what is no file URI stays as it is.
func folder(uri string) string {
	if path, ok := text.URIToPath(uri); ok {
		return path
	}
	return uri
}

// matches reports whether the selector names the document. Questions about the
// whole workspace have neither language nor URI, and every selector serves them.
func (s selector) matches(languageID, uri string) bool {
	if s.all || languageID == "" && uri == "" {
		return true
	}
	for _, f := range s.filters {
		if f.matches(languageID, uri) {
			return true
		}
	}
	return false
}

func (f filter) matches(languageID, uri string) bool {
	if f.language != "" && f.language != "*" && f.language != languageID {
		return false
	}
	if f.scheme != "" && f.scheme != "*" && !strings.EqualFold(f.scheme, schemeOf(uri)) {
		return false
	}
	return f.pattern.glob == "" || f.pattern.matches(documentPath(uri))
}

func schemeOf(uri string) string {
	scheme, _, _ := strings.Cut(uri, ":")
	return scheme
}

// documentPath is the slash-separated path that patterns are matched against.
func documentPath(uri string) string {
	if path, ok := text.URIToPath(uri); ok {
		return filepath.ToSlash(path)
	}
	if u, err := url.Parse(uri); err == nil && u.Path != "" {
		return u.Path
	}
	return uri
}

func (p pattern) matches(path string) bool {
	if p.base == "" {
		return matchPattern(p.glob, path)
	}
	below, ok := strings.CutPrefix(path, strings.TrimSuffix(filepath.ToSlash(p.base), "/")+"/")
	return ok && MatchGlob(p.glob, below)
}
