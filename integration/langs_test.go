//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// lang is one server under test.
type lang struct {
	// Name of the sub-test, Label what stands in brackets in answers.
	Name, Label string
	Program     string
	// ExtraPath comes before the other test servers.
	ExtraPath []string
	Argv      []string
	Make      func(t testing.TB, root string, n int) *project
	// Lie is the control: it returns an error of the raw client's answer, or "" when
	// the raw answer was right.
	Lie func(t testing.TB, c *rawClient, p *project) string
	// RawRefs is the number of references that a raw client is given when the server
	// knows everything and the declaration is not asked for; nil: all of Refs.
	RawRefs func(p *project) int
	// Args of dragoman for this language.
	Args []string
	// Cold removes what makes a second start warm.
	Cold func(root string)
	// Recorded is how long the slowest of the first questions took on the slow
	// fixture, on two cores.
	Recorded time.Duration
	// Starts is the number of cold starts in CI.
	Starts int
	// Slow is the number of files of the slow fixture.
	Slow int
	// Source is the extension of new files in the tests that write files.
	Comment string
}

func langs() []lang {
	d := serversDir()
	return []lang{
		{Name: "gopls", Label: "gopls", Program: "gopls", Argv: []string{"gopls"}, Make: goProject, Recorded: 4 * time.Second, Starts: 3, Slow: 2000, Comment: "//"},
		{Name: "typescript", Label: "typescript", Program: "typescript-language-server", Argv: []string{"typescript-language-server", "--stdio"}, Make: tsProject, Lie: fewReferences,
			RawRefs:  func(p *project) int { return len(p.Refs) + 1 }, // the declaration is given all the same
			Recorded: 6 * time.Second, Starts: 3, Slow: 2000, Comment: "//"},
		{Name: "typescript7", Label: "typescript", Program: "tsc", ExtraPath: []string{filepath.Join(d, "ts7", "node_modules", ".bin")}, Argv: []string{"tsc", "--lsp", "--stdio"}, Make: ts7Project, Lie: noSymbols,
			RawRefs:  func(p *project) int { return len(p.b.marks["ref"]) + len(p.b.marks["use"]) }, // imports are left out
			Recorded: 2 * time.Second, Starts: 3, Slow: 2000, Comment: "//"},
		{Name: "pyright", Label: "pyright", Program: "pyright-langserver", Argv: []string{"pyright-langserver", "--stdio"}, Make: pyProject, Lie: fewReferences, Recorded: 7 * time.Second, Starts: 3, Slow: 2000, Comment: "#"},
		{Name: "clangd", Label: "clangd", Program: "clangd", Argv: []string{"clangd", "--background-index"}, Make: cppProject, Lie: fewReferences, Recorded: 15 * time.Second, Starts: 3, Slow: 2000, Comment: "//",
			Cold: func(root string) { _ = os.RemoveAll(filepath.Join(root, ".cache")) }},
		{Name: "rust-analyzer", Label: "rust-analyzer", Program: "rust-analyzer", Argv: []string{"rust-analyzer"}, Make: rustProject, Lie: fewReferences, Recorded: 10 * time.Second, Starts: 1, Slow: 2000, Comment: "//",
			Cold: func(root string) { _ = os.RemoveAll(filepath.Join(root, "target")) }},
	}
}

// ts7Project is a project whose own TypeScript is 7, so that it has no tsserver.
func ts7Project(t testing.TB, root string, n int) *project {
	p := tsProject(t, root, n)
	if err := os.MkdirAll(filepath.Join(root, "node_modules", "typescript"), 0o755); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(serversDir(), "ts7", "node_modules", "typescript", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "node_modules", "typescript", "package.json"), manifest, 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

// fewReferences asks for references right after didOpen.
func fewReferences(t testing.TB, c *rawClient, p *project) string {
	c.open(t, p.Use.Path, p.Language)
	n, err := c.references(p.Use)
	if err != nil {
		return "error: " + err.Error()
	}
	if n < len(p.Refs) {
		return "too few references"
	}
	return ""
}

// noSymbols asks for a workspace symbol before any file is open.
func noSymbols(t testing.TB, c *rawClient, p *project) string {
	n, err := c.symbols(p.Query)
	if err != nil {
		return "error: " + err.Error()
	}
	if n == 0 {
		return "no symbols"
	}
	return ""
}
