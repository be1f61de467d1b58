//go:build integration && linux

package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dragoman-dev/dragoman"
	"github.com/dragoman-dev/dragoman/query"
)

// sample is a set of durations.
type sample []time.Duration

func (s sample) quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	c := append(sample(nil), s...)
	sort.Slice(c, func(i, j int) bool { return c[i] < c[j] })
	return c[min(len(c)-1, int(q*float64(len(c))))]
}

func (s sample) String() string {
	return fmt.Sprintf("p10 %s p50 %s p95 %s (n=%d)", s.quantile(.1), s.quantile(.5), s.quantile(.95), len(s))
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// BenchmarkHoverInProcess interleaves a raw client and dragoman inside this process,
// on one warm gopls each.
func BenchmarkHoverInProcess(b *testing.B) {
	var added [2][]float64
	for range times("DRAGOMAN_BENCH_PAIRS", 5) {
		p, env, askRaw, stop := warmRaw(b)
		ws, err := dragoman.Open(context.Background(), p.Root, &dragoman.Options{Env: env})
		if err != nil {
			b.Fatal(err)
		}
		req := query.Request{Op: query.Hover, Target: query.Target{Path: p.Use.Path, At: &query.Point{Line: p.Use.Line, Column: p.Use.Col}}}
		s := interleave(askRaw, func() {
			if _, err := ws.Do(context.Background(), req); err != nil {
				b.Fatal(err)
			}
		})
		b.Logf("raw %v; in process %v", s[0], s[1])
		for i, q := range []float64{.5, .95} {
			added[i] = append(added[i], ms(s[1].quantile(q)-s[0].quantile(q)))
		}
		ws.Close(context.Background())
		stop()
	}
	reportPairs(b, "added-ms", added)
}

// BenchmarkHoverMCP interleaves a raw client, dragoman through MCP over stdio, and a
// tool that does nothing on the same SDK.
func BenchmarkHoverMCP(b *testing.B) {
	var added [2][]float64
	for range times("DRAGOMAN_BENCH_PAIRS", 5) {
		p, env, askRaw, stop := warmRaw(b)
		h, nothing := startHost(b, p.Root, env), startNothing(b)
		args := questions(langs()[0], p)["hover"].args
		s := interleave(askRaw, func() {
			if a := h.ask(args); a.Error {
				b.Fatal(a.Text)
			}
		}, func() { nothing.ask(args) })
		b.Logf("raw %v; MCP %v; nothing %v", s[0], s[1], s[2])
		for i, q := range []float64{.5, .95} {
			added[i] = append(added[i], ms(s[1].quantile(q)-s[0].quantile(q)-s[2].quantile(q)))
		}
		h.stop()
		nothing.stop()
		stop()
	}
	reportPairs(b, "added-over-nothing-ms", added)
}

// reportPairs gives the median over pairs of servers: two gopls of the same project
// differ by more than what is measured.
func reportPairs(b *testing.B, name string, added [2][]float64) {
	for i, q := range []string{"p50", "p95"} {
		sort.Float64s(added[i])
		b.Logf("%s %s over pairs: %.3f", name, q, added[i])
		b.ReportMetric(added[i][len(added[i])/2], name+"-"+q)
	}
}

// warmRaw is a project, and a raw client that asks a warm gopls for the hover of its
// use. gopls is started with the options of the catalogue.
func warmRaw(b *testing.B) (p *project, env []string, ask, stop func()) {
	path := serverPath()
	gopls := require(b, path, "gopls")
	p, env = goProject(b, realTemp(b), 100), environ(b, path)
	options := map[string]any{"pullDiagnostics": true, "diagnosticsDelay": "50ms", "symbolScope": "workspace"}
	raw := startRaw(b, p.Root, env, options, gopls)
	raw.open(b, p.Use.Path, p.Language)
	return p, env, func() {
		if _, err := raw.call("textDocument/hover", raw.at(p.Use), time.Minute); err != nil {
			b.Fatal(err)
		}
	}, raw.stop
}

// interleave asks in turn and gives the times of each. What was asked before is still
// winding down on another processor, so the order changes each time.
func interleave(asks ...func()) []sample {
	out := make([]sample, len(asks))
	for i := range times("DRAGOMAN_BENCH_ROUNDS", 600) + 100 {
		for _, n := range rand.Perm(len(asks)) {
			if took := timed(asks[n]); i >= 100 {
				out[n] = append(out[n], took)
			}
		}
	}
	return out
}

func startNothing(b testing.TB) *host {
	dir := realTemp(b)
	exe := filepath.Join(dir, "nothing")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", exe, "./nothing").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	old := binary
	binary = exe
	defer func() { binary = old }()
	return startHost(b, dir, os.Environ())
}

// BenchmarkFirstDefinition alternates raw gopls and dragoman, each from spawn to the
// first right definition.
func BenchmarkFirstDefinition(b *testing.B) {
	path := serverPath()
	gopls := require(b, path, "gopls")
	p := goProject(b, realTemp(b), 300)
	env := environ(b, path)
	q := questions(langs()[0], p)["definition"]
	var raws, ours sample
	var ratios []float64
	for i := range times("DRAGOMAN_BENCH_STARTS", 10) + 1 {
		r := timed(func() {
			c := startRaw(b, p.Root, env, nil, gopls)
			c.open(b, p.Use.Path, p.Language)
			raw, err := c.call("textDocument/definition", c.at(p.Use), time.Minute)
			if err != nil || !strings.Contains(string(raw), "store.go") {
				b.Fatalf("raw: %v %s", err, raw)
			}
		})
		o := timed(func() {
			a := startHost(b, p.Root, env).ask(q.args)
			if err := q.check(a); err != nil {
				b.Fatalf("%v\n%s", err, a.Text)
			}
		})
		if i == 0 {
			continue // warms gopls' cache for both
		}
		raws, ours = append(raws, r), append(ours, o)
		ratios = append(ratios, float64(o)/float64(r))
	}
	sort.Float64s(ratios)
	b.Logf("raw %v; dragoman %v; ratios %.2f", raws, ours, ratios)
	b.ReportMetric(float64(ours.quantile(.5))/float64(raws.quantile(.5)), "ratio-of-medians")
}

// BenchmarkFirstReferences alternates, from spawn: the earliest moment at which a raw
// client that polls gets the right references, and dragoman's first answer.
func BenchmarkFirstReferences(b *testing.B) {
	for _, l := range langs() {
		b.Run(l.Name, func(b *testing.B) {
			path := serverPath(l.ExtraPath...)
			argv := append([]string{require(b, path, l.Program)}, l.Argv[1:]...)
			p := l.Make(b, realTemp(b), 300)
			env := environ(b, path)
			q := questions(l, p)["references"]
			var raws, ours sample
			for range times("DRAGOMAN_BENCH_STARTS", 3) {
				if l.Cold != nil {
					l.Cold(p.Root)
				}
				raws = append(raws, timed(func() { earliest(b, l, p, env, argv) }))
				if l.Cold != nil {
					l.Cold(p.Root)
				}
				ours = append(ours, timed(func() {
					if a := startHost(b, p.Root, env, l.Args...).ask(q.args); q.check(a) != nil {
						b.Fatalf("%v\n%s", q.check(a), clip(a.Text))
					}
				}))
			}
			b.Logf("raw earliest %v; dragoman first %v", raws, ours)
			b.ReportMetric(ms(ours.quantile(.5)-raws.quantile(.5)), "added-ms")
		})
	}
}

// earliest polls a raw client until its references are right.
func earliest(b testing.TB, l lang, p *project, env, argv []string) {
	want := len(p.Refs)
	if l.RawRefs != nil {
		want = l.RawRefs(p)
	}
	c := startRaw(b, p.Root, env, nil, argv...)
	c.open(b, p.Use.Path, p.Language)
	for start := time.Now(); ; {
		n, _ := c.references(p.Use)
		if n == want {
			return
		}
		if time.Since(start) > time.Minute {
			b.Fatalf("raw never gets %d references, but %d", want, n)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// BenchmarkFootprint: memory, size, and how fast it says hello.
func BenchmarkFootprint(b *testing.B) {
	path := serverPath()
	require(b, path, "gopls")
	p := goProject(b, realTemp(b), 50)
	many := strings.Builder{}
	many.WriteString("package many\n\nimport \"example.com/shop/store\"\n\n")
	for i := range 800 {
		fmt.Fprintf(&many, "var _ = store.ComputeTotal(nil) // %d\n", i)
	}
	if err := os.MkdirAll(filepath.Join(p.Root, "many"), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.Root, "many", "many.go"), []byte(many.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	env := environ(b, path)
	hello := timed(func() { startHost(b, p.Root, env) })
	h := startHost(b, p.Root, env)
	names := []string{"definition", "hover", "diagnostics", "workspaceSymbol"}
	qs := questions(langs()[0], p)
	for i := range 1000 {
		if a := h.ask(qs[names[i%len(names)]].args); a.Error {
			b.Fatal(a.Text)
		}
	}
	b.ReportMetric(rss(b, h.cmd.Process.Pid), "MB-after-1000")
	refs := qs["references"].args
	refs["limit"] = 1000
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if a := h.ask(refs); a.Error || strings.Count(a.Text, "many.go") < 800 {
				b.Errorf("references: %s", clip(a.Text))
			}
		})
	}
	wg.Wait()
	b.ReportMetric(rss(b, h.cmd.Process.Pid), "MB-after-50x800")
	var help sample
	for range 20 {
		help = append(help, timed(func() { _ = exec.Command(binary, "--help").Run() }))
	}
	b.ReportMetric(ms(help.quantile(.5)), "help-ms")
	b.ReportMetric(ms(hello), "initialize-ms")
	st, err := os.Stat(binary)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(st.Size())/1e6, "binary-MB")
	tools, err := h.rpc("tools/list", map[string]any{}, time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(tools)), "tools-list-bytes")
}

func rss(b testing.TB, pid int) float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, line := range strings.Split(string(raw), "\n") {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(v)[0])
			return float64(kb) / 1024
		}
	}
	return 0
}
