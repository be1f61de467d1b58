//go:build integration

package integration

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestFirstCall: from a cold start the five questions are asked all at once, so
// that each is a first call, and each answer must be right.
//
// A question that takes longer than five times the recorded time, or whose answer
// says that the server is still loading, is a time-out: it is asked once more and counted, and more than two
// in all are a failure. A wrong answer is never asked again.
func TestFirstCall(t *testing.T) {
	var late atomic.Int32
	defer func() {
		if n := late.Load(); n > 2 {
			t.Errorf("%d time-outs, at most 2 are allowed", n)
		}
	}()
	for _, l := range langs() {
		t.Run(l.Name, func(t *testing.T) {
			path := serverPath(l.ExtraPath...)
			argv := append([]string{require(t, path, l.Program)}, l.Argv[1:]...)
			root := realTemp(t)
			p := l.Make(t, root, l.Slow)
			env := environ(t, path)
			if l.Lie != nil {
				control(t, l, p, env, argv)
			}
			n := times("DRAGOMAN_COLD_STARTS", l.Starts)
			if l.Name == "rust-analyzer" {
				n = times("DRAGOMAN_COLD_STARTS_RUST", l.Starts)
			}
			for i := range n {
				if l.Cold != nil {
					l.Cold(root)
				}
				t.Run(fmt.Sprintf("start%d", i+1), func(t *testing.T) { coldStart(t, l, p, env, &late) })
			}
		})
	}
}

// control shows that a client that does not wait is wrong on this fixture.
func control(t *testing.T, l lang, p *project, env, argv []string) {
	t.Helper()
	if l.Cold != nil {
		l.Cold(p.Root)
	}
	t.Run("control", func(t *testing.T) {
		c := startRaw(t, p.Root, env, nil, argv...)
		wrong := l.Lie(t, c, p)
		if wrong == "" {
			t.Fatal("the raw client was right at once: the fixture proves nothing")
		}
		t.Logf("raw client: %s", wrong)
	})
}

func coldStart(t *testing.T, l lang, p *project, env []string, late *atomic.Int32) {
	h := startHost(t, p.Root, env, l.Args...)
	checks := questions(l, p)
	var wg sync.WaitGroup
	for name, q := range checks {
		wg.Go(func() {
			a := h.ask(q.args)
			if late5(a, l.Recorded) {
				late.Add(1)
				t.Logf("time-out: %s after %s: %s", name, a.Took.Round(time.Millisecond), clip(a.Text))
				a = h.ask(q.args)
			}
			if err := q.check(a); err != nil {
				t.Errorf("%s after %s: %v\n%s", name, a.Took.Round(time.Millisecond), err, clip(a.Text))
			}
		})
	}
	wg.Wait()
}

// late5 reports an answer that took five times the recorded time, or that says itself
// that it comes before the server knows everything.
func late5(a answer, recorded time.Duration) bool {
	return a.Took > 5*recorded || a.Error && strings.Contains(a.Text, "Ask again.") ||
		strings.Contains(a.Text, "The answer may be incomplete.")
}

// question is one call and what its answer must be.
type question struct {
	args  map[string]any
	check func(answer) error
}

func questions(l lang, p *project) map[string]question {
	at := func(op string, m mark) map[string]any {
		return map[string]any{"operation": op, "filePath": m.Path, "line": m.Line, "character": m.Col}
	}
	refs := at("findReferences", p.Use)
	refs["limit"] = 200
	return map[string]question{
		"definition": {at("goToDefinition", p.Use), func(a answer) error {
			return samePlaces(a, "Definitions for "+p.Use.String()+":", []mark{p.Decl}, l.Label)
		}},
		"references": {refs, func(a answer) error {
			return samePlaces(a, "References for "+p.Use.String()+":", p.Refs, l.Label)
		}},
		"hover": {at("hover", p.Use), func(a answer) error {
			return has(a, "Hover for "+p.Use.String()+":", p.HoverHas)
		}},
		"workspaceSymbol": {map[string]any{"operation": "workspaceSymbol", "query": p.Query}, func(a answer) error {
			return has(a, "symbols for query \""+p.Query+"\":|symbol for query \""+p.Query+"\":", p.Decl.String())
		}},
		"diagnostics": {map[string]any{"operation": "diagnostics", "filePath": p.Broken.Path}, func(a answer) error {
			return has(a, "Diagnostics for "+p.Broken.Path+" (", fmt.Sprintf("[ERROR] %d:%d", p.Broken.Line, p.Broken.Col), p.BrokenHas)
		}},
	}
}

// has checks that the answer is no error and holds each text; a text may give alternatives with |.
func has(a answer, wants ...string) error {
	if a.Error {
		return fmt.Errorf("is an error")
	}
	for _, w := range wants {
		found := false
		for _, alt := range strings.Split(w, "|") {
			found = found || strings.Contains(a.Text, alt)
		}
		if !found {
			return fmt.Errorf("lacks %q", w)
		}
	}
	return nil
}

var placeLine = regexp.MustCompile(`(?m)^\d+\. (\S+:\d+:\d+) \[([^\]]+)\]$`)

// samePlaces checks the heading and that exactly the wanted places are listed.
func samePlaces(a answer, heading string, want []mark, label string) error {
	if err := has(a, heading); err != nil {
		return err
	}
	if strings.Contains(a.Text, "Note: ") && strings.Contains(a.Text, "loading") {
		return fmt.Errorf("says that it was not settled")
	}
	got := map[string]int{}
	for _, m := range placeLine.FindAllStringSubmatch(a.Text, -1) {
		got[m[1]]++
		if m[2] != label {
			return fmt.Errorf("label %q, want %q", m[2], label)
		}
	}
	var missing []string
	for _, m := range want {
		if got[m.String()] == 0 {
			missing = append(missing, m.String())
		}
		delete(got, m.String())
	}
	if len(missing) > 0 || len(got) > 0 {
		return fmt.Errorf("missing %d of %d: %v; unexpected: %v", len(missing), len(want), clipList(missing), got)
	}
	return nil
}

func clip(s string) string {
	if len(s) > 1500 {
		return s[:1500] + "…"
	}
	return s
}

func clipList(s []string) []string {
	if len(s) > 5 {
		return append(s[:5:5], "…")
	}
	return s
}
