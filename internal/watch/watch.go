// Package watch notices changes below a folder and hands them to subscribers when
// they ask, so that a question sees every write that happened before it. It works
// on kernel events where there are some and scans where there are none. On Linux an
// event is queued before the write that causes it returns, so who asks empties the
// queue himself; elsewhere a cookie file is touched and its event waited for.
//
// It must never know who wants the events, nor what is in the files.
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Kind is LSP's file change type.
type Kind int

// The kinds.
const (
	Created Kind = 1 + iota
	Changed
	Deleted
)

// String is the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Created:
		return "created"
	case Changed:
		return "changed"
	case Deleted:
		return "deleted"
	}
	return fmt.Sprintf("kind %d", int(k))
}

// Event is a change of one file (never of a folder).
type Event struct {
	Path string // absolute
	Kind Kind
}

// Options tune a watcher.
type Options struct {
	Log *slog.Logger
	// CookieDir is where Flush touches its cookie file, in a folder of its own
	// below it; default: the system's temporary folder. It must be on a local disk.
	// Linux needs none.
	CookieDir string
	// Skip reports folders (absolute) that are not watched beyond the built-in ones.
	// It is called by one goroutine at a time and must be quick.
	Skip func(dir string) bool
	// MaxDirs is the number of folders watched before it polls instead; 0: no limit of its own.
	MaxDirs int

	open func(root string) (kernel, error) // for tests; default: the system's
}

// ErrClosed is returned by Flush after Close.
var ErrClosed = errors.New("watcher is closed")

// Watcher watches one tree. Its goroutine and, where the kernel's queue can be read by
// who asks, the callers of Flush take turns with the tree and the kernel.
type Watcher struct {
	root string
	skip func(string) bool
	max  int
	log  *slog.Logger

	// turn has capacity 1 and is full while somebody uses the tree (other than through
	// its lock), the kernel and failure. It is taken before any lock. The goroutine may
	// keep it for long; callers of Flush do what takes no time.
	turn chan struct{}

	tree     *tree
	kernel   kernel // nil while polling and after Close; set in turn by New, the goroutine and Close
	drains   bool   // the kernel is drainable; set by New
	polling  atomic.Pointer[string]
	unsigned []unsigned    // files whose signature is not known yet; goroutine only
	budget   time.Duration // of a scan
	queue    []string      // folders that the last scan had no time for; goroutine only

	began  time.Time // what was changed before this, and long enough for clocks, was entered as it is
	cookie *cookie   // nil where it is not needed
	flight flights
	subs   subscribers

	work    chan struct{} // capacity 1: a flight waits for the goroutine to scan or drain; never closed
	degrade chan string   // capacity 1: reason to poll from now on; never closed
	handled atomic.Int64  // events read, to tell a backlog from silence

	silentSince atomic.Int64 // handled when a cookie was last given up; -1 never
	failure     string       // why events stopped to suffice; the goroutine deals with it

	life      context.Context // ends with Close
	end       context.CancelFunc
	done      chan struct{} // closed by the goroutine when it ends
	closeOnce sync.Once
}

// New begins to watch root and returns when every folder that exists is watched or
// found unwatchable. It works (polling, see Polling) where there are no events. ctx
// bounds the call only. Events are named below root as it is given here, also when
// root is a symbolic link.
func New(ctx context.Context, root string, o Options) (*Watcher, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}
	if fi, err := os.Stat(root); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	} else if !fi.IsDir() {
		return nil, fmt.Errorf("watch %s: not a folder", root)
	}
	w := &Watcher{
		root: root, skip: o.Skip, max: o.MaxDirs, log: o.Log,
		tree:    newTree(),
		began:   time.Now().Add(-racy),
		budget:  scanBudget,
		turn:    make(chan struct{}, 1),
		work:    make(chan struct{}, 1),
		degrade: make(chan string, 1),
		done:    make(chan struct{}),
	}
	w.life, w.end = context.WithCancel(context.Background())
	w.silentSince.Store(-1)
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if err := w.begin(ctx, o); err != nil {
		w.end()
		w.release()
		return nil, err
	}
	go w.loop()
	return w, nil
}

// begin opens the kernel's watcher and enters the tree; where that is not possible
// it reads the tree for polling.
func (w *Watcher) begin(ctx context.Context, o Options) error {
	if reason := remote(w.root); reason != "" {
		w.poll(reason)
	} else if err := w.open(o); err != nil {
		w.poll(reasonOf(err))
	}
	err := w.enter(ctx, w.root, nil)
	if err != nil && ctx.Err() == nil {
		w.poll(reasonOf(err))
		w.tree.clear()
		err = w.enter(ctx, w.root, nil)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("watch %s: %w", w.root, ctx.Err())
	}
	return err
}

// open starts the kernel's watcher, and watches a cookie where one is needed.
func (w *Watcher) open(o Options) (err error) {
	open := newKernel
	if o.open != nil {
		open = o.open
	}
	if w.kernel, err = open(w.root); err != nil {
		w.kernel = nil
		return err
	}
	if _, w.drains = w.kernel.(drainable); w.drains {
		return nil
	}
	if w.cookie, err = newCookie(o.CookieDir); err != nil {
		return err
	}
	return w.kernel.add(w.cookie.dir)
}

// poll gives the kernel's watches back and scans from now on.
func (w *Watcher) poll(reason string) {
	w.log.Warn("watching by scanning", "root", w.root, "reason", reason)
	w.polling.Store(&reason)
	w.letGo()
}

func (w *Watcher) letGo() {
	if w.kernel != nil {
		w.kernel.close()
		w.kernel = nil
	}
}

// Polling is "" or says why changes are found by scanning.
func (w *Watcher) Polling() string {
	if p := w.polling.Load(); p != nil {
		return *p
	}
	return ""
}

// Watches reports whether a change of the file path is noticed without a look at
// it: it stands in a watched folder and is no symbolic link. While polling nothing is.
func (w *Watcher) Watches(path string) bool {
	return w.polling.Load() == nil && w.tree.covers(path)
}

// Root is the folder, absolute.
func (w *Watcher) Root() string { return w.root }

// Close ends it and waits for its goroutines. Subscriptions get nothing more.
func (w *Watcher) Close() error {
	w.closeOnce.Do(func() {
		w.end()
		<-w.done
		w.turn <- struct{}{} // no Flush keeps it for long
		defer w.pass()
		w.release()
	})
	<-w.done
	return nil
}

func (w *Watcher) release() {
	w.letGo()
	if w.cookie != nil {
		w.cookie.close()
	}
}

// always is a channel that can be received from.
var always = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// sources are where the loop hears from the kernel; nil where it does not.
type sources struct {
	events   <-chan fsnotify.Event
	failures <-chan error
	nudged   <-chan struct{}
}

func (w *Watcher) sources() (s sources) {
	switch k := w.kernel.(type) { // set by this goroutine only, until it ends
	case *notifier:
		s.events, s.failures = k.w.Events, k.w.Errors
	case drainable:
		s.nudged = k.nudged()
	}
	return s
}

// loop does what nobody asks for, and what takes who asks too long, until Close.
func (w *Watcher) loop() {
	defer close(w.done)
	for {
		from := w.sources()
		var idle chan struct{}
		if len(w.unsigned) > 0 {
			idle = always
		}
		select {
		case <-idle:
			w.inTurn(w.sign)
		case <-w.life.Done():
			return
		case <-from.nudged:
			w.inTurn(w.drainAll)
		case ev := <-from.events:
			w.handled.Add(1)
			w.inTurn(func() { w.handle(translate(ev)) })
		case err := <-from.failures:
			w.inTurn(func() { w.failed(err) })
		case reason := <-w.degrade:
			w.inTurn(func() { w.fallBack(reason) })
		case <-w.work:
			w.inTurn(func() { w.workFor(w.flight.current()) })
		}
	}
}

// inTurn does one thing, and what came up meanwhile.
func (w *Watcher) inTurn(f func()) {
	w.turn <- struct{}{}
	defer w.pass()
	f()
	w.settle()
}

// workFor delivers what a waiting flight waits for.
func (w *Watcher) workFor(f *flight) {
	if f == nil {
		return
	}
	if w.polling.Load() != nil {
		w.scanFor(f)
		return
	}
	w.drainAll()
	w.checkRoot()
	w.settle()
	w.finish(f)
}

func (w *Watcher) drainAll() {
	if k, ok := w.kernel.(drainable); ok {
		w.drain(k)
	}
}

// failed deals with what the kernel's watcher complains about. Complaints other than
// lost events are about folders that were gone before their watch was.
func (w *Watcher) failed(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.log.Debug("watching", "error", err)
		return
	}
	w.overflowed()
}

// overflowed compares everything after events were lost.
func (w *Watcher) overflowed() {
	w.log.Info("more changes than the kernel keeps; comparing the whole tree", "root", w.root)
	f := w.flight.current() // began before the scan; its cookie may be among what was lost, or come late
	w.subs.lost()
	w.rescan()
	if w.cookie != nil && f != nil && f == w.flight.current() {
		w.renew()
		w.finish(f)
	}
}

// renew changes the cookie's name so that a late event of the old one means nothing.
func (w *Watcher) renew() {
	if err := w.cookie.renew(); err != nil {
		w.giveEventsUp("the cookie file cannot be made: " + err.Error())
	}
}

// settle deals with what came up while an event was handled: complaints, and that
// the kernel's watches do not suffice. Only the goroutine does.
func (w *Watcher) settle() {
	for w.kernel != nil {
		complaints := w.kernel.complaints()
		if len(complaints) == 0 {
			break
		}
		for _, err := range complaints {
			w.failed(err)
		}
	}
	if reason := w.failure; reason != "" {
		w.failure = ""
		w.fallBack(reason)
	}
}

// fallBack turns to polling in mid-life: everything is compared once.
func (w *Watcher) fallBack(reason string) {
	if w.polling.Load() != nil {
		return
	}
	w.poll(reason)
	f := w.flight.current() // after polling is set: a later one asks for its own scan
	w.subs.lost()
	w.rescan()
	w.finish(f)
}
