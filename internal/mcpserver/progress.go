package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

// progressEvery is the shortest time between two progress notifications of a call.
const progressEvery = 500 * time.Millisecond

// reportProgress returns a context whose questions send progress notifications
// if the caller gave a token. done waits until the last one is written; it must
// be called before the result is returned.
func reportProgress(ctx context.Context, req *mcp.CallToolRequest) (_ context.Context, done func()) {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return ctx, func() {}
	}
	// The channel keeps a slow client from holding up the question: a report
	// that finds it full is dropped. done closes it; nothing is reported after Do.
	reports := make(chan query.Progress, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		sendProgress(ctx, req.Session, token, reports)
	}()
	ctx = query.WithProgress(ctx, func(p query.Progress) {
		select {
		case reports <- p:
		default:
		}
	})
	return ctx, func() {
		close(reports)
		<-ended
	}
}

func sendProgress(ctx context.Context, s *mcp.ServerSession, token any, reports <-chan query.Progress) {
	start := time.Now()
	var last time.Time
	for p := range reports {
		now := time.Now()
		if !last.IsZero() && now.Sub(last) < progressEvery {
			continue
		}
		last = now
		// The protocol wants a number that grows with each notification; percents
		// of servers fall back, time does not.
		err := s.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token,
			Progress:      now.Sub(start).Seconds(),
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
