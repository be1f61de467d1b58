package query

import (
	"context"
	"errors"
)

// Kind classifies an error for decisions (retry, exit code).
type Kind string

// The kinds of error.
const (
	BadRequest   Kind = "BadRequest"
	NoServer     Kind = "NoServer"
	NotAdmitted  Kind = "NotAdmitted"
	NotInstalled Kind = "NotInstalled"
	StartFailed  Kind = "StartFailed"
	NotReady     Kind = "NotReady"
	Unsupported  Kind = "Unsupported"
	Timeout      Kind = "Timeout"
	Canceled     Kind = "Canceled"
	ServerGone   Kind = "ServerGone"
	ServerError  Kind = "ServerError"
	StaleText    Kind = "Stale"
	Internal     Kind = "Internal"
)

// Error is one clear sentence (Message), one hint that can be acted on, and a kind.
type Error struct {
	Kind    Kind
	Op      Op
	Server  string
	Path    string
	Message string
	Hint    string
	Err     error
}

// Error returns the sentence without the hint.
func (e *Error) Error() string {
	if e.Message != "" {
		return e.Message
	}
	if e.Err != nil {
		return e.Err.Error()
	}
	return string(e.Kind)
}

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of err: Canceled and Timeout for context errors,
// Internal for errors of no known kind, "" for nil.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Internal
}

// ExitCode is the exit code that the command line gives for err.
func ExitCode(err error) int {
	switch KindOf(err) {
	case "":
		return 0
	case BadRequest:
		return 2
	case NoServer, NotAdmitted, NotInstalled, Unsupported:
		return 3
	case NotReady, Timeout, StaleText:
		return 4
	case StartFailed, ServerGone, ServerError:
		return 5
	case Canceled:
		return 130
	}
	return 70
}
