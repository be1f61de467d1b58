package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dragoman-dev/dragoman/internal/render"
	"github.com/dragoman-dev/dragoman/query"
)

// description is what a model reads about the tool. Hosts cut it at 2,000 bytes.
const description = `ALWAYS use LSP as the PRIMARY tool for code intelligence queries when available. Do NOT use grep_search or glob first.
Real language servers answer about the files as they are on disk now.

Use for: finding symbol definitions; analyzing code structure; understanding type information; refactoring code; diagnosing errors.
Not for: searching file contents by pattern (use grep); finding files by name (use glob); reading file contents (use read).

Operations and what they need (line and character are 1-based):
- goToDefinition: filePath, line, character
- findReferences: filePath, line, character (includeDeclaration)
- hover: filePath, line, character
- documentSymbol: filePath
- workspaceSymbol: query
- goToImplementation: filePath, line, character
- prepareCallHierarchy: filePath, line, character
- incomingCalls: filePath, line, character, or callHierarchyItem
- outgoingCalls: filePath, line, character, or callHierarchyItem
- diagnostics: filePath
- workspaceDiagnostics: nothing
- codeActions: filePath, line, character (endLine, endCharacter, diagnostics, codeActionKinds)

Optional for all: limit, serverName. Position unknown? Ask workspaceSymbol first.
Example: {"operation": "findReferences", "filePath": "src/api.ts", "line": 10, "character": 8}`

// schema is the input schema of the tool. Descriptions say only what the name
// does not.
const schema = `{
"type":"object",
"properties":{
"operation":{"type":"string","enum":["goToDefinition","findReferences","hover","documentSymbol","workspaceSymbol","goToImplementation","prepareCallHierarchy","incomingCalls","outgoingCalls","diagnostics","workspaceDiagnostics","codeActions"]},
"filePath":{"type":"string","description":"Relative to the workspace, absolute, or a file:// URI."},
"line":{"type":"integer","minimum":1,"description":"1-based."},
"character":{"type":"integer","minimum":1,"description":"1-based, in Unicode characters. Default 1."},
"endLine":{"type":"integer","minimum":1,"description":"End of the range for codeActions. Default: line."},
"endCharacter":{"type":"integer","minimum":1,"description":"Exclusive. Default: character."},
"includeDeclaration":{"type":"boolean","description":"findReferences: list the declaration too. Default false."},
"query":{"type":"string","description":"Symbol name or part of it for workspaceSymbol."},
"callHierarchyItem":{"type":"object","description":"An item from prepareCallHierarchy, unchanged."},
"serverName":{"type":"string","description":"Ask only this server, by its name as shown in brackets."},
"limit":{"type":"integer","minimum":1,"description":"Most items to show."},
"diagnostics":{"type":"array","description":"codeActions: the problems to fix, as printed. Default: all in the range.","items":{"type":"object","properties":{"range":{"type":"object"},"message":{"type":"string"},"severity":{"type":"string"},"code":{"type":["string","number"]},"source":{"type":"string"}},"required":["range","message"]}},
"codeActionKinds":{"type":"array","items":{"type":"string"},"description":"For example quickfix, refactor, source.organizeImports."},
"includeIgnored":{"type":"boolean","description":"Show results in git-ignored files too."},
"includeJson":{"type":"boolean","description":"Append the raw items of calls and code actions."},
"wait":{"type":"string","enum":["settled","complete","now"],"description":"While a server still loads: settled (default) waits, then answers with a note; complete waits, then fails; now does not wait."}
},
"required":["operation"]
}`

func toolDefinition() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name:        "lsp",
		Title:       "Code intelligence",
		Description: description,
		InputSchema: json.RawMessage(compact(schema)),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
	}
}

// lspTool answers calls of the tool; it has no state and may be called concurrently.
type lspTool struct{ o Options }

func (t *lspTool) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c, err := Parse(req.Params.Arguments)
	if err != nil {
		return errorResult(err), nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.o.CallLimit)
	defer cancel()
	a, err := t.ask(ctx, req, c.Request)
	if err != nil {
		return errorResult(err), nil
	}
	c.Render.MaxChars = t.o.MaxChars
	return &mcp.CallToolResult{
		Meta:    mcp.Meta{"title": render.Title(a)},
		Content: []mcp.Content{&mcp.TextContent{Text: render.Text(a, c.Render)}},
	}, nil
}

func (t *lspTool) ask(ctx context.Context, req *mcp.CallToolRequest, r query.Request) (*query.Answer, error) {
	ctx, done := reportProgress(ctx, req)
	defer done()
	return t.o.Backend.Do(ctx, r)
}
