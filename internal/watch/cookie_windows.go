package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// cookieOp is what touching the cookie is reported as: a file of a new name, since
// Windows may report a write only when the file is closed, and twice.
const cookieOp = appears

// cookie is a file whose event tells how far the queue was read.
type cookie struct {
	dir string

	mu   sync.Mutex // guards what follows
	path string
	n    int
}

// newCookie makes a folder below parent ("": the temporary folder).
func newCookie(parent string) (*cookie, error) {
	dir, err := os.MkdirTemp(parent, "dragoman-watch-")
	if err != nil {
		return nil, err
	}
	return &cookie{dir: dir}, nil
}

// renew is not needed: each touch has its own name.
func (c *cookie) renew() error { return nil }

func (c *cookie) current() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.path
}

func (c *cookie) touch() error {
	c.mu.Lock()
	c.n++
	old := c.path
	c.path = filepath.Join(c.dir, fmt.Sprint(c.n))
	path := c.path
	c.mu.Unlock()
	if old != "" {
		os.Remove(old)
	}
	return os.WriteFile(path, nil, 0o600)
}

func (c *cookie) close() { os.RemoveAll(c.dir) }
