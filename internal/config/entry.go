package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dragoman-dev/dragoman/internal/catalog"
)

// patch is one entry of a file: a server with what it set, and where it stands.
type patch struct {
	Server
	TrustRequiredSet *bool
	DisabledSet      *bool
	line, col        int
}

// servers decodes the entries of a file in its two forms. An entry that is wrong
// is left out and reported; the others stay.
func (f *file) servers() []patch {
	var out []patch
	for _, m := range f.serverObjects() {
		if m.obj == nil {
			f.complain(m.keyAt, "%s must be an object", m.key)
			continue
		}
		p, ok := f.entry(m)
		if !ok {
			continue
		}
		out = join(out, p)
	}
	return out
}

// join adds a patch; two language keys whose entries are otherwise equal become one
// server with both languages.
func join(list []patch, p patch) []patch {
	for i := range list {
		q := &list[i]
		if len(p.Languages) == 1 && len(q.Languages) > 0 && sameButLanguage(q, &p) {
			q.Languages = append(q.Languages, p.Languages...)
			return list
		}
		if q.Name == p.Name {
			*q = p // the later one counts, as in JSON
			return list
		}
	}
	return append(list, p)
}

func sameButLanguage(a, b *patch) bool {
	if a.Command == "" && a.Socket == nil || len(a.ExtensionToLanguage) > 0 {
		return false
	}
	x, y := a.Server, b.Server
	x.Name, y.Name, x.Languages, y.Languages = "", "", nil, nil
	return Hash(&x) == Hash(&y) && fmt.Sprint(a.DisabledSet) == fmt.Sprint(b.DisabledSet)
}

// entry decodes one entry. Its key is a server name (entry has extensionToLanguage
// or languages, or is known to the catalogue), or else a language id.
func (f *file) entry(m member) (patch, bool) {
	p := patch{}
	p.line, p.col = f.place(m.keyAt)
	ok := true
	for _, k := range members(m.obj) {
		set, known := keys[k.key]
		if !known {
			f.complain(k.keyAt, "unknown key %q in %q%s", k.key, m.key, nearest(k.key, keyNames()))
			continue
		}
		if string(k.value) == "null" {
			continue
		}
		if err := set(&p, k.value); err != nil {
			f.complain(k.keyAt, "%s of %q %v, so this server is left out", k.key, m.key, err)
			ok = false
		}
	}
	named := len(p.Languages) > 0 || len(p.ExtensionToLanguage) > 0
	if p.Name == "" {
		p.Name = m.key
	}
	if !named && catalog.ByName(m.key) == nil {
		p.Languages = []string{m.key}
	}
	return p, ok
}

type setter func(p *patch, v json.RawMessage) error

// keys are the keys of an entry.
var keys map[string]setter

func init() {
	keys = map[string]setter{
		"name":      func(p *patch, v json.RawMessage) error { return str(v, &p.Name) },
		"languages": func(p *patch, v json.RawMessage) error { return strs(v, &p.Languages) },
		"transport": func(p *patch, v json.RawMessage) error { return transport(v, &p.Transport) },
		"command":   func(p *patch, v json.RawMessage) error { return str(v, &p.Command) },
		"args":      func(p *patch, v json.RawMessage) error { return strs(v, &p.Args) },
		"env":       func(p *patch, v json.RawMessage) error { return strMap(v, &p.Env) },
		"initializationOptions": func(p *patch, v json.RawMessage) error {
			p.InitializationOptions = v
			return nil
		},
		"settings": func(p *patch, v json.RawMessage) error { p.Settings = v; return nil },
		"extensionToLanguage": func(p *patch, v json.RawMessage) error {
			return extensions(v, &p.ExtensionToLanguage)
		},
		"workspaceFolder": func(p *patch, v json.RawMessage) error { return str(v, &p.WorkspaceFolder) },
		"rootUri":         func(p *patch, v json.RawMessage) error { return str(v, &p.RootURI) },
		"startupTimeout":  func(p *patch, v json.RawMessage) error { return duration(v, &p.StartupTimeout) },
		"shutdownTimeout": func(p *patch, v json.RawMessage) error { return duration(v, &p.ShutdownTimeout) },
		"requestTimeout":  func(p *patch, v json.RawMessage) error { return duration(v, &p.RequestTimeout) },
		"settleTimeout":   func(p *patch, v json.RawMessage) error { return duration(v, &p.SettleTimeout) },
		"restartOnCrash":  func(p *patch, v json.RawMessage) error { return boolean(v, &p.RestartOnCrash) },
		"maxRestarts":     func(p *patch, v json.RawMessage) error { return count(v, &p.MaxRestarts) },
		"trustRequired":   func(p *patch, v json.RawMessage) error { return boolean(v, &p.TrustRequiredSet) },
		"socket":          func(p *patch, v json.RawMessage) error { return socket(v, &p.Socket) },
		"enabled": func(p *patch, v json.RawMessage) error {
			var b *bool
			if err := boolean(v, &b); err != nil {
				return err
			}
			off := !*b
			p.DisabledSet, p.Disabled = &off, off
			return nil
		},
		"rootMarkers": func(p *patch, v json.RawMessage) error { return strs(v, &p.RootMarkers) },
		"handles":     func(p *patch, v json.RawMessage) error { return strs(v, &p.Handles) },
		"priority": func(p *patch, v json.RawMessage) error {
			var n *int
			if err := count(v, &n); err != nil {
				return err
			}
			p.Priority = *n
			return nil
		},
		"diagnostics": func(p *patch, v json.RawMessage) error {
			var b *bool
			if err := boolean(v, &b); err != nil {
				return err
			}
			p.NoDiagnostics = !*b
			return nil
		},
		"readiness":     func(*patch, json.RawMessage) error { return nil },
		"loggingConfig": func(*patch, json.RawMessage) error { return nil },
	}
}

func keyNames() []string {
	var out []string
	for k := range keys {
		out = append(out, k)
	}
	return sorted(out)
}

var (
	errString = errors.New("must be a non-empty string")
	errList   = errors.New("must be a list of strings")
	errBool   = errors.New("must be true or false")
)

func str(v json.RawMessage, dst *string) error {
	if json.Unmarshal(v, dst) != nil || strings.TrimSpace(*dst) == "" {
		return errString
	}
	return nil
}

func strs(v json.RawMessage, dst *[]string) error {
	if json.Unmarshal(v, dst) != nil {
		return errList
	}
	if *dst == nil {
		*dst = []string{}
	}
	return nil
}

// strMap takes strings, numbers and booleans, as the formats do.
func strMap(v json.RawMessage, dst *map[string]string) error {
	var raw map[string]json.RawMessage
	if json.Unmarshal(v, &raw) != nil {
		return errors.New("must be an object of strings")
	}
	*dst = map[string]string{}
	for k, val := range raw {
		var s string
		switch {
		case json.Unmarshal(val, &s) == nil:
		case len(val) > 0 && val[0] != '{' && val[0] != '[':
			s = string(val)
		default:
			return fmt.Errorf("must hold strings, but %q is none", k)
		}
		(*dst)[k] = s
	}
	return nil
}

func extensions(v json.RawMessage, dst *map[string]string) error {
	var raw map[string]string
	if json.Unmarshal(v, &raw) != nil {
		return errors.New("must map extensions to language ids")
	}
	*dst = map[string]string{}
	for k, id := range raw {
		if id == "" || strings.Trim(k, ".") == "" {
			return errors.New("must map extensions to language ids")
		}
		if !strings.HasPrefix(k, ".") {
			k = "." + k
		}
		(*dst)[k] = id
	}
	return nil
}

// duration takes milliseconds or a Go duration.
func duration(v json.RawMessage, dst *time.Duration) error {
	var n float64
	var s string
	switch {
	case json.Unmarshal(v, &n) == nil && n > 0 && n < 1e9:
		*dst = time.Duration(n * float64(time.Millisecond))
		return nil
	case json.Unmarshal(v, &s) == nil:
		if d, err := time.ParseDuration(s); err == nil && d > 0 {
			*dst = d
			return nil
		}
	}
	return errors.New(`must be milliseconds or a duration such as "30s"`)
}

func boolean(v json.RawMessage, dst **bool) error {
	var b bool
	if json.Unmarshal(v, &b) != nil {
		return errBool
	}
	*dst = &b
	return nil
}

func count(v json.RawMessage, dst **int) error {
	var n float64
	if json.Unmarshal(v, &n) != nil || n < 0 || n > 1e6 || n != float64(int(n)) {
		return errors.New("must be a whole number, 0 or more")
	}
	i := int(n)
	*dst = &i
	return nil
}

func transport(v json.RawMessage, dst *string) error {
	if err := str(v, dst); err != nil {
		return err
	}
	*dst = strings.ToLower(*dst)
	switch *dst {
	case "stdio", "tcp", "socket":
		return nil
	}
	return errors.New("must be stdio, tcp or socket")
}

func socket(v json.RawMessage, dst **Socket) error {
	var path string
	if json.Unmarshal(v, &path) == nil && path != "" {
		*dst = &Socket{Path: path}
		return nil
	}
	var raw struct {
		Host, Path, SocketPath string
		Port                   json.RawMessage
	}
	if json.Unmarshal(v, &raw) != nil {
		return errors.New("must be a path or an object with host and port")
	}
	s := &Socket{Host: raw.Host, Path: raw.Path}
	if s.Path == "" {
		s.Path = raw.SocketPath
	}
	if len(raw.Port) > 0 {
		n, err := strconv.Atoi(strings.Trim(string(raw.Port), `"`))
		if err != nil || n < 1 || n > 65535 {
			return errors.New("has a port that is not between 1 and 65535")
		}
		s.Port = n
	}
	if s.Path == "" && s.Port == 0 {
		return errors.New("needs a path or a port")
	}
	*dst = s
	return nil
}
