package watch

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// folderKey identifies a folder.
func folderKey(fi fs.FileInfo) key {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return key{dev: uint64(st.Dev), ino: st.Ino}
	}
	return key{}
}

// folderAt is the folder that path means, links followed; false when it is none. It is
// asked in each Flush, so it does without what os.Stat makes.
func folderAt(path string) (key, bool) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	for err == unix.EINTR {
		err = unix.Stat(path, &st)
	}
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return key{}, false
	}
	return key{dev: uint64(st.Dev), ino: st.Ino}, true
}

// signature changes when a file was replaced or (within the clock's resolution) written.
func signature(fi fs.FileInfo) uint64 {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return mix(uint64(fi.Size()), uint64(fi.ModTime().UnixNano()))
	}
	return mix(uint64(st.Dev), st.Ino, uint64(st.Size),
		uint64(st.Mtim.Sec), uint64(st.Mtim.Nsec), uint64(st.Ctim.Sec), uint64(st.Ctim.Nsec))
}

// remoteFS are file systems that others may write to without our kernel noticing.
var remoteFS = map[uint32]string{
	unix.NFS_SUPER_MAGIC:   "NFS",
	unix.SMB_SUPER_MAGIC:   "SMB",
	unix.SMB2_SUPER_MAGIC:  "SMB",
	unix.CIFS_SUPER_MAGIC:  "SMB",
	unix.V9FS_MAGIC:        "9p",
	unix.FUSE_SUPER_MAGIC:  "FUSE",
	unix.CEPH_SUPER_MAGIC:  "Ceph",
	unix.AFS_SUPER_MAGIC:   "AFS",
	unix.AFS_FS_MAGIC:      "AFS",
	unix.CODA_SUPER_MAGIC:  "Coda",
	unix.OCFS2_SUPER_MAGIC: "OCFS2",
	0x0bd00bd0:             "Lustre",
	0x786f4256:             "VirtualBox",
}

// statusTimes: there is a time that no program can put back.
const statusTimes = true

// statusTime is when the file's content, name or attributes were last changed.
func statusTime(fi fs.FileInfo) time.Time {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return time.Now()
}

// remote is "" or says why events cannot be relied on below root.
func remote(root string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err != nil {
		return ""
	}
	if name := remoteFS[uint32(st.Type)]; name != "" {
		return "the folder is on a shared file system (" + name + ")"
	}
	return ""
}
