package intel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/text"
)

const (
	// ignoreTimeout bounds one run of git.
	ignoreTimeout = 10 * time.Second
	// ignoreKept bounds the verdicts kept for each repository.
	ignoreKept = 20_000
)

// Ignore asks git which files are ignored. Verdicts are kept until an ignore file
// or the index of their repository changes. It is safe for concurrent use.
type Ignore struct {
	git string // path of git, "" when there is none

	mu    sync.Mutex             // guards repos; never held while git runs
	repos map[string]*repository // by top folder
}

// repository holds the verdicts of one repository or worktree.
type repository struct {
	top    string
	gitDir string

	mu       sync.Mutex // guards the rest
	state    map[string]stamp
	verdicts map[string]bool
}

// NewIgnore returns a filter for the workspace at root. Each path is judged by the
// repository that holds it, which need not be root's.
func NewIgnore(_ string) *Ignore {
	git, err := exec.LookPath("git")
	if err != nil || !filepath.IsAbs(git) {
		git = ""
	}
	return &Ignore{git: git, repos: map[string]*repository{}}
}

// Ignored reports for each absolute path whether git ignores it, by the rules of
// the repository that holds it (a nested repository or worktree is its own). Files
// outside any repository are not ignored; without git go-git's matcher answers.
func (g *Ignore) Ignored(ctx context.Context, paths []string) ([]bool, error) {
	flags := make([]bool, len(paths))
	groups := map[*repository][]int{}
	known := map[string]*repository{}
	for i, p := range paths {
		if repo := g.repositoryOf(filepath.Dir(p), known); repo != nil {
			groups[repo] = append(groups[repo], i)
		}
	}
	for repo, indices := range groups {
		if err := g.judge(ctx, repo, paths, indices, flags); err != nil {
			return nil, err
		}
	}
	return flags, nil
}

// repositoryOf is the repository that holds the folder, nil when none does; its
// .git is a folder, or a file that names one (worktrees, submodules). It is looked
// up anew each time, as repositories come and go; known serves one call.
func (g *Ignore) repositoryOf(dir string, known map[string]*repository) *repository {
	if repo, ok := known[dir]; ok {
		return repo
	}
	var repo *repository
	if gitDir, ok := gitDirOf(dir); ok {
		repo = g.repository(dir, gitDir)
	} else if parent := filepath.Dir(dir); parent != dir {
		repo = g.repositoryOf(parent, known)
	}
	known[dir] = repo
	return repo
}

// repository keeps the verdicts of a repository from call to call.
func (g *Ignore) repository(top, gitDir string) *repository {
	g.mu.Lock()
	defer g.mu.Unlock()
	repo := g.repos[top]
	if repo == nil || repo.gitDir != gitDir {
		repo = &repository{top: top, gitDir: gitDir}
		g.repos[top] = repo
	}
	return repo
}

func gitDirOf(dir string) (string, bool) {
	path := filepath.Join(dir, ".git")
	info, err := os.Lstat(path)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return path, true
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	named, ok := bytes.CutPrefix(bytes.TrimSpace(content), []byte("gitdir:"))
	if !ok {
		return "", false
	}
	target := string(bytes.TrimSpace(named))
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return target, true
}

// judge fills the flags of the paths that lie in repo.
func (g *Ignore) judge(ctx context.Context, repo *repository, paths []string, indices []int, flags []bool) error {
	state := repo.stateFor(paths, indices)
	unknown := repo.recall(state, paths, indices, flags)
	if len(unknown) == 0 {
		return nil
	}
	ask := make([]string, 0, len(unknown))
	for _, i := range unknown {
		ask = append(ask, paths[i])
	}
	ignored, err := g.verdicts(ctx, repo, ask)
	if err != nil {
		return err
	}
	for _, i := range unknown {
		flags[i] = ignored[paths[i]]
	}
	repo.keep(state, ask, ignored)
	return nil
}

func (g *Ignore) verdicts(ctx context.Context, repo *repository, paths []string) (map[string]bool, error) {
	if g.git == "" {
		return matchIgnored(repo.top, paths)
	}
	return g.checkIgnore(ctx, repo.top, paths)
}

// stateFor is the state of everything that decides about the paths: the index, the
// repository's exclude file, and the ignore files of every folder above them.
func (r *repository) stateFor(paths []string, indices []int) map[string]stamp {
	state := map[string]stamp{}
	look := func(path string) {
		if _, seen := state[path]; seen {
			return
		}
		state[path] = stamp{}
		if info, err := os.Stat(path); err == nil {
			state[path] = stampOf(info)
		}
	}
	look(filepath.Join(r.gitDir, "index"))
	look(filepath.Join(r.gitDir, "info", "exclude"))
	for _, i := range indices {
		for dir := filepath.Dir(paths[i]); text.Within(r.top, dir); dir = filepath.Dir(dir) {
			ignoreFile := filepath.Join(dir, ".gitignore")
			if _, seen := state[ignoreFile]; seen {
				break
			}
			look(ignoreFile)
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return state
}

// recall fills the flags that are known and returns the other indices. When
// something that decides has changed, nothing is known any more.
func (r *repository) recall(state map[string]stamp, paths []string, indices []int, flags []bool) (unknown []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, now := range state {
		if before, known := r.state[path]; known && (before != now || !now.proves && now != (stamp{})) {
			r.state, r.verdicts = nil, nil
			break
		}
	}
	for _, i := range indices {
		verdict, known := r.verdicts[paths[i]]
		if !known {
			unknown = append(unknown, i)
			continue
		}
		flags[i] = verdict
	}
	return unknown
}

func (r *repository) keep(state map[string]stamp, paths []string, ignored map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == nil || len(r.verdicts)+len(paths) > ignoreKept {
		r.state, r.verdicts = map[string]stamp{}, map[string]bool{}
	}
	for path, now := range state {
		r.state[path] = now
	}
	for _, p := range paths {
		r.verdicts[p] = ignored[p]
	}
}

// checkIgnore runs git once for all paths, so that nothing of the repository runs
// with it: no hooks, no file-system monitor, no locks, no prompts. Tracked files
// are never ignored, as check-ignore looks at the index.
func (g *Ignore) checkIgnore(ctx context.Context, top string, paths []string) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, ignoreTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.git, "-c", "core.fsmonitor=false", "-c", "core.hooksPath="+os.DevNull,
		"-C", top, "check-ignore", "--stdin", "-z")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isGitVariable),
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	var in, out, complaint bytes.Buffer
	for _, p := range paths {
		rel, err := filepath.Rel(top, p)
		if err != nil {
			return nil, err
		}
		in.WriteString("./" + filepath.ToSlash(rel))
		in.WriteByte(0)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &complaint
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return nil, fmt.Errorf("git check-ignore: %w: %s", err, bytes.TrimSpace(complaint.Bytes()))
	}
	return ignoredSet(top, out.Bytes()), nil
}

// isGitVariable reports a variable that would lead git to another repository.
func isGitVariable(kv string) bool {
	for _, name := range []string{"GIT_DIR=", "GIT_WORK_TREE=", "GIT_INDEX_FILE=", "GIT_CEILING_DIRECTORIES=", "GIT_COMMON_DIR="} {
		if len(kv) >= len(name) && kv[:len(name)] == name {
			return true
		}
	}
	return false
}

func ignoredSet(top string, out []byte) map[string]bool {
	set := map[string]bool{}
	for _, entry := range bytes.Split(out, []byte{0}) {
		if len(entry) > 0 {
			set[filepath.Join(top, filepath.FromSlash(string(entry)))] = true
		}
	}
	return set
}
