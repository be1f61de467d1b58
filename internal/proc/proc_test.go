package proc

import (
	"fmt"
	"io"
	"os"
	"testing"
)

var modes = map[string]func(){
	"echo": func() {
		io.Copy(os.Stdout, os.Stdin)
		fmt.Fprint(os.Stderr, "bye")
	},
}

// run starts the test binary in a mode.
func run(t *testing.T, mode string, env ...string) Handle {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h, err := Start(t.Context(), Spec{Path: exe, Dir: t.TempDir(), Env: append(env, modeVariable+"="+mode)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Kill()
		ended(t, h)
		h.Stdin().Close()
		h.Stdout().Close()
	})
	return h
}

func TestStreams(t *testing.T) {
	h := run(t, "echo")
	if _, err := io.WriteString(h.Stdin(), "hello"); err != nil {
		t.Fatal(err)
	}
	h.Stdin().Close()
	out, err := io.ReadAll(h.Stdout())
	if err != nil || string(out) != "hello" {
		t.Fatalf("%q %v", out, err)
	}
	ended(t, h)
	if h.Exit() != "exit status 0" || h.Stderr() != "bye" {
		t.Fatalf("%q %q", h.Exit(), h.Stderr())
	}
}
