// Package proc runs child processes as groups: start, the last part of stderr,
// a bounded stop that reaches grandchildren, and a guard so that nothing survives
// a SIGKILL of this process. It knows nothing of protocols.
package proc

import (
	"context"
	"io"
)

// Spec is what to run. There is no shell and no look-up: Path is absolute.
type Spec struct {
	Path string
	Args []string // without argv[0]
	Dir  string
	Env  []string // whole environment, "K=V"
}

// Handle is a running peer: a child process, or a stand-in in memory.
type Handle interface {
	Stdin() io.WriteCloser
	Stdout() io.ReadCloser
	// PID is 0 for a peer that is no process.
	PID() int
	// Stderr is the last part of what it wrote there (4 KB).
	Stderr() string
	// Done is closed when it has ended and was reaped.
	Done() <-chan struct{}
	// Exit describes the end ("exit status 1", "signal: killed"); "" while it runs.
	Exit() string
	// Terminate asks the whole group to end, Kill makes it. Both return at once.
	Terminate()
	Kill()
	// CPU is the processor time used so far by the group in nanoseconds, -1 when unknown.
	CPU() int64
	// Memory is the resident size of the group in bytes, -1 when unknown.
	Memory() int64
}

// NotFoundError says that the program does not exist or may not be executed.
type NotFoundError struct {
	Path string
	Err  error
}

func (e *NotFoundError) Error() string { panic("unfilled") }
func (e *NotFoundError) Unwrap() error { return e.Err }

// Start runs spec as the leader of a process group of its own, guarded.
func Start(ctx context.Context, spec Spec) (Handle, error) { panic("unfilled") }

// GuardMain turns this process into the guard when it was started as one, and then
// never returns. main and every TestMain call it first; a program that does not
// runs its servers without a guard.
func GuardMain() { panic("unfilled") }

// LookPath finds name on the given PATH value without running anything; a name
// with a separator is not looked up. The result is absolute.
func LookPath(name, path string) (string, error) { panic("unfilled") }
