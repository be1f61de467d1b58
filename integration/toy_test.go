//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// player is the scripted server as a command, built once.
var player = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "lsptest")
	out, err := exec.Command("go", "build", "-o", path, "github.com/dragoman-dev/dragoman/internal/lsptest/cmd/lsptest").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

const toyHover = "on hover reply {\"contents\":\"a toy\"}\n"

// toyServer writes a program that runs the shell lines and then plays the script.
func toyServer(t testing.TB, path, script string, before ...string) {
	t.Helper()
	program, err := player()
	if err != nil {
		t.Fatal(err)
	}
	play := path + ".script"
	body := "#!/bin/sh\n" + strings.Join(before, "\n") + "\nexec '" + program + "' '" + play + "'\n"
	for file, content := range map[string]string{path: body, play: script} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// userConfig puts the user's file where an environment looks for it.
func userConfig(t testing.TB, env []string, content string) {
	t.Helper()
	for _, kv := range env {
		if dir, ok := strings.CutPrefix(kv, "XDG_CONFIG_HOME="); ok {
			write(t, filepath.Join(dir, "dragoman", "config.json"), content)
			return
		}
	}
	t.Fatal("no XDG_CONFIG_HOME")
}

var toyQuestion = map[string]any{"operation": "hover", "filePath": "x.toy", "line": 1, "character": 1}

// cli runs dragoman with arguments and returns what it printed.
func cli(t testing.TB, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary, append(args, "--workspace", dir)...)
	cmd.Dir, cmd.Env = dir, env
	out, _ := cmd.CombinedOutput()
	return string(out)
}
