package watch

// op is what happened to a name; several may come as one.
type op uint8

const (
	vanishes op = 1 << iota // was removed or moved away
	appears                 // was made or moved here
	writes                  // its content
	permits                 // its attributes
	loses                   // no name: events were lost
)

// event is what the kernel tells: to look at path. It may be older than what a
// listing has shown already.
type event struct {
	path string // absolute
	op   op
	dir  bool // path was a folder then, as far as the kernel tells
}

// kernel is the system's way to tell what happens in single folders. It is used in
// turn (see Watcher.turn).
type kernel interface {
	// add watches a folder; again when it is watched already. Its error matters
	// when it says that something is exhausted.
	add(path string) error
	remove(path string)
	// folders is the number of those watched.
	folders() int
	// complaints are taken and cleared: what went wrong since the last time.
	complaints() []error
	// close gives everything back and waits for the kernel's goroutines.
	close()
}

// drainable is a kernel that queues an event before the call that causes it returns,
// and lets anybody read the queue. So who asks needs to wait for nobody.
type drainable interface {
	kernel
	// nudged is signalled (capacity 1) some time after an event was queued; never closed.
	nudged() <-chan struct{}
	// next is the next event of what was read.
	next() (event, bool)
	// putBack makes ev the next event again.
	putBack(ev event)
	// read gets what fits of the queue, once next has no more: n bytes of it, without
	// waiting. full reports that there may be more.
	read() (n int, full bool, err error)
	// queued is the number of bytes that read has to get.
	queued() int
}
