package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dragoman-dev/dragoman/query"
)

// questions are the verbs that read code.
func (a *app) questions() []*cobra.Command {
	return []*cobra.Command{
		a.at(query.Definition, "def", "Show where a symbol is defined", `  dragoman def src/index.ts:42:15`),
		a.refsCommand(),
		a.at(query.Hover, "hover", "Show a symbol's type and documentation", `  dragoman hover src/index.ts:42:15`),
		a.at(query.Implementation, "impl", "Show what implements an interface or a method", `  dragoman impl src/storage.ts:5:18`),
		a.symbolsCommand(),
		a.searchCommand(),
		a.callsCommand(),
		a.diagnosticsCommand(),
		a.actionsCommand(),
		a.lspCommand(),
	}
}

// request is a question with what the global flags say.
func (a *app) request(op query.Op, t query.Target) query.Request {
	return query.Request{Op: op, Target: t, Server: a.flags.server, Limit: a.flags.limit, Wait: query.Wait(a.flags.wait)}
}

// at is a verb that asks about one position.
func (a *app) at(op query.Op, verb, short, example string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " FILE:LINE[:COL]", Short: short, Example: example, Args: one,
		RunE: a.work(func(ctx context.Context, args []string) error {
			t, err := a.pointed(args[0])
			if err != nil {
				return err
			}
			return a.answer(ctx, a.request(op, t))
		}),
	}
}

func (a *app) refsCommand() *cobra.Command {
	var declaration, ignored bool
	c := &cobra.Command{
		Use: "refs FILE:LINE[:COL]", Short: "Show where a symbol is used", Args: one,
		Example: "  dragoman refs src/api.ts:10:8\n  dragoman refs --declaration --limit 500 src/api.ts:10:8",
		RunE: a.work(func(ctx context.Context, args []string) error {
			t, err := a.pointed(args[0])
			if err != nil {
				return err
			}
			r := a.request(query.References, t)
			r.IncludeDeclaration, r.IncludeIgnored = declaration, ignored
			return a.answer(ctx, r)
		}),
	}
	c.Flags().BoolVar(&declaration, "declaration", false, "show the declaration too")
	c.Flags().BoolVar(&ignored, "ignored", false, "show git-ignored files too")
	return c
}

func (a *app) symbolsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "symbols FILE", Short: "Show the symbols of a file", Args: one,
		Example: `  dragoman symbols src/service.ts`,
		RunE: a.work(func(ctx context.Context, args []string) error {
			t, err := a.target(args[0])
			if err != nil {
				return err
			}
			return a.answer(ctx, a.request(query.DocumentSymbol, query.Target{Path: t.Path}))
		}),
	}
}

func (a *app) searchCommand() *cobra.Command {
	var ignored bool
	c := &cobra.Command{
		Use: "search QUERY", Short: "Find symbols of the workspace by name", Args: one,
		Example: "  dragoman search handleRequest\n  dragoman search --limit 100 Handler",
		RunE: a.work(func(ctx context.Context, args []string) error {
			r := a.request(query.WorkspaceSymbol, query.Target{})
			r.Query, r.IncludeIgnored = args[0], ignored
			return a.answer(ctx, r)
		}),
	}
	c.Flags().BoolVar(&ignored, "ignored", false, "show git-ignored files too")
	return c
}

func (a *app) callsCommand() *cobra.Command {
	var in, out, ignored bool
	c := &cobra.Command{
		Use: "calls (--in|--out) FILE:LINE[:COL]", Short: "Show who calls a function, or what it calls", Args: one,
		Example: "  dragoman calls --in src/utils.ts:30:10\n  dragoman calls --out src/utils.ts:30:10",
		RunE: a.work(func(ctx context.Context, args []string) error {
			t, err := a.pointed(args[0])
			if err != nil {
				return err
			}
			op := query.IncomingCalls
			if out {
				op = query.OutgoingCalls
			}
			r := a.request(op, t)
			r.IncludeIgnored = ignored
			return a.answer(ctx, r)
		}),
	}
	c.Flags().BoolVar(&in, "in", false, "who calls it")
	c.Flags().BoolVar(&out, "out", false, "what it calls")
	c.Flags().BoolVar(&ignored, "ignored", false, "show git-ignored files too")
	c.MarkFlagsMutuallyExclusive("in", "out")
	c.MarkFlagsOneRequired("in", "out")
	return c
}

func (a *app) diagnosticsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "diagnostics [FILE]", Short: "Show the problems of a file, or of the workspace", Args: atMostOne,
		Example: "  dragoman diagnostics src/buggy.ts\n  dragoman diagnostics",
		RunE: a.work(func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return a.answer(ctx, a.request(query.WorkspaceDiagnostics, query.Target{}))
			}
			t, err := a.target(args[0])
			if err != nil {
				return err
			}
			return a.answer(ctx, a.request(query.Diagnostics, query.Target{Path: t.Path}))
		}),
	}
}

func (a *app) actionsCommand() *cobra.Command {
	var kinds []string
	var end string
	c := &cobra.Command{
		Use: "actions FILE:LINE[:COL]", Short: "Show the fixes and refactorings offered at a position", Args: one,
		Example: "  dragoman actions src/app.ts:10:3\n  dragoman actions --to 12:1 --kind quickfix src/app.ts:10:3",
		RunE: a.work(func(ctx context.Context, args []string) error {
			t, err := a.pointed(args[0])
			if err != nil {
				return err
			}
			t.Span = &query.Span{Start: *t.At, End: *t.At}
			if end != "" {
				to, err := position(end)
				if err != nil || to == nil {
					return bad("--to is no position.", "Give it as LINE[:COL].")
				}
				t.Span.End = *to
			}
			r := a.request(query.CodeActions, t)
			r.ActionKinds = kinds
			return a.answer(ctx, r)
		}),
	}
	c.Flags().StringSliceVar(&kinds, "kind", nil, "only actions of these `KINDS` (quickfix, refactor, source…)")
	c.Flags().StringVar(&end, "to", "", "end of the range as `LINE[:COL]`")
	return c
}
