package intel

import (
	"container/list"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/text"
)

const (
	// textsBudget bounds the bytes of unopened files that are kept for mapping.
	textsBudget = 4 << 20
	// largestText is the largest unopened file whose text is read for mapping.
	largestText = 32 << 20
	// racy is the age below which a file's time stamp does not prove its text.
	racy = 2 * time.Second
)

// texts keeps the text of files that no server has open, as long as their stat
// stays the same. The zero value is ready.
type texts struct {
	mu    sync.Mutex // guards the rest; never held while reading
	byKey map[string]*list.Element
	order list.List // most recently used first
	bytes int
}

// diskText is the text of a file without its byte order mark.
type diskText struct {
	*text.Mapper
	// bom: the file begins with a mark, which some servers count as a character of
	// the first line when they read the file themselves.
	bom bool
}

type cachedText struct {
	path  string
	stamp stamp
	text  diskText
}

// get returns the text of the file at path.
func (t *texts) get(path string) (diskText, error) {
	info, err := os.Stat(path)
	if err != nil {
		return diskText{}, err
	}
	now := stampOf(info)
	if m := t.lookup(path, now); m.Mapper != nil {
		return m, nil
	}
	if !info.Mode().IsRegular() || info.Size() > largestText {
		return diskText{}, fmt.Errorf("%s: not a text that is read", path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return diskText{}, err
	}
	plain := text.StripBOM(content)
	m := diskText{Mapper: text.NewMapper(plain), bom: len(plain) < len(content)}
	if now.proves && time.Since(info.ModTime()) > racy && len(content) <= textsBudget/4 {
		t.keep(cachedText{path, now, m})
	}
	return m, nil
}

func (t *texts) lookup(path string, now stamp) diskText {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.byKey[path]
	if !ok {
		return diskText{}
	}
	have := e.Value.(cachedText)
	if have.stamp != now {
		t.drop(e)
		return diskText{}
	}
	t.order.MoveToFront(e)
	return have.text
}

func (t *texts) keep(c cachedText) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey == nil {
		t.byKey = map[string]*list.Element{}
	}
	if e, ok := t.byKey[c.path]; ok {
		t.drop(e)
	}
	t.byKey[c.path] = t.order.PushFront(c)
	t.bytes += len(c.text.Content())
	for t.bytes > textsBudget {
		t.drop(t.order.Back())
	}
}

// drop needs mu.
func (t *texts) drop(e *list.Element) {
	c := t.order.Remove(e).(cachedText)
	delete(t.byKey, c.path)
	t.bytes -= len(c.text.Content())
}

// stamp identifies a state of a file.
type stamp struct {
	size, mtime, ctime int64
	inode              uint64
	// proves says that an equal stamp proves an equal text (the system has a ctime).
	proves bool
}
