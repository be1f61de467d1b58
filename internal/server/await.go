package server

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

const (
	reportEvery = time.Second
	// defaultOpenLimit bounds the files opened by OpenPerMarker.
	defaultOpenLimit = 64
	// surveyLimit is the number of file names looked at for markers.
	surveyLimit = 20_000
)

// Basis does not wait.
func (s *Session) Basis() Basis { return s.track.judge(time.Now()).Basis }

// Await waits for n, at most the ceiling; it opens files by the opening rules. The
// Basis says whether it was reached; only ctx and a *GoneError are errors. It
// reports to query.Report while waiting. A question about a file calls Ensure
// first (its file then serves the opening rule) and again after a wait.
func (s *Session) Await(ctx context.Context, n Need) (Basis, error) {
	if err := s.alive(); err != nil {
		return Basis{}, err
	}
	if n == Initialized {
		return s.Basis(), ctx.Err()
	}
	if err := s.Sync(ctx); err != nil {
		return s.Basis(), err
	}
	return s.settle(ctx)
}

// settle opens by the rules and waits for settled.
func (s *Session) settle(ctx context.Context) (Basis, error) {
	if err := s.openByRule(ctx); err != nil {
		return s.Basis(), err
	}
	return s.waitFor(ctx, isSettled)
}

// waitFor waits for the tracker's judgement, at most the ceiling.
func (s *Session) waitFor(ctx context.Context, enough func(verdict) bool) (Basis, error) {
	began := time.Now()
	ceiling := time.NewTimer(s.track.rd.Ceiling)
	defer ceiling.Stop()
	var said Basis
	var saidAt time.Time
	for {
		now := time.Now()
		v := s.track.judge(now)
		if enough(v) {
			return v.Basis, nil
		}
		if v.Basis != said || now.Sub(saidAt) >= reportEvery {
			said, saidAt = v.Basis, now
			query.Report(ctx, query.Progress{
				Server: s.srv.o.Name, Message: orElse(v.Working, "loading"), Percent: v.Percent, Elapsed: now.Sub(began),
			})
		}
		wait := saidAt.Add(reportEvery).Sub(now)
		if !v.next.IsZero() {
			wait = min(wait, v.next.Sub(now))
		}
		tick := time.NewTimer(wait)
		select {
		case <-v.changed:
		case <-tick.C:
		case <-ceiling.C:
			tick.Stop()
			return s.Basis(), nil
		case <-s.ctx.Done():
			tick.Stop()
			return v.Basis, s.reason()
		case <-ctx.Done():
			tick.Stop()
			return v.Basis, ctx.Err()
		}
		tick.Stop()
	}
}

// opener remembers which files the opening rules opened.
type opener struct {
	turn chan struct{} // capacity 1: the token of whoever opens
	done bool          // guarded by turn
	held map[string]func()
}

func (o *opener) init() {
	o.turn = make(chan struct{}, 1)
	o.held = map[string]func(){}
}

// openByRule opens what the server needs before it knows anything, once.
func (s *Session) openByRule(ctx context.Context) error {
	rd := &s.track.rd
	if !rd.NeedsOpenFile && len(rd.OpenPerMarker) == 0 {
		return nil
	}
	o := &s.opening
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-s.ctx.Done():
		return s.reason()
	case <-ctx.Done():
		return ctx.Err()
	}
	if o.done {
		return nil
	}
	if err := s.openMarked(ctx); err != nil {
		return err
	}
	if rd.NeedsOpenFile && len(s.mirror.Open()) == 0 {
		if err := s.openAny(ctx); err != nil {
			return err
		}
	}
	if len(s.mirror.Open()) == 0 {
		s.track.restart() // nothing can be opened: there is nothing to know
	}
	o.done = true
	s.track.openDone()
	return nil
}

// openAgain lets the opening rules run once more (a new project appeared).
func (s *Session) openAgain(ctx context.Context) {
	select {
	case s.opening.turn <- struct{}{}:
		s.opening.done = false
		s.track.openDue()
		<-s.opening.turn
	case <-ctx.Done():
	}
}

// openAny opens the first file that can be opened.
func (s *Session) openAny(ctx context.Context) error {
	for _, path := range s.srv.o.Files(ctx, 20) {
		if _, err := s.mirror.Ensure(ctx, path, s.srv.o.LanguageID(path)); err == nil {
			return nil
		}
		if err := s.endOf(ctx); err != nil {
			return err
		}
	}
	return nil
}

// endOf returns why nothing more can be asked: the session's end or the caller's.
func (s *Session) endOf(ctx context.Context) error {
	if err := s.alive(); err != nil {
		return err
	}
	return ctx.Err()
}

// openMarked opens one file below each folder with a marker and keeps it open.
func (s *Session) openMarked(ctx context.Context) error {
	markers := s.track.rd.OpenPerMarker
	if len(markers) == 0 {
		return nil
	}
	limit := orElse(s.track.rd.OpenLimit, defaultOpenLimit)
	opened := false
	for _, path := range onePerProject(s.srv.o.Root, markers, s.srv.o.Files(ctx, surveyLimit), limit) {
		if s.opening.held[path] != nil {
			continue
		}
		if _, err := s.mirror.Ensure(ctx, path, s.srv.o.LanguageID(path)); err == nil {
			s.opening.held[path] = s.mirror.Hold(path)
			opened = true
		}
		if err := s.endOf(ctx); err != nil {
			return err
		}
	}
	if opened {
		s.track.restart()
	}
	return nil
}

// onePerProject picks the first file of each project: a project is the nearest
// folder above a file, within root, that holds a marker.
func onePerProject(root string, markers, files []string, limit int) []string {
	marked := map[string]bool{}
	has := func(dir string) bool {
		known, seen := marked[dir]
		if !seen {
			known = slices.ContainsFunc(markers, func(m string) bool {
				info, err := os.Stat(filepath.Join(dir, m))
				return err == nil && info.Mode().IsRegular()
			})
			marked[dir] = known
		}
		return known
	}
	var picked []string
	taken := map[string]bool{}
	for _, path := range files {
		dir := filepath.Dir(path)
		for dir != root && text.Within(root, dir) && !has(dir) {
			dir = filepath.Dir(dir)
		}
		if !taken[dir] && has(dir) && len(picked) < limit {
			taken[dir] = true
			picked = append(picked, path)
		}
	}
	return picked
}
