package intel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/mirror"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// candidates are those that may be asked; linters only where problems are asked for.
func (q *question) candidates(ctx context.Context, file subject) ([]Candidate, error) {
	all, err := q.d.Candidates(ctx, file.key(), q.r.Server)
	if err != nil {
		if file.Path != "" && query.KindOf(err) == query.NoServer {
			if bad := checkFile(file.Path); bad != nil {
				return nil, bad
			}
		}
		return nil, err
	}
	if q.reportsProblems() {
		return all, nil
	}
	able := make([]Candidate, 0, len(all))
	for _, c := range all {
		if !c.Linter {
			able = append(able, c)
		}
	}
	if len(able) == 0 {
		return nil, q.unsupported(all)
	}
	return able, nil
}

func (q *question) reportsProblems() bool {
	switch q.r.Op {
	case query.Diagnostics, query.WorkspaceDiagnostics, query.CodeActions:
		return true
	}
	return false
}

// first asks the servers in their order: the first that finds something answers.
// One that cannot do it, fails or finds nothing is passed over, and the answer says
// so. The ask is that of the answering server, or of the last that found nothing.
func first[T any](ctx context.Context, q *question, file subject, p plan,
	put func(context.Context, *ask) (T, error), empty func(T) bool) (T, *ask, error) {
	var zero, nothing T
	cands, err := q.candidates(ctx, file)
	if err != nil {
		return zero, nil, err
	}
	var passed passedOver
	var asked *ask
	for i, c := range cands {
		value, a, err := inTurn(ctx, len(cands)-1-i, q, c, file, p, put, empty)
		if err != nil {
			if concernsRequest(err) || ctx.Err() != nil {
				q.waitingFor(c)
				return zero, nil, err
			}
			passed.add(c, err)
			continue
		}
		q.book.record(a)
		if !empty(value) {
			q.book.fallback(passed, c)
			return value, a, nil
		}
		passed.add(c, nil)
		asked, nothing = a, value
	}
	if asked == nil {
		return zero, nil, passed.verdict(q, cands)
	}
	q.book.doubt(passed.failure(q))
	return nothing, asked, nil
}

// inTurn puts a question to one server so that time is left for those that follow.
func inTurn[T any](ctx context.Context, following int, q *question, c Candidate, file subject, p plan,
	put func(context.Context, *ask) (T, error), empty func(T) bool) (T, *ask, error) {
	if following == 0 {
		return one(ctx, q, c, file, p, put, empty)
	}
	ctx, cancel := withReserve(ctx, settleReserve)
	defer cancel()
	return one(ctx, q, c, file, p, put, empty)
}

// passedOver remembers the servers that did not answer, and why (nil: found nothing).
type passedOver []struct {
	c   Candidate
	err error
}

func (p *passedOver) add(c Candidate, err error) {
	*p = append(*p, struct {
		c   Candidate
		err error
	}{c, err})
}

// verdict is the error when no server answered: a failure rather than a lack.
func (p passedOver) verdict(q *question, cands []Candidate) error {
	for _, x := range p {
		if !isUnsupported(x.err) {
			return &failure{c: x.c, err: x.err}
		}
	}
	return q.unsupported(cands)
}

// failure is one sentence on a server that failed where others found nothing.
func (p passedOver) failure(q *question) string {
	for _, x := range p {
		if x.err != nil && !isUnsupported(x.err) {
			return fmt.Sprintf("%s could not answer: %s", x.c.Name, q.sentence(x.c, x.err))
		}
	}
	return ""
}

// failure says which server an error is of.
type failure struct {
	c   Candidate
	err error
}

func (f *failure) Error() string { return f.c.Name + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func isUnsupported(err error) bool {
	var u *server.UnsupportedError
	return errors.As(err, &u)
}

// concernsRequest reports an error that every server would give.
func concernsRequest(err error) bool {
	var file *mirror.FileError
	var line *text.LineError
	var bad *query.Error
	return errors.As(err, &file) || errors.As(err, &line) ||
		errors.As(err, &bad) && (bad.Kind == query.BadRequest || bad.Kind == query.StaleText || bad.Kind == query.NotReady)
}

// mergeReserve is what one silent server may not take from a merged answer.
const mergeReserve = 2 * time.Second

// part is one server's part of a merged answer.
type part[T any] struct {
	c     Candidate
	a     *ask
	value T
	err   error
}

// every asks all servers side by side; parts come in their order. It fails when
// the request is at fault or no server could answer; otherwise servers that failed
// are named in a note.
func every[T any](ctx context.Context, q *question, file subject, p plan,
	put func(context.Context, *ask) (T, error), empty func(T) bool) ([]part[T], error) {
	cands, err := q.candidates(ctx, file)
	if err != nil {
		return nil, err
	}
	parts := make([]part[T], len(cands))
	whole := ctx
	ctx, cancel := withReserve(whole, mergeReserve) // time to show what the others found
	defer cancel()
	var wg sync.WaitGroup
	for i, c := range cands {
		wg.Go(func() {
			value, a, err := one(ctx, q, c, file, p, put, empty)
			parts[i] = part[T]{c, a, value, err}
		})
	}
	wg.Wait()
	q.book.unasked(cands)
	return answered(whole, q, cands, parts)
}

func answered[T any](ctx context.Context, q *question, cands []Candidate, parts []part[T]) ([]part[T], error) {
	var passed passedOver
	good := parts[:0:0]
	for _, x := range parts {
		switch {
		case x.err == nil:
			q.book.record(x.a)
			good = append(good, x)
		case concernsRequest(x.err):
			return nil, x.err
		default:
			passed.add(x.c, x.err)
		}
	}
	if len(good) == 0 {
		if len(passed) > 0 && ctx.Err() != nil {
			q.waitingFor(passed[0].c)
		}
		return nil, passed.verdict(q, cands)
	}
	for _, x := range passed {
		if !isUnsupported(x.err) {
			q.book.note("partial", fmt.Sprintf("%s could not answer: %s", x.c.Name, q.sentence(x.c, x.err)))
			q.book.doubt(passed.failure(q))
		}
	}
	return good, nil
}
