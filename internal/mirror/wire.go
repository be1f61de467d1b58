package mirror

import "github.com/dragoman-dev/dragoman/internal/text"

type didOpenParams struct {
	TextDocument textDocumentItem `json:"textDocument"`
}

// Document names the document and version that the notification is about, for a
// Notifier that takes note of it.
func (p didOpenParams) Document() (uri string, version int32) {
	return p.TextDocument.URI, p.TextDocument.Version
}

type textDocumentItem struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int32  `json:"version"`
	Text       string `json:"text"`
}

type didChangeParams struct {
	TextDocument   versionedDocument `json:"textDocument"`
	ContentChanges []contentChange   `json:"contentChanges"`
}

// Document is that of didOpenParams.
func (p didChangeParams) Document() (uri string, version int32) {
	return p.TextDocument.URI, p.TextDocument.Version
}

type versionedDocument struct {
	URI     string `json:"uri"`
	Version int32  `json:"version"`
}

// contentChange replaces Range by Text; without a range, everything.
type contentChange struct {
	Range *text.Range `json:"range,omitempty"`
	Text  string      `json:"text"`
}

type didSaveParams struct {
	TextDocument document `json:"textDocument"`
	Text         *string  `json:"text,omitempty"`
}

type didCloseParams struct {
	TextDocument document `json:"textDocument"`
}

type document struct {
	URI string `json:"uri"`
}
