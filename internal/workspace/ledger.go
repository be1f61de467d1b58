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

// markerLife is how long the presence of a root marker is believed.
const markerLife = time.Second

// markerCache answers for root markers, so that a question in a deep folder does
// not look at the disk for each of them again.
type markerCache struct {
	mu sync.Mutex // guards m
	m  map[string]marker
}

type marker struct {
	yes bool
	at  time.Time
}

func newMarkerCache() *markerCache { return &markerCache{m: map[string]marker{}} }

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

func (c *markerCache) ask(key string, look func() bool) bool {
	now := time.Now()
	c.mu.Lock()
	m, ok := c.m[key]
	c.mu.Unlock()
	if ok && now.Sub(m.at) < markerLife {
		return m.yes
	}
	yes := look()
	c.mu.Lock()
	if len(c.m) > 50000 {
		clear(c.m)
	}
	c.m[key] = marker{yes, now}
	c.mu.Unlock()
	return yes
}

func digest(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

func sortedKeys[V interface{}](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func ext(path string) string { return strings.ToLower(filepath.Ext(path)) }
