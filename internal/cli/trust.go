package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/config"
	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/internal/state"
	"github.com/dragoman-dev/dragoman/internal/trust"
	"github.com/dragoman-dev/dragoman/query"
)

const trustLong = `Trust a folder: the servers that its .lsp.json names may run, its own tools
(node_modules/.bin, .venv/bin) are used, and servers that run code of the
project (build scripts, plugins) do so. The decision is remembered outside the
folder. It is asked on a terminal; scripts use --trust, which lasts for one run.`

func (a *app) trustCommand() *cobra.Command {
	var pin bool
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Let the servers of a folder run", Long: trustLong, Args: atMostOne,
		Example: "  dragoman trust\n  dragoman trust --pin ~/src/project",
		RunE: a.work(func(ctx context.Context, args []string) error {
			dir, err := a.folderOf(args)
			if err != nil {
				return err
			}
			return a.trust(ctx, dir, pin)
		}),
	}
	c.Flags().BoolVar(&pin, "pin", false, "only as long as .lsp.json stays as it is")
	return c
}

func (a *app) untrustCommand() *cobra.Command {
	return &cobra.Command{
		Use: "untrust [DIR]", Short: "Take back the trust in a folder", Args: atMostOne,
		Example: `  dragoman untrust`,
		RunE: a.work(func(ctx context.Context, args []string) error {
			dir, err := a.folderOf(args)
			if err != nil {
				return err
			}
			store := a.trustStore()
			if err := store.Untrust(ctx, dir); err != nil {
				return trustFailed(err)
			}
			if d, ok := store.Lookup(dir); ok {
				return a.print(fmt.Sprintf("%s is still trusted, because %s is.\n", render.Escape(dir), render.Escape(d.Folder)))
			}
			return a.print(render.Escape(dir) + " is not trusted.\n")
		}),
	}
}

func (a *app) trustStore() *trust.Store { return trust.NewStore(state.Find(a.Env).State) }

func trustFailed(err error) error {
	return &query.Error{Kind: query.BadRequest, Message: "Trust could not be changed: " + err.Error() + ".",
		Hint: "Check the folder, and that your home can be written.", Err: err}
}

// folderOf is the folder of the argument, else the workspace, links resolved.
func (a *app) folderOf(args []string) (string, error) {
	dir, err := a.folder()
	if len(args) > 0 {
		dir, err = a.abs(args[0]), nil
	}
	if err != nil {
		return "", err
	}
	if st, statErr := os.Stat(dir); dir == "" || statErr != nil || !st.IsDir() {
		return "", bad(fmt.Sprintf("%q is no folder.", dir), "Name an existing project folder.")
	}
	return catalog.Real(dir), nil
}

func (a *app) trust(ctx context.Context, dir string, pin bool) error {
	if !a.terminal(a.Stdin) {
		return bad("Trust is given on a terminal only.", "Run `dragoman trust` in a terminal, or use --trust for one run.")
	}
	if err := trust.NeverTrusted(dir); err != nil {
		return trustFailed(err)
	}
	file := filepath.Join(dir, ".lsp.json")
	hash := ""
	if _, err := os.Stat(file); err == nil {
		a.say("Its .lsp.json names servers that would run as you: " + render.Escape(file))
		if pin {
			hash = config.Load(config.Options{Workspace: dir, WorkspaceFile: file, Env: a.Env}).FileHash
		}
	}
	fmt.Fprintf(a.Stderr, "Trust %s? Type yes: ", render.Escape(dir))
	line, _ := bufio.NewReader(a.Stdin).ReadString('\n')
	if strings.TrimSpace(line) != "yes" {
		return &query.Error{Kind: query.Canceled, Message: "Nothing was changed.", Hint: "Type yes to trust a folder."}
	}
	if err := a.trustStore().Trust(ctx, dir, hash); err != nil {
		return trustFailed(err)
	}
	return a.print(render.Escape(dir) + " is trusted.\n")
}
