package lsp

import (
	"encoding/json"
	"errors"
	"slices"
)

// Registration is one dynamic registration.
type Registration struct {
	ID      string          `json:"id"`
	Method  string          `json:"method"`
	Options json.RawMessage `json:"registerOptions"`
}

// registration is a Registration with its options read.
type registration struct {
	provider
	id, method  string
	change      SyncKind // of didChange
	includeText bool     // of didSave
	watchers    []FileWatcher
}

func parseRegistration(r Registration) registration {
	options, _ := root(r.Options, "registerOptions")
	return registration{
		provider:    parseProvider(registered(r.Method), options),
		id:          r.ID,
		method:      r.Method,
		change:      syncKind(member(options, "syncKind")),
		includeText: isTrue(member(options, "includeText")),
		watchers:    parseWatchers(member(options, "watchers")),
	}
}

// With adds registrations; the same id and method replaces.
func (c *Capabilities) With(rs []Registration) *Capabilities {
	next := *c
	next.dynamic = slices.Clone(c.dynamic)
	for _, r := range rs {
		added := parseRegistration(r)
		if i := next.find(r); i >= 0 {
			next.dynamic[i] = added
		} else {
			next.dynamic = append(next.dynamic, added)
		}
	}
	return &next
}

// Without removes registrations by id and method; unknown ones change nothing.
func (c *Capabilities) Without(rs []Registration) *Capabilities {
	next := *c
	next.dynamic = slices.Clone(c.dynamic)
	for _, r := range rs {
		if i := next.find(r); i >= 0 {
			next.dynamic = slices.Delete(next.dynamic, i, i+1)
		}
	}
	return &next
}

func (c *Capabilities) find(r Registration) int {
	return slices.IndexFunc(c.dynamic, func(d registration) bool {
		return d.id == r.ID && d.method == r.Method
	})
}

// DecodeRegistrations reads client/registerCapability params. Entries without a
// method are left out.
func DecodeRegistrations(raw json.RawMessage) ([]Registration, error) {
	return registrations(raw, "registerCapability", "registrations")
}

// DecodeUnregistrations reads client/unregisterCapability params in LSP's misspelt and in the right form.
func DecodeUnregistrations(raw json.RawMessage) ([]Registration, error) {
	return registrations(raw, "unregisterCapability", "unregisterations", "unregistrations")
}

func registrations(raw json.RawMessage, what string, keys ...string) ([]Registration, error) {
	v, err := root(raw, what)
	if err != nil {
		return nil, err
	}
	if !isObject(v) {
		return nil, errors.New(what + ": not an object")
	}
	var all []Registration
	for _, key := range keys {
		err := list(member(v, key), what, func(v []byte) {
			if r := parseEntry(v); r.Method != "" {
				all = append(all, r)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func parseEntry(v []byte) (r Registration) {
	members(v, func(key, v []byte) {
		switch string(key) {
		case "id":
			r.ID = scalar(v)
		case "method":
			r.Method = str(v)
		case "registerOptions":
			if !isNull(v) {
				r.Options = v
			}
		}
	})
	return r
}

// FileWatcher is one watcher of a didChangeWatchedFiles registration.
type FileWatcher struct {
	Base string // absolute folder of a relative pattern, "" for a plain glob
	Glob string
	Kind int // bit set: 1 create, 2 change, 4 delete; 7 by default
}

const watchAll = 1 | 2 | 4

func parseWatchers(v []byte) (all []FileWatcher) {
	elements(v, func(v []byte) {
		w := FileWatcher{Kind: watchAll}
		members(v, func(key, v []byte) {
			switch string(key) {
			case "globPattern":
				p := parsePattern(v)
				w.Base, w.Glob = p.base, p.glob
			case "kind":
				if k := whole(v) & watchAll; k != 0 {
					w.Kind = k
				}
			}
		})
		if w.Glob != "" {
			all = append(all, w)
		}
	})
	return all
}

// Watchers lists the watchers registered now.
func (c *Capabilities) Watchers() []FileWatcher {
	var all []FileWatcher
	for _, r := range c.dynamic {
		if r.feature == MethodDidChangeWatched {
			all = append(all, r.watchers...)
		}
	}
	return all
}
