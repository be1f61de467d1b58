package server

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

const lightSlots = 8

// heavy are the requests that keep a server busy with the whole project.
var heavy = map[string]bool{
	"textDocument/references":           true,
	"textDocument/implementation":       true,
	"workspace/symbol":                  true,
	"textDocument/prepareCallHierarchy": true,
	"callHierarchy/incomingCalls":       true,
	"callHierarchy/outgoingCalls":       true,
	"workspace/diagnostic":              true,
}

// gate bounds what a server is asked at the same time. Light and heavy requests
// queue apart, so that a hover does not stand behind references; each queue is
// first come, first served.
type gate struct{ light, heavy *semaphore.Weighted }

func newGate(singleThreaded bool) *gate {
	n := min(4, runtime.NumCPU())
	if singleThreaded {
		n = 1
	}
	return &gate{light: semaphore.NewWeighted(lightSlots), heavy: semaphore.NewWeighted(int64(n))}
}

// enter waits for a slot; leave gives it back.
func (g *gate) enter(ctx context.Context, method string) (leave func(), err error) {
	sem := g.light
	if heavy[method] {
		sem = g.heavy
	}
	if err := sem.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	return func() { sem.Release(1) }, nil
}
