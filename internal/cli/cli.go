// Package cli holds the commands that a person or a script types: one file per
// verb. A verb turns arguments into a question and an answer into lines.
//
// It knows the library, where servers and trust are configured, and how answers
// are printed. It must never know a running language server or the wire.
package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

// Process is what a command gets from its surroundings.
type Process struct {
	// Args are the arguments without the program's name.
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Version is what `dragoman version` prints; "" is taken from the build.
	Version string
	// Env is the environment ("K=V"); nil means that of this process.
	Env []string
	// Dir is the current folder; "" means that of this process.
	Dir string

	// open, terminal and program replace the library, the look at a stream, and the
	// path of this program in tests.
	open     opener
	terminal func(stream any) bool
	program  string
}

// opener opens a workspace for a run of the command.
type opener func(ctx context.Context, a *app) (query.Backend, error)

// polite is how long servers are asked to end at the end of a command, before
// they are made to: nothing of theirs is worth the wait of somebody who has the answer.
const polite = 300 * time.Millisecond

// Main runs one command and returns its exit code: 0 answered, 1 nothing found
// (with --exit-code), 2 bad request, 3 no server that may answer, 4 not ready or
// timed out, 5 a server failed, 70 a fault of dragoman, 130 cancelled.
func Main(p Process) int {
	a := newApp(p)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	root := a.root()
	root.SetArgs(a.Args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return a.exit
	}
	if ctx.Err() != nil && query.KindOf(err) != query.BadRequest {
		err = &query.Error{Kind: query.Canceled, Message: "Cancelled.", Err: err}
	}
	if !a.running {
		err = usageError(err)
	}
	a.complain(err)
	return query.ExitCode(err)
}

// app is one run of the command.
type app struct {
	Process
	flags flags
	// running is set when a verb's own work began: errors before that are about usage.
	running bool
	// exit is the exit code of a run without an error.
	exit int
}

func newApp(p Process) *app {
	if p.Env == nil {
		p.Env = os.Environ()
	}
	if p.Dir == "" {
		p.Dir, _ = os.Getwd()
	}
	if p.open == nil {
		p.open = openWorkspace
	}
	if p.terminal == nil {
		p.terminal = isTerminal
	}
	return &app{Process: p}
}

// getenv returns the last value of a variable.
func (a *app) getenv(name string) string {
	for i := len(a.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(a.Env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// logger writes to stderr with -v and nowhere else.
func (a *app) logger() *slog.Logger {
	if !a.flags.verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// complain prints an error where no answer goes.
func (a *app) complain(err error) {
	if a.flags.format == "json" {
		if raw, jsonErr := render.JSONError(err); jsonErr == nil {
			a.say(string(raw))
			return
		}
	}
	a.say("dragoman: " + render.Error(err))
}

// say prints a line to stderr.
func (a *app) say(line string) { _, _ = io.WriteString(a.Stderr, line+"\n") }

// print writes to stdout; a reader that is gone is no fault of ours.
func (a *app) print(s string) error {
	_, err := io.WriteString(a.Stdout, s)
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if err != nil {
		return &query.Error{Kind: query.BadRequest, Err: err,
			Message: "The answer could not be written: " + err.Error() + ".", Hint: "Check where the output goes."}
	}
	return nil
}

// work wraps what a verb does: from here on an error is not about usage.
func (a *app) work(f func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		a.running = true
		return f(c.Context(), args)
	}
}

// withBackend opens the workspace for f, and stops every server after it.
func (a *app) withBackend(ctx context.Context, f func(context.Context, query.Backend) error) error {
	if a.flags.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.flags.timeout+grace)
		defer cancel()
	}
	b, err := a.open(ctx, a)
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), polite)
		defer cancel()
		if err := b.Close(end); err != nil {
			a.logger().Warn("stopping servers", "error", err)
		}
	}()
	return f(ctx, b)
}

// usageError marks what cobra found wrong.
func usageError(err error) error {
	var e *query.Error
	if errors.As(err, &e) {
		return err
	}
	// cobra appends its suggestions to the sentence.
	msg, more, _ := strings.Cut(err.Error(), "\n\n")
	var number *strconv.NumError
	if errors.As(err, &number) {
		msg = strings.TrimSuffix(strings.TrimSuffix(msg, number.Error()), ": ") + ": " + number.Err.Error()
	}
	hint := "`dragoman --help` shows what there is."
	if _, names, found := strings.Cut(more, "Did you mean this?"); found {
		hint = "Did you mean " + strings.Join(strings.Fields(names), ", ") + "? " + hint
	}
	return &query.Error{Kind: query.BadRequest, Message: strings.ToUpper(msg[:1]) + msg[1:] + ".", Hint: hint, Err: err}
}
