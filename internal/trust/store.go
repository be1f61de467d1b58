package trust

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/dragoman-dev/dragoman/internal/state"
)

// Store remembers trusted folders, one file for each, named by the hash of the
// folder's real path.
type Store struct {
	dir string
}

// NewStore keeps its files below the user's state folder; "" remembers nothing.
func NewStore(stateDir string) *Store {
	if stateDir == "" {
		return &Store{}
	}
	return &Store{dir: filepath.Join(stateDir, "trust")}
}

// Decision is what is remembered of a folder.
type Decision struct {
	Folder  string    `json:"folder"`
	Trusted bool      `json:"trusted"`
	At      time.Time `json:"at"`
	// Pin is the SHA-256 of .lsp.json that the trust is bound to, "" for none.
	Pin string `json:"pin,omitempty"`
}

func (s *Store) path(folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+".json")
}

// Trust remembers that the folder (absolute, links resolved) is trusted. pin binds
// that to the hash of its .lsp.json; "" does not.
func (s *Store) Trust(ctx context.Context, folder, pin string) error {
	if err := NeverTrusted(folder); err != nil {
		return err
	}
	return s.put(ctx, Decision{Folder: folder, Trusted: true, At: time.Now().UTC().Truncate(time.Second), Pin: pin})
}

// Untrust forgets the folder. It is no error when nothing was remembered.
func (s *Store) Untrust(ctx context.Context, folder string) error {
	if s.dir == "" {
		return nil
	}
	release, err := state.Lock(ctx, filepath.Join(s.dir, ".lock"))
	if err != nil {
		return err
	}
	defer release()
	if err := os.Remove(s.path(folder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget trust of %s: %w", folder, err)
	}
	return nil
}

func (s *Store) put(ctx context.Context, d Decision) error {
	if s.dir == "" {
		return errors.New("there is no folder to remember trust in (no home)")
	}
	release, err := state.Lock(ctx, filepath.Join(s.dir, ".lock"))
	if err != nil {
		return err
	}
	defer release()
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("remember trust of %s: %w", d.Folder, err)
	}
	return state.Write(s.path(d.Folder), append(b, '\n'))
}

// Lookup returns what is remembered of the folder or of the nearest folder above it.
// What cannot be read is not trusted.
func (s *Store) Lookup(folder string) (Decision, bool) {
	if s.dir == "" {
		return Decision{}, false
	}
	for dir := folder; ; dir = filepath.Dir(dir) {
		if d, ok := s.read(dir); ok {
			return d, true
		}
		if dir == filepath.Dir(dir) {
			return Decision{}, false
		}
	}
}

func (s *Store) read(folder string) (Decision, bool) {
	b, err := os.ReadFile(s.path(folder))
	if err != nil || len(b) > 1<<16 {
		return Decision{}, false
	}
	var d Decision
	if json.Unmarshal(b, &d) != nil || d.Folder != folder || !d.Trusted {
		return Decision{}, false
	}
	return d, true
}

// NeverTrusted is an error for folders that nobody can mean: the root of the file
// system and the home folder itself.
func NeverTrusted(folder string) error {
	home, _ := os.UserHomeDir()
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if folder == filepath.Dir(folder) || folder == home {
		return fmt.Errorf("%s cannot be trusted as a whole; trust a project folder instead", folder)
	}
	return nil
}

// MatchFolder reports whether one of the globs (absolute, ~ for home) names the
// folder.
func MatchFolder(globs []string, folder, home string) bool {
	folder = filepath.ToSlash(folder)
	for _, g := range globs {
		if rest, ok := strings.CutPrefix(g, "~/"); ok && home != "" {
			g = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(g) {
			continue
		}
		if ok, err := doublestar.Match(filepath.ToSlash(g), folder); err == nil && ok {
			return true
		}
	}
	return false
}

// Grounds is how a workspace came to be trusted.
type Grounds struct {
	Trusted bool
	// How is "for this run", "folder", "trustedFolders" or "".
	How string
	// Stale: trusted, but .lsp.json differs from the pinned hash.
	Stale bool
	// Pin is the pinned hash, "" for none.
	Pin string
}

// Decide says whether a folder is trusted: by this run, by the user's globs, or by
// what is remembered.
func (s *Store) Decide(folder string, thisRun bool, globs []string, home string) Grounds {
	if thisRun {
		return Grounds{Trusted: true, How: "for this run"}
	}
	if MatchFolder(globs, folder, home) {
		return Grounds{Trusted: true, How: "trustedFolders"}
	}
	if d, ok := s.Lookup(folder); ok {
		return Grounds{Trusted: true, How: "folder", Pin: d.Pin}
	}
	return Grounds{}
}
