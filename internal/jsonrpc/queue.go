package jsonrpc

import (
	"encoding/json"
	"errors"
	"sync"
)

var errBacklog = errors.New("the peer sends faster than its messages can be handled")

// item is one thing for the dispatcher: a notification, a request (id set), or the
// delivery of a response behind them (deliver set).
type item struct {
	prev, next *item
	method     string
	params     json.RawMessage
	id         json.RawMessage
	key        string
	deliver    func()
}

func (it *item) size() int { return len(it.params) + len(it.method) + 128 }

// queue holds what arrived and was not dispatched yet, in order of arrival.
type queue struct {
	wake  chan struct{} // 1-buffered; never closed
	limit int           // of bytes

	mu       sync.Mutex // guards what follows
	root     item       // list: root.next is the oldest
	bytes    int
	newest   map[string]*item // by key, since the last response
	busy     bool             // the dispatcher runs a handler
	finished bool             // nothing will be pushed any more
	dropping bool             // only deliveries are still of interest
}

func newQueue(limit int) *queue {
	q := &queue{wake: make(chan struct{}, 1), limit: limit, newest: map[string]*item{}}
	q.root.prev, q.root.next = &q.root, &q.root
	return q
}

// push appends it and drops the older one of its key; dropped says whether there
// was one. After finish it does nothing.
func (q *queue) push(it *item) (dropped bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.finished {
		return false, nil
	}
	if it.key != "" {
		old := q.newest[it.key]
		if dropped = old != nil; dropped {
			q.remove(old)
		}
		q.newest[it.key] = it
	}
	q.append(it)
	if q.bytes > q.limit {
		return dropped, errBacklog
	}
	return dropped, nil
}

// deliver calls f behind everything pushed so far: at once where that was all
// dispatched. Notifications before it are not replaced by later ones any more.
func (q *queue) deliver(f func()) {
	q.mu.Lock()
	idle := q.root.next == &q.root && !q.busy
	if !idle {
		clear(q.newest)
		q.append(&item{deliver: f})
	}
	q.mu.Unlock()
	if idle {
		f()
	}
}

// pop waits for the next item; nil means that there will be none.
func (q *queue) pop() *item {
	for {
		it, finished := q.tryPop()
		if it != nil || finished {
			return it
		}
		<-q.wake
	}
}

func (q *queue) tryPop() (it *item, finished bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	for q.root.next != &q.root {
		it := q.root.next
		q.remove(it)
		if q.dropping && it.deliver == nil {
			continue
		}
		q.busy = true
		return it, false
	}
	return nil, q.finished
}

// finish lets pop end after what is queued; drop also throws that away, but for
// deliveries.
func (q *queue) finish() { q.end(false) }
func (q *queue) drop()   { q.end(true) }

func (q *queue) end(dropping bool) {
	q.mu.Lock()
	q.finished = true
	q.dropping = q.dropping || dropping
	q.mu.Unlock()
	q.signal()
}

func (q *queue) append(it *item) {
	last := q.root.prev
	last.next, it.prev = it, last
	it.next, q.root.prev = &q.root, it
	q.bytes += it.size()
	q.signal()
}

func (q *queue) remove(it *item) {
	it.prev.next, it.next.prev = it.next, it.prev
	it.prev, it.next = nil, nil
	q.bytes -= it.size()
	if it.key != "" && q.newest[it.key] == it {
		delete(q.newest, it.key)
	}
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
