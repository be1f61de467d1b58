//go:build !linux && !darwin

package watch

import (
	"io/fs"
	"time"
)

// folderKey is not known here.
func folderKey(fs.FileInfo) key { return key{} }

// signature changes when a file was written (within the clock's resolution) or
// changed its size.
func signature(fi fs.FileInfo) uint64 {
	return mix(uint64(fi.Size()), uint64(fi.ModTime().UnixNano()))
}

// statusTimes: a program can put every time back that is known here.
const statusTimes = false

func statusTime(fs.FileInfo) time.Time { return time.Now() }

// remote is not known here.
func remote(string) string { return "" }
