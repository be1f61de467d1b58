package lsptest

import (
	"path/filepath"
	"strings"
)

// ruleFor takes the rule that answers m: in order, the last one for ever.
func (r *run) ruleFor(m *inbound) []action {
	r.mu.Lock()
	defer r.mu.Unlock()
	var last *rule
	for _, ru := range r.sc.rules {
		if !r.fits(&ru.selector, m) {
			continue
		}
		r.seen[ru]++
		if ru.nth > 0 && r.seen[ru] != ru.nth {
			continue
		}
		if ru.times > 0 && r.uses[ru] >= ru.times {
			continue
		}
		last = ru
		if ru.times > 0 || r.uses[ru] == 0 || !r.moreAfter(ru, m) {
			break
		}
	}
	if last == nil {
		return nil
	}
	r.uses[last]++
	return append([]action{}, last.acts...)
}

// moreAfter reports whether a later rule fits m too: then ru is used once only.
func (r *run) moreAfter(ru *rule, m *inbound) bool {
	found := false
	for _, other := range r.sc.rules {
		if other == ru {
			found = true
			continue
		}
		if found && other.method == ru.method && other.path == ru.path && other.when == ru.when && r.fits(&other.selector, m) {
			return true
		}
	}
	return false
}

// fits reports whether m is meant by s, but for n and times.
func (r *run) fits(s *selector, m *inbound) bool {
	if s.method != m.Method && s.method != "*" || !s.inGen(r.gen) {
		return false
	}
	if s.path != "" && uriPath(m.uri) != r.abs(s.path) {
		return false
	}
	return s.when == "" || strings.Contains(m.Params, s.when)
}

// abs makes a path of the script absolute.
func (r *run) abs(path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.root, path)
}

// hooks plays what comes after m.
func (r *run) hooks(m *inbound) {
	for _, h := range r.sc.hooks {
		r.mu.Lock()
		fire := r.fits(&h.selector, m)
		if fire {
			r.seen[h]++
			fire = (h.nth == 0 || r.seen[h] == h.nth) && (h.times == 0 || r.seen[h] <= h.times)
		}
		r.mu.Unlock()
		if fire {
			r.play(h.acts, m, func() {})
		}
	}
}
