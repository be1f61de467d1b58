package watch

import (
	"io/fs"
	"syscall"
	"time"
)

// folderKey identifies a folder.
func folderKey(fi fs.FileInfo) key {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return key{dev: uint64(st.Dev), ino: st.Ino}
	}
	return key{}
}

// signature changes when a file was replaced or (within the clock's resolution) written.
func signature(fi fs.FileInfo) uint64 {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return mix(uint64(fi.Size()), uint64(fi.ModTime().UnixNano()))
	}
	return mix(uint64(st.Dev), st.Ino, uint64(st.Size),
		uint64(st.Mtimespec.Sec), uint64(st.Mtimespec.Nsec), uint64(st.Ctimespec.Sec), uint64(st.Ctimespec.Nsec))
}

// statusTimes: there is a time that no program can put back.
const statusTimes = true

// statusTime is when the file's content, name or attributes were last changed.
func statusTime(fi fs.FileInfo) time.Time {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Unix())
	}
	return time.Now()
}

// remote is not known here.
func remote(string) string { return "" }
