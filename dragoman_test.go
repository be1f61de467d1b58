package dragoman

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/query"
)

// scripted opens dir with a scripted server for .foo files, configured by the user.
func scripted(t *testing.T, dir, script string, o *Options) *Workspace {
	t.Helper()
	fake := lsptest.NewProgram(t, script)
	conf := map[string]any{"servers": map[string]any{"fake": map[string]any{
		"command": fake.Path, "args": fake.Args, "trustRequired": false,
		"extensionToLanguage": map[string]string{".foo": "foo"},
	}}}
	text, err := json.Marshal(conf)
	if err != nil {
		t.Fatal(err)
	}
	if o == nil {
		o = &Options{}
	}
	o.UserConfig = filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(o.UserConfig, text, 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	o.StateDir = filepath.Join(home, "state")
	o.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, fake.Env...)
	ws, err := Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return ws
}

func hover(path string, line, column int) query.Request {
	return query.Request{Op: query.Hover, Target: query.Target{Path: path, At: &query.Point{Line: line, Column: column}}}
}

const foo = "-- a.foo --\nhello world\n"

func TestAsk(t *testing.T) {
	dir := lsptest.Workspace(t, foo)
	ws := scripted(t, dir, `on hover reply {"contents": "said hello"}`, nil)
	a, err := ws.Do(t.Context(), hover("a.foo", 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := a.Body.(*query.Prose); !ok || p.Markdown != "said hello" || a.Path != "a.foo" {
		t.Errorf("%+v", a)
	}
	st, err := ws.Status(t.Context())
	if err != nil || len(st.Servers) != 1 {
		t.Fatalf("%+v %v", st, err)
	}
	if s := st.Servers[0]; s.Name != "fake" || s.PID == 0 || s.Generation != 1 || s.Root != dir || len(s.Command) == 0 {
		t.Errorf("%+v", s)
	}
	for range 2 {
		if err := ws.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if _, err := ws.Do(t.Context(), hover("a.foo", 1, 2)); err == nil {
		t.Error("an answer after Close")
	}
}

func TestSymlinkedRoot(t *testing.T) {
	dir := lsptest.Workspace(t, foo)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	ws := scripted(t, link, `on definition reply {"uri": "${uri:a.foo}", "range": {"start": {"line":0,"character":6}, "end": {"line":0,"character":11}}}`, nil)
	for _, path := range []string{"a.foo", filepath.Join(link, "a.foo"), filepath.Join(dir, "a.foo"), "file://" + filepath.Join(link, "a.foo")} {
		r := hover(path, 1, 2)
		r.Op = query.Definition
		a, err := ws.Do(t.Context(), r)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if p := a.Body.(*query.Places).Items; len(p) != 1 || p[0].Path != "a.foo" || p[0].Outside {
			t.Errorf("%s: %+v", path, p)
		}
	}
	r := hover(filepath.Join(link, "gone.foo"), 1, 1)
	if _, err := ws.Do(t.Context(), r); err == nil || strings.Contains(err.Error(), "outside") {
		t.Errorf("a missing file below the link: %v", err)
	}
}

func TestCallLimit(t *testing.T) {
	dir := lsptest.Workspace(t, foo)
	ws := scripted(t, dir, `on hover hang`, &Options{CallLimit: 300 * time.Millisecond})
	start := time.Now()
	_, err := ws.Do(t.Context(), hover("a.foo", 1, 2))
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
	var e *query.Error
	if !errors.As(err, &e) || query.ExitCode(err) != 4 || e.Hint == "" || !strings.Contains(e.Message, "fake") {
		t.Errorf("%v %+v", err, e)
	}
	if _, err := ws.Do(t.Context(), hover("a.foo", 1, 2)); err == nil || !strings.Contains(err.Error(), "fake") {
		t.Errorf("the running server is not named: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ws.Do(ctx, hover("a.foo", 1, 2)); query.KindOf(err) != query.Canceled {
		t.Errorf("given up by the caller: %v", err)
	}
}

func TestStillAtWork(t *testing.T) {
	tests := []struct {
		name    string
		state   server.State
		percent int
		want    string
	}{
		{"rust-analyzer", server.Warming, 63, "rust-analyzer is still indexing (63 %, 41 s so far)."},
		{"gopls", server.Warming, -1, "gopls is still indexing (41 s so far)."},
		{"gopls", server.Starting, 10, "gopls is still starting (41 s so far)."},
		{"gopls", server.Ready, -1, "gopls is still working on the answer (41 s so far)."},
		{"", server.Ready, -1, "The answer was not ready after 41 s."},
	}
	for _, tt := range tests {
		if got := stillAtWork(tt.name, tt.state, tt.percent, 41*time.Second); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "x"), "/no/such/folder"} {
		if _, err := Open(t.Context(), dir, nil); query.KindOf(err) != query.BadRequest {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := Open(t.Context(), t.TempDir(), &Options{Columns: "furlongs"}); query.KindOf(err) != query.BadRequest {
		t.Errorf("columns: %v", err)
	}
}

func TestFindWorkspace(t *testing.T) {
	dir := lsptest.Workspace(t, "-- repo/.git/HEAD --\n-- repo/a/go.mod --\n-- repo/a/b/x.go --\n-- plain/go.mod --\n-- plain/x/y.go --\n-- bare/z/y.go --\n-- home/go.mod --\n-- home/notes/x --\n")
	in := func(p string) string { return filepath.Join(dir, p) }
	env := []string{"HOME=" + in("home")}
	tests := []struct {
		name, start string
		env         []string
		dir, how    string
	}{
		{"version control before markers", "repo/a/b", env, "repo", "version control"},
		{"a marker", "plain/x", env, "plain", "root marker"},
		{"the folder itself", "bare/z", env, "bare/z", "current folder"},
		{"home is none, nor does its marker count below it", "home/notes", env, "home/notes", "current folder"},
		{"home itself", "home", env, "", "none"},
		{"variable", "bare", append(env, "DRAGOMAN_WORKSPACE="+in("plain"), "CLAUDE_PROJECT_DIR="+in("repo")), "plain", "$DRAGOMAN_WORKSPACE"},
		{"home in a variable", "bare", append(env, "DRAGOMAN_WORKSPACE="+in("home")), "bare", "current folder"},
		{"Claude's variable", "bare", append(env, "CLAUDE_PROJECT_DIR="+in("repo")), "repo", "$CLAUDE_PROJECT_DIR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, how, err := FindWorkspace(in(tt.start), tt.env)
			want := tt.dir
			if want != "" {
				want = in(want)
			}
			if err != nil || got != want || !strings.HasPrefix(how, tt.how) {
				t.Errorf("%q %q %v, want %q %q", got, how, err, want, tt.how)
			}
		})
	}
	for _, never := range []string{"/", os.TempDir()} {
		if runtime.GOOS == "windows" {
			continue
		}
		if got, _, err := FindWorkspace(never, env); got != "" || err != nil {
			t.Errorf("%s: %q %v", never, got, err)
		}
	}
	if _, _, err := FindWorkspace(dir, append(env, "DRAGOMAN_WORKSPACE="+in("nothing"))); err == nil {
		t.Error("a variable that names no folder is silently passed over")
	}
}

func TestMulti(t *testing.T) {
	dir := lsptest.Workspace(t, "-- one/.git/HEAD --\n-- one/a.foo --\nhello\n-- two/.git/HEAD --\n-- two/a.foo --\nhello\n")
	fake := lsptest.NewProgram(t, `on hover reply {"contents": "hi"}`)
	conf := filepath.Join(t.TempDir(), "config.json")
	text, _ := json.Marshal(map[string]any{"servers": map[string]any{"fake": map[string]any{"command": fake.Path, "args": fake.Args,
		"trustRequired": false, "extensionToLanguage": map[string]string{".foo": "foo"}}}})
	if err := os.WriteFile(conf, text, 0o600); err != nil {
		t.Fatal(err)
	}
	m := OpenAuto("/", &Options{UserConfig: conf, StateDir: t.TempDir(), Env: append([]string{"HOME=" + t.TempDir(), "PATH=/usr/bin"}, fake.Env...)})
	defer func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := m.Do(t.Context(), hover(filepath.Join(dir, "one", "a.foo"), 1, 1)); query.KindOf(err) != query.Canceled {
			t.Errorf("after Close: %v", err)
		}
	}()
	if _, err := m.Do(t.Context(), hover("a.foo", 1, 1)); query.KindOf(err) != query.BadRequest || !strings.Contains(err.Error(), "started in /") {
		t.Errorf("a relative path without a workspace: %v", err)
	}
	for _, ws := range []string{"one", "two", "one"} {
		a, err := m.Do(t.Context(), hover(filepath.Join(dir, ws, "a.foo"), 1, 1))
		if err != nil || a.Path != "a.foo" {
			t.Fatalf("%s: %+v %v", ws, a, err)
		}
	}
	st, err := m.Status(t.Context())
	if err != nil || len(st.Servers) != 2 {
		t.Errorf("%+v %v", st, err)
	}
	for _, bad := range []string{filepath.Join(dir, "none.foo"), `\\host\share\a.foo`, "//host/share/a.foo"} {
		if _, err := m.Do(t.Context(), hover(bad, 1, 1)); query.KindOf(err) != query.BadRequest {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestDoctor(t *testing.T) {
	dir := lsptest.Workspace(t, "-- a.py --\n-- b.foo --\n-- .lsp.json --\n{\"mine\": {\"comand\": \"x\"}}\n")
	ws := scripted(t, dir, "", nil)
	ws.w.Watcher(t.Context())
	d, err := ws.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text := d.Text()
	for _, want := range []string{"Trusted      no", "Python (1 file", "fake", `unknown key "comand"`, "Skipped mine"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
