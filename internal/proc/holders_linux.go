package proc

import (
	"os"
	"strconv"
	"strings"
)

// holders are the groups of the processes whose standard input is one of the given
// pipes. Only leaders count: what was announced is started as one.
func holders(inodes map[string]bool) []int {
	if len(inodes) == 0 {
		return nil
	}
	var groups []int
	for _, pid := range processes() {
		link, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/0")
		if err != nil {
			continue
		}
		inode, ok := strings.CutPrefix(link, "pipe:[")
		if !ok || !inodes[strings.TrimSuffix(inode, "]")] {
			continue
		}
		if s, ok := readStat(pid); ok && s.group > 1 && s.group == pid {
			groups = append(groups, s.group)
		}
	}
	return groups
}
