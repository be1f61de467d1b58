package watch

import (
	"github.com/fsnotify/fsnotify"
)

// notifier is the kernel by way of fsnotify, for systems whose queue we do not read
// ourselves. Only a cookie's event tells how far that was read.
type notifier struct {
	w         *fsnotify.Watcher // unbuffered: at most one event is resolved to a path ahead of us
	complaint []error           // read while a call was waited for
}

func newNotifier() (kernel, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &notifier{w: w}, nil
}

func (n *notifier) add(path string) error {
	return n.ask(func() error { return n.w.Add(path) })
}

func (n *notifier) remove(path string) {
	n.ask(func() error { return n.w.Remove(path) }) //nolint:errcheck // it is gone, or was never there
}

func (n *notifier) folders() int { return len(n.w.WatchList()) }

func (n *notifier) complaints() []error {
	all := n.complaint
	n.complaint = nil
	return all
}

func (n *notifier) close() { n.w.Close() }

// ask makes a call and takes complaints meanwhile: fsnotify may hold the lock that
// the call needs until somebody listens to one.
func (n *notifier) ask(call func() error) error {
	answer := make(chan error, 1)
	go func() { answer <- call() }()
	for {
		select {
		case err := <-answer:
			return err
		case err := <-n.w.Errors:
			n.complaint = append(n.complaint, err)
		}
	}
}

// translate makes an event of fsnotify's.
func translate(ev fsnotify.Event) event {
	e := event{path: ev.Name}
	if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
		e.op |= vanishes
	}
	if ev.Has(fsnotify.Create) {
		e.op |= appears
	}
	if ev.Has(fsnotify.Write) {
		e.op |= writes
	}
	if ev.Has(fsnotify.Chmod) {
		e.op |= permits
	}
	return e
}
