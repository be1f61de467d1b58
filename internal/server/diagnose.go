package server

import (
	"context"
	"errors"
	"time"

	"github.com/dragoman-dev/dragoman/internal/diag"
	"github.com/dragoman-dev/dragoman/internal/jsonrpc"
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/mirror"
	"github.com/dragoman-dev/dragoman/internal/text"
)

const (
	// pushQuiet is how long no further push may come before the last one stands:
	// syntax comes first, semantics later.
	pushQuiet = 300 * time.Millisecond
	// silentQuiet is the same for a server that says nothing about clean files.
	silentQuiet = time.Second
	// pushCap ends the wait for a push, unless progress lives or the server is at
	// work; silent work counts for no longer than workCap.
	pushCap = 5 * time.Second
	workCap = 30 * time.Second
	// pushLook is when the processor time is looked at first.
	pushLook = 500 * time.Millisecond
	// checkBegin is how long after a save the check may take to begin.
	checkBegin = time.Second
	pullAgain  = 2 // times a pull is repeated because something changed under it
)

// Diagnose brings the problems of one document up to date (pull every matching
// provider with previous result ids, await push by architecture B10, or both) and
// returns them with their freshness.
func (s *Session) Diagnose(ctx context.Context, snap mirror.Snapshot, languageID string) ([]lsp.Diagnostic, diag.Freshness, error) {
	release := s.mirror.Hold(snap.Path)
	defer release()
	if err := s.Sync(ctx); err != nil {
		return s.known(snap, err)
	}
	if _, err := s.waitFor(ctx, isLoaded); err != nil {
		return s.known(snap, err)
	}
	providers := s.Capabilities().DiagnosticProviders(languageID, snap.URI)
	var err, failed error
	switch {
	case s.srv.o.Traits.PushProgress != nil:
		err = s.awaitCheck(ctx, snap)
	case len(providers) == 0:
		err = s.awaitPush(ctx, snap)
	}
	if err != nil {
		return s.known(snap, err)
	}
	// After the wait: a check that ends asks for the pulls to be repeated.
	for _, p := range providers {
		if err := s.pullCurrent(ctx, snap, p); err != nil {
			if end := s.endOf(ctx); end != nil {
				return s.known(snap, end)
			}
			failed = err
		}
	}
	ds, f, err := s.known(snap, nil)
	if f == diag.None {
		err = failed
	}
	return ds, f, err
}

// known is what the store holds, beside an error.
func (s *Session) known(snap mirror.Snapshot, err error) ([]lsp.Diagnostic, diag.Freshness, error) {
	ds, f := s.problems.Get(text.CanonicalURI(snap.URI))
	return ds, f, err
}

// pullCurrent pulls until nothing changed under the pull.
func (s *Session) pullCurrent(ctx context.Context, snap mirror.Snapshot, p lsp.DiagnosticProvider) error {
	for range 1 + pullAgain {
		mark := s.problems.Mark()
		if err := s.pull(ctx, snap, p); err != nil {
			return err
		}
		if s.problems.Mark() == mark {
			return nil
		}
	}
	return nil
}

type pullParams struct {
	TextDocument     documentID `json:"textDocument"`
	Identifier       string     `json:"identifier,omitempty"`
	PreviousResultID string     `json:"previousResultId,omitempty"`
}

type documentID struct {
	URI string `json:"uri"`
}

// pull asks one provider and stores its report, and those of related documents
// apart from their own.
func (s *Session) pull(ctx context.Context, snap mirror.Snapshot, p lsp.DiagnosticProvider) error {
	src, uri := diag.Pull(p.Identifier), text.CanonicalURI(snap.URI)
	raw, err := s.Call(ctx, string(lsp.MethodDiagnostic), func() (any, error) {
		return pullParams{
			TextDocument: documentID{snap.URI}, Identifier: p.Identifier,
			PreviousResultID: s.problems.ResultID(src, uri),
		}, nil
	})
	if dropped(err) {
		return nil
	}
	if err != nil {
		return err
	}
	rep, err := lsp.DecodePull(raw)
	if err != nil {
		return err
	}
	version := snap.Version
	s.store(src, uri, &version, rep)
	for _, rel := range rep.Related {
		s.store(src+"/related", text.CanonicalURI(rel.URI), rel.Version, rel)
	}
	return nil
}

// store puts one report of a pull into the store.
func (s *Session) store(src diag.Source, uri string, version *int32, rep lsp.PullReport) {
	if rep.Unchanged {
		s.problems.Unchanged(src, uri)
	} else {
		s.problems.Publish(src, uri, version, rep.Items)
	}
	s.problems.SetResultID(src, uri, rep.ResultID)
}

// dropped reports a cancellation by the server after which it wants no new
// question now.
func dropped(err error) bool {
	var rpc *jsonrpc.Error
	return errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeServerCancelled && !retrigger(rpc.Data)
}

// awaitPush waits for the server's word about the current text.
func (s *Session) awaitPush(ctx context.Context, snap mirror.Snapshot) error {
	uri, same := text.CanonicalURI(snap.URI), false
	if s.srv.o.Traits.FileStatus && s.track.judge(time.Now()).loaded && s.problems.Confirm(uri, diag.SilenceIsNothing) >= diag.Settled {
		return nil // it was built again after the change, and that brought nothing new
	}
	if s.problems.NeedsWord(uri) {
		// Other files changed: a new version makes the server look again.
		var err error
		if same, err = s.resend(ctx, snap.Path, s.srv.o.LanguageID(snap.Path)); err != nil {
			return err
		}
		if now, ok := s.mirror.Current(snap.Path); ok {
			snap = now
		}
	}
	if s.srv.o.Traits.NoEmptyPush {
		return s.awaitSilence(ctx, snap, uri, diag.SilenceIsClean)
	}
	quiet := pushQuiet
	if s.srv.o.Traits.FinalPush {
		quiet = 0
	}
	if same {
		// Servers may say nothing where nothing is different.
		return s.awaitSilence(ctx, snap, uri, diag.SilenceIsNothing)
	}
	work := laborer{since: time.Now(), cpu: s.h.CPU}
	for limit := pushLook; ; limit = pushCap - pushLook {
		f := s.waitPush(ctx, uri, snap.Version, quiet, limit)
		if end := s.endOf(ctx); end != nil {
			return end
		}
		goesOn := f < diag.Settled && work.goesOn(time.Now())
		if f >= diag.Settled || !s.track.busy() && !goesOn {
			s.problems.Confirm(uri, diag.SilenceIsNothing)
			return nil
		}
	}
}

// laborer tells whether a server that says nothing is still at work, by the
// processor time of its group.
type laborer struct {
	since  time.Time
	cpu    func() int64
	looked bool
	used   int64
}

// goesOn reports that a tenth of a processor was used since the last call, always
// at the first call, which only looks; after workCap it is taken for other work.
func (l *laborer) goesOn(now time.Time) bool {
	before, first := l.used, !l.looked
	l.used, l.looked = l.cpu(), true
	return first || l.used-before > int64(pushCap/10) && now.Sub(l.since) < workCap
}

// waitPush waits at most limit.
func (s *Session) waitPush(ctx context.Context, uri string, version int32, quiet, limit time.Duration) diag.Freshness {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	unhook := context.AfterFunc(s.ctx, cancel)
	defer unhook()
	return s.problems.AwaitPush(ctx, uri, version, quiet, nil)
}

// awaitSilence asks something that the server answers after it has read the text,
// and reads the silence after that as how says.
func (s *Session) awaitSilence(ctx context.Context, snap mirror.Snapshot, uri string, how diag.Silence) error {
	if err := s.barrier(ctx, snap); err != nil {
		return err
	}
	quiet := pushQuiet
	if s.srv.o.Traits.FinalPush {
		quiet = 0
	}
	s.waitPush(ctx, uri, snap.Version, quiet, silentQuiet)
	if end := s.endOf(ctx); end != nil {
		return end
	}
	s.problems.Confirm(uri, how)
	return nil
}

// barrier returns when the server answered a question about the document.
func (s *Session) barrier(ctx context.Context, snap mirror.Snapshot) error {
	lang := s.srv.o.LanguageID(snap.Path)
	for _, f := range []lsp.Feature{lsp.MethodDocumentSymbol, lsp.MethodHover} {
		if !s.Capabilities().Supports(f, lang, snap.URI) {
			continue
		}
		_, err := s.Call(ctx, string(f), func() (any, error) {
			return map[string]any{"textDocument": documentID{snap.URI}, "position": lsp.Position{}}, nil
		})
		if err == nil {
			return nil
		}
		return s.endOf(ctx)
	}
	return nil
}

// awaitCheck waits for the end of a check that runs after a save and whose problems
// come by push. A save is sent when files changed after the last one.
func (s *Session) awaitCheck(ctx context.Context, snap mirror.Snapshot) error {
	uri := text.CanonicalURI(snap.URI)
	if s.track.needsSave() {
		s.track.saved()
		err := s.notify(ctx, "textDocument/didSave", map[string]any{"textDocument": documentID{snap.URI}})
		if err != nil {
			return err
		}
	}
	began := time.Now()
	for {
		now := time.Now()
		c := s.track.checking(now)
		if c.over || !c.begun && now.Sub(began) >= checkBegin {
			s.problems.Confirm(uri, diag.SilenceStands)
			return nil
		}
		if now.Sub(began) >= pushCap && !c.live {
			return nil
		}
		wait := pushCap
		if !c.begun {
			wait = began.Add(checkBegin).Sub(now)
		}
		timer := time.NewTimer(wait)
		select {
		case <-c.changed:
		case <-timer.C:
		case <-s.ctx.Done():
		case <-ctx.Done():
		}
		timer.Stop()
		if end := s.endOf(ctx); end != nil {
			return end
		}
	}
}
