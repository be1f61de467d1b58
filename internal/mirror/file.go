package mirror

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/dragoman-dev/dragoman/internal/text"
)

// FileError says why a file cannot be mirrored.
type FileError struct {
	Path   string
	Reason Reason
	Size   int64 // with TooLarge
	Limit  int64 // with TooLarge
	Err    error
}

// Reason is why.
type Reason int

// The reasons.
const (
	NotFound Reason = iota
	IsDirectory
	TooLarge
	Binary
	NotUTF8
	Unreadable
	NotRegular
)

// String is the reason in words that continue "the file".
func (r Reason) String() string {
	switch r {
	case NotFound:
		return "does not exist"
	case IsDirectory:
		return "is a directory"
	case TooLarge:
		return "is too large"
	case Binary:
		return "is binary"
	case NotUTF8:
		return "is not UTF-8 text"
	case NotRegular:
		return "is not a regular file"
	}
	return "cannot be read"
}

func (e *FileError) Error() string {
	switch {
	case e.Reason == TooLarge:
		return fmt.Sprintf("%s %v (%.1f MB, the limit is %.1f MB)", e.Path, e.Reason, mb(e.Size), mb(e.Limit))
	case e.Reason == Unreadable && e.Err != nil:
		return fmt.Sprintf("%s %v: %v", e.Path, e.Reason, cause(e.Err))
	}
	return fmt.Sprintf("%s %v", e.Path, e.Reason)
}

func (e *FileError) Unwrap() error { return e.Err }

func mb(n int64) float64 { return float64(n) / (1 << 20) }

// cause is the error without the path that Error names already.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func isFileError(err error) bool {
	var fe *FileError
	return errors.As(err, &fe)
}

// identity of a file's state on disk; where the system has no ctime it is never sure.
type identity struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64 // nanoseconds
}

// racy is how old a file's times must be for a later change to show in them.
const racy = 2 * time.Second

// sureAt reports that a change after now cannot leave the identity equal.
func (id identity) sureAt(now time.Time) bool {
	if id.ctime == 0 {
		return false
	}
	return now.UnixNano()-max(id.mtime, id.ctime) > int64(racy)
}

// file is what was read.
type file struct {
	text []byte // without a byte order mark
	bom  bool
	id   identity
	sure bool
}

// read reads a text file. It never blocks on what is no regular file.
func read(path string, limit int64) (file, error) {
	fail := func(r Reason, size int64, err error) (file, error) {
		return file{}, &FileError{Path: path, Reason: r, Size: size, Limit: limit, Err: err}
	}
	fi, err := os.Stat(path)
	if err != nil {
		return fail(reasonOf(err), 0, err)
	}
	if r, ok := unfitMode(fi.Mode()); ok {
		return fail(r, 0, nil)
	}
	if fi.Size() > limit {
		return fail(TooLarge, fi.Size(), nil)
	}
	now := time.Now() // before the file is looked at: what comes later differs
	b, fi, err := slurp(path, limit)
	if err != nil {
		return fail(reasonOf(err), 0, err)
	}
	if r, ok := unfitMode(fi.Mode()); ok {
		return fail(r, 0, nil) // replaced meanwhile
	}
	if int64(len(b)) > limit {
		return fail(TooLarge, max(fi.Size(), int64(len(b))), nil)
	}
	if r, ok := unfitContent(b); ok {
		return fail(r, 0, nil)
	}
	id := identify(fi)
	stripped := text.StripBOM(b)
	return file{text: stripped, bom: len(stripped) < len(b), id: id, sure: id.sureAt(now)}, nil
}

// slurp reads at most limit+1 bytes of a regular file and stats it before that; of
// anything else it reads nothing.
func slurp(path string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return nil, fi, err
	}
	var b bytes.Buffer
	b.Grow(int(min(fi.Size(), limit)) + bytes.MinRead)
	_, err = b.ReadFrom(io.LimitReader(f, limit+1))
	return b.Bytes(), fi, err
}

func unfitMode(mode fs.FileMode) (Reason, bool) {
	switch {
	case mode.IsDir():
		return IsDirectory, true
	case !mode.IsRegular():
		return NotRegular, true
	}
	return 0, false
}

func unfitContent(b []byte) (Reason, bool) {
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}), bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return NotUTF8, true // UTF-16: text, but not ours
	case bytes.IndexByte(b, 0) >= 0:
		return Binary, true
	case !utf8.Valid(b):
		return NotUTF8, true
	}
	return 0, false
}

func reasonOf(err error) Reason {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return NotFound
	case errors.Is(err, syscall.EISDIR):
		return IsDirectory
	case errors.Is(err, syscall.ENXIO): // a socket, or a pipe without its other end
		return NotRegular
	}
	return Unreadable
}
