package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dragoman-dev/dragoman/query"
)

// spot is a place as the tool prints it.
type spot struct {
	path         string
	line, column int
}

func (s spot) String() string { return fmt.Sprintf("%s:%d:%d", s.path, s.line, s.column) }

// subject is a function that the demonstration asks about: it has a use and a caller.
type subject struct {
	name             string
	def, use, caller spot
}

var (
	placeLine  = regexp.MustCompile(`(?m)^\d+\. (.+):(\d+):(\d+)(?: \[[^\]]*\])?$`)
	symbolLine = regexp.MustCompile(`(?m)^\d+\. (\S+) \((\w+)\).* - (.+?):(\d+):(\d+)(?: \(calls at [^)]*\))?(?: \[[^\]]*\])?$`)
)

func newSpot(path, line, column string) spot {
	l, _ := strconv.Atoi(line)
	c, _ := strconv.Atoi(column)
	return spot{path, l, c}
}

// places reads the locations of an answer.
func places(text string) []spot {
	var out []spot
	for _, m := range placeLine.FindAllStringSubmatch(text, -1) {
		out = append(out, newSpot(m[1], m[2], m[3]))
	}
	return out
}

// symbolPlaces reads the places of the symbols of an answer.
func symbolPlaces(text string) []spot {
	var out []spot
	for _, m := range symbolLine.FindAllStringSubmatch(text, -1) {
		out = append(out, newSpot(m[3], m[4], m[5]))
	}
	return out
}

// sameBegin says that the lines of the command begin with the places of the tool.
func sameBegin(lines string, ps []spot) bool {
	for _, p := range ps {
		if !strings.Contains("\n"+lines, "\n"+p.String()+": ") {
			return false
		}
	}
	return len(ps) > 0
}

// choose looks for a function that is used and called, in the files of the
// workspace, largest first.
func (d *demo) choose(ctx context.Context) (subject, error) {
	files, err := sources(ctx, d.dir)
	if err != nil {
		return subject{}, err
	}
	var last error
	for _, f := range files[:min(len(files), 12)] {
		text, err := d.call(ctx, map[string]any{"operation": query.DocumentSymbol, "filePath": f, "limit": 200})
		if err != nil {
			last = err
			continue
		}
		for _, m := range symbolLine.FindAllStringSubmatch(text, 60) {
			if m[2] != "Function" && m[2] != "Method" || len(m[1]) < 5 || !plain(m[1]) {
				continue
			}
			s := subject{name: m[1], def: newSpot(m[3], m[4], m[5])}
			if d.fits(ctx, &s) {
				return s, nil
			}
			if ctx.Err() != nil {
				return subject{}, ctx.Err()
			}
		}
	}
	if last != nil {
		return subject{}, &query.Error{Kind: query.NoServer, Message: "No file of this workspace could be asked about: " + last.Error(),
			Hint: "`dragoman doctor` shows what is missing."}
	}
	return subject{}, &query.Error{Kind: query.NoServer, Message: "No function with a use and a caller was found in this workspace.",
		Hint: "Name a folder with source code: dragoman demo DIR."}
}

func plain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// fits fills in a use in another place and a caller, if there are both. The
// questions here choose what to ask; the answers are judged later.
func (d *demo) fits(ctx context.Context, s *subject) bool {
	at := map[string]any{"filePath": s.def.path, "line": s.def.line, "character": s.def.column}
	ask := func(op query.Op) string {
		at["operation"] = op
		text, err := d.call(ctx, at)
		if err != nil {
			return ""
		}
		return text
	}
	found, err := d.call(ctx, map[string]any{"operation": query.WorkspaceSymbol, "query": s.name})
	if err != nil || !slices.Contains(symbolPlaces(found), s.def) {
		return false
	}
	refs := places(ask(query.References))
	i := slices.IndexFunc(refs, func(p spot) bool { return p != s.def })
	callers := symbolPlaces(ask(query.IncomingCalls))
	j := slices.IndexFunc(callers, func(p spot) bool { return p.path != s.def.path || p.line != s.def.line })
	if i < 0 || j < 0 || len(refs) > 40 {
		return false
	}
	s.use, s.caller = refs[i], callers[j]
	return true
}

// sources lists source files of the workspace, relative, largest first, tests and
// generated ones last.
func sources(ctx context.Context, dir string) ([]string, error) {
	files, err := listed(ctx, dir)
	if err != nil {
		return nil, err
	}
	size := map[string]int64{}
	files = slices.DeleteFunc(files, func(f string) bool {
		st, err := os.Stat(filepath.Join(dir, f))
		if err != nil || !st.Mode().IsRegular() || st.Size() > 200<<10 || !isSource(f) {
			return true
		}
		size[f] = st.Size()
		if strings.Contains(strings.ToLower(filepath.Base(f)), "test") || strings.Contains(f, "testdata") {
			size[f] = 0
		}
		return false
	})
	slices.SortStableFunc(files, func(a, b string) int {
		if size[a] != size[b] {
			return int(size[b] - size[a])
		}
		return strings.Compare(a, b)
	})
	if len(files) == 0 {
		return nil, bad("No source file of a known language was found.", "Name a folder with source code: dragoman demo DIR.")
	}
	return files, nil
}

func isSource(path string) bool {
	switch filepath.Ext(path) {
	case ".go", ".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".py", ".rs", ".c", ".cc", ".cpp", ".cxx":
		return true
	}
	return false
}

// maxWalk bounds the files that are looked at without git.
const maxWalk = 5000

// listed are the files that git knows, else those of a bounded walk.
func listed(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "ls-files", "-z")
	cmd.Dir = dir
	if out, err := cmd.Output(); err == nil && len(out) > 0 {
		var files []string
		for f := range bytes.SplitSeq(bytes.TrimRight(out, "\x00"), []byte{0}) {
			files = append(files, string(f))
		}
		return files, nil
	}
	var files []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch name := e.Name(); {
		case err != nil, ctx.Err() != nil, len(files) > maxWalk:
			return filepath.SkipAll
		case e.IsDir() && path != dir && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "target" || name == "vendor"):
			return filepath.SkipDir
		case !e.IsDir():
			if rel, err := filepath.Rel(dir, path); err == nil {
				files = append(files, filepath.ToSlash(rel))
			}
		}
		return nil
	})
	return files, err
}
