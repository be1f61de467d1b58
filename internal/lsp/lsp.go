// Package lsp holds the wire types of the Language Server Protocol that a client
// needs, method names, tolerant decoding of what real servers send, and the table
// of a server's capabilities, static and dynamic. It performs no I/O.
package lsp

import (
	"encoding/json"

	"github.com/dragoman-dev/dragoman/internal/text"
)

// Position and Range are wire positions.
type (
	Position = text.Position
	Range    = text.Range
)

// Location is a place in a document. Decoding a LocationLink keeps
// targetSelectionRange as Range.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// DecodeLocations accepts null, one object, or a list, of Location and
// LocationLink in any mixture; entries that name no URI are left out.
func DecodeLocations(raw json.RawMessage) ([]Location, error) { panic("unfilled") }

// Symbol is a document or workspace symbol in one shape.
type Symbol struct {
	Name          string
	Kind          int
	Detail        string
	ContainerName string
	URI           string // empty in hierarchical document symbols
	Range         Range  // the whole symbol
	Selection     Range  // the name; equals Range where the server gives only one
	HasRange      bool   // false for a workspace symbol without range
	HasSelection  bool
	Children      []Symbol
	Raw           json.RawMessage // for workspaceSymbol/resolve
}

// DecodeSymbols accepts null and lists of DocumentSymbol, SymbolInformation and WorkspaceSymbol.
func DecodeSymbols(raw json.RawMessage) ([]Symbol, error) { panic("unfilled") }

// KindName is the LSP name of a symbol kind ("Function"); "Unknown" outside the table.
func KindName(kind int) string { panic("unfilled") }

// KindNumber is the inverse of KindName, case-insensitively; 0 when unknown.
func KindNumber(name string) int { panic("unfilled") }

// DecodeHover returns one markdown text of string, MarkedString, list and
// MarkupContent (code fences for {language,value}); "" for null and empty.
func DecodeHover(raw json.RawMessage) (markdown string, r *Range, err error) { panic("unfilled") }

// HierarchyItem is a call- or type-hierarchy item; Raw is the object as sent.
type HierarchyItem struct {
	Name      string
	Kind      int
	Detail    string
	URI       string
	Range     Range
	Selection Range
	Raw       json.RawMessage
}

// DecodeHierarchyItems accepts null, one object or a list.
func DecodeHierarchyItems(raw json.RawMessage) ([]HierarchyItem, error) { panic("unfilled") }

// Call is one entry of incoming or outgoing calls.
type Call struct {
	Item   HierarchyItem
	Ranges []Range // fromRanges
}

// DecodeCalls accepts null and lists with "from" or "to".
func DecodeCalls(raw json.RawMessage) ([]Call, error) { panic("unfilled") }

// Diagnostic is a problem; Raw is the object as sent.
type Diagnostic struct {
	Range    Range
	Severity int    // 1 to 4; 0 when absent
	Code     string // numbers and objects in their text form
	Source   string
	Message  string // string or MarkupContent
	Raw      json.RawMessage
}

// DecodeDiagnostics accepts null and lists; one bad entry does not lose the others.
func DecodeDiagnostics(raw json.RawMessage) ([]Diagnostic, error) { panic("unfilled") }

// PublishDiagnostics is textDocument/publishDiagnostics.
type PublishDiagnostics struct {
	URI         string
	Version     *int32
	Diagnostics []Diagnostic
}

// DecodePublish decodes the params of a publish.
func DecodePublish(raw json.RawMessage) (PublishDiagnostics, error) { panic("unfilled") }

// PullReport is one document's part of a pull: Unchanged, or the full list. A kind
// that is missing or "" is full when items are there (gopls sends "").
type PullReport struct {
	URI       string // set in workspace reports and related documents
	Version   *int32
	Unchanged bool
	ResultID  string
	Items     []Diagnostic
	Related   []PullReport
}

// DecodePull decodes textDocument/diagnostic.
func DecodePull(raw json.RawMessage) (PullReport, error) { panic("unfilled") }

// DecodeWorkspacePull decodes workspace/diagnostic (also a partial result).
func DecodeWorkspacePull(raw json.RawMessage) ([]PullReport, error) { panic("unfilled") }

// CodeAction is a Command or CodeAction; Raw is the object as sent.
type CodeAction struct {
	Title      string
	Kind       string
	Preferred  bool
	Disabled   string
	HasEdit    bool
	HasCommand bool
	IsCommand  bool
	Raw        json.RawMessage
}

// DecodeActions accepts null and mixed lists.
func DecodeActions(raw json.RawMessage) ([]CodeAction, error) { panic("unfilled") }

// Feature is something a server may be able to do, named by its request method
// (MethodDefinition ...).
type Feature string

// Methods that are features.
const (
	MethodDefinition       Feature = "textDocument/definition"
	MethodReferences       Feature = "textDocument/references"
	MethodHover            Feature = "textDocument/hover"
	MethodDocumentSymbol   Feature = "textDocument/documentSymbol"
	MethodWorkspaceSymbol  Feature = "workspace/symbol"
	MethodImplementation   Feature = "textDocument/implementation"
	MethodCallHierarchy    Feature = "textDocument/prepareCallHierarchy"
	MethodDiagnostic       Feature = "textDocument/diagnostic"
	MethodWorkspaceDiag    Feature = "workspace/diagnostic"
	MethodCodeAction       Feature = "textDocument/codeAction"
	MethodDidChangeWatched Feature = "workspace/didChangeWatchedFiles"
)

// SyncKind is the server's wish for didChange.
type SyncKind int

// The kinds of LSP's TextDocumentSyncKind.
const (
	SyncNone SyncKind = iota
	SyncFull
	SyncIncremental
)

// Sync is what a server wants to be told about documents.
type Sync struct {
	OpenClose   bool
	Change      SyncKind
	Save        bool
	IncludeText bool // in didSave
}

// Capabilities is an immutable view: the initialize result and the registrations.
// With and Without return new values, so that it can stand behind an atomic pointer.
type Capabilities struct{}

// ParseInitialize reads an InitializeResult tolerantly: one wrong-typed capability
// loses only itself. An unknown positionEncoding is an error.
func ParseInitialize(raw json.RawMessage) (*Capabilities, error) { panic("unfilled") }

// Encoding is the granted encoding: positionEncoding, else the old offsetEncoding, else UTF-16.
func (c *Capabilities) Encoding() text.Encoding { panic("unfilled") }

// ServerInfo is "name version" or "".
func (c *Capabilities) ServerInfo() string { panic("unfilled") }

// Sync gives the document synchronisation for a document (static, or registered dynamically).
func (c *Capabilities) Sync(languageID, uri string) Sync { panic("unfilled") }

// Supports reports whether the server may be asked f about the document; languageID
// and uri may be empty for workspace features.
func (c *Capabilities) Supports(f Feature, languageID, uri string) bool { panic("unfilled") }

// Resolves reports resolveProvider for f (code action, workspace symbol).
func (c *Capabilities) Resolves(f Feature) bool { panic("unfilled") }

// DiagnosticProvider is one registration of pull diagnostics.
type DiagnosticProvider struct {
	Identifier string
	Workspace  bool
	InterFile  bool
}

// DiagnosticProviders lists those that match the document.
func (c *Capabilities) DiagnosticProviders(languageID, uri string) []DiagnosticProvider {
	panic("unfilled")
}

// Registration is one dynamic registration.
type Registration struct {
	ID      string          `json:"id"`
	Method  string          `json:"method"`
	Options json.RawMessage `json:"registerOptions"`
}

// With adds registrations; the same id and method replaces.
func (c *Capabilities) With(rs []Registration) *Capabilities { panic("unfilled") }

// Without removes registrations by id and method; unknown ones change nothing.
func (c *Capabilities) Without(rs []Registration) *Capabilities { panic("unfilled") }

// DecodeRegistrations reads client/registerCapability params.
func DecodeRegistrations(raw json.RawMessage) ([]Registration, error) { panic("unfilled") }

// DecodeUnregistrations reads client/unregisterCapability params in LSP's misspelt and in the right form.
func DecodeUnregistrations(raw json.RawMessage) ([]Registration, error) { panic("unfilled") }

// FileWatcher is one watcher of a didChangeWatchedFiles registration.
type FileWatcher struct {
	Base string // absolute folder of a relative pattern, "" for a plain glob
	Glob string
	Kind int // bit set: 1 create, 2 change, 4 delete; 7 by default
}

// Watchers lists the watchers registered now.
func (c *Capabilities) Watchers() []FileWatcher { panic("unfilled") }

// MatchGlob reports whether a slash-separated path matches an LSP glob (**, *, ?,
// {a,b}, [a-z], [!a]).
func MatchGlob(glob, path string) bool { panic("unfilled") }

// FileEvent is an entry of didChangeWatchedFiles: Type 1 created, 2 changed, 3 deleted.
type FileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}
