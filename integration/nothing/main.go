// Command nothing is an MCP server whose one tool does nothing: the floor that the
// benchmarks measure against. It uses the same SDK in the same way as dragoman.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	debug.SetGCPercent(400)
	s := mcp.NewServer(&mcp.Implementation{Name: "nothing", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{}})
	s.AddTool(&mcp.Tool{Name: "lsp", Description: "Does nothing.", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "nothing"}}}, nil
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}
