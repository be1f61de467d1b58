package intel

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

// subject is the document that a question is about.
type subject struct {
	// Path is absolute, in the resolved spelling of the root; "" for an opaque URI.
	Path string
	// URI is set for an opaque URI only.
	URI string
	// Shown is the path as answers print it.
	Shown string
}

// key is what servers are looked up by.
func (s subject) key() string {
	if s.Path != "" {
		return s.Path
	}
	return s.URI
}

var schemeColon = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:/`)

func isURI(s string) bool {
	return schemeColon.MatchString(s) || len(s) > 5 && strings.EqualFold(s[:5], "file:")
}

// resolve turns a path as people write it into a subject, without touching UNC
// paths (asking a host for a file leaks credentials).
func (d *Deps) resolve(given string) (subject, error) {
	path := strings.TrimSpace(given)
	if text.IsUNC(path) && !d.AllowUNC {
		return subject{}, badRequest("", fmt.Sprintf("UNC paths are refused: %s names another host.", path),
			"Use a path of this machine, or set uncPaths to allow.")
	}
	if isURI(path) {
		local, ok := text.URIToPath(path)
		if !ok {
			return subject{URI: path, Shown: path}, nil
		}
		path = local
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.Root, path)
	}
	return d.subject(filepath.Clean(path))
}

// subject decides whether an absolute path may be asked about.
func (d *Deps) subject(path string) (subject, error) {
	if local, inside := d.local(path); inside {
		return subject{Path: local, Shown: d.shown(local)}, nil
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		if local, inside := d.local(resolved); inside {
			return subject{Path: local, Shown: d.shown(local)}, nil
		}
	}
	if d.ReadableOutside == nil || !d.ReadableOutside(path) {
		return subject{}, badRequest("", fmt.Sprintf("%s is outside the workspace.", path),
			"Outside the workspace only files of dependencies can be asked about (setting outOfWorkspaceReads).")
	}
	return subject{Path: path, Shown: path}, nil
}

// real is the root in its resolved spelling, which identifies files here.
func (d *Deps) real() string {
	if d.RealRoot == "" {
		return d.Root
	}
	return d.RealRoot
}

// local gives a path below either spelling of the root in the resolved one.
func (d *Deps) local(path string) (string, bool) {
	if text.Within(d.real(), path) {
		return path, true
	}
	return respelled(path, d.Root, d.real())
}

// respelled moves a path from one spelling of a folder to another.
func respelled(path, from, to string) (string, bool) {
	if !text.Within(from, path) {
		return path, false
	}
	rel, err := filepath.Rel(from, path)
	if err != nil {
		return path, false
	}
	return filepath.Join(to, rel), true
}

// forServer gives a local path in the spelling of the server's own root, because
// servers take another spelling for another file.
func (d *Deps) forServer(c Candidate, path string) string {
	if d.Root == d.real() || path == "" || text.Within(d.real(), c.Server.Root()) {
		return path
	}
	if text.Within(d.Root, c.Server.Root()) {
		path, _ = respelled(path, d.real(), d.Root)
	}
	return path
}

// shown is a local path relative to the workspace, and any other path as it is.
func (d *Deps) shown(path string) string {
	if !text.Within(d.real(), path) {
		return path
	}
	rel, err := filepath.Rel(d.real(), path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// located is a URI of an answer brought home.
type located struct {
	Path   string // local spelling; "" for a URI that is no file here
	Shown  string
	Inside bool
}

func (d *Deps) locate(uri string) located {
	path, ok := text.URIToPath(uri)
	if !ok {
		return located{Shown: uri}
	}
	local, inside := d.local(filepath.Clean(path))
	return located{Path: local, Shown: d.shown(local), Inside: inside}
}

// queryPoint and textPoint convert between the two spellings of a point.
func queryPoint(p text.Point) query.Point { return query.Point{Line: p.Line, Column: p.Column} }
func textPoint(p query.Point) text.Point  { return text.Point{Line: p.Line, Column: p.Column} }
