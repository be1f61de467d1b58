//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// workspaceForms are the two forms of .lsp.json, flat and nested. Each also puts a
// program of the workspace in gopls' place.
var workspaceForms = map[string]string{
	"by name":             `{"toys": {"command": "./tools/toy", "extensionToLanguage": {".toy": "toy"}}, "gopls": {"command": "./tools/gopls"}}`,
	"by language":         `{"toy": {"command": "./tools/toy", "args": []}, "go": {"command": "./tools/gopls"}}`,
	"by name, nested":     `{"lspServers": {"toys": {"command": "./tools/toy", "languages": ["toy"]}, "gopls": {"command": "./tools/gopls"}}}`,
	"by language, nested": "{\n// a comment\n\"languageServers\": {\"toy\": {\"command\": \"./tools/toy\"}, \"gopls\": {\"command\": \"./tools/gopls\",}}}",
}

// TestWorkspaceConfig: without trust nothing of a workspace's .lsp.json is started,
// it is reported, and the built-in servers answer; with --trust it is used.
func TestWorkspaceConfig(t *testing.T) {
	path := serverPath()
	require(t, path, "gopls")
	for name, content := range workspaceForms {
		t.Run(name, func(t *testing.T) {
			root := realTemp(t)
			p := goProject(t, root, 0)
			ran := filepath.Join(t.TempDir(), "ran")
			trace := "echo \"$0\" >>'" + ran + "'"
			write(t, filepath.Join(root, "x.toy"), "toy\n")
			toyServer(t, filepath.Join(root, "tools", "toy"), toyHover, trace)
			toyServer(t, filepath.Join(root, "tools", "gopls"), toyHover, trace)
			write(t, filepath.Join(root, ".lsp.json"), content)
			env := environ(t, path)
			goHover := questions(langNamed(t, "gopls"), p)["hover"]

			h := startHost(t, root, env)
			if a := h.ask(goHover.args); goHover.check(a) != nil {
				t.Errorf("gopls without trust: %v\n%s", goHover.check(a), clip(a.Text))
			}
			a := h.ask(toyQuestion)
			if !a.Error || !strings.Contains(a.Text, "trust") || strings.Count(strings.TrimSpace(a.Text), "\n") > 1 {
				t.Errorf("toy without trust: error=%v: %s", a.Error, clip(a.Text))
			}
			t.Logf("%s", a.Text)
			if st := cli(t, root, env, "status"); !strings.Contains(st, " is left out: ") || !strings.Contains(st, "server_trust_required") || !strings.Contains(st, "dragoman trust") {
				t.Errorf("status does not say what is left out: %s", st)
			}
			for _, args := range [][]string{{"doctor"}, {"hover", "x.toy:1:1"}} {
				cli(t, root, env, args...)
			}
			h.stop()
			if b, err := os.ReadFile(ran); err == nil {
				t.Fatalf("without trust was started: %s", b)
			}

			h = startHost(t, root, env, "--trust")
			if a := h.ask(toyQuestion); has(a, "Hover for x.toy:1:1:", "a toy") != nil {
				t.Errorf("toy with trust: %s", clip(a.Text))
			}
			if a := h.ask(goHover.args); has(a, "a toy") != nil {
				t.Errorf("the workspace's gopls with trust: %s", clip(a.Text))
			}
			h.stop()
			if _, err := os.Stat(ran); err != nil {
				t.Error("with trust nothing of the workspace was started")
			}
			if a := startHost(t, root, env).ask(toyQuestion); !a.Error {
				t.Errorf("trust for one run was remembered: %s", clip(a.Text))
			}
		})
	}
}

// TestEnvironment: variables that load code do not reach a server, whoever sets
// them; others do.
func TestEnvironment(t *testing.T) {
	const vars = `{"LD_PRELOAD": "/tmp/none.so", "ld_library_path": "/tmp/none", "Node_Options": "--require x", "DYLD_INSERT_LIBRARIES": "x",
		"BASH_ENV": "x", "ENV": "x", "PYTHONSTARTUP": "x", "JAVA_TOOL_OPTIONS": "x", "GIT_SSH_COMMAND": "x", "TOY_COLOUR": "red", "TOY_ROOT": "${workspacePath}"}`
	for _, layer := range []string{"workspace", "user"} {
		t.Run(layer, func(t *testing.T) {
			root := realTemp(t)
			seen := filepath.Join(t.TempDir(), "seen")
			write(t, filepath.Join(root, "x.toy"), "toy\n")
			program := filepath.Join(root, "tools", "toy")
			env := environ(t, os.Getenv("PATH"))
			entry := `{"toy": {"env": ` + vars + `, "trustRequired": false, "command": "`
			args := []string{}
			if layer == "user" {
				program = filepath.Join(t.TempDir(), "toy")
				userConfig(t, env, `{"servers": `+entry+program+`"}}}`)
			} else {
				write(t, filepath.Join(root, ".lsp.json"), entry+`./tools/toy"}}`)
				args = append(args, "--trust")
			}
			toyServer(t, program, toyHover, "env >'"+seen+"'")
			if a := startHost(t, root, env, args...).ask(toyQuestion); has(a, "a toy") != nil {
				t.Fatalf("%s", clip(a.Text))
			}
			raw, err := os.ReadFile(seen)
			if err != nil {
				t.Fatal(err)
			}
			got := "\n" + string(raw)
			for _, name := range []string{"LD_PRELOAD", "LD_LIBRARY_PATH", "NODE_OPTIONS", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PYTHONSTARTUP", "JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND"} {
				if os.Getenv(name) == "" && strings.Contains(strings.ToUpper(got), "\n"+name+"=") {
					t.Errorf("%s reached the server", name)
				}
			}
			for _, want := range []string{"\nTOY_COLOUR=red\n", "\nTOY_ROOT=" + root + "\n"} {
				if !strings.Contains(got, want) {
					t.Errorf("lacks %q", want)
				}
			}
			if st := cli(t, root, env, append([]string{"status"}, args...)...); !strings.Contains(st, "LD_PRELOAD") {
				t.Errorf("status does not say what was dropped: %s", st)
			}
		})
	}
}

// TestCommandOutside: a command of the workspace's file that leads out of it, by a
// link, by dots or by an absolute path, is refused also with trust.
func TestCommandOutside(t *testing.T) {
	parent := realTemp(t)
	root := filepath.Join(parent, "mine")
	ran := filepath.Join(parent, "ran")
	outside := filepath.Join(parent, "elsewhere", "toy")
	toyServer(t, outside, toyHover, ": >'"+ran+"'")
	write(t, filepath.Join(root, "x.toy"), "toy\n")
	link(t, filepath.Join(root, "tools", "toy"), outside)
	link(t, filepath.Join(root, "bin"), filepath.Dir(outside))
	for _, command := range []string{"./tools/toy", "tools/toy", "bin/toy", "../elsewhere/toy", outside} {
		t.Run(strings.ReplaceAll(strings.TrimPrefix(command, parent), "/", "_"), func(t *testing.T) {
			write(t, filepath.Join(root, ".lsp.json"), `{"toy": {"command": "`+command+`"}}`)
			env := environ(t, os.Getenv("PATH"))
			a := startHost(t, root, env, "--trust").ask(toyQuestion)
			if !a.Error || !strings.Contains(a.Text, "not inside the workspace") || !strings.Contains(a.Text, "Hint: Correct its entry in .lsp.json.") || strings.Count(strings.TrimSpace(a.Text), "\n") > 1 {
				t.Errorf("error=%v: %s", a.Error, clip(a.Text))
			}
			t.Logf("%s", a.Text)
			if _, err := os.Stat(ran); err == nil {
				t.Fatal("it was started")
			}
		})
	}
}
