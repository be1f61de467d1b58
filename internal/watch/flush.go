package watch

import (
	"context"
	"sync"
	"time"
)

// How long a question waits for its turn or its cookie before the subscribers are told to
// compare everything; scans have their own budget, and a queue of two.
const (
	eventPatience = 2 * time.Second
	scanPatience  = 5 * time.Second
)

// flight is one round trip through the event queue, or one piece of the goroutine's
// work, that any number of callers share.
type flight struct {
	done chan struct{} // closed by finish
}

// flights are the round trip under way and the one after it. Who comes while one is
// under way needs the next, since his change may be younger than its cookie.
type flights struct {
	mu            sync.Mutex // guards both
	running, next *flight
}

// join returns the flight to wait for, and whether the caller has to launch it.
func (fs *flights) join() (f *flight, launch bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.running == nil {
		fs.running = &flight{done: make(chan struct{})}
		return fs.running, true
	}
	if fs.next == nil {
		fs.next = &flight{done: make(chan struct{})}
	}
	return fs.next, false
}

func (fs *flights) current() *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.running
}

// land ends f if it is under way and returns the one to launch now, if any.
func (fs *flights) land(f *flight) (launch *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f == nil || fs.running != f {
		return nil
	}
	close(f.done)
	fs.running, fs.next = fs.next, nil
	return fs.running
}

// abandon ends f, and what is under way before it.
func (fs *flights) abandon(f *flight) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f != fs.running && f != fs.next {
		return false
	}
	for _, g := range []*flight{fs.running, fs.next} {
		if g != nil {
			close(g.done)
		}
	}
	fs.running, fs.next = nil, nil
	return true
}

// Flush returns when every change made before the call is in the subscriptions. It
// reads the kernel's queue where it can; elsewhere it touches a cookie file that the
// same queue reports and waits until its event was read; while polling it scans. When that takes too long, subscriptions report
// rescan instead, and Flush returns nil: nothing is missed, only less is known.
// Errors: ctx's, ErrClosed.
func (w *Watcher) Flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.drains && w.polling.Load() == nil {
		if done, err := w.ask(ctx); done {
			return err
		}
	}
	return w.fly(ctx)
}

// fly waits for the next flight.
func (w *Watcher) fly(ctx context.Context) error {
	f, launch := w.flight.join()
	if launch {
		w.launch()
	}
	patience := eventPatience
	if w.polling.Load() != nil {
		patience = scanPatience
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.done:
		return ErrClosed
	case <-timer.C:
		w.giveUp(f)
		return nil
	}
}

// launch sends the running flight off.
func (w *Watcher) launch() {
	if w.cookie != nil && w.polling.Load() == nil {
		w.touch()
		return
	}
	select {
	case w.work <- struct{}{}:
	default:
	}
}

// touch makes the event that the running flight waits for.
func (w *Watcher) touch() {
	if err := w.cookie.touch(); err != nil {
		w.giveEventsUp("the cookie file cannot be written: " + err.Error())
	}
}

// finish ends a flight whose changes are all delivered.
func (w *Watcher) finish(f *flight) {
	if next := w.flight.land(f); next != nil {
		w.launch()
	}
}

// landed: the cookie's event was read.
func (w *Watcher) landed() {
	f := w.flight.current()
	w.checkRoot()
	w.settle()
	w.finish(f)
}

// giveUp ends a flight that took too long. Without any event since the last time
// that happened, the kernel does not tell us and scans are better.
func (w *Watcher) giveUp(f *flight) {
	handled := w.handled.Load()
	w.subs.lost()
	if w.cookie != nil && w.polling.Load() == nil {
		w.renew()
		if w.silentSince.Swap(handled) == handled {
			w.giveEventsUp("the system reports no changes")
		}
	}
	w.flight.abandon(f)
}

func (w *Watcher) giveEventsUp(reason string) {
	select {
	case w.degrade <- reason:
	default:
	}
}

// is reports the event that a touch of the current cookie makes.
func (c *cookie) is(ev event) bool {
	return ev.op&cookieOp != 0 && ev.path == c.current()
}
