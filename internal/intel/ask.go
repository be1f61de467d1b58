package intel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/dragoman-dev/dragoman/internal/jsonrpc"
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/mirror"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// plan is what an operation needs of a server.
type plan struct {
	feature lsp.Feature
	need    server.Need
}

// ask is one question to one generation of one server. One goroutine uses it.
type ask struct {
	q    *question
	c    Candidate
	sess *server.Session
	// file is the document asked about; zero for workspace questions.
	file subject
	// snap is the text that the last request was about.
	snap mirror.Snapshot
	// before is what the server knew when it was asked.
	before server.Basis
	// waited says that settling was awaited, in vain if before is not settled.
	waited bool
	// stale says that the text kept changing while it was asked.
	stale bool
	// at is where the question was put, once it was aimed.
	at    spot
	aimed bool
	// trying is the unit being tried instead of the session's, nil otherwise.
	trying *text.Encoding
	// remark is what the cross-check found.
	remark string
}

// open brings the server up, its view of the file to the disk's, and waits for
// what the plan needs.
// The generation must be younger than dead.
func (q *question) open(ctx context.Context, c Candidate, file subject, p plan, dead int) (*ask, error) {
	if err := checkBeforeStart(c, file); err != nil {
		return nil, err
	}
	sess, err := younger(ctx, c, dead)
	if err != nil {
		return nil, err
	}
	a := &ask{q: q, c: c, sess: sess, file: file}
	if err := a.ensure(ctx); err != nil {
		return a, err
	}
	a.before = sess.Basis() // after the server was told of changes that make it load
	if p.need == server.Settled && !a.before.Settled {
		if err := a.settle(ctx); err != nil {
			return a, err
		}
	}
	if a.supports(p.feature) {
		return a, nil
	}
	// Features may be registered while the server loads.
	if !a.before.Settled && !a.waited {
		if err := a.settle(ctx); err != nil {
			return a, err
		}
	}
	if !a.supports(p.feature) {
		return a, &server.UnsupportedError{Name: c.Name, Method: string(p.feature)}
	}
	return a, nil
}

// younger opens a generation after dead: right after a death the dead one may
// still be offered.
func younger(ctx context.Context, c Candidate, dead int) (*server.Session, error) {
	for {
		changed := c.Server.Changed()
		sess, err := c.Server.Open(ctx)
		if err != nil {
			return nil, err
		}
		if sess.Generation() > dead {
			if _, err := sess.Await(ctx, server.Initialized); !isGone(err) {
				return sess, err
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// checkBeforeStart spares a server that does not run yet a start for a file that
// cannot be asked about.
func checkBeforeStart(c Candidate, file subject) error {
	if file.Path == "" {
		return nil
	}
	switch c.Server.Snapshot().State {
	case server.Warming, server.Ready:
		return nil
	}
	return checkFile(file.Path)
}

func (a *ask) supports(f lsp.Feature) bool {
	if f == lsp.MethodDiagnostic {
		return true // reports may be pushed without any declared feature
	}
	return a.sess.Capabilities().Supports(f, a.c.LanguageID, a.uri())
}

// uri is the document's in the server's spelling.
func (a *ask) uri() string {
	if a.file.Path == "" {
		return a.file.URI
	}
	return a.snap.URI
}

// ensure makes the server's view equal to the disk: everything, and the file.
func (a *ask) ensure(ctx context.Context) error {
	if a.file.Path == "" {
		return a.sess.Sync(ctx)
	}
	snap, err := a.sess.Ensure(ctx, a.q.d.forServer(a.c, a.file.Path))
	if err != nil {
		return err
	}
	a.snap = snap
	return nil
}

// settle waits for the server to know the project, as far as the request allows,
// and brings the file up to date after the wait.
func (a *ask) settle(ctx context.Context) error {
	if !a.q.mayWait() {
		return nil
	}
	a.waited = true
	waiting, cancel := withReserve(ctx, settleReserve)
	defer cancel()
	basis, err := a.sess.Await(waiting, server.Settled)
	if err != nil {
		if ctx.Err() != nil || waiting.Err() == nil {
			return err
		}
		basis = a.sess.Basis()
		basis.Settled = false
	}
	a.before = basis
	if a.q.r.Wait == query.WaitComplete && !basis.Settled {
		return a.q.notReady(a.c, a.sess.Basis())
	}
	return a.ensure(ctx)
}

// mayWait reports that the request did not ask for what is known now.
func (q *question) mayWait() bool { return q.r.Wait != query.WaitNow }

// settleReserve is what waiting for a server to settle may not take from the
// question itself.
const settleReserve = 10 * time.Second

// withReserve keeps a part of the time that ctx leaves: most, or a quarter.
func withReserve(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	reserve := min(time.Until(deadline)/4, most)
	return context.WithDeadline(ctx, deadline.Add(-reserve))
}

// mayKnowMore reports that an empty answer was given by a server that did not
// know everything, and that waiting can change this.
func (a *ask) mayKnowMore() bool {
	if !a.q.mayWait() {
		return false
	}
	if !a.before.Settled {
		return !a.waited
	}
	return !a.sess.Basis().Settled
}

// call sends one request about the file. Params are built from the newest text
// each time it is sent. When the text changed while the server was asked, it is
// asked once more; when it changed again, the answer is marked stale.
func (a *ask) call(ctx context.Context, method string, params func() (any, error)) (json.RawMessage, error) {
	for try := 0; ; try++ {
		raw, err := a.send(ctx, method, params)
		if err != nil || !a.changedMeanwhile() {
			return raw, err
		}
		if try == 1 {
			a.stale = true
			return raw, nil
		}
		if err := a.ensure(ctx); err != nil {
			return nil, err
		}
	}
}

func (a *ask) send(ctx context.Context, method string, params func() (any, error)) (json.RawMessage, error) {
	sent := false
	return a.sess.Call(ctx, method, func() (any, error) {
		if sent {
			if err := a.ensure(ctx); err != nil {
				return nil, err
			}
		}
		sent = true
		return params()
	})
}

// changedMeanwhile reports that the mirror has another text than was asked about
// (a new version alone may repeat the text to make the server look again).
func (a *ask) changedMeanwhile() bool {
	if a.file.Path == "" {
		return false
	}
	now, open := a.opened(a.file.Path)
	return open && now.Version != a.snap.Version &&
		!bytes.Equal(now.Map.Content(), a.snap.Map.Content())
}

// opened is the text of a file that the server has open.
func (a *ask) opened(path string) (mirror.Snapshot, bool) {
	return a.sess.Mirror().Current(a.q.d.forServer(a.c, path))
}

// isGone reports that the process that was asked has died.
func isGone(err error) bool {
	var gone *server.GoneError
	return errors.As(err, &gone) || jsonrpc.ErrClosed != nil && errors.Is(err, jsonrpc.ErrClosed)
}

// one puts a question to one server: again after an empty answer of a server that
// was not settled, and again on the next generation when this one dies.
func one[T any](ctx context.Context, q *question, c Candidate, file subject, p plan,
	put func(context.Context, *ask) (T, error), empty func(T) bool) (T, *ask, error) {
	defer c.Server.Use()()
	value, a, err := once(ctx, q, c, file, p, 0, put, empty)
	if ctx.Err() != nil || !isGone(err) {
		return value, a, err
	}
	dead := 0
	if a != nil {
		dead = a.sess.Generation()
	}
	return once(ctx, q, c, file, p, dead, put, empty)
}

func once[T any](ctx context.Context, q *question, c Candidate, file subject, p plan, dead int,
	put func(context.Context, *ask) (T, error), empty func(T) bool) (T, *ask, error) {
	var zero T
	a, err := q.open(ctx, c, file, p, dead)
	if err != nil {
		return zero, a, err
	}
	value, err := put(ctx, a)
	if a.nothingThere(err) {
		value, err = zero, nil
	}
	if err != nil || !empty(value) || !a.mayKnowMore() {
		return value, a, err
	}
	if err := a.settle(ctx); err != nil {
		return zero, a, err
	}
	value, err = put(ctx, a)
	if a.nothingThere(err) {
		value, err = zero, nil
	}
	return value, a, err
}

// nothingThere reports that the server's error only says that no identifier is
// where the question was put, as we see ourselves (gopls: "no identifier found").
func (a *ask) nothingThere(err error) bool {
	var reply *jsonrpc.Error
	return errors.As(err, &reply) && a.aimed && a.at.Word == "" && a.snap.Map != nil
}
