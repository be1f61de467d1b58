package proc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// modes are what the test binary plays as a child.
var modes = map[string]func(){
	"echo": func() {
		_, _ = io.Copy(os.Stdout, os.Stdin)
		fmt.Fprint(os.Stderr, "bye")
	},
	"environment": func() {
		dir, _ := os.Getwd()
		fmt.Println(dir)
		fmt.Println(strings.Join(os.Environ(), "\n"))
	},
	"fail": func() { os.Exit(3) },
	"flood": func() { // far more than a pipe holds, and only then an answer
		line := strings.Repeat("e", 99) + "\n"
		for range 50_000 {
			_, _ = io.WriteString(os.Stderr, line)
		}
		fmt.Fprint(os.Stderr, "the last words")
		fmt.Println("flooded")
		_, _ = io.Copy(io.Discard, os.Stdin)
	},
	"busy": func() {
		memory := bytes.Repeat([]byte("m"), 30<<20)
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
			memory[len(memory)/2]++
		}
		fmt.Println("worked")
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = memory[0]
	},
}

func TestStreams(t *testing.T) {
	h := run(t, "echo")
	if h.PID() <= 0 || h.Exit() != "" {
		t.Errorf("pid %d, exit %q", h.PID(), h.Exit())
	}
	if _, err := io.WriteString(h.Stdin(), "hello"); err != nil {
		t.Fatal(err)
	}
	_ = h.Stdin().Close()
	out, err := io.ReadAll(h.Stdout())
	if err != nil || string(out) != "hello" {
		t.Fatalf("%q %v", out, err)
	}
	ended(t, h)
	if h.Exit() != "exit status 0" || h.Stderr() != "bye" {
		t.Fatalf("%q %q", h.Exit(), h.Stderr())
	}
	h.Terminate() // after the end: nothing, and no harm
	h.Kill()
}

func TestEnvironment(t *testing.T) {
	h := run(t, "environment", "A=1", "A_B=c d=e")
	out, _ := io.ReadAll(h.Stdout())
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if _, err := os.Stat(lines[0]); err != nil || !strings.Contains(lines[0], "TestEnvironment") {
		t.Errorf("working directory %q", lines[0])
	}
	want := []string{"A=1", "A_B=c d=e", modeVariable + "=environment"}
	for _, w := range want {
		if !strings.Contains(string(out), w+"\n") {
			t.Errorf("%s is missing in %q", w, lines)
		}
	}
	if strings.Contains(string(out), "HOME=") || strings.Contains(string(out), "GOROOT=") {
		t.Errorf("our environment leaked: %q", lines)
	}
}

func TestFailure(t *testing.T) {
	h := run(t, "fail")
	ended(t, h)
	if h.Exit() != "exit status 3" {
		t.Errorf("%q", h.Exit())
	}
}

func TestStderr(t *testing.T) {
	t.Run("C09 a flood on stderr is drained and its end kept", func(t *testing.T) {
		h := run(t, "flood")
		line, err := bufio.NewReader(h.Stdout()).ReadString('\n')
		if err != nil || line != "flooded\n" {
			t.Fatalf("%q %v", line, err)
		}
		eventually(t, "the last words", func() bool { return strings.HasSuffix(h.Stderr(), "e\nthe last words") })
		if n := len(h.Stderr()); n != tailSize {
			t.Errorf("%d bytes kept", n)
		}
	})
	t.Run("C09 the last part has no half characters", func(t *testing.T) {
		var x tail
		for range 3 {
			x.add([]byte(strings.Repeat("世", tailSize/3) + "x"))
		}
		got := x.text()
		if strings.ContainsRune(got, '\uFFFD') || len(got) > tailSize || len(got) < tailSize-3 || !strings.HasSuffix(got, "世x") {
			t.Errorf("%d bytes, %.20q…", len(got), got)
		}
		x.add([]byte(strings.Repeat("-", 5*tailSize) + "end"))
		if got := x.text(); got != strings.Repeat("-", tailSize-3)+"end" {
			t.Errorf("%d bytes, %.20q…", len(got), got)
		}
	})
}

func TestNotFound(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, path := range map[string]string{
		"missing":         filepath.Join(dir, "missing"),
		"not executable":  file("plain", "text", 0o644),
		"directory":       dir,
		"no interpreter":  file("script", "#!/does/not/exist\n", 0o755),
		"no program":      file("garbage", "\x00\x01", 0o755),
		"in a plain file": filepath.Join(file("other", "", 0o644), "x"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Start(t.Context(), Spec{Path: path})
			var e *NotFoundError
			if !errors.As(err, &e) || e.Path != path || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("relative path", func(t *testing.T) {
		if _, err := Start(t.Context(), Spec{Path: "sh"}); err == nil {
			t.Error("started")
		}
	})
	t.Run("working directory", func(t *testing.T) {
		exe, _ := os.Executable()
		_, err := Start(t.Context(), Spec{Path: exe, Dir: filepath.Join(dir, "gone")})
		var e *NotFoundError
		if err == nil || errors.As(err, &e) || !strings.Contains(err.Error(), "working directory") {
			t.Error(err)
		}
	})
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		exe, _ := os.Executable()
		if _, err := Start(ctx, Spec{Path: exe}); err != context.Canceled {
			t.Error(err)
		}
	})
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write := func(path string, mode fs.FileMode) {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(a, "both.exe"), 0o755)
	write(filepath.Join(b, "both.exe"), 0o755)
	write(filepath.Join(a, "late.exe"), 0o644)
	write(filepath.Join(b, "late.exe"), 0o755)
	write(filepath.Join(b, "plain.txt"), 0o644)
	path := strings.Join([]string{"", ".", "relative", a, filepath.Join(dir, "gone"), b}, string(os.PathListSeparator))
	for name, want := range map[string]string{
		"both.exe":                   filepath.Join(a, "both.exe"),
		"late.exe":                   filepath.Join(b, "late.exe"),
		filepath.Join(b, "late.exe"): filepath.Join(b, "late.exe"),
	} {
		got, err := LookPath(name, path)
		if err != nil || got != want && name != "late.exe" || name == "late.exe" && filepath.Base(got) != name {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "gone.exe", "plain.txt", "./both.exe", filepath.Join(dir, "gone.exe"), dir} {
		got, err := LookPath(name, path)
		var e *NotFoundError
		if !errors.As(err, &e) || e.Path != name {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	if _, err := LookPath("plain.txt", b); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that may not be executed: %v", err)
	}
}
