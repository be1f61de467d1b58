package lsp

import "strings"

var kindNames = [...]string{
	1: "File", "Module", "Namespace", "Package", "Class", "Method", "Property",
	"Field", "Constructor", "Enum", "Interface", "Function", "Variable",
	"Constant", "String", "Number", "Boolean", "Array", "Object", "Key", "Null",
	"EnumMember", "Struct", "Event", "Operator", "TypeParameter",
}

// KindName is the LSP name of a symbol kind ("Function"); "Unknown" outside the table.
func KindName(kind int) string {
	if kind < 1 || kind >= len(kindNames) {
		return "Unknown"
	}
	return kindNames[kind]
}

// KindNumber is the inverse of KindName, case-insensitively; 0 when unknown.
func KindNumber(name string) int {
	for kind := 1; kind < len(kindNames); kind++ {
		if strings.EqualFold(kindNames[kind], name) {
			return kind
		}
	}
	return 0
}
