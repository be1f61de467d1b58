//go:build unix

package proc

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// group is a process group; its number is the leader's.
type group struct{ id int }

func (g *group) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ticket := announce(cmd.Stdin.(*os.File))
	if err := cmd.Start(); err != nil {
		ticket.withdraw()
		return err
	}
	g.id = cmd.Process.Pid
	ticket.started(g.id)
	return nil
}

// terminate also wakes processes that are stopped: they would not notice.
func (g *group) terminate() {
	_ = unix.Kill(-g.id, unix.SIGTERM)
	_ = unix.Kill(-g.id, unix.SIGCONT)
}

func (g *group) kill() { _ = unix.Kill(-g.id, unix.SIGKILL) }

// sweep asks what empty watches to end, and makes it after the grace time.
func (g *group) sweep(grace time.Duration, empty func() bool) {
	if empty() {
		return
	}
	g.terminate()
	for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(pollEvery) {
		if empty() {
			return
		}
	}
	g.kill()
}

// pollEvery is how often a group is looked at that was told to end.
const pollEvery = 5 * time.Millisecond

// executable says why file cannot be executed.
func executable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	if err := unix.Access(file, unix.X_OK); err != nil {
		return err
	}
	return nil
}

func spellings(file string) []string { return []string{file} }
