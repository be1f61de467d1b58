package server

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by Open after Close.
var ErrClosed = errors.New("the language server was stopped")

// StartError says why a start failed.
type StartError struct {
	Name   string
	Err    error
	Exit   string
	Stderr string
}

func (e *StartError) Error() string {
	switch {
	case e.Exit != "" && e.Err != nil:
		return fmt.Sprintf("LSP server '%s' failed to start: %v (%s)", e.Name, e.Err, e.Exit)
	case e.Exit != "":
		return fmt.Sprintf("LSP server '%s' failed to start: %s", e.Name, e.Exit)
	}
	return fmt.Sprintf("LSP server '%s' failed to start: %v", e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// FusedError says that the crash budget is spent.
type FusedError struct {
	Name   string
	Max    int
	Stderr string
}

// Error is "LSP server 'name' exceeded max crash recovery attempts (3)".
func (e *FusedError) Error() string {
	return fmt.Sprintf("LSP server '%s' exceeded max crash recovery attempts (%d)", e.Name, e.Max)
}

// GoneError says that the generation that was asked has died.
type GoneError struct {
	Name       string
	Generation int
	Exit       string
	Stderr     string
}

func (e *GoneError) Error() string {
	if e.Exit == "" {
		return fmt.Sprintf("LSP server '%s' ended before it answered", e.Name)
	}
	return fmt.Sprintf("LSP server '%s' ended before it answered (%s)", e.Name, e.Exit)
}

// UnsupportedError says that the server does not know the method.
type UnsupportedError struct{ Name, Method string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("LSP server '%s' does not support %s", e.Name, e.Method)
}

// StaleError says that the content kept changing.
type StaleError struct{ Method string }

func (e *StaleError) Error() string {
	return fmt.Sprintf("the content kept changing while %s was asked", e.Method)
}
