package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

// isTerminal says that a stream is a character device.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	return isTTY(f.Fd()) // /dev/null is a character device too, and nobody sits at it
}

// colors decides whether answers are coloured.
func (a *app) colors() bool {
	switch a.flags.color {
	case "always":
		return true
	case "never":
		return false
	}
	return a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && a.terminal(a.Stdout)
}

// showProgress shows on a terminal what is waited for, in one line that erase removes.
func (a *app) showProgress(ctx context.Context) (_ context.Context, erase func()) {
	if !a.terminal(a.Stderr) {
		return ctx, func() {}
	}
	p := &progressLine{w: a.Stderr, start: time.Now()}
	return query.WithProgress(ctx, p.show), p.erase
}

// progressEvery is the shortest time between two changes of the line.
const progressEvery = 100 * time.Millisecond

type progressLine struct {
	w     io.Writer
	start time.Time

	mu   sync.Mutex // guards what follows, and the line itself
	last time.Time
	on   bool
}

func (p *progressLine) show(q query.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.on = now, true
	text := render.Escape(q.Server + ": " + q.Message)
	if q.Percent >= 0 {
		text += fmt.Sprintf(" %d %%", q.Percent)
	}
	if s := now.Sub(p.start); s >= 2*time.Second {
		text += fmt.Sprintf(" (%.0f s)", s.Seconds())
	}
	if r := []rune(text); len(r) > 78 {
		text = string(r[:77]) + "…"
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
}

func (p *progressLine) erase() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.on = false
	}
}
