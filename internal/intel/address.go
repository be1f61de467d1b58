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
	// Path is absolute, in the spelling below Deps.Root; "" for an opaque URI.
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

// local gives a path below either spelling of the root in the spelling below Root.
func (d *Deps) local(path string) (string, bool) {
	if text.Within(d.Root, path) {
		return path, true
	}
	if d.RealRoot == "" || d.RealRoot == d.Root || !text.Within(d.RealRoot, path) {
		return path, false
	}
	rel, err := filepath.Rel(d.RealRoot, path)
	if err != nil {
		return path, false
	}
	return filepath.Join(d.Root, rel), true
}

// shown is a local path relative to the workspace, and any other path as it is.
func (d *Deps) shown(path string) string {
	if !text.Within(d.Root, path) {
		return path
	}
	rel, err := filepath.Rel(d.Root, path)
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
