// Package fleet holds the running servers of this process, one for each identity,
// and keeps their number per name small: the least recently asked is stopped first.
//
// It speaks no LSP and does not know why a server is wanted.
package fleet

import (
	"context"
	"errors"
	"sort"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/server"
)

// Identity tells servers apart. Two questions with equal identities share one.
type Identity struct {
	Root, Name, Hash string
	// Variant tells instances of one root apart (the Python interpreter).
	Variant string
	// Env is a digest of what of the environment matters to the server.
	Env string
}

// String is "lsp:root:name:hash".
func (i Identity) String() string {
	return "lsp:" + i.Root + ":" + i.Name + ":" + i.Hash
}

// DefaultPerName is the number of instances of one server.
const DefaultPerName = 4

const (
	// overshoot times the number of instances are kept at most while questions at once
	// need more.
	overshoot = 3
	// aboutToUse is the time between getting a server and asking it.
	aboutToUse = 250 * time.Millisecond
)

// stopLimit bounds the stop of a server that had to make room.
const stopLimit = 10 * time.Second

// Instance is a server that was made.
type Instance struct {
	ID     Identity
	Server *server.Server
	Asked  time.Time
}

// Fleet is safe for concurrent use.
type Fleet struct {
	perName int
	stops   sync.WaitGroup // servers being stopped to make room

	mu     sync.Mutex // guards the fields below; never held over I/O
	closed bool
	m      map[Identity]*Instance
}

// New returns an empty fleet that keeps at most perName instances of one name, more
// only while they are in use at once; 0 means DefaultPerName.
func New(perName int) *Fleet {
	if perName <= 0 {
		perName = DefaultPerName
	}
	return &Fleet{perName: perName, m: map[Identity]*Instance{}}
}

// ErrClosed is returned after Close.
var ErrClosed = errors.New("fleet: closed")

// Get returns the server of an identity and marks it as asked; made is called,
// under the fleet's lock, when there is none yet, and must not block.
func (f *Fleet) Get(id Identity, made func() *server.Server) (*server.Server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, ErrClosed
	}
	if in := f.m[id]; in != nil {
		in.Asked = time.Now()
		f.trim(id.Name, f.perName)
		return in.Server, nil
	}
	f.trim(id.Name, f.perName-1)
	in := &Instance{ID: id, Server: made(), Asked: time.Now()}
	f.m[id] = in
	return in.Server, nil
}

// trim stops the least recently asked instances of a name until at most keep are
// left, off the caller's path. One that is in use, or was asked a moment ago and so
// is about to be, is passed over as long as there are not far too many.
func (f *Fleet) trim(name string, keep int) {
	var same []*Instance
	for _, in := range f.m {
		if in.ID.Name == name {
			same = append(same, in)
		}
	}
	sort.Slice(same, func(i, j int) bool { return same[i].Asked.Before(same[j].Asked) })
	n, most := len(same), keep+(overshoot-1)*f.perName
	for _, old := range same {
		if n <= keep {
			return
		}
		if n <= most && (old.Server.InUse() || time.Since(old.Asked) < aboutToUse) {
			continue
		}
		n--
		delete(f.m, old.ID)
		f.stops.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
			defer cancel()
			_ = old.Server.Close(ctx)
		})
	}
}

// Live lists the instances, most recently asked first.
func (f *Fleet) Live() []Instance {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Instance
	for _, in := range f.m {
		out = append(out, *in)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Asked.After(out[j].Asked) })
	return out
}

// Close stops all servers in parallel and waits, also for those that were stopped
// before. It is idempotent.
func (f *Fleet) Close(ctx context.Context) error {
	f.mu.Lock()
	f.closed = true
	var all []*Instance
	for id, in := range f.m {
		all = append(all, in)
		delete(f.m, id)
	}
	f.mu.Unlock()

	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, in := range all {
		wg.Go(func() { errs[i] = in.Server.Close(ctx) })
	}
	wg.Wait()
	f.stops.Wait()
	return errors.Join(errs...)
}
