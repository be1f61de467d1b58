//go:build !windows

package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// cookieOp is what touching the cookie is reported as.
const cookieOp = writes

// cookie is a file whose event tells how far the queue was read. One touch is under
// way at a time, so the kernel never merges two. After a touch whose event may still
// come late, renew changes the name.
type cookie struct {
	dir string

	mu   sync.Mutex // guards what follows
	file *os.File
	path string
	n    int
}

// newCookie makes a folder below parent ("": the temporary folder) with the file.
func newCookie(parent string) (*cookie, error) {
	dir, err := os.MkdirTemp(parent, "dragoman-watch-")
	if err != nil {
		return nil, err
	}
	c := &cookie{dir: dir}
	if err := c.renew(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return c, nil
}

// renew changes to a file of another name.
func (c *cookie) renew() error {
	c.mu.Lock()
	c.n++
	path := filepath.Join(c.dir, fmt.Sprint(c.n))
	c.mu.Unlock()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	c.mu.Lock()
	old := c.file
	c.file, c.path = f, path
	c.mu.Unlock()
	if old != nil {
		old.Close()
		os.Remove(old.Name())
	}
	return nil
}

func (c *cookie) current() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.path
}

func (c *cookie) touch() error {
	c.mu.Lock()
	f := c.file
	c.mu.Unlock()
	_, err := f.WriteAt([]byte{'.'}, 0)
	if errors.Is(err, os.ErrClosed) {
		return nil // renewed meanwhile, so nobody waits for this one
	}
	return err
}

func (c *cookie) close() {
	c.mu.Lock()
	f := c.file
	c.mu.Unlock()
	f.Close()
	os.RemoveAll(c.dir)
}
