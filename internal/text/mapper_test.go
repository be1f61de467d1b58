package text

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var encodings = []Encoding{UTF16, UTF8, UTF32}

func TestEncodings(t *testing.T) {
	t.Run("C54 right column behind é, 中 and 😀 in each encoding", func(t *testing.T) {
		const line = "\té中😀x"
		m := NewMapper([]byte("first\n" + line + "\n"))
		off := len("first\n") + strings.Index(line, "x")
		for e, want := range map[Encoding]uint32{UTF8: 10, UTF16: 5, UTF32: 4} {
			w := Wire{Encoding: e}
			p := m.PositionOfOffset(off, w)
			if p != (Position{Line: 1, Character: want}) {
				t.Errorf("%v: position %v, want character %d", e, p, want)
			}
			if got := m.OffsetOfPosition(p, w); got != off {
				t.Errorf("%v: offset %d, want %d", e, got, off)
			}
		}
		for c, want := range map[Columns]int{CodePoints: 5, ColumnsUTF16: 6, ColumnsBytes: 11} {
			p := m.PointOfOffset(off, c)
			if p != (Point{Line: 2, Column: want}) {
				t.Errorf("columns %d: point %v, want column %d", c, p, want)
			}
			if got, err := m.OffsetOfPoint(p, c); got != off || err != nil {
				t.Errorf("columns %d: offset %d (%v), want %d", c, got, err, off)
			}
		}
	})
	t.Run("names", func(t *testing.T) {
		for _, e := range encodings {
			if got, ok := ParseEncoding(e.String()); got != e || !ok {
				t.Errorf("%v does not survive its name: %v, %v", e, got, ok)
			}
		}
		for _, bad := range []string{"", "utf-7", "UTF-16", "utf16"} {
			if _, ok := ParseEncoding(bad); ok {
				t.Errorf("%q was taken for an encoding", bad)
			}
		}
	})
}

func TestClamping(t *testing.T) {
	m := NewMapper([]byte("a😀b\r\n\nlast"))
	t.Run("C56 column past the line end, line past the end, inside a surrogate pair", func(t *testing.T) {
		for _, tt := range []struct {
			what string
			p    Position
			want int
		}{
			{"column past the line end", Position{0, 99}, 6},
			{"largest column", Position{0, 1<<32 - 1}, 6},
			{"column on an empty line", Position{1, 5}, 8},
			{"line past the end", Position{7, 3}, 13},
			{"largest line", Position{1<<32 - 1, 1<<32 - 1}, 13},
			{"inside a surrogate pair", Position{0, 2}, 1},
			{"behind a surrogate pair", Position{0, 3}, 5},
		} {
			if got := m.OffsetOfPosition(tt.p, Wire{}); got != tt.want {
				t.Errorf("%s: offset %d, want %d", tt.what, got, tt.want)
			}
		}
		for off := 2; off < 5; off++ {
			for _, e := range encodings {
				if got := m.PositionOfOffset(off, Wire{Encoding: e}); got != (Position{0, 1}) {
					t.Errorf("%v: offset %d inside 😀 is at %v, want its start", e, off, got)
				}
			}
			if got := m.OffsetOfPosition(Position{0, uint32(off)}, Wire{Encoding: UTF8}); got != 1 {
				t.Errorf("byte %d inside 😀 is at %d, want its start", off, got)
			}
		}
		if got, err := m.OffsetOfPoint(Point{1, 1 << 40}, CodePoints); got != 6 || err != nil {
			t.Errorf("column past the line end: %d, %v, want 6", got, err)
		}
		_, err := m.OffsetOfPoint(Point{4, 1}, CodePoints)
		var le *LineError
		if !errors.As(err, &le) || le.Line != 4 || le.Lines != 3 {
			t.Fatalf("line past the end: %v, want a LineError for line 4 of 3", err)
		}
		if got, want := err.Error(), "line 4 is not in the file, which has 3 lines"; got != want {
			t.Errorf("error %q, want %q", got, want)
		}
	})
	t.Run("bad points", func(t *testing.T) {
		for _, line := range []int{0, -1, 4, 1 << 40} {
			if _, err := m.OffsetOfPoint(Point{line, 1}, CodePoints); err == nil {
				t.Errorf("line %d: no error", line)
			}
		}
		if got, err := m.OffsetOfPoint(Point{3, -5}, CodePoints); got != 9 || err != nil {
			t.Errorf("column before the line: %d, %v, want 9", got, err)
		}
	})
	t.Run("bad offsets", func(t *testing.T) {
		if got := m.PositionOfOffset(-3, Wire{}); got != (Position{}) {
			t.Errorf("before the text: %v", got)
		}
		if got := m.PointOfOffset(1<<40, CodePoints); got != (Point{3, 5}) {
			t.Errorf("behind the text: %v", got)
		}
	})
}

func TestLineRules(t *testing.T) {
	const content = "one\rtwo\r\nthree\u2028still\n\r\r\nend\r"
	m := NewMapper([]byte(content))
	at := func(s string) int { return strings.Index(content, s) }
	for _, tt := range []struct {
		what    string
		off     int
		lsp, lf Position
		outside Point
	}{
		{"start", 0, Position{0, 0}, Position{0, 0}, Point{1, 1}},
		{"after a lone CR", at("two"), Position{1, 0}, Position{0, 4}, Point{1, 5}},
		{"at a CRLF", at("\r\n"), Position{1, 3}, Position{0, 7}, Point{1, 8}},
		{"after a CRLF", at("three"), Position{2, 0}, Position{1, 0}, Point{2, 1}},
		{"after U+2028", at("still"), Position{2, 6}, Position{1, 6}, Point{2, 7}},
		{"between two CR", at("\r\r\n") + 1, Position{4, 0}, Position{2, 1}, Point{3, 2}},
		{"last line", at("end"), Position{5, 0}, Position{3, 0}, Point{4, 1}},
		{"end", len(content), Position{6, 0}, Position{3, 4}, Point{4, 5}},
	} {
		if got := m.PositionOfOffset(tt.off, Wire{}); got != tt.lsp {
			t.Errorf("%s: %v for LSP, want %v", tt.what, got, tt.lsp)
		}
		if got := m.PositionOfOffset(tt.off, Wire{LFOnly: true}); got != tt.lf {
			t.Errorf("%s: %v for LF only, want %v", tt.what, got, tt.lf)
		}
		if got := m.PointOfOffset(tt.off, CodePoints); got != tt.outside {
			t.Errorf("%s: %v outside, want %v", tt.what, got, tt.outside)
		}
	}
	if got := m.PositionOfOffset(at("\r\n")+1, Wire{}); got != (Position{1, 3}) {
		t.Errorf("inside a CRLF: %v, want the end of its line", got)
	}
}

func TestLines(t *testing.T) {
	for content, want := range map[string][]string{
		"":           {""},
		"a":          {"a"},
		"a\n":        {"a"},
		"\n":         {""},
		"a\n\n":      {"a", ""},
		"a\r\nb\r\n": {"a", "b"},
		"a\rb\n":     {"a\rb"},
		"a\u2028b":   {"a\u2028b"},
		"é\n世界":      {"é", "世界"},
	} {
		m := NewMapper([]byte(content))
		if got := m.Lines(); got != len(want) {
			t.Errorf("%q: %d lines, want %d", content, got, len(want))
			continue
		}
		for i, line := range want {
			if got := m.Line(i + 1); got != line {
				t.Errorf("%q: line %d is %q, want %q", content, i+1, got, line)
			}
		}
		if got := m.Line(0) + m.Line(-1) + m.Line(len(want)+1); got != "" {
			t.Errorf("%q: lines outside the text hold %q", content, got)
		}
	}
}

func TestEndOfSpan(t *testing.T) {
	for _, content := range []string{"", "a", "a\n", "a\r\n", "a\n\n"} {
		m := NewMapper([]byte(content))
		end := m.PointOfOffset(len(content), CodePoints)
		if got, err := m.OffsetOfEnd(end, CodePoints); got != len(content) || err != nil {
			t.Errorf("%q: its end %v comes back as %d, %v", content, end, got, err)
		}
	}
	if _, err := NewMapper([]byte("a\n")).OffsetOfEnd(Point{2, 2}, CodePoints); err == nil {
		t.Error("a column behind the end of the text was taken")
	}
}

// pieces are what texts that break position arithmetic are made of.
var pieces = []string{
	"a", "word", " ", "\t", "é", "世界", "😀", "e\u0301", "\u2028", "\u00a0",
	"\n", "\r\n", "\r", "\n\n", "\r\r\n",
}

func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
	})
}

// model cuts content into lines the slow way and says where off lies.
func model(content string, r rule, off int) (line, start, end int) {
	type bounds struct{ start, end int }
	var lines []bounds
	begin := 0
	for i := 0; i < len(content); i++ {
		crlf := content[i] == '\r' && i+1 < len(content) && content[i+1] == '\n'
		switch {
		case crlf && r != lfRule:
			lines = append(lines, bounds{begin, i})
			i++
		case content[i] == '\n', content[i] == '\r' && r == lspRule:
			lines = append(lines, bounds{begin, i})
		default:
			continue
		}
		begin = i + 1
	}
	lines = append(lines, bounds{begin, len(content)})
	for i, l := range lines {
		if i+1 == len(lines) || off < lines[i+1].start {
			return i, l.start, l.end
		}
	}
	panic("no line")
}

func modelUnits(s string, e Encoding) int {
	switch e {
	case UTF8:
		return len(s)
	case UTF16:
		return len(utf16.Encode([]rune(s)))
	}
	return utf8.RuneCountInString(s)
}

func TestMapperEqualsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := texts().Draw(t, "content")
		m := NewMapper([]byte(content))
		for off := 0; off <= len(content); off++ {
			if off < len(content) && !utf8.RuneStart(content[off]) {
				continue
			}
			for _, e := range encodings {
				for _, r := range []rule{outside, lspRule, lfRule} {
					checkModel(t, m, off, e, r)
				}
			}
		}
	})
}

func checkModel(t *rapid.T, m *Mapper, off int, e Encoding, r rule) {
	content := string(m.Content())
	line, start, end := model(content, r, off)
	inside := min(off, end)
	gotLine, gotUnits := m.place(r, off, e)
	if want := modelUnits(content[start:inside], e); gotLine != line || gotUnits != want {
		t.Fatalf("%q at %d, %v, rule %d: %d:%d, want %d:%d", content, off, e, r, gotLine, gotUnits, line, want)
	}
	if back := m.offset(r, gotLine, gotUnits, e); back != inside {
		t.Fatalf("%q at %d, %v, rule %d: comes back as %d, want %d", content, off, e, r, back, inside)
	}
}

// TestPositionsAreStable starts from any position, also impossible ones: what it
// clamps to must map to itself.
func TestPositionsAreStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewMapper([]byte(texts().Draw(t, "content")))
		p := Position{
			Line:      rapid.Uint32Range(0, 12).Draw(t, "line"),
			Character: rapid.Uint32Range(0, 40).Draw(t, "character"),
		}
		w := Wire{
			Encoding: rapid.SampledFrom(encodings).Draw(t, "encoding"),
			LFOnly:   rapid.Bool().Draw(t, "lfOnly"),
		}
		off := m.OffsetOfPosition(p, w)
		q := m.PositionOfOffset(off, w)
		if again := m.OffsetOfPosition(q, w); again != off {
			t.Fatalf("%v is at %d, which is %v, which is at %d", p, off, q, again)
		}
		if q.Line == p.Line && q.Character > p.Character {
			t.Fatalf("%v moved forward to %v", p, q)
		}
	})
}

func TestLongLines(t *testing.T) {
	for _, middle := range []string{"x", "é", "😀"} {
		content := "first\n" + strings.Repeat("x", longLine) + middle + "\ttail"
		m := NewMapper([]byte(content))
		for off := len(content) - 5; off <= len(content); off++ {
			for _, e := range encodings {
				line, start, _ := model(content, lspRule, off)
				want := Position{uint32(line), uint32(modelUnits(content[start:off], e))}
				got := m.PositionOfOffset(off, Wire{Encoding: e})
				if back := m.OffsetOfPosition(got, Wire{Encoding: e}); got != want || back != off {
					t.Errorf("%s, %v: offset %d is at %v and back at %d, want %v", middle, e, off, got, back, want)
				}
			}
		}
	}
}

func FuzzMapper(f *testing.F) {
	f.Add("é世界😀\r\n\tx\ry\u2028z", 3)
	f.Add("", 0)
	f.Add("no newline", 10)
	f.Add("\xff\xfe\x80broken\xe4\xb8", 2)
	f.Fuzz(func(t *testing.T, content string, off int) {
		m := NewMapper([]byte(content))
		for _, e := range encodings {
			for _, r := range []rule{outside, lspRule, lfRule} {
				line, units := m.place(r, off, e)
				at := m.offset(r, line, units, e)
				if l, u := m.place(r, at, e); l != line || u != units {
					t.Errorf("%q: %v, rule %d: %d:%d is at %d, which is %d:%d", content, e, r, line, units, at, l, u)
				}
				if utf8.ValidString(content) && !utf8.ValidString(content[:at]) {
					t.Errorf("%q: %v, rule %d: offset %d splits a rune", content, e, r, at)
				}
			}
		}
		if n := m.Lines(); n < 1 || n > 1+strings.Count(content, "\n") {
			t.Errorf("%q: %d lines", content, n)
		}
	})
}

func BenchmarkOnePosition(b *testing.B) {
	for name, line := range map[string]string{
		"ascii": "\tif err := doSomething(ctx, name, value); err != nil { return err }\n",
		"mixed": "\tif err := doSomething(ctx, \"é世界😀\", value); err != nil { return err }\n",
	} {
		content := []byte(strings.Repeat(line, 5000))
		at := len(content) / 2
		b.Run(name+"/first", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				NewMapper(content).PositionOfOffset(at, Wire{})
			}
		})
		b.Run(name+"/next", func(b *testing.B) {
			m := NewMapper(content)
			b.ReportAllocs()
			for b.Loop() {
				p := m.PositionOfOffset(at, Wire{})
				if m.OffsetOfPosition(p, Wire{}) != at {
					b.Fatal(fmt.Sprint(p))
				}
			}
		})
	}
}
