package lsp

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

// parseSync reads textDocumentSync. The bare number of LSP 2 means that all else is
// wanted too; absent means nothing.
func parseSync(v []byte) (s Sync) {
	if !isObject(v) {
		s.Change = syncKind(v)
		s.OpenClose = s.Change != SyncNone
		s.Save = s.OpenClose
		return s
	}
	members(v, func(key, v []byte) {
		switch string(key) {
		case "openClose":
			s.OpenClose = isTrue(v)
		case "change":
			s.Change = syncKind(v)
		case "save":
			s.Save = isTrue(v) || isObject(v)
			s.IncludeText = isTrue(member(v, "includeText"))
		}
	})
	return s
}

func syncKind(v []byte) SyncKind {
	if n, ok := number(v, -1, 3); ok && n >= 1 && n <= 2 {
		return SyncKind(n)
	}
	return SyncNone
}

// Sync gives the document synchronisation for a document (static, or registered dynamically).
func (c *Capabilities) Sync(languageID, uri string) Sync {
	s := c.sync
	for _, r := range c.dynamic {
		if !r.selector.matches(languageID, uri) {
			continue
		}
		switch r.feature {
		case methodDidOpen, methodDidClose:
			s.OpenClose = true
		case methodDidChange:
			s.Change = max(s.Change, r.change)
		case methodDidSave:
			s.Save = true
			s.IncludeText = s.IncludeText || r.includeText
		}
	}
	return s
}
