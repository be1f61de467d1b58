package query

import (
	"encoding/json"
	"strconv"
)

// Count is a total: exact, or a lower bound where the server itself caps.
type Count struct {
	N       int  `json:"n"`
	AtLeast bool `json:"atLeast,omitempty"`
}

// String is "45" or "100+".
func (c Count) String() string {
	if c.AtLeast {
		return strconv.Itoa(c.N) + "+"
	}
	return strconv.Itoa(c.N)
}

// Place is a location as shown.
type Place struct {
	// Path is relative to the workspace, absolute outside it, or a raw URI.
	Path string `json:"path"`
	URI  string `json:"uri"`
	Span Span   `json:"range"`
	// Servers names who gave it.
	Servers []string `json:"servers"`
	// Outside says that the place is not in the workspace.
	Outside bool `json:"outOfWorkspace,omitempty"`
}

// Symbol is a named thing and the place of its name.
type Symbol struct {
	Name string `json:"name"`
	// Kind is the LSP name of the kind, capitalised: "Class", "Method", "EnumMember".
	Kind      string `json:"kind"`
	Container string `json:"container,omitempty"`
	Detail    string `json:"detail,omitempty"`
	// Depth is the nesting depth in an outline, 0 at the top.
	Depth int   `json:"depth,omitempty"`
	Place Place `json:"place"`
}

// Item is a call-hierarchy item: a symbol, and the object to send back.
type Item struct {
	Symbol
	// JSON is the object in the form of the `lsp` tool: LSP's fields with the
	// kind as a lower-case word and serverName added; data is kept byte for byte.
	JSON json.RawMessage `json:"item"`
}

// Call is one caller or callee with the places of its calls. For incoming calls
// the sites are in the caller's file, for outgoing ones in the asked item's file.
type Call struct {
	Item
	Sites []Point `json:"sites"`
}

// CallGroup holds the calls of one asked item.
type CallGroup struct {
	Of    Item   `json:"of"`
	Calls []Call `json:"calls"`
	Total Count  `json:"total"`
}

// Problem is one diagnostic.
type Problem struct {
	Span Span `json:"range"`
	// Severity is ERROR, WARNING, INFO or HINT.
	Severity string `json:"severity"`
	Code     string `json:"code,omitempty"`
	Source   string `json:"source,omitempty"`
	// Servers names who reported it.
	Servers []string `json:"servers"`
	Message string   `json:"message"`
}

// FileProblems holds the problems of one file.
type FileProblems struct {
	Path     string    `json:"path"`
	URI      string    `json:"uri"`
	Problems []Problem `json:"problems"`
}

// Action is one code action.
type Action struct {
	Title     string `json:"title"`
	Kind      string `json:"kind,omitempty"`
	Preferred bool   `json:"preferred,omitempty"`
	HasEdit   bool   `json:"hasEdit,omitempty"`
	// EditOnResolve says that the edit would have to be asked for.
	EditOnResolve bool            `json:"editOnResolve,omitempty"`
	HasCommand    bool            `json:"hasCommand,omitempty"`
	Disabled      string          `json:"disabled,omitempty"`
	Server        string          `json:"server"`
	JSON          json.RawMessage `json:"action"`
}

// Body is what an answer holds; printers switch on its shape, never on the operation.
type Body interface {
	// Empty reports that nothing was found.
	Empty() bool
	body()
}

// Places answers definition, references, implementation.
type Places struct {
	Items []Place `json:"items"`
}

// Outline answers documentSymbol, depth first.
type Outline struct {
	Items []Symbol `json:"items"`
}

// Found answers workspaceSymbol.
type Found struct {
	Items []Symbol `json:"items"`
	// Top is the best match whose references are given, if any.
	Top        *Symbol `json:"top,omitempty"`
	References []Place `json:"references,omitempty"`
	RefTotal   Count   `json:"referencesTotal"`
}

// Prose answers hover.
type Prose struct {
	Markdown string `json:"markdown"`
	Span     *Span  `json:"range,omitempty"`
}

// Items answers prepareCallHierarchy.
type Items struct {
	Items []Item `json:"items"`
}

// Calls answers incomingCalls and outgoingCalls, one group for each asked item.
type Calls struct {
	Groups []CallGroup `json:"groups"`
}

// Problems answers diagnostics and workspaceDiagnostics.
type Problems struct {
	Files []FileProblems `json:"files"`
	// FilesTotal is the number of files with problems before the limit.
	FilesTotal int `json:"filesTotal"`
}

// Actions answers codeActions.
type Actions struct {
	Items []Action `json:"items"`
}

// Empty implements Body.
func (b *Places) Empty() bool { return len(b.Items) == 0 }

// Empty implements Body.
func (b *Outline) Empty() bool { return len(b.Items) == 0 }

// Empty implements Body.
func (b *Found) Empty() bool { return len(b.Items) == 0 }

// Empty implements Body.
func (b *Prose) Empty() bool { return b.Markdown == "" }

// Empty implements Body.
func (b *Items) Empty() bool { return len(b.Items) == 0 }

// Empty implements Body; groups without calls count as nothing.
func (b *Calls) Empty() bool {
	for i := range b.Groups {
		if len(b.Groups[i].Calls) > 0 {
			return false
		}
	}
	return true
}

// Empty implements Body.
func (b *Problems) Empty() bool { return len(b.Files) == 0 }

// Empty implements Body.
func (b *Actions) Empty() bool { return len(b.Items) == 0 }

func (*Places) body()   {}
func (*Outline) body()  {}
func (*Found) body()    {}
func (*Prose) body()    {}
func (*Items) body()    {}
func (*Calls) body()    {}
func (*Problems) body() {}
func (*Actions) body()  {}

// Freshness says how current the problems of a file are.
type Freshness string

const (
	// Fresh problems were reported for exactly the text on disk.
	Fresh Freshness = "fresh"
	// SettledByTime problems carry no version but arrived after the text was sent and stayed.
	SettledByTime Freshness = "settled"
	// Stale problems belong to an older text.
	Stale Freshness = "stale"
	// NoneReported means that the server has said nothing about the file.
	NoneReported Freshness = "none"
)

// ServerBasis is what one server's part of an answer rests on.
type ServerBasis struct {
	Name       string `json:"name"`
	Generation int    `json:"generation"`
	// Settled says that the server knew the whole project when it was asked.
	Settled bool `json:"settled"`
	// LoadError says why the project was not (wholly) loaded, if so.
	LoadError string `json:"loadError,omitempty"`
	// Freshness is set for diagnostics.
	Freshness Freshness `json:"freshness,omitempty"`
}

// Basis says what an answer rests on.
type Basis struct {
	Servers []ServerBasis `json:"servers"`
	// Settled says that every asked server was settled and its project loaded.
	Settled bool `json:"settled"`
	// Stale says that the text changed while the question was answered.
	Stale bool `json:"stale,omitempty"`
	// Truncated says that fewer items are shown than there are.
	Truncated bool `json:"truncated,omitempty"`
}

// Note is a remark that stands after the answer.
type Note struct {
	// Code is a stable word for machines: "moved", "hidden", "loading",
	// "load-error", "crosscheck", "limited", "stale", "partial", "fallback".
	Code string `json:"code"`
	Text string `json:"text"`
}

// Answer is the answer to one question.
type Answer struct {
	Op Op `json:"operation"`
	// Path is the file asked about as shown; empty for questions about the workspace.
	Path string `json:"path,omitempty"`
	// At is the position as used, after coercion and snapping.
	At *Point `json:"at,omitempty"`
	// Query is the text searched for.
	Query string `json:"query,omitempty"`
	// Server is the server that the request forced, as given.
	Server string `json:"server,omitempty"`
	Body   Body   `json:"body"`
	// Total counts the items before the limit.
	Total Count `json:"total"`
	// Unsure is one sentence that says why an empty body claims nothing; empty
	// where "none found" is a claim.
	Unsure string `json:"unsure,omitempty"`
	Basis  Basis  `json:"basis"`
	Notes  []Note `json:"notes,omitempty"`
}
