//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeAtomic is the length up to which POSIX writes all or nothing to a pipe that does
// not wait (PIPE_BUF is 512 at the least, 4096 on Linux).
const pipeAtomic = 512

// input is our end of a child's standard input.
type input struct{ *os.File }

// TryWrite writes all of p at once or nothing, and never waits. It must not run
// beside a Write.
func (i input) TryWrite(p []byte) (done bool) {
	if len(p) > pipeAtomic {
		return false
	}
	raw, err := i.SyscallConn()
	if err != nil {
		return false
	}
	n := 0
	err = raw.Write(func(fd uintptr) bool {
		n, _ = unix.Write(int(fd), p)
		return true
	})
	return err == nil && n == len(p)
}
