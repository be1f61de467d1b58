package cli

import (
	"context"

	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

// answer asks one question and prints its answer before the servers are stopped.
func (a *app) answer(ctx context.Context, r query.Request) error {
	return a.withBackend(ctx, func(ctx context.Context, b query.Backend) error {
		ctx, erase := a.showProgress(ctx)
		ans, err := b.Do(ctx, r)
		erase()
		if err != nil {
			return err
		}
		return a.printAnswer(ans)
	})
}

func (a *app) printAnswer(ans *query.Answer) error {
	if ans.Body.Empty() && a.flags.exitCode {
		a.exit = 1
	}
	if a.flags.format == "json" {
		raw, err := render.JSON(ans)
		if err != nil {
			return err
		}
		return a.print(string(raw) + "\n")
	}
	l := lines{dir: a.workspace(), cwd: a.Dir, color: a.colors()}
	l.answer(ans)
	if err := a.print(string(l.out)); err != nil {
		return err
	}
	a.remarks(ans)
	return nil
}

// remarks prints to stderr what is not a line of the answer: that there is none,
// that there is more, and the notes.
func (a *app) remarks(ans *query.Answer) {
	if ans.Body.Empty() {
		bare := *ans
		bare.Notes = nil
		a.say(render.Text(&bare, render.Options{}))
	} else if more := render.More(ans); more != "" {
		a.say(more)
	}
	for _, n := range ans.Notes {
		a.say("Note: " + render.Escape(n.Text))
	}
}
