package workspace

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/config"
	"github.com/dragoman-dev/dragoman/internal/intel"
	"github.com/dragoman-dev/dragoman/internal/route"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/internal/watch"
)

// maxFiles and listLimit bound one listing of the workspace.
const (
	maxFiles  = 300_000
	listLimit = 5 * time.Second
	// listLife is how long a listing is believed where nothing watches.
	listLife = time.Second
)

// lister knows the files of the workspace that git does not ignore.
type lister struct {
	root string
	git  string // the program; "" where there is none
	// changes tells whether files came or went since the last call; known is false
	// where nothing watches.
	changes func() (changed, known bool)

	// turn has room for one: its holder may list and write the fields below, so that
	// two questions share one listing.
	turn  chan struct{}
	files []string
	at    time.Time
	whole bool
}

func newLister(root, git string, changes func() (bool, bool)) *lister {
	return &lister{root: root, git: git, changes: changes, turn: make(chan struct{}, 1)}
}

// findGit looks on this process' own PATH; a git that lies in the workspace is
// none.
func findGit(root string) string {
	git, err := exec.LookPath("git")
	if err != nil || !filepath.IsAbs(git) || text.Within(root, catalog.Real(git)) {
		return ""
	}
	return git
}

// list returns the files (absolute, sorted); whole is false when it was cut.
func (l *lister) list(ctx context.Context) (files []string, whole bool) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, false
	}
	changed, known := l.changes()
	fresh := !l.at.IsZero() && !changed && (known || time.Since(l.at) < listLife)
	if fresh {
		return l.files, l.whole
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	files, whole, err := gitFiles(ctx, l.git, l.root, 0)
	if err != nil {
		files, whole = walkFiles(ctx, l.root)
	}
	sort.Strings(files)
	if ctx.Err() != nil {
		whole = false // not kept: the next question lists again
		return files, whole
	}
	l.files, l.whole, l.at = files, whole, time.Now()
	return files, whole
}

// gitFiles asks git, with nothing of the repository running. Repositories inside
// are listed by themselves.
func gitFiles(ctx context.Context, git, root string, depth int) (files []string, whole bool, err error) {
	if git == "" {
		return nil, false, exec.ErrNotFound
	}
	cmd := exec.CommandContext(ctx, git, "-c", "core.fsmonitor=false", "-c", "core.hooksPath="+os.DevNull,
		"-C", root, "ls-files", "-z", "-co", "--exclude-standard")
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, false, err
	}
	seen := map[string]bool{}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		n := string(name)
		if n == "" || seen[n] {
			continue
		}
		seen[n] = true
		path := filepath.Join(root, filepath.FromSlash(n))
		if strings.HasSuffix(n, "/") {
			if inner, _, err := gitFiles(ctx, git, path, depth+1); err == nil && depth < 2 {
				files = append(files, inner...)
			}
			continue
		}
		if len(files) >= maxFiles {
			return files, false, nil
		}
		files = append(files, path)
	}
	return files, true, nil
}

// skipDirs are not walked into where git cannot be asked.
var skipDirs = map[string]bool{
	".git": true, ".hg": true, ".svn": true, "node_modules": true, "target": true, "__pycache__": true,
	".venv": true, "venv": true, ".tox": true, ".mypy_cache": true, ".cache": true, "dist": true, ".gradle": true,
}

func walkFiles(ctx context.Context, root string) (files []string, whole bool) {
	whole = true
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil || len(files) >= maxFiles:
			whole = false
			return filepath.SkipAll
		case err != nil:
			return nil // unreadable folders are left out
		case d.IsDir() && path != root && skipDirs[d.Name()]:
			return filepath.SkipDir
		case d.Type().IsRegular():
			files = append(files, path)
		}
		return nil
	})
	return files, whole
}

// fileEvents asks the watcher whether files came or went since the last call.
func (w *Workspace) fileEvents() (changed, known bool) {
	select {
	case <-w.watchReady:
	default:
		return false, false
	}
	if w.watcher == nil || w.watcher.Polling() != "" {
		return false, false
	}
	w.mu.Lock()
	if w.fileSub == nil {
		w.fileSub = w.watcher.Subscribe()
		w.mu.Unlock()
		return true, true // what came before the subscription is not known
	}
	sub := w.fileSub
	w.mu.Unlock()
	events, rescan := sub.Take()
	for _, e := range events {
		if e.Kind != watch.Changed || strings.HasSuffix(e.Path, ".gitignore") {
			return true, true
		}
	}
	return rescan, true
}

// has reports whether the workspace holds a file with one of the names or
// extensions (".cpp").
func (w *Workspace) has(ctx context.Context, names ...string) bool {
	files, _ := w.files.list(ctx)
	for _, f := range files {
		e, base := ext(f), filepath.Base(f)
		for _, n := range names {
			if n == e || n == base {
				return true
			}
		}
	}
	return false
}

// served lists up to n files of the workspace that a server serves.
func (w *Workspace) served(ctx context.Context, s *config.Server, n int) []string {
	files, _ := w.files.list(ctx)
	var out []string
	for _, f := range files {
		if len(out) >= n {
			break
		}
		if id := route.LanguageID(s, f, "cpp"); id != "" {
			out = append(out, f)
		}
	}
	return out
}

// nearRoot lists up to n files of a root that the server serves, those best fit to
// make it load the project first: sources near the root, not generated, not tests.
func (w *Workspace) nearRoot(ctx context.Context, s *config.Server, root string, n int) []string {
	files, _ := w.files.list(ctx)
	type ranked struct {
		path string
		rank int
	}
	var all []ranked
	prefix := root + string(filepath.Separator)
	from := sort.SearchStrings(files, prefix)
	for _, f := range files[from:] {
		if !strings.HasPrefix(f, prefix) {
			break
		}
		id := route.LanguageID(s, f, "cpp")
		if id == "" {
			continue
		}
		all = append(all, ranked{f, rank(f[len(prefix):], id)})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].rank < all[j].rank })
	var out []string
	for i := 0; i < len(all) && i < n; i++ {
		out = append(out, all[i].path)
	}
	return out
}

// rank is low for a source near the root; headers, generated files, tests and
// module files come later.
func rank(rel, languageID string) int {
	r := strings.Count(rel, string(filepath.Separator))
	base := strings.ToLower(filepath.Base(rel))
	switch e := filepath.Ext(base); {
	case strings.HasPrefix(languageID, "go."):
		r += 1000
	case e == ".h" || e == ".hpp" || e == ".hh" || e == ".pyi" || strings.HasSuffix(base, ".d.ts"):
		r += 100
	case strings.Contains(base, "generated") || strings.Contains(base, ".pb.") || strings.Contains(base, ".min."):
		r += 200
	case strings.Contains(base, "test") || strings.Contains(rel, "vendor"):
		r += 50
	}
	if strings.Contains(rel, "node_modules") || strings.Contains(rel, "testdata") {
		r += 500
	}
	return r
}

// CountFiles is the number of files below the candidate's root that it serves, -1
// when the listing was cut.
func (w *Workspace) CountFiles(ctx context.Context, c intel.Candidate) int {
	for i := range w.admitted {
		s := &w.admitted[i]
		if s.Name != c.Name {
			continue
		}
		files, whole := w.files.list(ctx)
		if !whole {
			return -1
		}
		n, prefix := 0, c.Server.Root()+string(filepath.Separator)
		for _, f := range files {
			if strings.HasPrefix(f, prefix) && route.LanguageID(s, f, "cpp") != "" {
				n++
			}
		}
		return n
	}
	return -1
}
