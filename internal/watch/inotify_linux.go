package watch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// What is asked of each folder. A write counts when it happens, not when the file is
// closed. What happens to a folder itself is told by the one above; only the root has
// none. IN_EXCL_UNLINK is left out: a file system may take a name for unlinked that
// is not, and an event too many is better than one too few.
const (
	folderMask = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_DELETE |
		unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ONLYDIR
	belowMask = folderMask | unix.IN_DONT_FOLLOW
	rootMask  = folderMask | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
)

// largest is the size of the largest record: a read that leaves room for it has
// emptied the queue.
const largest = unix.SizeofInotifyEvent + unix.NAME_MAX + 1

// inotify is an inotify instance. Its goroutine only waits until there is something
// to read; read, next and the tables are used in turn.
type inotify struct {
	root  string
	file  *os.File // owns fd
	fd    int
	paths map[int32]string // of the folders watched, by descriptor
	wds   map[string]int32 // the inverse

	buf  []byte
	rest []byte // of buf: read, and not yet told
	held *event // put back

	nudge chan struct{}
	done  chan struct{} // closed by the goroutine when it ends
}

func newKernel(root string) (kernel, error) { return newInotify(root) }

func newInotify(root string) (*inotify, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("inotify: %w", err)
	}
	k := &inotify{
		root: root, fd: fd, file: os.NewFile(uintptr(fd), "inotify"),
		paths: make(map[int32]string), wds: make(map[string]int32),
		buf:   make([]byte, 64<<10),
		nudge: make(chan struct{}, 1), done: make(chan struct{}),
	}
	conn, err := k.file.SyscallConn()
	if err != nil {
		k.file.Close()
		return nil, fmt.Errorf("inotify: %w", err)
	}
	go k.wait(conn)
	return k, nil
}

// wait nudges whenever the descriptor became readable, until close.
func (k *inotify) wait(conn syscall.RawConn) {
	defer close(k.done)
	conn.Read(func(uintptr) bool { //nolint:errcheck // it is closed
		select {
		case k.nudge <- struct{}{}:
		default:
		}
		return false // the poller wakes us for each event queued from now on
	})
}

func (k *inotify) close() {
	k.file.Close()
	<-k.done
}

func (k *inotify) nudged() <-chan struct{} { return k.nudge }

func (k *inotify) folders() int { return len(k.paths) }

func (k *inotify) complaints() []error { return nil }

// add watches path. The kernel has one watch per folder: when it knows this one by
// another name, the new name counts; when it knows another folder by this name, that
// one is let go.
func (k *inotify) add(path string) error {
	mask := uint32(belowMask)
	if path == k.root {
		mask = rootMask
	}
	n, err := unix.InotifyAddWatch(k.fd, path, mask)
	if err != nil {
		return err
	}
	wd := int32(n)
	if old, known := k.wds[path]; known && old != wd {
		k.forget(old, path)
		unix.InotifyRmWatch(k.fd, uint32(old)) //nolint:errcheck // it may be gone
	}
	if name, known := k.paths[wd]; known && name != path {
		delete(k.wds, name)
	}
	k.paths[wd], k.wds[path] = path, wd
	return nil
}

// remove lets a folder go. Events of it that are queued mean nothing any more: no
// descriptor is used twice.
func (k *inotify) remove(path string) {
	if wd, known := k.wds[path]; known {
		k.forget(wd, path)
		unix.InotifyRmWatch(k.fd, uint32(wd)) //nolint:errcheck // it may be gone
	}
}

func (k *inotify) forget(wd int32, path string) {
	delete(k.paths, wd)
	delete(k.wds, path)
}

func (k *inotify) queued() int {
	n, err := unix.IoctlGetUint32(k.fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return int(n)
}

func (k *inotify) read() (n int, full bool, err error) {
	for {
		n, err = unix.Read(k.fd, k.buf)
		switch err {
		case nil:
			k.rest = k.buf[:n]
			return n, n > len(k.buf)-largest, nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, false, nil
		default:
			return 0, false, fmt.Errorf("inotify: %w", err)
		}
	}
}

func (k *inotify) putBack(ev event) { k.held = &ev }

// next names its event by what is watched now, so that it is right about all events
// before it that were handled.
func (k *inotify) next() (event, bool) {
	if ev := k.held; ev != nil {
		k.held = nil
		return *ev, true
	}
	for len(k.rest) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(k.rest))
		mask := binary.NativeEndian.Uint32(k.rest[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(k.rest[12:]))
		name, _, _ := bytes.Cut(k.rest[unix.SizeofInotifyEvent:end], []byte{0})
		k.rest = k.rest[end:]
		if ev, ok := k.resolve(wd, mask, name); ok {
			return ev, true
		}
	}
	return event{}, false
}

// resolve tells what a record means; false when nothing.
func (k *inotify) resolve(wd int32, mask uint32, name []byte) (event, bool) {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		return event{op: loses}, true
	}
	path, known := k.paths[wd]
	switch {
	case !known: // let go
		return event{}, false
	case mask&unix.IN_IGNORED != 0: // and not by us: removed, or another file system taken from above it
		k.forget(wd, path)
		return event{path: path, op: vanishes | appears, dir: true}, true
	case len(name) == 0: // about the folder itself
		return event{path: path, op: vanishes, dir: true}, mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF) != 0
	}
	ev := event{op: opOf(mask), dir: mask&unix.IN_ISDIR != 0}
	if ev.op == permits && !ev.dir {
		return event{}, false // readable or not, a file is there
	}
	ev.path = below(path, name)
	return ev, ev.op != 0
}

func opOf(mask uint32) (o op) {
	for _, m := range [...]struct {
		mask uint32
		op   op
	}{
		{unix.IN_DELETE | unix.IN_MOVED_FROM, vanishes},
		{unix.IN_CREATE | unix.IN_MOVED_TO, appears},
		{unix.IN_MODIFY, writes},
		{unix.IN_ATTRIB, permits},
	} {
		if mask&m.mask != 0 {
			o |= m.op
		}
	}
	return o
}

// below joins what needs no cleaning.
func below(dir string, name []byte) string {
	if dir == "/" {
		return dir + string(name)
	}
	return dir + "/" + string(name)
}
