package lsptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// report is how a child process tells the test what happened: a file of JSON
// lines, one per process. Without a file broken rules go to stderr.
type report struct {
	gen  int
	mu   sync.Mutex // guards writes, so that lines stay lines
	file *os.File
}

// reportLine is one line; only the fields of one kind are set.
type reportLine struct {
	PID   int    `json:",omitempty"`
	Rule  string `json:",omitempty"`
	Fault string `json:",omitempty"`
	Ended string `json:",omitempty"`

	Message  *Message `json:",omitempty"`
	Version  int      `json:",omitempty"`
	Text     string   `json:",omitempty"`
	Language string   `json:",omitempty"`
}

func reportFile(dir string, gen int) string {
	return filepath.Join(dir, fmt.Sprintf("process%d.json", gen))
}

// newReport takes the first free number in dir.
func newReport(dir string) (*report, error) {
	if dir == "" {
		return &report{gen: 1}, nil
	}
	for gen := 1; ; gen++ {
		f, err := os.OpenFile(reportFile(dir, gen), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rep := &report{gen: gen, file: f}
		rep.write(reportLine{PID: os.Getpid()})
		return rep, nil
	}
}

func (rep *report) write(l reportLine) {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	if rep.file == nil {
		return
	}
	if _, err := fmt.Fprintln(rep.file, toJSON(l)); err != nil {
		fmt.Fprintln(os.Stderr, "lsptest:", err)
	}
}

func (rep *report) broke(rule, text string) {
	if rep.file == nil {
		fmt.Fprintf(os.Stderr, "lsptest: rule %q: %s\n", rule, text)
	}
	rep.write(reportLine{Rule: rule, Fault: text})
}

func (rep *report) expectation(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

func (rep *report) message(m *inbound) {
	rep.write(reportLine{Message: &m.Message, Version: m.version, Text: m.text, Language: m.lang})
}

func (rep *report) ended(how string) { rep.write(reportLine{Ended: how}) }

// readReport reads what a process has told so far.
func readReport(dir string, gen int) ([]reportLine, error) {
	content, err := os.ReadFile(reportFile(dir, gen))
	if err != nil {
		return nil, err
	}
	var out []reportLine
	for line := range bytes.Lines(content) {
		var l reportLine
		if json.Unmarshal(line, &l) == nil { // the last line may be half written
			out = append(out, l)
		}
	}
	return out, nil
}
