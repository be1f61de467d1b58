package cli

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

// lines prints answers as path:line:col: text, the form that grep prints and
// editors read. Paths are relative to the current folder.
type lines struct {
	dir, cwd string
	color    bool
	out      []byte
	// files holds the lines of the files that were shown.
	files map[string][]string
}

// The colours are those of grep, and those that compilers give to severities.
const (
	magenta = "35"
	green   = "32"
	red     = "31"
	yellow  = "33"
	blue    = "34"
	bold    = "1"
	match   = "1;4;31"
)

func (l *lines) paint(code, s string) string {
	if !l.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (l *lines) writef(format string, v ...any) { l.out = fmt.Appendf(l.out, format, v...) }

func (l *lines) answer(a *query.Answer) {
	switch b := a.Body.(type) {
	case *query.Places:
		l.places(b.Items)
	case *query.Outline:
		l.symbols(b.Items)
	case *query.Found:
		l.symbols(b.Items)
	case *query.Prose:
		if b.Markdown != "" {
			l.writef("%s\n", render.EscapeLines(strings.TrimSpace(b.Markdown)))
		}
	case *query.Items:
		for i := range b.Items {
			l.symbol(&b.Items[i].Symbol)
		}
	case *query.Calls:
		for i := range b.Groups {
			l.calls(&b.Groups[i])
		}
	case *query.Problems:
		for i := range b.Files {
			l.problems(&b.Files[i])
		}
	case *query.Actions:
		l.actions(a, b.Items)
	}
}

// head writes path:line:col: in front of a text.
func (l *lines) head(path, uri string, at query.Point) {
	l.writef("%s:%s:%s: ", l.paint(magenta, render.Escape(l.shown(path, uri))),
		l.paint(green, strconv.Itoa(at.Line)), l.paint(green, strconv.Itoa(at.Column)))
}

func (l *lines) places(ps []query.Place) {
	for i := range ps {
		p := &ps[i]
		l.head(p.Path, p.URI, p.Span.Start)
		l.writef("%s\n", l.source(p))
	}
}

func (l *lines) symbols(ss []query.Symbol) {
	for i := range ss {
		l.symbol(&ss[i])
	}
}

func (l *lines) symbol(s *query.Symbol) {
	l.head(s.Place.Path, s.Place.URI, s.Place.Span.Start)
	l.writef("%s%s", strings.Repeat("  ", s.Depth), l.paint(bold, render.Escape(s.Name)))
	if s.Kind != "" {
		l.writef(" (%s)", render.Escape(s.Kind))
	}
	if s.Container != "" {
		l.writef(" in %s", render.Escape(s.Container))
	}
	l.writef("\n")
}

// calls prints one line for each call site of an incoming call, which lies in the
// caller, and one line for each callee of an outgoing one.
func (l *lines) calls(g *query.CallGroup) {
	for i := range g.Calls {
		c := &g.Calls[i]
		l.head(c.Place.Path, c.Place.URI, c.Place.Span.Start)
		l.writef("%s", l.paint(bold, render.Escape(c.Name)))
		if c.Kind != "" {
			l.writef(" (%s)", render.Escape(c.Kind))
		}
		for j, at := range c.Sites {
			sep := ", "
			if j == 0 {
				sep = " called at "
			}
			l.writef("%s%d:%d", sep, at.Line, at.Column)
		}
		l.writef("\n")
	}
}

func (l *lines) problems(f *query.FileProblems) {
	for i := range f.Problems {
		p := &f.Problems[i]
		l.head(f.Path, f.URI, p.Span.Start)
		color := blue
		switch p.Severity {
		case "ERROR":
			color = red
		case "WARNING":
			color = yellow
		}
		l.writef("%s: %s", l.paint(color, strings.ToLower(p.Severity)), render.Escape(p.Message))
		if p.Code != "" {
			l.writef(" (%s)", render.Escape(p.Code))
		}
		l.writef(" [%s]\n", render.Escape(strings.Join(p.Servers, ", ")))
	}
}

func (l *lines) actions(a *query.Answer, as []query.Action) {
	for i := range as {
		act := &as[i]
		if a.At != nil {
			l.head(a.Path, "", *a.At)
		}
		l.writef("%s", render.Escape(act.Title))
		if act.Kind != "" {
			l.writef(" [%s]", render.Escape(act.Kind))
		}
		if act.Preferred {
			l.writef(" (preferred)")
		}
		if act.Disabled != "" {
			l.writef(" (disabled: %s)", render.Escape(act.Disabled))
		}
		l.writef("\n")
	}
}

// full is a path of an answer made absolute; raw for what is no file. Without a
// workspace of this run the URI knows where the file is.
func (l *lines) full(path, uri string) string {
	switch {
	case filepath.IsAbs(path), strings.Contains(path, "://"):
		return path
	case l.dir != "":
		return filepath.Join(l.dir, path)
	}
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" && u.Path != "" {
		return filepath.FromSlash(u.Path)
	}
	return path
}

// shown is a path of an answer as it can be opened from the current folder.
func (l *lines) shown(path, uri string) string {
	full := l.full(path, uri)
	if filepath.IsAbs(path) || !filepath.IsAbs(full) {
		return path
	}
	rel, err := filepath.Rel(l.cwd, full)
	if err != nil || l.dir == "" && strings.HasPrefix(rel, "..") {
		return full
	}
	return rel
}

// maxSource is the size of file from which no source lines are shown.
const maxSource = 8 << 20

// source is the line of a place without its indentation, the place in colour.
func (l *lines) source(p *query.Place) string {
	path := l.full(p.Path, p.URI)
	if !filepath.IsAbs(path) {
		return ""
	}
	text := l.file(path)
	at := p.Span.Start
	if at.Line < 1 || at.Line > len(text) {
		return ""
	}
	line := text[at.Line-1]
	end := len(line) + 1
	if p.Span.End.Line == at.Line {
		end = p.Span.End.Column
	}
	return strings.TrimSpace(l.marked(line, at.Column, end))
}

// marked escapes a line and colours its characters from the 1-based column from up to to.
func (l *lines) marked(line string, from, to int) string {
	if !l.color {
		return render.Escape(strings.TrimSpace(line))
	}
	rs := []rune(strings.TrimRight(line, " \t"))
	from, to = min(max(from-1, 0), len(rs)), min(max(to-1, 0), len(rs))
	if to <= from {
		return render.Escape(strings.TrimSpace(line))
	}
	before := strings.TrimLeft(string(rs[:from]), " \t")
	return render.Escape(before) + l.paint(match, render.Escape(string(rs[from:to]))) + render.Escape(string(rs[to:]))
}

func (l *lines) file(path string) []string {
	if text, ok := l.files[path]; ok {
		return text
	}
	var text []string
	if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Size() <= maxSource {
		if raw, err := os.ReadFile(path); err == nil {
			raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
			text = strings.Split(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n")
		}
	}
	if l.files == nil {
		l.files = map[string][]string{}
	}
	l.files[path] = text
	return text
}
