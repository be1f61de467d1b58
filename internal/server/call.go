package server

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/dragoman-dev/dragoman/internal/jsonrpc"
)

// The retries of a call.
const (
	staleRetries  = 3 // content modified, by a settled server
	staleAwaits   = 3 // content modified, by one that was not settled
	staleDelay    = 100 * time.Millisecond
	cancelRetries = 5 // cancelled by the server
	cancelDelay   = 250 * time.Millisecond
	initDelay     = 100 * time.Millisecond
)

// Call asks. Content-modified (-32801) is retried only while the server is not
// settled (it then awaits Settled) and up to three times otherwise, by calling
// params again so that positions can be re-mapped; server-cancelled is retried by
// rule. Heavy requests pass the gate. A method that was answered "not found" is
// remembered for the generation and fails with *UnsupportedError.
func (s *Session) Call(ctx context.Context, method string, params func() (any, error)) (json.RawMessage, error) {
	if _, no := s.unsupported.Load(method); no {
		return nil, &UnsupportedError{Name: s.srv.o.Name, Method: method}
	}
	var r retries
	for {
		raw, err := s.askOnce(ctx, method, params)
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) {
			return raw, err
		}
		if rpc.Code == jsonrpc.CodeMethodNotFound {
			s.unsupported.Store(method, struct{}{})
			return nil, &UnsupportedError{Name: s.srv.o.Name, Method: method}
		}
		again, err := s.retry(ctx, &r, method, rpc)
		if !again {
			return nil, err
		}
	}
}

// askOnce asks within the gate. The slot is not kept while a retry is waited for.
func (s *Session) askOnce(ctx context.Context, method string, params func() (any, error)) (json.RawMessage, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	leave, err := s.gate.enter(ctx, method)
	if err != nil {
		return nil, err
	}
	defer leave()
	p, err := params()
	if err != nil {
		return nil, err
	}
	defer s.busy.begin()()
	return s.ask(ctx, method, p)
}

// ask sends one request; it ends with the caller's context or the session.
func (s *Session) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unhook := context.AfterFunc(s.ctx, cancel)
	defer unhook()
	raw, err := s.conn.Call(ctx, method, params)
	if err != nil {
		return nil, s.translate(ctx, err)
	}
	return raw, nil
}

// retries counts what was tried again.
type retries struct{ stale, awaited, cancelled, initialized int }

// retry waits as the error's code demands and reports whether to ask again.
func (s *Session) retry(ctx context.Context, r *retries, method string, rpc *jsonrpc.Error) (bool, error) {
	switch rpc.Code {
	case jsonrpc.CodeContentModified, jsonrpc.CodeRequestCancel:
		return s.retryStale(ctx, r, method)
	case jsonrpc.CodeServerCancelled:
		if !retrigger(rpc.Data) || r.cancelled == cancelRetries {
			return false, rpc
		}
		r.cancelled++
		err := s.pause(ctx, cancelDelay<<(r.cancelled-1))
		return err == nil, err
	case jsonrpc.CodeNotInitialized:
		if r.initialized++; r.initialized > 1 {
			return false, rpc
		}
		err := s.pause(ctx, initDelay)
		return err == nil, err
	}
	return false, rpc
}

// retryStale handles content that changed under the question. While the server
// still loads, that is its way to say so.
func (s *Session) retryStale(ctx context.Context, r *retries, method string) (bool, error) {
	if !s.Basis().Settled {
		if r.awaited++; r.awaited > staleAwaits {
			return false, &StaleError{Method: method}
		}
		b, err := s.settle(ctx)
		if err == nil && !b.Settled {
			err = &StaleError{Method: method}
		}
		return err == nil, err
	}
	if r.stale++; r.stale > staleRetries {
		return false, &StaleError{Method: method}
	}
	err := s.pause(ctx, staleDelay<<(r.stale-1))
	return err == nil, err
}

// retrigger reads the data of a server cancellation; absent means yes.
func retrigger(data json.RawMessage) bool {
	var d struct {
		Retrigger *bool `json:"retriggerRequest"`
	}
	return json.Unmarshal(data, &d) != nil || d.Retrigger == nil || *d.Retrigger
}

// pause waits d or for the end of the caller or the session.
func (s *Session) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.ctx.Done():
		return s.reason()
	case <-ctx.Done():
		return ctx.Err()
	}
}
