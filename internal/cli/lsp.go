package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/dragoman-dev/dragoman/internal/mcpserver"
	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

const lspLong = `Call the tool that agents call, with the same arguments, and print its text as
the agent sees it. JSON is an object with at least "operation"; - reads it from
standard input. Paths are relative to the workspace.`

const lspExample = `  dragoman lsp '{"operation": "workspaceSymbol", "query": "handleRequest"}'
  dragoman lsp '{"operation": "hover", "filePath": "src/a.ts", "line": 42, "character": 15}'
  echo '{"operation": "workspaceDiagnostics"}' | dragoman lsp -`

func (a *app) lspCommand() *cobra.Command {
	return &cobra.Command{
		Use: "lsp JSON|-", Short: "Call the lsp tool as an agent does", Long: lspLong, Example: lspExample, Args: one,
		RunE: a.work(func(ctx context.Context, args []string) error {
			raw := []byte(args[0])
			if args[0] == "-" {
				var err error
				if raw, err = io.ReadAll(io.LimitReader(a.Stdin, 64<<20)); err != nil {
					return err
				}
			}
			return a.callTool(ctx, raw)
		}),
	}
}

func (a *app) callTool(ctx context.Context, arguments json.RawMessage) error {
	call, err := mcpserver.Parse(arguments)
	if err != nil {
		return err
	}
	return a.withBackend(ctx, func(ctx context.Context, b query.Backend) error {
		ctx, erase := a.showProgress(ctx)
		ans, err := b.Do(ctx, call.Request)
		erase()
		if err != nil {
			return err
		}
		if a.flags.format == "json" {
			return a.printAnswer(ans)
		}
		return a.print(render.Text(ans, call.Render) + "\n")
	})
}
