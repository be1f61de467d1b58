// Package route decides which servers are asked about a file, in which order, with
// which root and which language id. It looks at the disk only through the file
// system it is given, and only for root markers.
//
// It starts nothing and knows nothing of running servers.
package route

import (
	"path/filepath"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/config"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// FS is asked about root markers.
type FS interface {
	Exists(path string) bool
	// Contains reports whether a (small) file holds a text.
	Contains(path, text string) bool
}

// Candidate is one server for a file.
type Candidate struct {
	Server *config.Server
	// Root is the absolute folder in which the server is to run.
	Root string
	// LanguageID is the file's language for this server; "" for workspace questions.
	LanguageID string
}

// Question is what is to be routed.
type Question struct {
	// Workspace and Path are absolute, links resolved; Path is "" for questions about
	// the workspace.
	Workspace, Path string
	// Server is the server that the caller forces, "" for none.
	Server string
	// Header is the language of .h files here, "c" or "cpp" ("" is cpp).
	Header string
}

// For lists the servers of admitted that serve the file, in the order of
// configuration. Errors are *query.Error.
func For(fs FS, admitted []config.Server, q Question) ([]Candidate, error) {
	pool, err := Named(admitted, q.Server)
	if err != nil {
		return nil, err
	}
	var out []Candidate
	for _, s := range pool {
		id := LanguageID(s, q.Path, q.Header)
		if id == "" {
			continue
		}
		root, ok := Root(fs, s, q.Workspace, q.Path)
		if !ok {
			continue
		}
		out = append(out, Candidate{Server: s, Root: root, LanguageID: id})
	}
	if len(out) == 0 {
		return nil, noServer(admitted, pool, q)
	}
	return out, nil
}

// Named keeps the servers that a name stands for: a configured name, a catalogue
// id, the base name of a command, or a language that exactly one server has. ""
// keeps all.
func Named(admitted []config.Server, name string) ([]*config.Server, error) {
	var all []*config.Server
	for i := range admitted {
		all = append(all, &admitted[i])
	}
	if name == "" {
		return all, nil
	}
	tests := []func(s *config.Server) bool{
		func(s *config.Server) bool { return s.Name == name },
		func(s *config.Server) bool { return s.Entry != nil && catalog.ByName(name) == s.Entry },
		func(s *config.Server) bool { return base(s.Command) == name || hasProgram(s, name) },
		func(s *config.Server) bool { return hasLanguage(s, name) },
	}
	for i, is := range tests {
		var found []*config.Server
		for _, s := range all {
			if is(s) {
				found = append(found, s)
			}
		}
		if len(found) == 1 || len(found) > 1 && i < len(tests)-1 {
			return found, nil
		}
	}
	return nil, &query.Error{
		Kind: query.BadRequest, Server: name,
		Message: "Unknown server \"" + name + "\".",
		Hint:    "Configured servers: " + names(all) + ".",
	}
}

func hasProgram(s *config.Server, name string) bool {
	if s.Command != "" || s.Entry == nil {
		return false
	}
	for _, p := range s.Entry.Programs {
		if p.Name == name {
			return true
		}
	}
	return false
}

func hasLanguage(s *config.Server, id string) bool {
	for _, l := range s.Languages {
		if l == id {
			return true
		}
	}
	for _, l := range s.ExtensionToLanguage {
		if l == id {
			return true
		}
	}
	return false
}

func base(command string) string {
	b := filepath.Base(filepath.ToSlash(command))
	return strings.TrimSuffix(b, ".exe")
}

func names(list []*config.Server) string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name)
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

func noServer(admitted []config.Server, pool []*config.Server, q Question) error {
	shown := q.Path
	if rel, err := filepath.Rel(q.Workspace, q.Path); err == nil && text.Within(q.Workspace, q.Path) {
		shown = rel
	}
	e := &query.Error{Kind: query.NoServer, Path: shown}
	if q.Server != "" {
		e.Server = q.Server
		e.Message = "Server \"" + q.Server + "\" does not serve " + shown + "."
		var fit []*config.Server
		for i := range admitted {
			if LanguageID(&admitted[i], q.Path, q.Header) != "" {
				fit = append(fit, &admitted[i])
			}
		}
		e.Hint = "Servers for this file: " + names(fit) + "."
		return e
	}
	e.Message = "No language server is configured for " + shown + "."
	e.Hint = "Add one for \"" + ext(q.Path) + "\" files to .lsp.json. Configured servers: " + names(pool) + "."
	return e
}

func ext(path string) string {
	if e := filepath.Ext(path); e != "" {
		return e
	}
	return filepath.Base(path)
}

// LanguageID is the language that a server gives to a file; "" when it does not
// serve it. A configured extensionToLanguage decides alone; then the catalogue, then
// the languages of the configuration.
func LanguageID(s *config.Server, path, header string) string {
	if len(s.ExtensionToLanguage) > 0 {
		return byExtension(s.ExtensionToLanguage, path)
	}
	if s.Entry != nil && (len(s.Languages) == 0 || sameLanguages(s)) {
		id := s.Entry.Language(path)
		if id == "cpp" && strings.EqualFold(filepath.Ext(path), ".h") && header == "c" {
			return "c"
		}
		return id
	}
	return catalog.LanguageAmong(s.Languages, path)
}

func sameLanguages(s *config.Server) bool {
	return strings.Join(s.Languages, " ") == strings.Join(s.Entry.Languages, " ")
}

// byExtension matches without case unless the table lists both cases (.c and .C).
// The longest extension wins (.blade.php before .php).
func byExtension(table map[string]string, path string) string {
	name := filepath.Base(path)
	for i := 0; i < len(name); i++ {
		if name[i] != '.' {
			continue
		}
		if id := matchCase(table, name[i:]); id != "" {
			return id
		}
	}
	return table["."+name] // a whole name, as in {"Dockerfile": "dockerfile"}
}

func matchCase(table map[string]string, ext string) string {
	if id := table[ext]; id != "" {
		return id
	}
	found := ""
	for e, id := range table {
		if strings.EqualFold(e, ext) {
			if found != "" && found != id {
				return "" // both cases are listed and mean different things
			}
			found = id
		}
	}
	return found
}

// Root finds the folder a server runs in for a file: the first group of markers
// that has a hit; inside it the nearest folder, or the outermost where the group
// says so. Without a hit it is the workspace. false: the tree belongs to another
// server (a veto marker nearer than any marker).
func Root(fs FS, s *config.Server, workspace, path string) (string, bool) {
	if s.WorkspaceFolder != "" {
		return s.WorkspaceFolder, text.Within(s.WorkspaceFolder, path)
	}
	dirs := ancestors(path, workspace)
	if len(dirs) == 0 {
		return workspace, true
	}
	if vetoed(fs, s, dirs) {
		return "", false
	}
	for _, g := range groups(s) {
		if dir := hit(fs, g, dirs); dir != "" {
			return dir, true
		}
	}
	return workspace, true
}

func groups(s *config.Server) []catalog.Group {
	if len(s.RootMarkers) > 0 {
		return []catalog.Group{{Names: s.RootMarkers}}
	}
	if s.Entry != nil {
		return s.Entry.Markers
	}
	return nil
}

// vetoed looks for a veto marker that lies nearer to the file than, or beside, the
// nearest marker of the server's own.
func vetoed(fs FS, s *config.Server, dirs []string) bool {
	if s.Entry == nil || len(s.Entry.MarkerVeto) == 0 {
		return false
	}
	for _, dir := range dirs {
		if anyOf(fs, dir, s.Entry.MarkerVeto) {
			return true
		}
		for _, g := range s.Entry.Markers {
			if anyOf(fs, dir, g.Names) {
				return false
			}
		}
	}
	return false
}

func anyOf(fs FS, dir string, names []string) bool {
	for _, n := range names {
		if fs.Exists(filepath.Join(dir, filepath.FromSlash(n))) {
			return true
		}
	}
	return false
}

func has(fs FS, dir string, g catalog.Group) bool {
	if g.Containing == "" {
		return anyOf(fs, dir, g.Names)
	}
	for _, n := range g.Names {
		if fs.Contains(filepath.Join(dir, filepath.FromSlash(n)), g.Containing) {
			return true
		}
	}
	return false
}

// hit returns the nearest or outermost of dirs (nearest first) with a marker.
func hit(fs FS, g catalog.Group, dirs []string) string {
	found := ""
	for _, dir := range dirs {
		if !has(fs, dir, g) {
			continue
		}
		if !g.Outermost {
			return dir
		}
		found = dir
	}
	return found
}

// ancestors lists the folders from the file's own up to the workspace, nearest
// first; none for a file outside it.
func ancestors(path, workspace string) []string {
	var out []string
	for dir := filepath.Dir(path); text.Within(workspace, dir); dir = filepath.Dir(dir) {
		out = append(out, dir)
		if dir == workspace || dir == filepath.Dir(dir) {
			break
		}
	}
	return out
}
