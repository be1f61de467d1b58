package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/tailscale/hujson"
)

// maxFile and maxDepth bound what is read of a configuration file.
const (
	maxFile  = 1 << 20
	maxDepth = 64
)

// file is one configuration file: its top-level object and what is wrong with it.
type file struct {
	name     string // as shown
	text     []byte
	top      *hujson.Object // nil when empty, missing or broken
	hash     string
	problems []Problem
}

// readFile reads at most 1 MB. A missing file is an empty one.
func readFile(path, shown string) *file {
	f := &file{name: shown}
	b, err := readLimited(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f
	case err != nil:
		f.complain(-1, "%v", err)
		return f
	}
	sum := sha256.Sum256(b)
	f.hash = hex.EncodeToString(sum[:])
	f.parse(b)
	return f
}

func readLimited(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fs.ErrNotExist
		}
		return nil, fmt.Errorf("cannot be read: %w", unwrapPath(err))
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", unwrapPath(err))
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", unwrapPath(err))
	}
	if len(b) > maxFile {
		return nil, errors.New("is larger than 1 MB and was not read")
	}
	return b, nil
}

func unwrapPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// parse reads JSON with comments and trailing commas; a BOM is stripped.
func (f *file) parse(b []byte) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	f.text = b
	if i := bytes.IndexByte(b, 0); i >= 0 {
		f.complain(i, "contains a NUL byte, so it is not JSON text")
		return
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return
	}
	if i := tooDeep(b); i >= 0 {
		f.complain(i, "is nested deeper than %d levels", maxDepth)
		return
	}
	v, err := hujson.Parse(b)
	if err != nil {
		f.complain(-1, "is not valid JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
		return
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		f.complain(v.StartOffset, "must be an object")
		return
	}
	f.top = obj
}

// tooDeep returns the offset at which brackets nest too deeply, -1 if they do not.
// It runs before the parser, which recurses.
func tooDeep(b []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

// complain records a problem at a byte offset; -1 means the file as a whole.
func (f *file) complain(off int, format string, args ...any) {
	p := Problem{File: f.name, Message: fmt.Sprintf(format, args...)}
	if off >= 0 {
		p.Line, p.Col = f.place(off)
	}
	f.problems = append(f.problems, p)
}

func (f *file) place(off int) (line, col int) {
	before := f.text[:min(off, len(f.text))]
	line = bytes.Count(before, []byte("\n")) + 1
	last := before[bytes.LastIndexByte(before, '\n')+1:]
	return line, len([]rune(string(last))) + 1
}

// member is one key of an object with its value as plain JSON.
type member struct {
	key   string
	value json.RawMessage
	obj   *hujson.Object // when the value is an object
	keyAt int
}

func members(obj *hujson.Object) []member {
	var out []member
	for i := range obj.Members {
		m := &obj.Members[i]
		lit, ok := m.Name.Value.(hujson.Literal)
		if !ok {
			continue
		}
		v := m.Value.Clone()
		v.Standardize()
		v.Minimize()
		mem := member{key: lit.String(), value: v.Pack(), keyAt: m.Name.StartOffset}
		mem.obj, _ = m.Value.Value.(*hujson.Object)
		out = append(out, mem)
	}
	return out
}

// serverObjects lists the entries of a file: those under lspServers or
// languageServers (and "servers"), else the top level itself.
func (f *file) serverObjects() []member {
	if f.top == nil {
		return nil
	}
	var nested, flat []member
	found := false
	for _, m := range members(f.top) {
		switch m.key {
		case "lspServers", "languageServers", "servers":
			if m.obj == nil {
				f.complain(m.keyAt, "%s must be an object", m.key)
				found = true
				continue
			}
			found = true
			nested = append(nested, members(m.obj)...)
		case "settings", "$schema", "import":
		default:
			flat = append(flat, m)
		}
	}
	if found {
		for _, m := range flat {
			f.complain(m.keyAt, "unknown key %q%s", m.key, nearest(m.key, []string{"lspServers", "languageServers", "servers", "settings"}))
		}
		return nested
	}
	return flat
}

// nearest proposes the known key most like key.
func nearest(key string, known []string) string {
	best, dist := "", len(key)/2+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(key), strings.ToLower(k)); d < dist {
			best, dist = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		prev := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			prev, row[j] = row[j], min(row[j]+1, row[j-1]+1, prev+cost)
		}
	}
	return row[len(b)]
}
