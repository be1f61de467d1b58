package mcpserver

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestTranscripts plays the client's lines ("> ") of each testdata/*.txtar and
// compares the server's answers ("< "). A line "> " without an answer expected
// after it is a notification or noise.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			changed := false
			for i := range a.Files {
				t.Run(a.Files[i].Name, func(t *testing.T) {
					got := play(t, string(a.Files[i].Data))
					if *update {
						changed = true
						a.Files[i].Data = []byte(got)
						return
					}
					if d := cmp.Diff(string(a.Files[i].Data), got); d != "" {
						t.Errorf("(-want +got):\n%s", d)
					}
				})
			}
			if changed {
				if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// play sends the client's lines and returns the transcript with the answers that
// came. A request is followed by its answer; "> " lines that have no id, or that
// end in "#silent", get none.
func play(t *testing.T, script string) string {
	p := serve(t, Options{Version: "test"})
	var out bytes.Buffer
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "> ") {
			if !strings.HasPrefix(line, "< ") && !strings.HasPrefix(line, "  ") {
				out.WriteString(line + "\n")
			}
			continue
		}
		out.WriteString(line + "\n")
		p.send(line[2:])
		if !answered(line[2:]) {
			continue
		}
		out.WriteString("< " + pretty(p.receive()) + "\n")
	}
	return out.String()
}

func answered(line string) bool {
	return strings.HasPrefix(line, "{") && json.Valid([]byte(line)) && !strings.Contains(line, `"method":"notifications/`)
}

// pretty indents an answer and leaves out the tool's schema and the long texts,
// which have tests of their own.
func pretty(line string) string {
	var v any
	if json.Unmarshal([]byte(line), &v) != nil {
		return "NOT JSON: " + line
	}
	shorten(v)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("  ", "  ")
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

func shorten(v any) {
	m, ok := v.(map[string]any)
	if list, isList := v.([]any); isList {
		for _, one := range list {
			shorten(one)
		}
	}
	if !ok {
		return
	}
	for k, one := range m {
		switch k {
		case "inputSchema", "description", "instructions":
			m[k] = "…"
		default:
			shorten(one)
		}
	}
}
