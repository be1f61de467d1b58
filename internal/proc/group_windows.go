package proc

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object that ends with its last handle, which is ours: nothing
// survives this process, however it ends. Not tested on a real machine.
type group struct {
	job windows.Handle
	pid uint32
}

func (g *group) start(cmd *exec.Cmd) error {
	job, err := newJob()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	g.job, g.pid = job, uint32(cmd.Process.Pid)
	if err := g.adopt(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(job)
		return err
	}
	return nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

func (g *group) adopt() error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, g.pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(p)
	return windows.AssignProcessToJobObject(g.job, p)
}

func (g *group) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.pid)
}

func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

func (g *group) awaitLeader(cmd *exec.Cmd) {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, g.pid)
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	_, _ = windows.WaitForSingleObject(h, windows.INFINITE)
}

func (g *group) endLeftovers(time.Duration) { g.kill() }

func (g *group) release(time.Duration) { _ = windows.CloseHandle(g.job) }

func (g *group) usage() (cpu, memory int64) { return -1, -1 }

// GuardMain does nothing here: job objects end with this process.
func GuardMain() {}

// executable says why file cannot be executed.
func executable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return errors.New("is a directory")
	}
	if !runnable(file) {
		return fs.ErrPermission
	}
	return nil
}

func runnable(file string) bool {
	for _, e := range extensions() {
		if strings.EqualFold(filepath.Ext(file), e) {
			return true
		}
	}
	return false
}

func extensions() []string {
	v := os.Getenv("PATHEXT")
	if v == "" {
		v = ".com;.exe;.bat;.cmd"
	}
	return strings.Split(strings.ToLower(v), ";")
}

// spellings are the file names under which a program may lie.
func spellings(file string) []string {
	if runnable(file) {
		return []string{file}
	}
	var all []string
	for _, e := range extensions() {
		all = append(all, file+e)
	}
	return all
}
