// Package config reads, merges, validates and hashes the configuration of language
// servers: the built-in catalogue, the user's file, the workspace's .lsp.json. It
// reads leniently: a fault costs one key or one entry and is reported with its
// place; it never costs the others.
//
// It starts nothing, looks no program up, and never decides whether a server may run.
package config

import (
	"encoding/json"
	"fmt"
	"sort"
	"time"

	"github.com/dragoman-dev/dragoman/internal/catalog"
)

// Layer is where a server's definition comes from; higher layers override lower ones.
type Layer int

// The layers.
const (
	Builtin Layer = iota
	User
	Workspace
)

// String names the layer for people.
func (l Layer) String() string {
	switch l {
	case User:
		return "user"
	case Workspace:
		return "workspace"
	}
	return "built-in"
}

// Socket is where a server listens.
type Socket struct {
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
	Path string `json:"path,omitempty"`
}

// Server is one server after merging. Fields that a file did not set are zero.
type Server struct {
	Name      string
	Languages []string
	Transport string // "stdio", "tcp", "socket"
	Command   string
	Args      []string
	// Env is added to the server's environment; denied names are already gone.
	Env                   map[string]string
	InitializationOptions json.RawMessage
	Settings              json.RawMessage
	// ExtensionToLanguage maps extensions (with the dot, as written) to language ids;
	// when set, the server serves nothing else.
	ExtensionToLanguage map[string]string
	// WorkspaceFolder is absolute and inside the workspace; "" means by root markers.
	WorkspaceFolder string
	RootURI         string
	StartupTimeout  time.Duration
	ShutdownTimeout time.Duration
	RestartOnCrash  *bool
	MaxRestarts     *int
	TrustRequired   bool
	Socket          *Socket

	// The keys below are applied without a restart and are no part of the hash.
	Disabled       bool
	RequestTimeout time.Duration
	SettleTimeout  time.Duration
	RootMarkers    []string
	Handles        []string
	Priority       int
	NoDiagnostics  bool

	// Layer is the highest layer that touched it.
	Layer Layer
	// Entry is what the catalogue knows about it; nil for an unknown server.
	Entry *catalog.Entry
	// Explicit: a file names its command or socket, so it starts as configured.
	Explicit bool
	// Invalid says why it cannot be started, "" when it can.
	Invalid string
}

// Problem is a fault in a configuration file.
type Problem struct {
	File      string
	Line, Col int // 1-based; 0 when the whole file is meant
	Message   string
}

// String is "file:line:col: message".
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
}

// Settings are those of the user's file, with defaults filled in.
type Settings struct {
	Enabled                 bool
	Columns                 string
	OutOfWorkspaceReads     string // "dependencies", "off", "any"
	UNCPaths                string // "refuse", "allow"
	TrustedFolders          []string
	RequireTrustedWorkspace bool
	CallLimit               time.Duration
	MaxFileSize             int64
}

// DefaultSettings are the settings without a file.
func DefaultSettings() Settings {
	return Settings{
		Enabled: true, Columns: "codepoints", OutOfWorkspaceReads: "dependencies", UNCPaths: "refuse",
		CallLimit: 50 * time.Second, MaxFileSize: 5 << 20,
	}
}

// Options say what to read.
type Options struct {
	// Workspace is the folder, absolute, symlinks resolved.
	Workspace string
	// WorkspaceFile and UserFile are the files; "" skips the layer.
	WorkspaceFile, UserFile string
	// Trusted workspaces have their layer applied; otherwise its servers are only named.
	Trusted bool
	// Env resolves ${env:NAME}.
	Env []string
}

// Config is everything that was read.
type Config struct {
	Servers  []Server
	Settings Settings
	Problems []Problem
	// Untrusted are the servers of a workspace layer that was left out, as written:
	// good for saying what they would serve, never to be started.
	Untrusted []Server
	// Pinned is the hash of the workspace's file, "" when there is none.
	FileHash string
}

// Load reads the layers and merges them over the catalogue. It never fails: what
// is wrong is in Problems.
func Load(o Options) *Config {
	c := &Config{Settings: DefaultSettings()}
	for _, e := range catalog.All() {
		c.Servers = append(c.Servers, fromCatalog(e))
	}
	if o.UserFile != "" {
		f := readFile(o.UserFile, o.UserFile)
		c.readSettings(f)
		c.apply(f, User, o)
	}
	if o.WorkspaceFile != "" {
		f := readFile(o.WorkspaceFile, ".lsp.json")
		c.FileHash = f.hash
		if o.Trusted {
			c.apply(f, Workspace, o)
		} else {
			for _, p := range f.servers() {
				p.Layer = Workspace
				c.Untrusted = append(c.Untrusted, p.Server)
			}
			sort.SliceStable(c.Untrusted, func(i, j int) bool { return c.Untrusted[i].Name < c.Untrusted[j].Name })
			c.Problems = append(c.Problems, f.problems...)
		}
	}
	sort.SliceStable(c.Servers, func(i, j int) bool { return before(&c.Servers[i], &c.Servers[j]) })
	return c
}

// before orders servers as they are asked: by priority, then configured ones first.
func before(a, b *Server) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.Explicit && !b.Explicit
}

func fromCatalog(e *catalog.Entry) Server {
	return Server{
		Name: e.Name, Languages: e.Languages, Transport: "stdio", Layer: Builtin, Entry: e,
		InitializationOptions: nil, TrustRequired: e.RunsWorkspaceCode == catalog.RunsCode,
	}
}

// apply merges the servers of one file.
func (c *Config) apply(f *file, layer Layer, o Options) {
	patches := f.servers()
	c.Problems = append(c.Problems, f.problems...)
	for i := range patches {
		p := &patches[i]
		warn := func(format string, args ...any) {
			c.Problems = append(c.Problems, Problem{f.name, p.line, p.col, fmt.Sprintf(format, args...)})
		}
		p.check(layer, o, warn)
		c.merge(p, layer)
	}
}

// merge lays a patch over the server of its name, or adds it.
func (c *Config) merge(p *patch, layer Layer) {
	for i := range c.Servers {
		s := &c.Servers[i]
		if s.Name != p.Name && (s.Entry == nil || catalog.ByName(p.Name) != s.Entry) {
			continue
		}
		if p.Command != "" || p.Socket != nil {
			*s = p.replacing(s, layer)
		} else {
			p.patching(s, layer)
		}
		return
	}
	s := p.replacing(nil, layer)
	if s.Command == "" && s.Socket == nil && s.Invalid == "" && !s.Disabled {
		s.Invalid = fmt.Sprintf("server %q has neither command nor socket and is not a known server", s.Name)
	}
	if s.Explicit && s.Entry != nil {
		c.displace(s.Entry)
	}
	c.Servers = append(c.Servers, s)
}

// displace takes the built-in definition of a server away that a file defines
// under a name of its own.
func (c *Config) displace(e *catalog.Entry) {
	kept := c.Servers[:0]
	for _, s := range c.Servers {
		if s.Entry != e || s.Layer != Builtin {
			kept = append(kept, s)
		}
	}
	c.Servers = kept
}

// replacing makes a server of a patch that says how it is started. What the
// catalogue knows about the program stays.
func (p *patch) replacing(old *Server, layer Layer) Server {
	s := p.Server
	s.Layer, s.Explicit = layer, p.Command != "" || p.Socket != nil
	s.TrustRequired = layer == Workspace || p.TrustRequiredSet == nil || *p.TrustRequiredSet
	if s.Transport == "" {
		s.Transport = "stdio"
	}
	s.Entry = catalog.ByProgram(s.Command)
	if s.Entry == nil {
		s.Entry = catalog.ByName(s.Name)
		if s.Entry != nil && old == nil {
			s.Entry = nil
		}
	}
	if len(s.Languages) == 0 && len(s.ExtensionToLanguage) == 0 && s.Entry != nil {
		s.Languages = s.Entry.Languages
	}
	if old != nil {
		s.Name = old.Name
	}
	return s
}

// patching changes only what the patch sets.
func (p *patch) patching(s *Server, layer Layer) {
	s.Layer = layer
	if layer == Workspace {
		s.TrustRequired = true
	} else if p.TrustRequiredSet != nil {
		s.TrustRequired = *p.TrustRequiredSet
	}
	if p.DisabledSet != nil {
		s.Disabled = *p.DisabledSet
	}
	if p.Invalid != "" {
		s.Invalid = p.Invalid
	}
	setIf(&s.Args, p.Args, p.Args != nil)
	setIf(&s.Languages, p.Languages, len(p.Languages) > 0)
	setIf(&s.ExtensionToLanguage, p.ExtensionToLanguage, len(p.ExtensionToLanguage) > 0)
	setIf(&s.WorkspaceFolder, p.WorkspaceFolder, p.WorkspaceFolder != "")
	setIf(&s.RootURI, p.RootURI, p.RootURI != "")
	setIf(&s.StartupTimeout, p.StartupTimeout, p.StartupTimeout > 0)
	setIf(&s.ShutdownTimeout, p.ShutdownTimeout, p.ShutdownTimeout > 0)
	setIf(&s.RequestTimeout, p.RequestTimeout, p.RequestTimeout > 0)
	setIf(&s.SettleTimeout, p.SettleTimeout, p.SettleTimeout > 0)
	setIf(&s.RestartOnCrash, p.RestartOnCrash, p.RestartOnCrash != nil)
	setIf(&s.MaxRestarts, p.MaxRestarts, p.MaxRestarts != nil)
	setIf(&s.RootMarkers, p.RootMarkers, p.RootMarkers != nil)
	setIf(&s.Handles, p.Handles, p.Handles != nil)
	setIf(&s.Priority, p.Priority, p.Priority != 0)
	setIf(&s.NoDiagnostics, p.NoDiagnostics, p.NoDiagnostics)
	s.InitializationOptions = catalog.Merge(s.InitializationOptions, p.InitializationOptions)
	s.Settings = catalog.Merge(s.Settings, p.Settings)
	if len(p.Env) > 0 {
		env := map[string]string{}
		for k, v := range s.Env {
			env[k] = v
		}
		for k, v := range p.Env {
			env[k] = v
		}
		s.Env = env
	}
}

func setIf[T any](dst *T, v T, ok bool) {
	if ok {
		*dst = v
	}
}
