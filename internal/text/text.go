// Package text is the one room for coordinates: wire positions in three
// encodings, positions as people say them, byte offsets, line tables, words,
// URIs and paths. It knows no server and no product word.
package text

import "bytes"

// Encoding is the unit of a wire position's character (LSP 3.17 positionEncoding).
type Encoding uint8

// The encodings; the zero value is LSP's default.
const (
	UTF16 Encoding = iota
	UTF8
	UTF32
)

// ParseEncoding maps "utf-8", "utf-16", "utf-32"; false for anything else.
func ParseEncoding(s string) (Encoding, bool) {
	switch s {
	case "utf-16":
		return UTF16, true
	case "utf-8":
		return UTF8, true
	case "utf-32":
		return UTF32, true
	}
	return UTF16, false
}

// String is the LSP name.
func (e Encoding) String() string {
	switch e {
	case UTF8:
		return "utf-8"
	case UTF32:
		return "utf-32"
	}
	return "utf-16"
}

// Position is a place on the wire: 0-based line, 0-based character in an Encoding's units.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// Range is a half-open range on the wire.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Columns is the unit of columns outside.
type Columns uint8

// The units; the zero value is the default outside.
const (
	CodePoints Columns = iota
	ColumnsUTF16
	ColumnsBytes
)

// encoding is the Encoding that counts in the same unit.
func (c Columns) encoding() Encoding {
	switch c {
	case ColumnsUTF16:
		return UTF16
	case ColumnsBytes:
		return UTF8
	}
	return UTF32
}

// Point is a place as people say it: 1-based line (ended by LF only, as grep -n
// counts), 1-based column in a Columns unit.
type Point struct{ Line, Column int }

// Wire says how a server counts.
type Wire struct {
	Encoding Encoding
	// LFOnly: the server ends lines at \n only (gopls); otherwise \n, \r\n and a
	// lone \r end a line, as LSP says.
	LFOnly bool
}

var bom = []byte("\xef\xbb\xbf")

// StripBOM removes a UTF-8 byte order mark.
func StripBOM(b []byte) []byte { return bytes.TrimPrefix(b, bom) }
