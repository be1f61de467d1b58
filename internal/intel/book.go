package intel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

// book collects what an answer rests on and what is to be remarked.
type book struct {
	mu        sync.Mutex // guards the rest
	bases     []base
	notes     []query.Note
	unsure    string   // why an empty answer claims nothing, beyond the bases
	silent    []string // who has no part in an answer that is not empty
	stale     bool     // something in the answer is of an older text
	changed   bool     // the text changed while the question was answered
	truncated bool
	waiting   Candidate // the server that was awaited when time ran out
}

// base is one asked server with what it knew.
type base struct {
	query.ServerBasis
	of      *server.Server // there may be several of one name
	working string
	percent int
	elapsed time.Duration
	limited string
}

func (b *book) record(a *ask) {
	now := a.sess.Basis()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stale = b.stale || a.stale
	b.changed = b.changed || a.stale
	entry := base{
		ServerBasis: query.ServerBasis{
			Name: a.c.Name, Generation: a.sess.Generation(),
			Settled: a.before.Settled, LoadError: cmp.Or(a.before.LoadError, a.c.Missing),
		},
		of: a.c.Server, limited: a.c.Limited,
	}
	if now.LoadError != "" {
		entry.LoadError = now.LoadError
	}
	if !a.before.Settled {
		entry.working, entry.percent, entry.elapsed = now.Working, now.Percent, since(a.c.Server.Snapshot())
	}
	for i := range b.bases {
		if b.bases[i].of == entry.of {
			b.bases[i] = entry
			return
		}
	}
	b.bases = append(b.bases, entry)
}

// freshness completes the record of one server.
func (b *book) freshness(name string, f query.Freshness) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.bases {
		if b.bases[i].Name == name {
			b.bases[i].Freshness = f
		}
	}
}

func since(s server.Snapshot) time.Duration {
	if s.Since.IsZero() {
		return 0
	}
	return time.Since(s.Since)
}

// note adds a remark once.
func (b *book) note(code, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := query.Note{Code: code, Text: text}
	for _, have := range b.notes {
		if have == n {
			return
		}
	}
	b.notes = append(b.notes, n)
}

// doubt keeps the first reason why an empty answer claims nothing.
func (b *book) doubt(why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unsure == "" {
		b.unsure = why
	}
}

// unasked says which projects an answer about the workspace leaves out.
func (b *book) unasked(cands []Candidate) {
	for _, c := range cands {
		n := len(c.Unasked)
		if n == 0 {
			continue
		}
		names, more := c.Unasked[:min(n, 3)], ""
		if n > len(names) {
			more = ", …"
		}
		text := fmt.Sprintf("%s was not asked in %d of its folders (%s%s).", c.Name, n, strings.Join(names, ", "), more)
		b.doubt(text + " Ask about a file there first.")
		b.mu.Lock()
		b.silent = append(b.silent, text)
		b.mu.Unlock()
	}
}

// fallback names the servers that were passed over before c answered.
func (b *book) fallback(passed passedOver, c Candidate) {
	for _, x := range passed {
		why := "found nothing"
		switch {
		case isUnsupported(x.err):
			why = "does not support it"
		case errors.Is(x.err, context.DeadlineExceeded):
			why = "did not answer in time"
		case x.err != nil:
			why = "failed (" + strings.TrimSuffix(x.err.Error(), ".") + ")"
		}
		b.note("fallback", fmt.Sprintf("%s %s; answered by %s.", x.c.Name, why, c.Name))
	}
}

func (q *question) waitingFor(c Candidate) {
	q.book.mu.Lock()
	defer q.book.mu.Unlock()
	q.book.waiting = c
}

// finish writes basis, doubts and notes into the answer.
func (q *question) finish(ans *query.Answer) *query.Answer {
	b := &q.book
	ans.Basis.Stale = b.stale
	ans.Basis.Truncated = b.truncated
	ans.Basis.Settled = len(b.bases) > 0
	ans.Basis.Servers = make([]query.ServerBasis, 0, len(b.bases))
	for _, x := range b.bases {
		ans.Basis.Servers = append(ans.Basis.Servers, x.ServerBasis)
		if !x.Settled || x.LoadError != "" {
			ans.Basis.Settled = false
		}
	}
	empty := ans.Body.Empty()
	if empty && ans.Unsure == "" {
		ans.Unsure = q.whyEmpty()
	}
	ans.Notes = append(q.basisNotes(empty), b.notes...)
	if !empty {
		for _, s := range b.silent {
			ans.Notes = append(ans.Notes, query.Note{Code: "partial", Text: s})
		}
	}
	if b.changed {
		ans.Notes = append(ans.Notes, query.Note{Code: "stale",
			Text: "the text changed while the question was answered; ask again."})
	}
	return ans
}

// whyEmpty is the reason why "none found" is not claimed, "" where it is.
func (q *question) whyEmpty() string {
	for _, x := range q.book.bases {
		if !x.Settled {
			return stillBusy(x.Name, x.working, x.percent, x.elapsed) + " Ask again."
		}
	}
	for _, x := range q.book.bases {
		if x.LoadError != "" {
			return notLoaded(x.Name, x.LoadError)
		}
	}
	return q.book.unsure
}

// basisNotes are the remarks on what the servers knew.
func (q *question) basisNotes(empty bool) (notes []query.Note) {
	defer func() { notes = compact(notes) }()
	for _, x := range q.book.bases {
		if !x.Settled && !empty && !q.localQuestion() {
			notes = append(notes, query.Note{Code: "loading",
				Text: stillBusy(x.Name, x.working, x.percent, x.elapsed) + " The answer may be incomplete."})
		}
		if x.LoadError != "" && !(empty && x.Settled) && q.r.Op != query.DocumentSymbol {
			notes = append(notes, query.Note{Code: "load-error", Text: notLoaded(x.Name, x.LoadError)})
		}
		if x.limited != "" && !q.localQuestion() {
			notes = append(notes, query.Note{Code: "limited",
				Text: fmt.Sprintf("%s is limited here: %s.", x.Name, strings.TrimSuffix(x.limited, "."))})
		}
	}
	return notes
}

// compact leaves each note once: several instances of a server have the same to say.
func compact(notes []query.Note) []query.Note {
	kept := notes[:0]
	for _, n := range notes {
		if !slices.Contains(kept, n) {
			kept = append(kept, n)
		}
	}
	return kept
}

// localQuestion reports that the file alone answers it, so that an answer is not
// made incomplete by a server that still loads.
func (q *question) localQuestion() bool {
	switch q.r.Op {
	case query.Hover, query.DocumentSymbol, query.CodeActions:
		return true
	}
	return false
}

// stillBusy is "gopls is still loading: Loading packages (63 %, 41 s so far)."
func stillBusy(name, working string, percent int, elapsed time.Duration) string {
	var what strings.Builder
	fmt.Fprintf(&what, "%s is still loading the project", name)
	if working != "" {
		fmt.Fprintf(&what, ": %s", strings.TrimSuffix(working, "."))
	}
	var facts []string
	if percent > 0 {
		facts = append(facts, fmt.Sprintf("%d %%", percent))
	}
	if elapsed >= time.Second {
		facts = append(facts, fmt.Sprintf("%d s so far", int(elapsed.Seconds())))
	}
	if len(facts) > 0 {
		fmt.Fprintf(&what, " (%s)", strings.Join(facts, ", "))
	}
	return what.String() + "."
}

func notLoaded(name, why string) string {
	return fmt.Sprintf("%s did not load the whole project: %s.", name, strings.TrimSuffix(why, "."))
}
