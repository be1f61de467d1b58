package lsp

// Feature is something a server may be able to do, named by its request method
// (MethodDefinition ...).
type Feature string

// Methods that are features.
const (
	MethodDefinition       Feature = "textDocument/definition"
	MethodDeclaration      Feature = "textDocument/declaration"
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

// Notifications that are registered dynamically.
const (
	methodDidOpen   Feature = "textDocument/didOpen"
	methodDidClose  Feature = "textDocument/didClose"
	methodDidChange Feature = "textDocument/didChange"
	methodDidSave   Feature = "textDocument/didSave"
)

// staticFeatures maps the members of ServerCapabilities to features.
var staticFeatures = map[string]Feature{
	"definitionProvider":      MethodDefinition,
	"declarationProvider":     MethodDeclaration,
	"referencesProvider":      MethodReferences,
	"hoverProvider":           MethodHover,
	"documentSymbolProvider":  MethodDocumentSymbol,
	"workspaceSymbolProvider": MethodWorkspaceSymbol,
	"implementationProvider":  MethodImplementation,
	"callHierarchyProvider":   MethodCallHierarchy,
	"diagnosticProvider":      MethodDiagnostic,
	"codeActionProvider":      MethodCodeAction,
}

// registered is the feature of a registration's method. Some servers register the
// call hierarchy under the name of its options.
func registered(method string) Feature {
	if method == "textDocument/callHierarchy" {
		return MethodCallHierarchy
	}
	return Feature(method)
}
