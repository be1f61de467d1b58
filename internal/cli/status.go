package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	dragoman "github.com/dragoman-dev/dragoman"
	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the servers of the workspace and their state", Args: none,
		Example: "  dragoman status\n  dragoman status --format json",
		RunE: a.work(func(ctx context.Context, _ []string) error {
			return a.withBackend(ctx, func(ctx context.Context, b query.Backend) error {
				st, err := b.Status(ctx)
				if err != nil {
					return err
				}
				if a.flags.format == "json" {
					return a.printJSON(st)
				}
				return a.print(statusText(st))
			})
		}),
	}
}

func (a *app) printJSON(v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return a.print(string(raw) + "\n")
}

// statusText is a head, a paragraph for each server, and what is left out.
func statusText(st *query.Status) string {
	var b strings.Builder
	trusted := "no"
	if st.Trusted {
		trusted = "yes"
	}
	if st.Workspace != "" {
		fmt.Fprintf(&b, "Workspace    %s\nTrusted      %s\n", render.Escape(st.Workspace), trusted)
	}
	if len(st.Servers) == 0 {
		b.WriteString("\nNo server is running; the first question starts one.\n")
	}
	for i := range st.Servers {
		writeServer(&b, &st.Servers[i])
	}
	for _, s := range st.Skipped {
		fmt.Fprintf(&b, "\n%s is left out: %s\n", render.Escape(s.Name), render.Escape(reason(s)))
		if s.Hint != "" {
			fmt.Fprintf(&b, "  %s\n", render.Escape(s.Hint))
		}
	}
	for _, n := range st.Notes {
		fmt.Fprintf(&b, "\nNote: %s\n", render.Escape(n))
	}
	return b.String()
}

func reason(s query.SkippedServer) string {
	if s.Detail == "" {
		return s.Reason
	}
	return s.Detail + " (" + s.Reason + ")"
}

func writeServer(b *strings.Builder, s *query.ServerStatus) {
	facts := []string{s.State}
	if s.Detail != "" {
		facts[0] += " (" + s.Detail + ")"
	}
	if s.PID > 0 {
		facts = append(facts, fmt.Sprintf("pid %d", s.PID))
	}
	if s.Uptime > 0 {
		facts = append(facts, "up "+s.Uptime.Round(time.Second).String())
	}
	if s.MemoryBytes > 0 {
		facts = append(facts, fmt.Sprintf("%d MB", s.MemoryBytes>>20))
	}
	if s.OpenDocuments > 0 {
		facts = append(facts, fmt.Sprintf("%d open documents", s.OpenDocuments))
	}
	if s.Restarts > 0 {
		facts = append(facts, fmt.Sprintf("%d restarts", s.Restarts))
	}
	fmt.Fprintf(b, "\n%s  %s\n", render.Escape(s.Name), strings.Join(facts, ", "))
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(b, "  %-10s %s\n", label, render.Escape(value))
		}
	}
	line("root", s.Root)
	line("command", strings.Join(s.Command, " "))
	line("server", s.ServerInfo)
	line("working", working(s))
	line("limited", s.Limited)
	line("not loaded", s.LoadError)
	line("error", s.LastError)
	line("stderr", lastLine(s.Stderr))
}

func working(s *query.ServerStatus) string {
	if s.Working == "" || s.Percent <= 0 {
		return s.Working
	}
	return fmt.Sprintf("%s (%d %%)", s.Working, s.Percent)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

const doctorLong = `Show, for each language found in the workspace, which server answers, where it
comes from, why it does not, and what to run. No server is started.`

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Show which servers can be used here, and why not", Long: doctorLong, Args: none,
		Example: "  dragoman doctor\n  dragoman doctor --exit-code",
		RunE: a.work(func(ctx context.Context, _ []string) error {
			return a.withBackend(ctx, a.doctor)
		}),
	}
}

// doctorer is a backend that can look at itself.
type doctorer interface {
	Doctor(ctx context.Context) (*dragoman.Doctor, error)
}

func (a *app) doctor(ctx context.Context, b query.Backend) error {
	w, ok := b.(doctorer)
	if !ok {
		return &query.Error{Kind: query.BadRequest, Message: "There is no workspace here to look at.",
			Hint: "Change to a project folder, or name one with --workspace DIR."}
	}
	d, err := w.Doctor(ctx)
	if err != nil {
		return err
	}
	if a.flags.exitCode && !d.Healthy() {
		a.exit = 1
	}
	if a.flags.format == "json" {
		return a.printJSON(d)
	}
	return a.print(d.Text())
}
