package proc

import (
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// awaitLeader returns when the leader has ended, and leaves it unreaped: as long as
// it is a zombie its number, and with it the group's, cannot become somebody else's.
func (g *group) awaitLeader(*exec.Cmd) {
	for unix.Waitid(unix.P_PID, g.id, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// endLeftovers ends what the leader left behind in its group.
func (g *group) endLeftovers(grace time.Duration) {
	g.sweep(grace, func() bool { return !anyMember(g.id) })
	forget(g.id)
}

func (g *group) release(time.Duration) {}
