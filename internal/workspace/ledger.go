package workspace

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/fleet"
)

// ledgerSize is the number of outside files remembered.
const ledgerSize = 4096

// ledger remembers which instance led to a file outside the workspace.
type ledger struct {
	mu    sync.Mutex // guards both fields
	m     map[string]*list.Element
	order *list.List // most recent first; values are ledgerEntry
}

type ledgerEntry struct {
	path string
	id   fleet.Identity
}

func newLedger() *ledger { return &ledger{m: map[string]*list.Element{}, order: list.New()} }

func (l *ledger) put(path string, id fleet.Identity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.m[path]; e != nil {
		e.Value = ledgerEntry{path, id}
		l.order.MoveToFront(e)
		return
	}
	l.m[path] = l.order.PushFront(ledgerEntry{path, id})
	if l.order.Len() > ledgerSize {
		last := l.order.Back()
		delete(l.m, l.order.Remove(last).(ledgerEntry).path)
	}
}

func (l *ledger) get(path string) (fleet.Identity, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.m[path]
	if e == nil {
		return fleet.Identity{}, false
	}
	l.order.MoveToFront(e)
	return e.Value.(ledgerEntry).id, true
}

// briefLife is how long a look at the disk is believed.
const briefLife = time.Second

// brief remembers answers for a second, so that a question in a deep folder does
// not look at the disk for each marker again.
type brief[V any] struct {
	mu sync.Mutex // guards m
	m  map[string]briefly[V]
}

type briefly[V any] struct {
	v  V
	at time.Time
}

func newBrief[V any]() *brief[V] { return &brief[V]{m: map[string]briefly[V]{}} }

// briefMax is the number of answers kept.
const briefMax = 50_000

func (c *brief[V]) ask(key string, look func() V) V {
	now := time.Now()
	c.mu.Lock()
	b, ok := c.m[key]
	c.mu.Unlock()
	if ok && now.Sub(b.at) < briefLife {
		return b.v
	}
	v := look()
	c.mu.Lock()
	if len(c.m) >= briefMax {
		clear(c.m)
	}
	c.m[key] = briefly[V]{v, now}
	c.mu.Unlock()
	return v
}

// markerCache answers for root markers.
type markerCache struct{ *brief[bool] }

func newMarkerCache() *markerCache { return &markerCache{newBrief[bool]()} }

// Exists reports whether the path exists, or did within the last second.
func (c *markerCache) Exists(path string) bool {
	return c.ask(path, func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// Contains reports whether a file of at most 1 MB holds text.
func (c *markerCache) Contains(path, text string) bool {
	return c.ask(path+"\x00"+text, func() bool {
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() || st.Size() > 1<<20 {
			return false
		}
		b, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(b), text)
	})
}

func digest(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func ext(path string) string { return strings.ToLower(filepath.Ext(path)) }
