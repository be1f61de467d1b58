package cli

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/dragoman-dev/dragoman/internal/mcpserver"
	"github.com/dragoman-dev/dragoman/query"
)

const mcpLong = `Serve the lsp tool over MCP on standard input and output, until the input ends.
Put this command into the configuration of an agent; it needs no arguments.`

const mcpExample = `  claude mcp add dragoman -- dragoman mcp
  dragoman mcp --workspace ~/src/project`

func (a *app) mcpCommand() *cobra.Command {
	var limit time.Duration
	c := &cobra.Command{
		Use: "mcp", Short: "Serve agents over MCP (stdio)", Long: mcpLong, Example: mcpExample, Args: none,
		RunE: a.work(func(ctx context.Context, _ []string) error {
			a.flags.timeout = limit
			return a.serveMCP(ctx)
		}),
	}
	c.Flags().DurationVar(&limit, "call-limit", 0, "end a call after this `TIME` (default: the setting callLimit, else 50s)")
	return c
}

// Collecting less often costs some megabytes and saves time in each call;
// the limit keeps the whole process small when answers are large.
const (
	gcPercent   = 200
	memoryLimit = 32 << 20
)

// sessionEnd is the same at the end of a session: hosts kill after about two seconds.
const sessionEnd = 1500 * time.Millisecond

func (a *app) serveMCP(ctx context.Context) error {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	// Opening looks around in the workspace; the handshake does not wait for that.
	b := openInBackground(ctx, a)
	serveErr := mcpserver.Serve(ctx, mcpserver.Options{Backend: b, Version: a.version(), Logger: a.logger(), CallLimit: a.backstop()}, a.Stdin, a.Stdout)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessionEnd)
	defer cancel()
	if err := b.Close(end); err != nil {
		a.logger().Warn("stopping servers", "error", err)
	}
	if errors.Is(serveErr, context.Canceled) {
		return nil // a signal is the usual way to end
	}
	return serveErr
}

// pending is a backend that is still being opened.
type pending struct {
	// done is closed by the opening goroutine when backend and err are set.
	done    chan struct{}
	cancel  context.CancelFunc
	backend query.Backend
	err     error
}

func openInBackground(ctx context.Context, a *app) *pending {
	ctx, cancel := context.WithCancel(ctx)
	p := &pending{done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(p.done)
		p.backend, p.err = a.open(ctx, a)
	}()
	return p
}

func (p *pending) wait(ctx context.Context) (query.Backend, error) {
	select {
	case <-p.done:
		return p.backend, p.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Do implements query.Backend.
func (p *pending) Do(ctx context.Context, r query.Request) (*query.Answer, error) {
	b, err := p.wait(ctx)
	if err != nil {
		return nil, err
	}
	return b.Do(ctx, r)
}

// Status implements query.Backend.
func (p *pending) Status(ctx context.Context) (*query.Status, error) {
	b, err := p.wait(ctx)
	if err != nil {
		return nil, err
	}
	return b.Status(ctx)
}

// Close implements query.Backend; it ends the opening too.
func (p *pending) Close(ctx context.Context) error {
	p.cancel()
	b, err := p.wait(ctx)
	if err != nil || b == nil {
		return err
	}
	return b.Close(ctx)
}

// backstop ends a call whose own limit did not: hosts cut at 60 s.
func (a *app) backstop() time.Duration {
	if a.flags.timeout > 0 {
		return a.flags.timeout + grace
	}
	return 0
}
