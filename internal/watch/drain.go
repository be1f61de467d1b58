package watch

import (
	"context"
	"os"
	"time"
)

// ask delivers in the caller's goroutine what the kernel has told until now. done is
// false when the watcher's goroutine is needed: to enter folders, to compare, or
// because there is a lot.
func (w *Watcher) ask(ctx context.Context) (done bool, err error) {
	if ok, err := w.await(ctx); !ok {
		return true, err
	}
	defer w.pass()
	if w.life.Err() != nil {
		return true, ErrClosed
	}
	k, ok := w.kernel.(drainable)
	return ok && w.drainHere(k), nil
}

// await takes the turn; false when that takes too long, of which the subscribers
// learn, or with an error.
func (w *Watcher) await(ctx context.Context) (bool, error) {
	select {
	case w.turn <- struct{}{}:
		return true, nil
	default:
	}
	timer := time.NewTimer(eventPatience)
	defer timer.Stop()
	select {
	case w.turn <- struct{}{}:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case <-w.done:
		return false, ErrClosed
	case <-timer.C:
		w.subs.lost()
		return false, nil
	}
}

func (w *Watcher) pass() { <-w.turn }

// drainHere handles the events that take no time; false when there are others.
func (w *Watcher) drainHere(k drainable) bool {
	if !w.handleLight(k) { // left by another
		return false
	}
	_, full, err := k.read()
	if err != nil {
		w.failure = reasonOf(err)
	}
	return w.handleLight(k) && !full && w.failure == "" && w.rootStands()
}

func (w *Watcher) handleLight(k drainable) bool {
	for ev, ok := k.next(); ok; ev, ok = k.next() {
		if takesTime(ev) {
			k.putBack(ev)
			return false
		}
		w.handle(ev)
	}
	return true
}

// takesTime reports whether handling ev may need more than a look at one name: to
// compare all, to enter a folder, to follow a link to wherever it leads.
func takesTime(ev event) bool {
	if ev.dir || ev.op&loses != 0 {
		return true
	}
	if ev.op&appears == 0 {
		return false
	}
	fi, err := os.Lstat(ev.path)
	return err == nil && !fi.Mode().IsRegular()
}

// drain handles what the kernel has told before the call, whatever it takes. Who
// goes on writing does not keep it busy.
func (w *Watcher) drain(k drainable) {
	left := k.queued()
	w.handleAll(k)
	for left > 0 && w.life.Err() == nil {
		n, _, err := k.read()
		if err != nil {
			w.failure = reasonOf(err)
		}
		if n == 0 {
			return
		}
		left -= n
		w.handleAll(k)
	}
}

func (w *Watcher) handleAll(k drainable) {
	for ev, ok := k.next(); ok; ev, ok = k.next() {
		w.handle(ev)
	}
}
