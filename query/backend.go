package query

import (
	"context"
	"time"
)

// Backend answers questions. The library's Workspace is one.
type Backend interface {
	// Do answers one question. Errors are *Error or context errors.
	Do(ctx context.Context, r Request) (*Answer, error)
	// Status tells what runs and what does not, without starting anything.
	Status(ctx context.Context) (*Status, error)
	// Close stops every server; it returns when their processes are gone.
	Close(ctx context.Context) error
}

// Status is a snapshot of a workspace.
type Status struct {
	Workspace string          `json:"workspace"`
	Trusted   bool            `json:"trusted"`
	Servers   []ServerStatus  `json:"servers"`
	Skipped   []SkippedServer `json:"skipped,omitempty"`
	Notes     []string        `json:"notes,omitempty"`
}

// ServerStatus describes one server of one root.
type ServerStatus struct {
	Name string `json:"name"`
	Root string `json:"root"`
	// State is NOT_STARTED, IN_PROGRESS, READY or FAILED.
	State string `json:"state"`
	// Detail is the finer state: "stopped", "starting", "warming up", "ready", "stopping", "error".
	Detail string `json:"detail"`
	// Working is what the server says it is doing now.
	Working       string        `json:"working,omitempty"`
	Percent       int           `json:"percent"`
	PID           int           `json:"pid,omitempty"`
	Command       []string      `json:"command,omitempty"`
	ServerInfo    string        `json:"serverInfo,omitempty"`
	Encoding      string        `json:"encoding,omitempty"`
	Generation    int           `json:"generation"`
	Restarts      int           `json:"restarts"`
	OpenDocuments int           `json:"openDocuments"`
	Uptime        time.Duration `json:"uptimeNs"`
	MemoryBytes   int64         `json:"memoryBytes,omitempty"`
	LoadError     string        `json:"loadError,omitempty"`
	LastError     string        `json:"lastError,omitempty"`
	Stderr        string        `json:"stderr,omitempty"`
	Limited       string        `json:"limited,omitempty"`
}

// SkippedServer is a configured server that may not run, and why.
type SkippedServer struct {
	Name string `json:"name"`
	// Reason is server_trust_required, not_allowed, disabled, trust_stale,
	// not_installed or invalid.
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"`
}
