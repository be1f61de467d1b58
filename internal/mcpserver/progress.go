package mcpserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

// progressEvery is the shortest time between two progress notifications of a call.
const progressEvery = 500 * time.Millisecond

// reporter sends the progress notifications of one call.
type reporter struct {
	session *mcp.ServerSession
	token   any
	start   time.Time
	// reports keeps a slow client from holding up the question: a report that
	// finds it full is dropped. It is never closed.
	reports chan query.Progress
	// stop is closed by done, ended by the sender, which the first report starts.
	stop, ended chan struct{}
	once        sync.Once
}

// reportProgress returns a context whose questions send progress notifications
// if the caller gave a token. done waits until the last one is written; it must
// be called once, before the result is returned.
func reportProgress(ctx context.Context, req *mcp.CallToolRequest) (_ context.Context, done func()) {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return ctx, func() {}
	}
	r := &reporter{
		session: req.Session, token: token, start: time.Now(),
		reports: make(chan query.Progress, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	report := func(p query.Progress) {
		r.once.Do(func() { go r.send(ctx) })
		select {
		case r.reports <- p:
		default:
		}
	}
	return query.WithProgress(ctx, report), func() {
		close(r.stop)
		r.once.Do(func() { close(r.ended) }) // nothing was reported
		<-r.ended
	}
}

func (r *reporter) send(ctx context.Context) {
	defer close(r.ended)
	var last time.Time
	for {
		var p query.Progress
		select {
		case <-r.stop:
			return
		case p = <-r.reports:
		}
		now := time.Now()
		if !last.IsZero() && now.Sub(last) < progressEvery {
			continue
		}
		last = now
		// The protocol wants a number that grows with each notification; percents
		// of servers fall back, time does not.
		err := r.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: r.token,
			Progress:      now.Sub(r.start).Seconds(),
			Message:       progressText(p),
		})
		if err != nil {
			return
		}
	}
}

// progressText is "gopls: Loading packages (63 %)".
func progressText(p query.Progress) string {
	s := p.Message
	if s == "" {
		s = "working"
	}
	if p.Server != "" {
		s = p.Server + ": " + s
	}
	if p.Percent >= 0 {
		s = fmt.Sprintf("%s (%d %%)", s, p.Percent)
	}
	return render.Escape(s)
}
