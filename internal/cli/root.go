package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dragoman-dev/dragoman/query"
)

// flags are the flags that every verb has.
type flags struct {
	workspace string
	server    string
	limit     int
	format    string
	color     string
	timeout   time.Duration
	wait      string
	trust     bool
	allowed   []string
	exitCode  bool
	verbose   bool
}

func (f *flags) check() error {
	switch {
	case f.limit < 0:
		return errors.New("--limit must be a positive integer")
	case f.format != "text" && f.format != "json":
		return errors.New("--format must be text or json")
	case !slices.Contains([]string{"auto", "always", "never"}, f.color):
		return errors.New("--color must be auto, always or never")
	case !slices.Contains([]string{"settled", "complete", "now"}, f.wait):
		return errors.New("--wait must be settled, complete or now")
	case f.timeout < 0:
		return errors.New("--timeout must not be negative")
	}
	return nil
}

const rootLong = `dragoman asks real language servers about code and answers about the files as
they are on disk now. It finds the servers itself; it starts them for a question
and stops them after it.

TARGET is FILE or FILE:LINE[:COL]; lines and columns are 1-based, columns count
characters. Agents use ` + "`dragoman mcp`" + `.`

const rootExample = `  dragoman refs internal/api.go:42:6
  dragoman search handleRequest
  dragoman diagnostics
  claude mcp add dragoman -- dragoman mcp`

func (a *app) root() *cobra.Command {
	c := &cobra.Command{
		Use:                "dragoman",
		Short:              "Code intelligence from real language servers",
		Long:               rootLong,
		Example:            rootExample,
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableAutoGenTag:  true,
		DisableSuggestions: false,
		// An unknown verb is an error with suggestions; no verb shows the help.
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.SuggestionsMinimumDistance = 2
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownVerb(c, args[0])
	}
	c.SetIn(a.Stdin)
	c.SetOut(a.Stdout)
	c.SetErr(a.Stderr)
	a.globals(c)
	c.AddGroup(&cobra.Group{ID: "ask", Title: "Ask:"}, &cobra.Group{ID: "serve", Title: "Serve and look after:"})
	for _, v := range a.questions() {
		v.GroupID = "ask"
		c.AddCommand(v)
	}
	for _, v := range []*cobra.Command{
		a.mcpCommand(), a.demoCommand(), a.statusCommand(), a.doctorCommand(),
		a.trustCommand(), a.untrustCommand(), a.versionCommand(),
	} {
		v.GroupID = "serve"
		c.AddCommand(v)
	}
	c.SetHelpCommandGroupID("serve")
	c.SetCompletionCommandGroupID("serve")
	return c
}

func (a *app) globals(c *cobra.Command) {
	f, p := &a.flags, c.PersistentFlags()
	p.SortFlags = false
	p.StringVar(&f.workspace, "workspace", "", "workspace `DIR` (default: found from the current folder)")
	p.StringVar(&f.server, "server", "", "ask only the server with this `NAME`")
	p.IntVar(&f.limit, "limit", 0, "show at most `N` items (default: by operation)")
	p.StringVar(&f.format, "format", "text", "`FORM` of answers: text, json")
	p.StringVar(&f.color, "color", "auto", "`WHEN` to colour: auto, always, never")
	p.DurationVar(&f.timeout, "timeout", 2*time.Minute, "give up after this `TIME`; 0 means never")
	p.StringVar(&f.wait, "wait", "settled", "`HOW` long to wait while a server loads: settled, complete, now")
	p.BoolVar(&f.trust, "trust", false, "trust the workspace for this run only")
	p.StringSliceVar(&f.allowed, "allowed-lsp-server-names", nil, "only these servers may run (`NAMES`, repeatable)")
	p.BoolVar(&f.exitCode, "exit-code", false, "exit with 1 when nothing was found")
	p.BoolVarP(&f.verbose, "verbose", "v", false, "log to stderr")
}

// unknownVerb says what was meant, perhaps.
func unknownVerb(c *cobra.Command, verb string) error {
	hint := "`dragoman --help` shows the verbs."
	if near := c.SuggestionsFor(verb); len(near) > 0 {
		hint = "Did you mean " + strings.Join(near, " or ") + "? " + hint
	}
	return &query.Error{Kind: query.BadRequest, Message: fmt.Sprintf("Unknown verb %q.", verb), Hint: hint}
}

// abs makes a path absolute against the current folder of the run.
func (a *app) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.Dir, path)
}

// one, atMostOne and none check the number of arguments.
func one(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return badArgs(c, "takes one argument", args)
	}
	return nil
}

func atMostOne(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return badArgs(c, "takes at most one argument", args)
	}
	return nil
}

func none(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return badArgs(c, "takes no argument", args)
	}
	return nil
}

func badArgs(c *cobra.Command, takes string, args []string) error {
	return bad(fmt.Sprintf("dragoman %s %s, not %d.", c.Name(), takes, len(args)),
		"Usage: "+strings.Join(strings.Fields(c.UseLine()), " "))
}
