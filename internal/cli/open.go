package cli

import (
	"context"
	"time"

	dragoman "github.com/dragoman-dev/dragoman"
	"github.com/dragoman-dev/dragoman/query"
)

// grace is how long after its own limit the library may take to say so.
const grace = 5 * time.Second

// options are those of the library for this run.
func (a *app) options() *dragoman.Options {
	return &dragoman.Options{
		Trust: a.flags.trust, AllowedNames: a.flags.allowed, CallLimit: a.flags.timeout,
		Env: a.Env, Log: a.logger(), Version: a.version(),
	}
}

// openWorkspace opens the folder of --workspace, else the one that is found.
func openWorkspace(ctx context.Context, a *app) (query.Backend, error) {
	dir, err := a.folder()
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return dragoman.OpenAuto(a.Dir, a.options()), nil
	}
	return dragoman.Open(ctx, dir, a.options())
}

// folder is the workspace of this run, "" where there is none.
func (a *app) folder() (string, error) {
	if a.flags.workspace != "" {
		dir := a.abs(a.flags.workspace)
		if dragoman.NeverWorkspace(dir, a.Env) {
			return "", nil // hosts name it; each path asked about opens its own
		}
		return dir, nil
	}
	dir, _, err := dragoman.FindWorkspace(a.Dir, a.Env)
	if err != nil {
		return "", &query.Error{Kind: query.BadRequest, Message: "The workspace cannot be used: " + err.Error() + ".",
			Hint: "Name an existing folder with --workspace DIR.", Err: err}
	}
	return dir, nil
}

// workspace is folder for those who only print paths.
func (a *app) workspace() string {
	dir, err := a.folder()
	if err != nil {
		return ""
	}
	return dir
}
