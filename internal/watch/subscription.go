package watch

import "sync"

// maxPending bounds what a subscription keeps for somebody who does not ask; more
// becomes "compare everything".
const maxPending = 100_000

// Subscription collects events, merged per path: create+delete vanish,
// delete+create is Changed, consecutive changes are one.
type Subscription struct {
	owner *subscribers
	ready chan struct{} // capacity 1; never closed

	mu      sync.Mutex // guards what follows
	order   []Event    // in order of first change; Kind 0 is a vanished one
	at      map[string]int
	gone    int // vanished ones in order
	rescan  bool
	stopped bool
}

// Take returns and clears what is pending, in order of first change. rescan is true
// when events were lost and everything must be compared with the disk.
func (s *Subscription) Take() (events []Event, rescan bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 && !s.rescan {
		return nil, false
	}
	s.compact()
	events, rescan = s.order, s.rescan
	s.order, s.rescan = nil, false
	clear(s.at)
	select {
	case <-s.ready:
	default:
	}
	if len(events) == 0 {
		events = nil
	}
	return events, rescan
}

// Ready is signalled (capacity 1) when something became pending.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Close ends it; what is pending is dropped.
func (s *Subscription) Close() {
	s.owner.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.order, s.at, s.rescan = nil, nil, false
}

// add merges an event into what is pending.
func (s *Subscription) add(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	i, known := s.at[e.Path]
	if !known {
		s.push(e)
		return
	}
	kind := merge(s.order[i].Kind, e.Kind)
	s.order[i].Kind = kind
	if kind == 0 {
		delete(s.at, e.Path)
		s.gone++
		if s.gone > 1000 && s.gone > len(s.order)/2 {
			s.compact()
		}
	}
}

// push appends an event of a path that is not pending. The caller holds mu.
func (s *Subscription) push(e Event) {
	if len(s.at) >= maxPending {
		s.order, s.gone, s.rescan = nil, 0, true
		clear(s.at)
	} else {
		s.at[e.Path] = len(s.order)
		s.order = append(s.order, e)
	}
	s.signal()
}

// merge is what remains of an event and its successor; 0 is nothing.
func merge(first, then Kind) Kind {
	switch {
	case first == Created && then == Deleted:
		return 0
	case first == Created:
		return Created
	case then == Deleted:
		return Deleted
	}
	return Changed
}

// compact removes the vanished ones. The caller holds mu.
func (s *Subscription) compact() {
	if s.gone == 0 {
		return
	}
	kept := s.order[:0]
	for _, e := range s.order {
		if e.Kind != 0 {
			s.at[e.Path] = len(kept)
			kept = append(kept, e)
		}
	}
	s.order, s.gone = kept, 0
}

// lost records that events were lost.
func (s *Subscription) lost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.rescan = true
		s.signal()
	}
}

func (s *Subscription) signal() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// subscribers are the open subscriptions.
type subscribers struct {
	mu   sync.Mutex // guards list; taken before a subscription's mu
	list []*Subscription
}

// Subscribe returns a subscription to all files below root.
func (w *Watcher) Subscribe() *Subscription {
	s := &Subscription{owner: &w.subs, ready: make(chan struct{}, 1), at: make(map[string]int)}
	w.subs.mu.Lock()
	defer w.subs.mu.Unlock()
	w.subs.list = append(w.subs.list, s)
	return s
}

func (s *subscribers) remove(gone *Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, sub := range s.list {
		if sub == gone {
			s.list = append(s.list[:i:i], s.list[i+1:]...)
			return
		}
	}
}

func (s *subscribers) emit(path string, kind Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.list {
		sub.add(Event{Path: path, Kind: kind})
	}
}

func (s *subscribers) lost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.list {
		sub.lost()
	}
}
