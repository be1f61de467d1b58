package lsp

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// metaModel maps a structure of LSP to its properties and, for client capabilities,
// the structure of each ("" for any other type). It is cut from the meta model of
// LSP 3.18 to what this package reads and announces.
func metaModel(t *testing.T) map[string]map[string]string {
	raw, err := os.ReadFile("testdata/metamodel.json")
	if err != nil {
		t.Fatal(err)
	}
	var model map[string]map[string]string
	if err := json.Unmarshal(raw, &model); err != nil {
		t.Fatal(err)
	}
	return model
}

func TestClientCapabilitiesAreLSP(t *testing.T) {
	model := metaModel(t)
	var check func(path, structure string, v map[string]any)
	check = func(path, structure string, v map[string]any) {
		for key, value := range v {
			at := path + "." + key
			if at == ".offsetEncoding" || strings.HasPrefix(at, ".experimental") {
				continue // not in LSP
			}
			below, known := model[structure][key]
			inner, isObject := value.(map[string]any)
			switch {
			case !known:
				t.Errorf("%s is not in %s", at, structure)
			case isObject != (below != ""):
				t.Errorf("%s is not of type %q", at, below)
			case isObject:
				check(at, below, inner)
			}
		}
	}
	var c map[string]any
	if err := json.Unmarshal(ClientCapabilities(nil), &c); err != nil {
		t.Fatal(err)
	}
	check("", "ClientCapabilities", c)
}

// TestNamesAreLSP finds each name that a decoder looks for in the meta model, so that
// a slip of the pen cannot make a member silently absent.
func TestNamesAreLSP(t *testing.T) {
	known := map[string]bool{
		// Outside LSP 3.18, or values of discriminators.
		"offsetEncoding": true, "unregistrations": true, "unchanged": true, "full": true, "Main": true, "Version": true,
		"callHierarchyProvider": true, "version": true,
	}
	for _, structure := range metaModel(t) {
		for name := range structure {
			known[name] = true
		}
	}
	files, _ := filepath.Glob("*.go")
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "glob.go" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range namesIn(parsed) {
			found++
			if !known[name] {
				t.Errorf("%s looks for %q, which LSP does not have", file, name)
			}
		}
	}
	if found < 60 {
		t.Errorf("found only %d names", found)
	}
}

// namesIn lists the strings in case clauses and in calls of member.
func namesIn(f *ast.File) (names []string) {
	add := func(exprs []ast.Expr) {
		for _, e := range exprs {
			if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					names = append(names, s)
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			add(n.List)
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "member" {
				add(n.Args)
			}
		}
		return true
	})
	return names
}

func TestClientCapabilities(t *testing.T) {
	at := func(raw json.RawMessage, path ...string) string {
		v := []byte(raw)
		for _, key := range path {
			v = member(v, key)
		}
		return string(v)
	}
	plain := ClientCapabilities(nil)
	for path, want := range map[string]string{
		"general/positionEncodings":                              `["utf-16","utf-8","utf-32"]`,
		"offsetEncoding":                                         `["utf-16","utf-8","utf-32"]`,
		"workspace/applyEdit":                                    `false`,
		"workspace/configuration":                                `true`,
		"window/showDocument/support":                            `false`,
		"experimental/serverStatusNotification":                  `true`,
		"textDocument/definition/linkSupport":                    `true`,
		"textDocument/diagnostic/dynamicRegistration":            `true`,
		"workspace/symbol/resolveSupport/properties":             `["location.range"]`,
		"textDocument/codeAction/resolveSupport/properties":      `["edit"]`,
		"workspace/didChangeWatchedFiles/relativePatternSupport": `true`,
	} {
		if got := at(plain, strings.Split(path, "/")...); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, extra := range []string{"", "null", "{}", "[]", "7", "{"} {
		if diff := cmp.Diff(string(plain), string(ClientCapabilities(json.RawMessage(extra)))); diff != "" {
			t.Errorf("extra %q: %s", extra, diff)
		}
	}
	merged := ClientCapabilities(json.RawMessage(`{
		"experimental":{"snippetTextEdit":true},
		"workspace":{"applyEdit":true,"diagnostics":null},
		"textDocument":{"hover":{"contentFormat":["plaintext"]}},
		"vendor":{"a":{"b":1}}}`))
	for path, want := range map[string]string{
		"experimental/serverStatusNotification":  `true`,
		"experimental/snippetTextEdit":           `true`,
		"workspace/applyEdit":                    `true`,
		"workspace/diagnostics":                  ``,
		"workspace/configuration":                `true`,
		"textDocument/hover/contentFormat":       `["plaintext"]`,
		"textDocument/hover/dynamicRegistration": `true`,
		"vendor/a/b":                             `1`,
	} {
		if got := at(merged, strings.Split(path, "/")...); got != want {
			t.Errorf("merged %s: %s, want %s", path, got, want)
		}
	}
}
