package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Diagnostic is a problem; Raw is the object as sent.
type Diagnostic struct {
	Range    Range
	Severity int    // 1 to 4; 0 when absent
	Code     string // numbers and objects in their text form
	Source   string
	Message  string // string or MarkupContent
	Raw      json.RawMessage
}

// DecodeDiagnostics accepts null and lists; one bad entry does not lose the others.
func DecodeDiagnostics(raw json.RawMessage) ([]Diagnostic, error) {
	v, err := root(raw, "diagnostics")
	if err != nil {
		return nil, err
	}
	return diagnostics(v)
}

func diagnostics(v []byte) ([]Diagnostic, error) {
	var all []Diagnostic
	err := list(v, "diagnostics", func(v []byte) {
		if isObject(v) {
			all = append(all, diagnostic(v))
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func diagnostic(v []byte) Diagnostic {
	d := Diagnostic{Raw: v}
	members(v, func(key, v []byte) {
		switch string(key) {
		case "range":
			d.Range, _ = span(v)
		case "severity":
			if n := whole(v); 1 <= n && n <= 4 {
				d.Severity = n
			}
		case "code":
			d.Code = code(v)
		case "source":
			d.Source = str(v)
		case "message":
			d.Message = str(v)
			if isObject(v) {
				d.Message = str(member(v, "value"))
			}
		}
	})
	return d
}

// code is the text form of a diagnostic code. An object is that of a draft that some
// servers kept: {value, target}.
func code(v []byte) string {
	if !isObject(v) {
		return scalar(v)
	}
	if s := scalar(member(v, "value")); s != "" {
		return s
	}
	return string(v)
}

// PublishDiagnostics is textDocument/publishDiagnostics.
type PublishDiagnostics struct {
	URI         string
	Version     *int32
	Diagnostics []Diagnostic
}

// DecodePublish decodes the params of a publish. The URI is as sent.
func DecodePublish(raw json.RawMessage) (PublishDiagnostics, error) {
	v, err := root(raw, "publishDiagnostics")
	if err != nil {
		return PublishDiagnostics{}, err
	}
	var p PublishDiagnostics
	var bad error
	ok := members(v, func(key, v []byte) {
		switch string(key) {
		case "uri":
			p.URI = str(v)
		case "version":
			p.Version = version(v)
		case "diagnostics":
			p.Diagnostics, bad = diagnostics(v)
		}
	})
	switch {
	case !ok:
		return p, errors.New("publishDiagnostics: not an object")
	case p.URI == "":
		return p, errors.New("publishDiagnostics: no uri")
	case bad != nil:
		return p, fmt.Errorf("publishDiagnostics: %w", bad)
	}
	return p, nil
}
