// Package state knows dragoman's own folders and how files in them are written:
// private, whole or not at all, and under a lock where two processes may meet. A
// home that cannot be written is an error of the write, never of the question.
//
// It knows nothing of servers, trust or configuration formats.
package state

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Dirs are the folders of one user. None of them need exist.
type Dirs struct {
	Config, Data, Cache, State, Runtime string
}

// Find computes the folders from an environment ("K=V"), by the XDG rules on
// Unix, and by the platform's own on macOS and Windows.
func Find(env []string) Dirs {
	get := func(k string) string { return Getenv(env, k) }
	home := get("HOME")
	if home == "" {
		home = get("USERPROFILE")
	}
	base := platformBase(runtime.GOOS, home, get)
	join := func(xdg, fallback string) string {
		if v := get(xdg); filepath.IsAbs(v) {
			fallback = v
		}
		if fallback == "" {
			return ""
		}
		return filepath.Join(fallback, "dragoman")
	}
	d := Dirs{
		Config: join("XDG_CONFIG_HOME", base.Config),
		Data:   join("XDG_DATA_HOME", base.Data),
		Cache:  join("XDG_CACHE_HOME", base.Cache),
		State:  join("XDG_STATE_HOME", base.State),
	}
	d.Runtime = join("XDG_RUNTIME_DIR", "")
	if d.Runtime == "" {
		d.Runtime = filepath.Join(os.TempDir(), fmt.Sprintf("dragoman-%d", os.Getuid()))
	}
	return d
}

func platformBase(goos, home string, get func(string) string) Dirs {
	if home == "" {
		return Dirs{}
	}
	switch goos {
	case "darwin":
		lib := filepath.Join(home, "Library")
		support := filepath.Join(lib, "Application Support")
		return Dirs{Config: support, Data: support, Cache: filepath.Join(lib, "Caches"), State: support}
	case "windows":
		roaming, local := get("APPDATA"), get("LOCALAPPDATA")
		return Dirs{Config: roaming, Data: local, Cache: local, State: local}
	}
	return Dirs{
		Config: filepath.Join(home, ".config"),
		Data:   filepath.Join(home, ".local", "share"),
		Cache:  filepath.Join(home, ".cache"),
		State:  filepath.Join(home, ".local", "state"),
	}
}

// Getenv returns the last value of key in env, as a process would see it; names
// compare without case on Windows.
func Getenv(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		k, v, ok := strings.Cut(env[i], "=")
		if ok && (k == key || runtime.GOOS == "windows" && strings.EqualFold(k, key)) {
			return v
		}
	}
	return ""
}

// Servers is the folder of servers that dragoman obtained itself.
func (d Dirs) Servers() string {
	if d.Data == "" {
		return ""
	}
	return filepath.Join(d.Data, "servers")
}

// Write replaces path by data: private (0600, folders 0700), and whole or not at all.
func Write(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder for %s: %w", filepath.Base(path), err)
	}
	tmp, err := os.CreateTemp(dir, ".tmp-*") // created 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(tmp.Name()) // fails harmlessly after the rename
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// lockPoll is how often a taken lock is tried again.
const lockPoll = 20 * time.Millisecond

// Lock takes the lock file at path (made if absent) and returns its release. It
// waits until ctx ends.
func Lock(ctx context.Context, path string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(ctx, lockPoll)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !ok {
		return nil, fmt.Errorf("lock %s: taken", path)
	}
	return func() { _ = l.Unlock() }, nil
}
