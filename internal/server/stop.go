package server

import (
	"context"
	"time"
)

// stop asks the server to end and makes it end: shutdown, exit, end of stdin,
// TERM to the group, KILL to the group, each with its part of limit. hurry ends
// the polite part at once. When it returns nothing of the session runs.
func (s *Session) stop(hurry context.Context, limit time.Duration) {
	s.stopping.Store(true)
	s.fail(&GoneError{Name: s.srv.o.Name, Generation: s.gen, Exit: "it was stopped"})
	if s.sub != nil {
		s.sub.Close()
	}
	ctx, cancel := context.WithTimeout(hurry, limit*2/5)
	_, err := s.conn.Call(ctx, "shutdown", nil)
	if ctx.Err() == nil {
		if err != nil {
			s.srv.o.Log.Debug("shutdown was answered with an error", "err", err)
		}
		_ = s.conn.Notify(ctx, "exit", nil)
	}
	cancel()
	_ = s.h.Stdin().Close()
	if !s.endedOr(hurry, limit*3/10) {
		s.h.Terminate()
		s.endedOr(hurry, limit/5)
	}
	s.release()
}

// endedOr waits for the end of the process, at most limit, less when ctx ends.
func (s *Session) endedOr(ctx context.Context, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.h.Done():
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
