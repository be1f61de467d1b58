package intel

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/query"
)

// A server's positions mean something only in the text it had when it was asked. A
// file that changes between the server's answer and the mapping of its positions, the
// asked one or any that holds a result, would put names where they never were. So the
// files on which an answer rests are looked at once more when it is complete, and the
// question is put again when one of them changed since it began.

const (
	// mostTries bounds how often a question is put while files keep changing.
	mostTries = 3
	// clockTick is how much older than the change a file's time stamp can be.
	clockTick = 10 * time.Millisecond
	// lateRetry is the age at which a question is not put again: an answer with a
	// remark is better then than none.
	lateRetry = 15 * time.Second
)

// touched collects paths; the zero value is ready.
type touched struct {
	mu    sync.Mutex // guards paths
	paths map[string]bool
}

// touch tells that the answer rests on the text of a file.
func (q *question) touch(path string) {
	if path == "" {
		return
	}
	q.touched.mu.Lock()
	defer q.touched.mu.Unlock()
	if q.touched.paths == nil {
		q.touched.paths = make(map[string]bool, 4)
	}
	q.touched.paths[path] = true
}

// steady puts the question until the files on which its answer rests stayed the same
// meanwhile; when they never do, the answer says so.
func steady(ctx context.Context, d *Deps, r query.Request) (*query.Answer, error) {
	seen := map[string]stamp{}
	started := time.Now()
	for try := 1; ; try++ {
		q := newQuestion(d, r)
		answer, err := q.once(ctx)
		moved := ctx.Err() == nil && q.restsOnTexts() && q.moved(seen)
		if moved && try < mostTries && time.Since(started) < lateRetry {
			continue
		}
		if err != nil {
			return nil, q.explain(ctx, err)
		}
		q.book.changed = q.book.changed || moved
		q.book.stale = q.book.stale || moved
		return q.finish(answer), nil
	}
}

// restsOnTexts reports that nothing else watches over the texts: problems carry the
// freshness of each file themselves.
func (q *question) restsOnTexts() bool {
	return q.r.Op != query.Diagnostics && q.r.Op != query.WorkspaceDiagnostics
}

// moved reports that a touched file changed after the question began. seen has the
// states before it began, as far as they are known; it gets those of now.
func (q *question) moved(seen map[string]stamp) bool {
	q.touched.mu.Lock()
	defer q.touched.mu.Unlock()
	changed := false
	for path := range q.touched.paths {
		now, ok := stampNow(path)
		if !ok {
			continue
		}
		before, known := seen[path]
		seen[path] = now
		if known {
			changed = changed || before != now
			continue
		}
		changed = changed || now.between(q.began.Add(-clockTick), time.Now())
	}
	return changed
}

// between reports a change in that time. What is dated later was written under another
// clock and proves nothing.
func (s stamp) between(from, to time.Time) bool {
	at := s.mtime
	if s.proves {
		at = s.ctime
	}
	return at >= from.UnixNano() && at <= to.UnixNano()
}

// stampNow is the state of a file; of one that is not there, that of its folder,
// which changed when the file went.
func stampNow(path string) (stamp, bool) {
	info, err := os.Stat(path)
	if err != nil {
		if info, err = os.Stat(filepath.Dir(path)); err != nil {
			return stamp{}, false
		}
	}
	return stampOf(info), true
}
