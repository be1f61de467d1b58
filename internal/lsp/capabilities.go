package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/text"
)

// Capabilities is an immutable view: the initialize result and the registrations.
// With and Without return new values, so that it can stand behind an atomic pointer.
type Capabilities struct {
	encoding text.Encoding
	info     string
	sync     Sync
	// static and dynamic are never written to after they were made.
	static  []provider
	dynamic []registration
}

// provider is one offer of a feature, static or registered.
type provider struct {
	feature    Feature
	selector   selector
	resolves   bool
	diagnostic DiagnosticProvider // of MethodDiagnostic
}

func (p provider) serves(f Feature, languageID, uri string) bool {
	if f == MethodWorkspaceDiag {
		return p.feature == MethodDiagnostic && p.diagnostic.Workspace || p.feature == f
	}
	return p.feature == f && p.selector.matches(languageID, uri)
}

func parseProvider(f Feature, options []byte) provider {
	p := provider{feature: f, selector: selector{all: true}}
	members(options, func(key, v []byte) {
		switch string(key) {
		case "documentSelector":
			p.selector = parseSelector(v)
		case "resolveProvider":
			p.resolves = isTrue(v)
		case "identifier":
			p.diagnostic.Identifier = str(v)
		case "workspaceDiagnostics":
			p.diagnostic.Workspace = isTrue(v)
		case "interFileDependencies":
			p.diagnostic.InterFile = isTrue(v)
		}
	})
	return p
}

// ParseInitialize reads an InitializeResult tolerantly: one wrong-typed capability
// loses only itself. An unknown positionEncoding is an error.
func ParseInitialize(raw json.RawMessage) (*Capabilities, error) {
	v, err := root(raw, "initialize result")
	if err != nil {
		return nil, err
	}
	var (
		c         Capabilities
		encodings [3][]byte // by precedence
		offers    []byte
	)
	ok := members(v, func(key, v []byte) {
		switch string(key) {
		case "capabilities":
			offers = v
		case "serverInfo":
			c.info = serverInfo(v)
		case "offsetEncoding":
			encodings[1] = v
		}
	})
	if !ok {
		return nil, errors.New("initialize result: not an object")
	}
	members(offers, func(key, v []byte) {
		switch name := string(key); name {
		case "positionEncoding":
			encodings[0] = v
		case "offsetEncoding":
			encodings[2] = v
		case "textDocumentSync":
			c.sync = parseSync(v)
		default:
			if f, ok := staticFeatures[name]; ok && (isTrue(v) || isObject(v)) {
				c.static = append(c.static, parseProvider(f, v))
			}
		}
	})
	if c.encoding, err = grantedEncoding(encodings[:]); err != nil {
		return nil, err
	}
	return &c, nil
}

// grantedEncoding is the first that was given; UTF-16 where none was.
func grantedEncoding(given [][]byte) (text.Encoding, error) {
	for _, v := range given {
		name := str(v)
		if name == "" {
			continue
		}
		e, ok := text.ParseEncoding(strings.ToLower(name))
		if !ok {
			return 0, fmt.Errorf("the server counts positions in an unknown encoding, %q", name)
		}
		return e, nil
	}
	return text.UTF16, nil
}

// Encoding is the granted encoding: positionEncoding, else the old offsetEncoding, else UTF-16.
func (c *Capabilities) Encoding() text.Encoding { return c.encoding }

// ServerInfo is "name version" or "".
func (c *Capabilities) ServerInfo() string { return c.info }

func serverInfo(v []byte) string {
	name := firstLine(str(member(v, "name")))
	version := str(member(v, "version"))
	if strings.HasPrefix(version, "{") {
		// The build information of a Go program, as JSON.
		version = str(member(member([]byte(version), "Main"), "Version"))
	}
	version = firstLine(version)
	if strings.HasPrefix(version, name+" ") {
		return version
	}
	return strings.TrimSpace(name + " " + version)
}

// firstLine keeps a name that a server chose fit for one line.
func firstLine(s string) string {
	const most = 100
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most])
	}
	return strings.TrimSpace(s)
}

// Supports reports whether the server may be asked f about the document; languageID
// and uri may be empty for workspace features.
func (c *Capabilities) Supports(f Feature, languageID, uri string) bool {
	for range c.providers(f, languageID, uri) {
		return true
	}
	return false
}

// providers yields the offers of f for a document, static ones first.
func (c *Capabilities) providers(f Feature, languageID, uri string) func(yield func(provider) bool) {
	return func(yield func(provider) bool) {
		for _, p := range c.static {
			if p.serves(f, languageID, uri) && !yield(p) {
				return
			}
		}
		for _, r := range c.dynamic {
			if r.serves(f, languageID, uri) && !yield(r.provider) {
				return
			}
		}
	}
}

// Resolves reports resolveProvider for f (code action, workspace symbol).
func (c *Capabilities) Resolves(f Feature) bool {
	for p := range c.providers(f, "", "") {
		if p.resolves {
			return true
		}
	}
	return false
}

// DiagnosticProvider is one registration of pull diagnostics.
type DiagnosticProvider struct {
	Identifier string
	Workspace  bool
	InterFile  bool
}

// DiagnosticProviders lists those that match the document, one per identifier.
func (c *Capabilities) DiagnosticProviders(languageID, uri string) []DiagnosticProvider {
	var all []DiagnosticProvider
next:
	for p := range c.providers(MethodDiagnostic, languageID, uri) {
		d := p.diagnostic
		for i, known := range all {
			if known.Identifier == d.Identifier {
				all[i].Workspace = known.Workspace || d.Workspace
				all[i].InterFile = known.InterFile || d.InterFile
				continue next
			}
		}
		all = append(all, d)
	}
	return all
}
