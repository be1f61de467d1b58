// Package proc runs child processes as groups: start, the last part of stderr,
// a bounded stop that reaches grandchildren, and a guard so that nothing survives
// a SIGKILL of this process.
//
// On Unix a group is a process group, and the guard is a second process of the same
// executable that ends the groups when this process is gone (see GuardMain). On
// Windows a group is a job object that the system ends with this process. A process
// that leaves the group on purpose (setsid) is not followed.
//
// It knows nothing of protocols.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

func (e *NotFoundError) Error() string {
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		return e.Path + ": program not found"
	case errors.Is(e.Err, fs.ErrPermission):
		return e.Path + ": not executable"
	}
	return fmt.Sprintf("%s: cannot be executed: %v", e.Path, e.Err)
}

func (e *NotFoundError) Unwrap() error { return e.Err }

// Start runs spec as the leader of a process group of its own, guarded. The context
// bounds the start, not the life. The error is *NotFoundError when the program is
// missing or cannot be executed.
//
// When the leader ends, what is left of its group is ended too, before Done. The
// caller closes Stdin and Stdout; Stdout ends soon after Done even when a process
// that left the group still holds it.
func Start(ctx context.Context, spec Spec) (Handle, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := check(spec); err != nil {
		return nil, err
	}
	c, err := start(spec)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func check(spec Spec) error {
	if !filepath.IsAbs(spec.Path) {
		return fmt.Errorf("program path %q is not absolute", spec.Path)
	}
	if err := executable(spec.Path); err != nil {
		return &NotFoundError{spec.Path, err}
	}
	if spec.Dir == "" {
		return nil
	}
	info, err := os.Stat(spec.Dir)
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("working directory %s is no directory", spec.Dir)
	}
	return nil
}

// LookPath finds name on the given PATH value without running anything; a name
// with a separator is not looked up. The result is absolute. Relative and empty
// entries of path are passed over. The error is *NotFoundError.
func LookPath(name, path string) (string, error) {
	if name == "" {
		return "", &NotFoundError{name, fs.ErrNotExist}
	}
	if filepath.Base(name) != name {
		abs, err := filepath.Abs(name)
		if err != nil {
			return "", &NotFoundError{name, err}
		}
		return firstExecutable(name, abs)
	}
	var denied error
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		found, err := firstExecutable(name, filepath.Join(dir, name))
		if err == nil {
			return found, nil
		}
		if denied == nil && errors.Is(err, fs.ErrPermission) {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", &NotFoundError{name, fs.ErrNotExist}
}

// firstExecutable tries the spellings of a program's file name.
func firstExecutable(name, file string) (string, error) {
	var first error
	for _, f := range spellings(file) {
		err := executable(f)
		if err == nil {
			return f, nil
		}
		if first == nil || errors.Is(err, fs.ErrPermission) {
			first = err
		}
	}
	return "", &NotFoundError{name, first}
}
