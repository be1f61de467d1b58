package dragoman

import (
	"context"
	"fmt"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/workspace"
	"github.com/dragoman-dev/dragoman/query"
)

// Fact is one named finding.
type Fact = workspace.Fact

// LanguageReport tells about one server whose language occurs in the workspace.
type LanguageReport = workspace.Report

// Doctor says, for each language found, which server answers, from where, why not,
// and what to run.
type Doctor struct {
	Workspace string `json:"workspace"`
	// Trusted and TrustedBy ("for this run", "folder", "trustedFolders").
	Trusted   bool   `json:"trusted"`
	TrustedBy string `json:"trustedBy,omitempty"`
	// Watching says how changes on disk are noticed.
	Watching string `json:"watching"`
	// Ignoring says how git-ignored files are known: "git", or the fallback.
	Ignoring  string                `json:"ignoring"`
	Files     int                   `json:"files"`
	Languages []LanguageReport      `json:"languages"`
	Skipped   []query.SkippedServer `json:"skipped,omitempty"`
	// Problems are the faults of configuration files, "file:line:col: …".
	Problems []string `json:"problems,omitempty"`
}

// Doctor looks at everything a question would depend on. It starts no server.
func (ws *Workspace) Doctor(ctx context.Context) (*Doctor, error) {
	g := ws.w.Trusted()
	d := &Doctor{
		Workspace: ws.w.Dir, Trusted: g.Trusted, TrustedBy: g.How, Skipped: ws.w.Skipped(),
	}
	ws.w.Watcher(ctx)
	d.Watching, d.Ignoring = ws.w.WatchState(), ws.w.IgnoreState()
	d.Languages, d.Files = ws.w.Reports(ctx)
	for _, p := range ws.w.Problems() {
		d.Problems = append(d.Problems, p.String())
	}
	return d, ctx.Err()
}

// Healthy reports whether every language found has a server that can answer wholly.
func (d *Doctor) Healthy() bool {
	for _, l := range d.Languages {
		if l.Problem != "" {
			return false
		}
	}
	return len(d.Problems) == 0
}

// Text prints it for people.
func (d *Doctor) Text() string {
	var b strings.Builder
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", label, value)
		}
	}
	line("Workspace", d.Workspace)
	trust := "no (servers run restricted; `dragoman trust` or --trust changes that)"
	if d.Trusted {
		trust = "yes (" + d.TrustedBy + ")"
	}
	line("Trusted", trust)
	line("Watching", d.Watching)
	line("Ignore rules", d.Ignoring)
	line("Files", fmt.Sprint(d.Files))
	for _, l := range d.Languages {
		fmt.Fprintf(&b, "\n%s (%d files)\n", l.Language, l.Files)
		sub := func(label, value string) {
			if value != "" {
				fmt.Fprintf(&b, "  %-10s %s\n", label, value)
			}
		}
		sub("server", l.Server)
		sub("program", l.Program)
		for _, r := range l.Roots {
			sub("root", r)
		}
		for _, f := range l.Facts {
			fmt.Fprintf(&b, "  %s: %s\n", f.Label, f.Value)
		}
		sub("limited", l.Limited)
		sub("problem", l.Problem)
		sub("run", l.Run)
	}
	if len(d.Languages) == 0 {
		b.WriteString("\nNo file of a language with a known server was found.\n")
	}
	for _, s := range d.Skipped {
		fmt.Fprintf(&b, "\nSkipped %s: %s (%s)\n", s.Name, s.Detail, s.Reason)
		if s.Hint != "" {
			fmt.Fprintf(&b, "  %s\n", s.Hint)
		}
	}
	for _, p := range d.Problems {
		fmt.Fprintf(&b, "\nConfiguration: %s\n", p)
	}
	return b.String()
}
