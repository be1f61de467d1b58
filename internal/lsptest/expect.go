package lsptest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// unmet says why an expectation is not met, "" when it is.
func (s *Server) unmet(e *expect) string {
	var all []*inbound
	var fitting []*inbound
	s.mu.Lock()
	runs := slices.Clone(s.runs)
	s.mu.Unlock()
	for _, r := range runs {
		if !e.inGen(r.gen) {
			continue
		}
		for _, m := range s.received(r.gen) {
			all = append(all, m)
			if e.sequence == nil && r.fits(&e.selector, m) {
				fitting = append(fitting, m)
			}
		}
	}
	if e.nth > 0 {
		if len(fitting) < e.nth {
			return fmt.Sprintf("only %d arrived%s", len(fitting), arrived(all))
		}
		fitting = fitting[e.nth-1 : e.nth]
	}
	switch e.kind {
	case "order":
		return e.order(s, all, runs)
	case "exactly":
		return e.exactly(all)
	case "count":
		if n := len(e.filter(fitting)); n != e.count {
			return fmt.Sprintf("%d arrived%s", n, arrived(all))
		}
	case "none":
		if got := e.filter(fitting); len(got) > 0 {
			return "arrived: " + got[0].String()
		}
	default:
		return e.some(fitting, all)
	}
	return ""
}

// filter keeps what has the version, language and text.
func (e *expect) filter(ms []*inbound) []*inbound {
	return slices.DeleteFunc(slices.Clone(ms), func(m *inbound) bool {
		return e.version != "" && strconv.Itoa(m.version) != e.version ||
			e.language != "" && m.lang != e.language ||
			e.text != nil && m.text != *e.text
	})
}

func (e *expect) some(fitting, all []*inbound) string {
	if len(e.filter(fitting)) > 0 {
		return ""
	}
	if len(fitting) == 0 {
		return "did not arrive" + arrived(all)
	}
	var b strings.Builder
	b.WriteString("arrived only otherwise:")
	for _, m := range fitting {
		fmt.Fprintf(&b, "\n\tversion %d language %s text %q", m.version, m.lang, clip(m.text))
	}
	return b.String()
}

// order checks that the sequence is a subsequence of what arrived.
func (e *expect) order(s *Server, all []*inbound, runs []*run) string {
	i := 0
	for _, m := range all {
		if i < len(e.sequence) && len(runs) > 0 && runs[0].fits(&selector{method: e.sequence[i].method, path: e.sequence[i].path}, m) {
			i++
		}
	}
	if i < len(e.sequence) {
		return fmt.Sprintf("%s (item %d) did not arrive after the ones before it%s", e.sequence[i].method, i+1, arrived(all))
	}
	return ""
}

func (e *expect) exactly(all []*inbound) string {
	same := len(all) == len(e.sequence)
	for i := 0; same && i < len(all); i++ {
		same = all[i].Method == e.sequence[i].method
	}
	if same {
		return ""
	}
	return "something else" + arrived(all)
}

func arrived(all []*inbound) string {
	var names []string
	for _, m := range all {
		names = append(names, m.Method)
	}
	return "; arrived: " + strings.Join(names, " ")
}
