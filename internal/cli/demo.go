package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/dragoman-dev/dragoman/query"
)

const demoLong = `Ask real questions about a workspace, through MCP as an agent does and on the
command line, and print questions and answers. The answers are checked against
each other; the exit code is not 0 when one is not what it should be.`

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo [DIR]", Short: "Ask real questions about this workspace and show the answers", Long: demoLong,
		Example: "  dragoman demo\n  dragoman demo ~/src/project", Args: atMostOne,
		RunE: a.work(func(ctx context.Context, args []string) error {
			dir, err := a.folderOf(args)
			if err != nil {
				return err
			}
			return a.demo(ctx, dir)
		}),
	}
}

// demo is one run of the demonstration.
type demo struct {
	a       *app
	dir     string
	program string
	session *mcp.ClientSession
	// wrong are the answers that are not what they should be.
	wrong []string
}

const demoTime = 5 * time.Minute

func (a *app) demo(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, demoTime)
	defer cancel()
	program := a.program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
	}
	d := &demo{a: a, dir: dir, program: program}
	cmd := exec.CommandContext(ctx, program, d.global("mcp")...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, a.Env, a.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "dragoman-demo", Version: a.version()}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return fmt.Errorf("start dragoman mcp: %w", err)
	}
	d.session = session
	err = d.run(ctx)
	return errors.Join(err, session.Close())
}

// global are the arguments of a child, with the flags that decide who may answer.
func (d *demo) global(args ...string) []string {
	args = append(args, "--workspace", d.dir)
	if d.a.flags.trust {
		args = append(args, "--trust")
	}
	if len(d.a.flags.allowed) > 0 {
		args = append(args, "--allowed-lsp-server-names", strings.Join(d.a.flags.allowed, ","))
	}
	return args
}

func (d *demo) run(ctx context.Context) error {
	if err := d.print("Workspace %s\n", d.dir); err != nil {
		return err
	}
	s, err := d.choose(ctx)
	if err != nil {
		return err
	}
	d.ask(ctx, s)
	if len(d.wrong) == 0 {
		return d.print("\nEvery answer is what it should be.\n")
	}
	return &query.Error{Kind: query.ServerError, Message: "Not every answer is what it should be:\n  " + strings.Join(d.wrong, "\n  "),
		Hint: "`dragoman doctor` shows what the servers lack here."}
}

func (d *demo) print(format string, v ...any) error { return d.a.print(fmt.Sprintf(format, v...)) }

func (d *demo) expect(ok bool, format string, v ...any) {
	if !ok {
		d.wrong = append(d.wrong, fmt.Sprintf(format, v...))
	}
}

// ask asks the five questions about a subject, through MCP and on the command line.
func (d *demo) ask(ctx context.Context, s subject) {
	at := map[string]any{"filePath": s.def.path, "line": s.def.line, "character": s.def.column}
	use := map[string]any{"filePath": s.use.path, "line": s.use.line, "character": s.use.column}

	text := d.tool(ctx, "Where is "+s.name+"?", query.WorkspaceSymbol, map[string]any{"query": s.name})
	d.expect(slices.Contains(symbolPlaces(text), s.def), "workspaceSymbol %s does not show %s", s.name, s.def)

	text = d.tool(ctx, "Who uses "+s.name+"?", query.References, at)
	refs := places(text)
	d.expect(slices.Contains(refs, s.use), "findReferences does not show %s", s.use)
	byHand := d.command(ctx, "refs", s.def.String())
	d.expect(sameBegin(byHand, refs), "dragoman refs and findReferences differ")

	text = d.tool(ctx, "Where is what stands at "+s.use.String()+" defined?", query.Definition, use)
	defs := places(text)
	d.expect(len(defs) == 1 && defs[0] == s.def, "goToDefinition shows %v, not %s", defs, s.def)
	byHand = d.command(ctx, "def", s.use.String())
	d.expect(sameBegin(byHand, defs), "dragoman def and goToDefinition differ")

	text = d.tool(ctx, "What is "+s.name+"?", query.Hover, use)
	d.expect(strings.Contains(text, s.name), "hover does not name %s", s.name)

	text = d.tool(ctx, "Who calls "+s.name+"?", query.IncomingCalls, at)
	d.expect(slices.Contains(symbolPlaces(text), s.caller), "incomingCalls does not show the caller at %s", s.caller)
	text = d.tool(ctx, "And what does its first caller call?", query.OutgoingCalls,
		map[string]any{"filePath": s.caller.path, "line": s.caller.line, "character": s.caller.column, "limit": 100})
	d.expect(slices.Contains(symbolPlaces(text), s.def), "outgoingCalls of the caller does not show %s", s.name)

	text = d.tool(ctx, "Is "+s.def.path+" in order?", query.Diagnostics, map[string]any{"filePath": s.def.path})
	d.expect(strings.HasPrefix(text, "No diagnostics found for ") || strings.HasPrefix(text, "Diagnostics for "), "diagnostics is not answered")
	d.command(ctx, "diagnostics", s.def.path)
}

// shownLines is the number of lines of an answer that the demonstration prints.
const shownLines = 14

// tool calls the lsp tool and prints question and answer.
func (d *demo) tool(ctx context.Context, question string, op query.Op, args map[string]any) string {
	args["operation"] = op
	start := time.Now()
	text, err := d.call(ctx, args)
	took := time.Since(start)
	raw, _ := json.Marshal(args)
	_ = d.print("\n%s\n  MCP  lsp %s  (%.1f ms)\n", question, raw, float64(took.Microseconds())/1000)
	if err != nil {
		d.wrong = append(d.wrong, fmt.Sprintf("%s: %v", op, err))
		text = err.Error()
	}
	d.quote(text)
	return text
}

func (d *demo) quote(text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	more := len(lines) - shownLines
	if more > 1 {
		lines = append(lines[:shownLines:shownLines], fmt.Sprintf("(%d more lines)", more))
	}
	for _, l := range lines {
		_ = d.print("    %s\n", l)
	}
}

// call calls the tool without printing.
func (d *demo) call(ctx context.Context, args map[string]any) (string, error) {
	res, err := d.session.CallTool(ctx, &mcp.CallToolParams{Name: "lsp", Arguments: args})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	if res.IsError {
		return "", errors.New(b.String())
	}
	return b.String(), nil
}

// command runs a verb as a person does and prints what it prints.
func (d *demo) command(ctx context.Context, args ...string) string {
	cmd := exec.CommandContext(ctx, d.program, d.global(args...)...)
	cmd.Dir, cmd.Env = d.dir, d.a.Env
	out, err := cmd.CombinedOutput()
	_ = d.print("  CLI  dragoman %s\n", strings.Join(args, " "))
	d.quote(string(out))
	d.expect(err == nil, "dragoman %s: %v", strings.Join(args, " "), err)
	return string(out)
}
