package dragoman_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dragoman-dev/dragoman"
	"github.com/dragoman-dev/dragoman/query"
)

// Ask where the thing at line 12, column 7 of main.go is defined.
func Example() {
	ctx := context.Background()
	ws, err := dragoman.Open(ctx, ".", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = ws.Close(ctx) }()

	answer, err := ws.Do(ctx, query.Request{
		Op:     query.Definition,
		Target: query.Target{Path: "main.go", At: &query.Point{Line: 12, Column: 7}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if places, ok := answer.Body.(*query.Places); ok {
		for _, p := range places.Items {
			fmt.Printf("%s:%d:%d\n", p.Path, p.Span.Start.Line, p.Span.Start.Column)
		}
	}
}
