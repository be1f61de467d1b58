//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package proc

import (
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// awaitLeader returns when the leader has ended, and leaves it unreaped.
func (g *group) awaitLeader(*exec.Cmd) {
	kq, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(kq)
	var e unix.Kevent_t
	unix.SetKevent(&e, g.id, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	e.Fflags = unix.NOTE_EXIT
	out := make([]unix.Kevent_t, 1)
	for {
		// An error other than EINTR means that it ended before we asked.
		if _, err := unix.Kevent(kq, []unix.Kevent_t{e}, out, nil); err != unix.EINTR {
			return
		}
	}
}

func (g *group) endLeftovers(time.Duration) {}

// release ends what the leader left behind in its group. The leader is reaped, but
// a group that still has members keeps its number.
func (g *group) release(grace time.Duration) {
	g.sweep(grace, func() bool { return unix.Kill(-g.id, 0) == unix.ESRCH })
	forget(g.id)
}

func (g *group) usage() (cpu, memory int64) { return -1, -1 }
