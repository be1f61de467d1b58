//go:build unix

package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The guard is told, line by line on its standard input:
//
//	?TICKET        a process will be started; TICKET is its standard input's inode
//	+GROUP TICKET  it was, as the leader of this group
//	!TICKET        it was not
//	-GROUP         the group has ended
//
// At the end of that input we are gone. It then ends every group that is left, and
// every process that was announced and got a ticket's pipe, but was not reported
// in time.

const (
	guardArg     = "__guard"
	guardGrace   = time.Second
	guardTimeout = time.Second // of a write to the guard
)

// The guard belongs to the process and not to any value: it guards whatever this
// process starts. turn is held while it is told something.
var (
	guardCallable atomic.Bool // GuardMain was called
	turn          = make(chan struct{}, 1)
	current       guard // held by turn
)

type guard struct {
	process *os.Process
	pipe    *os.File
	lines   map[string]string // what a new guard must be told, by group or ticket
}

// GuardMain turns this process into the guard when it was started as one, and then
// never returns. main and every TestMain call it first; a program that does not
// runs its servers without a guard.
func GuardMain() {
	if len(os.Args) == 2 && os.Args[1] == guardArg {
		watchOver(os.Stdin)
		os.Exit(0)
	}
	guardCallable.Store(true)
}

// ticket is the announcement of one start.
type ticket struct{ inode uint64 }

func announce(stdin *os.File) ticket {
	var st unix.Stat_t
	if err := unix.Fstat(int(stdin.Fd()), &st); err != nil {
		return ticket{}
	}
	t := ticket{st.Ino}
	tell("?"+t.String(), t.String())
	return t
}

func (t ticket) String() string { return strconv.FormatUint(t.inode, 10) }

func (t ticket) started(group int) {
	tell(fmt.Sprintf("+%d %s", group, t), strconv.Itoa(-group), t.String())
}

func (t ticket) withdraw() { tell("!"+t.String(), "", t.String()) }

func forget(group int) { tell("-"+strconv.Itoa(group), "", strconv.Itoa(-group)) }

// tell sends line to the guard, which it starts when there is none. The line is
// remembered under key for a guard that must be replaced; what stands under the old
// keys is settled by it.
func tell(line, key string, old ...string) {
	if !guardCallable.Load() {
		return
	}
	turn <- struct{}{}
	defer func() { <-turn }()
	g := &current
	for _, k := range old {
		delete(g.lines, k)
	}
	if key != "" {
		if g.lines == nil {
			g.lines = map[string]string{}
		}
		g.lines[key] = line
	}
	if g.pipe != nil && g.write(line) {
		return
	}
	g.stop()
	if len(g.lines) > 0 {
		g.start()
	}
}

func (g *guard) write(line string) bool {
	_ = g.pipe.SetWriteDeadline(time.Now().Add(guardTimeout))
	_, err := io.WriteString(g.pipe, line+"\n")
	return err == nil
}

// stop drops a guard that cannot be reached.
func (g *guard) stop() {
	if g.pipe != nil {
		_ = g.pipe.Close()
		_ = g.process.Kill()
		_, _ = g.process.Wait()
	}
	g.pipe, g.process = nil, nil
}

// start runs a new guard and tells it everything. Without one the children run
// unguarded: that is no reason not to serve.
func (g *guard) start() {
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	exe, name := ownExecutable()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		_ = w.Close()
		return
	}
	defer null.Close()
	p, err := os.StartProcess(exe, []string{name, guardArg}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{"GOMAXPROCS=1"},
		Files: []*os.File{r, null, null},
		Sys:   &syscall.SysProcAttr{Setsid: true}, // out of reach of the terminal's Ctrl-C
	})
	if err != nil {
		_ = w.Close()
		return
	}
	g.process, g.pipe = p, w
	for _, line := range g.lines {
		g.write(line)
	}
}

// ownExecutable is our executable, on Linux also after it was replaced on disk.
func ownExecutable() (path, name string) {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	name = filepath.Base(path)
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		path = "/proc/self/exe"
	}
	return path, name
}

// watchOver is the life of the guard process.
func watchOver(input io.Reader) {
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	w := watched{groups: map[int]bool{}, tickets: map[string]bool{}}
	lines := bufio.NewScanner(input)
	for lines.Scan() {
		w.note(lines.Text())
	}
	w.end()
}

// watched is what the guard must end.
type watched struct {
	groups  map[int]bool
	tickets map[string]bool
}

func (w *watched) note(line string) {
	if line == "" {
		return
	}
	rest := line[1:]
	switch line[0] {
	case '?':
		w.tickets[rest] = true
	case '!':
		delete(w.tickets, rest)
	case '+':
		id, ticket, _ := strings.Cut(rest, " ")
		delete(w.tickets, ticket)
		w.add(id)
	case '-':
		if id, err := strconv.Atoi(rest); err == nil {
			delete(w.groups, id)
		}
	}
}

// add never accepts 0 and 1: to kill their negatives is to kill everything.
func (w *watched) add(text string) {
	if id, err := strconv.Atoi(text); err == nil && id > 1 {
		w.groups[id] = true
	}
}

func (w *watched) end() {
	deadline := time.Now().Add(guardGrace)
	told := map[int]bool{}
	for {
		for _, id := range holders(w.tickets) {
			w.groups[id] = true
		}
		for id := range w.groups {
			g := group{id}
			switch {
			case unix.Kill(-id, 0) == unix.ESRCH:
				delete(w.groups, id)
			case !told[id]:
				told[id] = true
				g.terminate()
			}
		}
		late := time.Now().After(deadline)
		if late {
			for id := range w.groups {
				(&group{id}).kill()
			}
		}
		if late || len(w.groups) == 0 && len(w.tickets) == 0 {
			return
		}
		time.Sleep(pollEvery)
	}
}
