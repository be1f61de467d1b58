package proc

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// tick is the unit of processor times in /proc; the kernel reports in USER_HZ,
// which is 100 on every architecture that Go supports.
const tick = int64(time.Second) / 100

// stat is what we need of /proc/PID/stat.
type stat struct {
	pid, group int
	state      byte
	ticks      int64 // of the process and of the children that it reaped
	pages      int64
}

// usage sums up the group.
func (g *group) usage() (cpu, memory int64) {
	found := false
	eachMember(g.id, func(s stat) bool {
		found = true
		cpu += s.ticks * tick
		memory += s.pages * int64(os.Getpagesize())
		return true
	})
	if !found {
		return -1, -1
	}
	return cpu, memory
}

// anyMember reports whether a process of the group lives.
func anyMember(group int) bool {
	found := false
	eachMember(group, func(s stat) bool {
		found = s.state != 'Z' && s.state != 'X'
		return !found
	})
	return found
}

// eachMember visits the processes of a group until visit returns false.
func eachMember(group int, visit func(stat) bool) {
	for _, pid := range processes() {
		s, ok := readStat(pid)
		if ok && s.group == group && !visit(s) {
			return
		}
	}
}

// processes lists the numbers of all processes that we can see.
func processes() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var pids []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func readStat(pid int) (stat, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	return parseStat(pid, b)
}

// parseStat reads the fields behind the command, which is in parentheses and may
// hold anything. The first of them is field 3 of proc(5).
func parseStat(pid int, b []byte) (stat, bool) {
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 22 {
		return stat{}, false
	}
	n := func(field int) int64 {
		v, _ := strconv.ParseInt(string(f[field-3]), 10, 64)
		return v
	}
	return stat{
		pid: pid, state: f[0][0], group: int(n(5)),
		ticks: n(14) + n(15) + n(16) + n(17),
		pages: n(24),
	}, true
}
