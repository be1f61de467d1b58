// Package dragoman asks real language servers questions about code and answers
// about the disk as it is now, or says plainly why not.
//
//	ws, err := dragoman.Open(ctx, ".", nil)
//	if err != nil {
//		return err
//	}
//	defer ws.Close(ctx)
//	answer, err := ws.Do(ctx, query.Request{
//		Op:     query.Definition,
//		Target: query.Target{Path: "main.go", At: &query.Point{Line: 12, Column: 7}},
//	})
//
// A Workspace is one folder. Servers are found, started when a question needs
// them, kept equal to the disk, and stopped by Close. The words of questions and
// answers are those of package query.
//
// This package wires the rooms below internal together; it prints nothing and
// knows neither MCP nor the command line.
package dragoman
