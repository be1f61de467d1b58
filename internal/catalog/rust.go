package catalog

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// chooseRust takes the active toolchain's own rust-analyzer where the one on PATH
// is rustup's proxy, which exists also without the component and then only fails.
func chooseRust(ctx context.Context, p *Place, e *Entry) (*Choice, error) {
	c, err := chooseFirst(ctx, p, e)
	if err != nil {
		return nil, err
	}
	toolchain := activeToolchain(p)
	if isRustupProxy(c.Path) {
		real := filepath.Join(toolchain, "bin", "rust-analyzer")
		if toolchain == "" || !isFile(real) {
			return nil, e.missing(p, "rust-analyzer is not installed in the active Rust toolchain"+named(toolchain))
		}
		c.Path = real
	}
	if toolchain != "" {
		c.Facts = append(c.Facts, Fact{"Rust toolchain", toolchain})
	}
	if p.Trusted {
		c.Traits.PushProgress = cargoCheck
	} else {
		c.Env = append(c.Env, pinnedRust(toolchain)...)
	}
	c.Recheck = func() string { return crateMissing(p, toolchain) }
	c.Missing = c.Recheck()
	c.unaffected = !runsAtBuild(p.Root)
	c.Dependencies = func(context.Context) []string { return rustDependencies(p.Finder, toolchain) }
	return c, nil
}

func crateMissing(p *Place, toolchain string) string {
	if _, err := p.Finder.Look("cargo"); err != nil && toolchain == "" {
		return "rust-analyzer needs cargo, which is not on PATH"
	}
	if !isFile(filepath.Join(p.Root, "Cargo.toml")) && !isFile(filepath.Join(p.Root, "rust-project.json")) {
		return "there is no Cargo.toml above the file, so rust-analyzer knows no crate"
	}
	return ""
}

// runsAtBuild reports a crate that has a build script, or dependencies, which may
// be procedural macros.
func runsAtBuild(root string) bool {
	b, _ := os.ReadFile(filepath.Join(root, "Cargo.toml"))
	s := string(b)
	return isFile(filepath.Join(root, "build.rs")) || strings.Contains(s, "dependencies") ||
		strings.Contains(s, "[workspace]") || strings.Contains(s, "proc-macro")
}

// cargoCheck is the progress of the compiler's own check, which runs with trust only.
var cargoCheck = regexp.MustCompile(`^(rust-analyzer/flycheck|rustAnalyzer/cargo check|cargo (check|clippy))`)

func named(toolchain string) string {
	if toolchain == "" {
		return ""
	}
	return " (" + filepath.Base(toolchain) + ")"
}

// pinnedRust names the compiler by its absolute path, so that neither a toolchain
// file nor a cargo configuration of the workspace can put another in its place.
func pinnedRust(toolchain string) []string {
	if toolchain == "" {
		return nil
	}
	return []string{
		"RUSTUP_TOOLCHAIN=" + filepath.Base(toolchain),
		"RUSTC=" + filepath.Join(toolchain, "bin", "rustc"),
		"CARGO=" + filepath.Join(toolchain, "bin", "cargo"),
	}
}

// isRustupProxy reports a program that is rustup in disguise.
func isRustupProxy(path string) bool {
	if filepath.Base(Real(path)) == "rustup" {
		return true
	}
	a, errA := os.Stat(path)
	b, errB := os.Stat(filepath.Join(filepath.Dir(path), "rustup"))
	return errA == nil && errB == nil && os.SameFile(a, b)
}

func rustupHome(f *Finder) string {
	if v := f.Getenv("RUSTUP_HOME"); v != "" {
		return v
	}
	return filepath.Join(f.Getenv("HOME"), ".rustup")
}

var (
	channelLine = regexp.MustCompile(`(?m)^\s*channel\s*=\s*["']([^"']+)["']`)
	defaultLine = regexp.MustCompile(`(?m)^\s*default_toolchain\s*=\s*["']([^"']+)["']`)
)

// activeToolchain is the folder of the toolchain that rustup would use, without
// asking it: RUSTUP_TOOLCHAIN, the project's toolchain file (its name only; a path
// in it is never followed), the default.
func activeToolchain(p *Place) string {
	home := rustupHome(p.Finder)
	if dir := toolchainDir(home, p.Finder.Getenv("RUSTUP_TOOLCHAIN")); dir != "" {
		return dir
	}
	for _, dir := range upward(p.Root, p.Workspace) {
		if dir := toolchainDir(home, toolchainFile(dir)); dir != "" {
			return dir
		}
	}
	b, _ := os.ReadFile(filepath.Join(home, "settings.toml"))
	if m := defaultLine.FindSubmatch(b); m != nil {
		return toolchainDir(home, string(m[1]))
	}
	return ""
}

func toolchainFile(dir string) string {
	for _, name := range []string{"rust-toolchain.toml", "rust-toolchain"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(b) > 1<<16 {
			continue
		}
		if m := channelLine.FindSubmatch(b); m != nil {
			return string(m[1])
		}
		if s := strings.TrimSpace(string(b)); name == "rust-toolchain" && !strings.ContainsAny(s, "\n[=") {
			return s
		}
	}
	return ""
}

// toolchainDir finds an installed toolchain by name or by the beginning of its name.
func toolchainDir(home, name string) string {
	if name == "" || strings.ContainsAny(name, `/\*?[`) || strings.HasPrefix(name, ".") {
		return ""
	}
	base := filepath.Join(home, "toolchains")
	if dir := filepath.Join(base, name); isDir(dir) {
		return dir
	}
	found, _ := filepath.Glob(filepath.Join(globEscape(base), name+"-*"))
	if len(found) > 0 {
		return found[0]
	}
	return ""
}

func rustDependencies(f *Finder, toolchain string) []string {
	cargo := f.Getenv("CARGO_HOME")
	if cargo == "" {
		cargo = filepath.Join(f.Getenv("HOME"), ".cargo")
	}
	dirs := []string{filepath.Join(cargo, "registry"), filepath.Join(cargo, "git")}
	if toolchain != "" {
		dirs = append(dirs, filepath.Join(toolchain, "lib", "rustlib"))
	}
	debian, _ := filepath.Glob("/usr/lib/rust*/lib/rustlib")
	return realDirs(append(append(dirs, debian...), "/usr/lib/rustlib", "/usr/share/cargo/registry")...)
}
