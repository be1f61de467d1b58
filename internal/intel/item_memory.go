package intel

import (
	"container/list"
	"hash/maphash"
	"sync"

	"github.com/dragoman-dev/dragoman/internal/lsp"
)

// rememberedItems bounds how many call-hierarchy items are remembered.
const rememberedItems = 1024

// itemMemory knows for the items handed out of which generation and text they
// are. The zero value is ready.
type itemMemory struct {
	mu    sync.Mutex // guards the rest
	byKey map[itemKey]*list.Element
	order list.List // newest first
}

type itemKey struct {
	server, uri, name string
	selection         lsp.Range
}

// origin is the state in which an item was handed out.
type origin struct {
	generation int
	text       uint64
}

type rememberedItem struct {
	key    itemKey
	origin origin
}

var textSeed = maphash.MakeSeed()

func keyOf(server string, item lsp.HierarchyItem) itemKey {
	return itemKey{server, item.URI, item.Name, item.Selection}
}

// originOf is the state of an item's file now; the text counts 0 when it cannot be read.
func (a *ask) originOf(v *view, uri string) origin {
	o := origin{generation: a.sess.Generation()}
	if m := v.mapper(a.q.d.locate(uri).Path); m != nil {
		o.text = maphash.Bytes(textSeed, m.Content())
	}
	return o
}

func (m *itemMemory) remember(key itemKey, o origin) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byKey == nil {
		m.byKey = map[itemKey]*list.Element{}
	}
	if e, ok := m.byKey[key]; ok {
		m.order.Remove(e)
	}
	m.byKey[key] = m.order.PushFront(rememberedItem{key, o})
	if m.order.Len() > rememberedItems {
		oldest := m.order.Remove(m.order.Back()).(rememberedItem)
		delete(m.byKey, oldest.key)
	}
}

func (m *itemMemory) recall(key itemKey) (origin, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.byKey[key]
	if !ok {
		return origin{}, false
	}
	return e.Value.(rememberedItem).origin, true
}
