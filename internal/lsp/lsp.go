// Package lsp holds the wire types of the Language Server Protocol that a client
// needs, method names, tolerant decoding of what real servers send, and the table
// of a server's capabilities, static and dynamic. It performs no I/O, and it must
// never know a product word or a particular server.
package lsp

import (
	"github.com/dragoman-dev/dragoman/internal/text"
)

// Position and Range are wire positions.
type (
	Position = text.Position
	Range    = text.Range
)

// FileEvent is an entry of didChangeWatchedFiles: Type 1 created, 2 changed, 3 deleted.
type FileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}
