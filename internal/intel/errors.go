package intel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dragoman-dev/dragoman/internal/jsonrpc"
	"github.com/dragoman-dev/dragoman/internal/mirror"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

func badRequest(op query.Op, message, hint string) *query.Error {
	return &query.Error{Kind: query.BadRequest, Op: op, Message: message, Hint: hint}
}

// unsupported says that none of the servers can do it.
func (q *question) unsupported(cands []Candidate) error {
	names := make([]string, 0, len(cands))
	for _, c := range cands {
		names = append(names, c.Name)
	}
	verb := "does"
	if len(names) > 1 {
		verb = "do"
	}
	return &query.Error{Kind: query.Unsupported, Op: q.r.Op, Server: strings.Join(names, ", "),
		Message: fmt.Sprintf("%s %s not support %s.", strings.Join(names, " and "), verb, q.r.Op),
		Hint:    "Ask another operation, or configure a server that can do it."}
}

// notReady says that the server still loads when a complete answer was wanted.
func (q *question) notReady(c Candidate, b server.Basis) error {
	return &query.Error{Kind: query.NotReady, Op: q.r.Op, Server: c.Name,
		Message: stillBusy(c.Name, b.Working, b.Percent, since(c.Server.Snapshot())), Hint: "Ask again."}
}

// explain turns an error into one sentence, one hint and a kind.
func (q *question) explain(ctx context.Context, err error) error {
	c := q.book.waiting
	var f *failure
	if errors.As(err, &f) {
		c = f.c
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	late := ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded)
	if late && !concernsRequest(err) {
		return q.outOfTime(c)
	}
	e := q.classify(c, err)
	if e.Op == "" {
		e.Op = q.r.Op
	}
	if e.Server == "" {
		e.Server = c.Name
	}
	if e.Path == "" {
		e.Path = q.file.Shown
	}
	return e
}

// outOfTime names the server that was awaited and what it was doing.
func (q *question) outOfTime(c Candidate) *query.Error {
	e := &query.Error{Kind: query.Timeout, Op: q.r.Op, Server: c.Name, Path: q.file.Shown, Err: context.DeadlineExceeded,
		Message: "The time for the question ran out.", Hint: "Ask again, or give it more time."}
	if c.Server == nil {
		return e
	}
	snap := c.Server.Snapshot()
	switch snap.State {
	case server.Idle, server.Starting:
		e.Kind, e.Hint = query.NotReady, "Ask again."
		e.Message = fmt.Sprintf("%s is still starting (%d s so far).", c.Name, int(since(snap).Seconds()))
	case server.Warming:
		e.Kind, e.Hint = query.NotReady, "Ask again."
		e.Message = stillBusy(c.Name, snap.Working, snap.Percent, since(snap))
	default:
		e.Message = fmt.Sprintf("%s did not answer in time.", c.Name)
	}
	return e
}

// sentence is the explanation of an error without its hint.
func (q *question) sentence(c Candidate, err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return q.outOfTime(c).Error()
	}
	return q.classify(c, err).Error()
}

// classify maps the errors of the rooms below. A *query.Error is copied.
func (q *question) classify(c Candidate, err error) *query.Error {
	var ready *query.Error
	if errors.As(err, &ready) {
		e := *ready
		return &e
	}
	var file *mirror.FileError
	if errors.As(err, &file) {
		return q.d.fileError(file)
	}
	var line *text.LineError
	if errors.As(err, &line) {
		return badRequest("", fmt.Sprintf("line %d is beyond the end of %s (%s).", line.Line, q.file.Shown, lines(line.Lines)), "")
	}
	return serverFault(c, err)
}

func noIdentifier(shown string, at query.Point) string {
	return fmt.Sprintf("There is no identifier at %s:%d:%d.", shown, at.Line, at.Column)
}

func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// serverFault maps what can go wrong with one server.
func serverFault(c Candidate, err error) *query.Error {
	e := &query.Error{Server: c.Name, Err: err}
	var missing *proc.NotFoundError
	var fused *server.FusedError
	var failed *server.StartError
	var lacks *server.UnsupportedError
	var stale *server.StaleError
	var reply *jsonrpc.Error
	switch {
	case errors.As(err, &missing):
		e.Kind = query.NotInstalled
		e.Message, e.Hint = missingSentence(c, missing)
	case errors.As(err, &fused):
		e.Kind, e.Message, e.Hint = query.StartFailed, fused.Error(), stderrHint(fused.Stderr)
	case errors.As(err, &failed):
		e.Kind, e.Message, e.Hint = query.StartFailed, startSentence(c, failed), stderrHint(failed.Stderr)
	case isGone(err):
		e.Kind = query.ServerGone
		e.Message = fmt.Sprintf("%s died while it was asked, and again after a restart.", c.Name)
		e.Hint = stderrHint(goneStderr(err))
	case errors.Is(err, server.ErrClosed):
		e.Kind, e.Message, e.Hint = query.ServerGone, fmt.Sprintf("%s was stopped.", c.Name), "Ask again."
	case errors.As(err, &lacks):
		e.Kind, e.Message = query.Unsupported, fmt.Sprintf("%s does not support %s.", c.Name, lacks.Method)
	case errors.As(err, &stale):
		e.Kind, e.Message, e.Hint = query.StaleText,
			fmt.Sprintf("The text kept changing while %s was asked.", c.Name), "Ask again."
	case errors.As(err, &reply):
		e.Kind, e.Message = query.ServerError, reply.Message
		e.Hint = fmt.Sprintf("%s gave this error (code %d).", c.Name, reply.Code)
	default:
		e.Kind, e.Message = query.Internal, err.Error()
		e.Hint = "This is a fault of dragoman; please report it."
	}
	return e
}

func missingSentence(c Candidate, e *proc.NotFoundError) (message, hint string) {
	switch {
	case errors.Is(e, os.ErrNotExist):
		return fmt.Sprintf("The command of %s was not found: %s.", c.Name, e.Path),
			"Install it, or correct its command; `dragoman doctor` shows which is used."
	case errors.Is(e, os.ErrPermission):
		return fmt.Sprintf("The command of %s is not executable: %s.", c.Name, e.Path),
			"Make it executable, or correct its command; `dragoman doctor` shows which is used."
	}
	return fmt.Sprintf("The command of %s does not start: %v.", c.Name, e),
		"Install it anew, or correct its command; `dragoman doctor` shows which is used."
}

func startSentence(c Candidate, e *server.StartError) string {
	why := e.Exit
	if e.Err != nil {
		why = e.Err.Error()
	}
	if why == "" {
		return fmt.Sprintf("%s could not be started.", c.Name)
	}
	return fmt.Sprintf("%s could not be started: %s.", c.Name, strings.TrimSuffix(why, "."))
}

func goneStderr(err error) string {
	var gone *server.GoneError
	if errors.As(err, &gone) {
		return gone.Stderr
	}
	return ""
}

// stderrHint shows the last lines that a server wrote.
func stderrHint(tail string) string {
	tail = strings.TrimSpace(tail)
	if tail == "" {
		return "It wrote nothing to stderr; `dragoman doctor` checks its installation."
	}
	last := strings.Split(tail, "\n")
	if len(last) > 3 {
		last = last[len(last)-3:]
	}
	return "Its last words: " + strings.Join(last, " | ")
}

// fileError says why a file cannot be asked about.
func (d *Deps) fileError(f *mirror.FileError) *query.Error {
	local, _ := d.local(f.Path)
	shown := d.shown(local)
	e := badRequest("", "", "")
	e.Path, e.Err = shown, f
	switch f.Reason {
	case mirror.NotFound:
		e.Message, e.Hint = fmt.Sprintf("file not found: %s.", shown), d.nearestHint(local)
	case mirror.IsDirectory:
		e.Message, e.Hint = fmt.Sprintf("%s is a directory.", shown), "Name a file in it."
	case mirror.TooLarge:
		e.Message = fmt.Sprintf("%s is too large (%.1f MB).", shown, float64(f.Size)/(1<<20))
		e.Hint = "Raise the setting maxFileSize to ask about it."
	case mirror.Binary:
		e.Message, e.Hint = fmt.Sprintf("%s is a binary file.", shown), "Only text can be asked about."
	case mirror.NotUTF8:
		e.Message, e.Hint = fmt.Sprintf("%s is not UTF-8 text.", shown), "Convert it to UTF-8."
	case mirror.NotRegular:
		e.Message, e.Hint = fmt.Sprintf("%s is not a regular file.", shown), "Name a regular file."
	default:
		e.Message, e.Hint = unreadable(shown, f.Err)
	}
	return e
}

// unreadable says what the system has against a path.
func unreadable(shown string, err error) (message, hint string) {
	var cause syscall.Errno
	switch {
	case errors.Is(err, os.ErrPermission):
		return fmt.Sprintf("%s cannot be read.", shown), "Check its permissions."
	case errors.As(err, &cause):
		return fmt.Sprintf("%s cannot be read: %v.", shown, cause), "Check the path."
	}
	return fmt.Sprintf("%s cannot be read.", shown), "Check the path and its permissions."
}

// checkFile finds the plain reasons why a path cannot be asked about.
func checkFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &mirror.FileError{Path: path, Reason: mirror.NotFound, Err: err}
	case err != nil:
		return &mirror.FileError{Path: path, Reason: mirror.Unreadable, Err: err}
	case info.IsDir():
		return &mirror.FileError{Path: path, Reason: mirror.IsDirectory}
	case !info.Mode().IsRegular():
		return &mirror.FileError{Path: path, Reason: mirror.NotRegular}
	}
	return nil
}

// nearestHint names the file of the same folder whose name is nearest.
func (d *Deps) nearestHint(path string) string {
	dir, want := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "Paths are relative to the workspace, or absolute."
	}
	best, distance := "", 1+len(want)/3
	for _, e := range entries {
		if e.Name() == want { // the entry is there, and what it points to is not
			return "It is a link to a file that is not there."
		}
		if n := editDistance(strings.ToLower(want), strings.ToLower(e.Name())); n < distance && !e.IsDir() {
			best, distance = e.Name(), n
		}
	}
	if best == "" {
		return "Paths are relative to the workspace, or absolute."
	}
	return fmt.Sprintf("Did you mean %s?", d.shown(filepath.Join(dir, best)))
}

// editDistance is Levenshtein's, on bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
