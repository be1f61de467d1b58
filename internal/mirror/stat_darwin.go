package mirror

import (
	"io/fs"
	"syscall"
)

// nonblock opens a pipe without waiting for its other end.
const nonblock = syscall.O_NONBLOCK

func identify(fi fs.FileInfo) identity {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{size: fi.Size(), mtime: fi.ModTime().UnixNano()}
	}
	return identity{
		dev: uint64(st.Dev), ino: st.Ino, size: st.Size,
		mtime: st.Mtimespec.Nano(), ctime: st.Ctimespec.Nano(),
	}
}
