package intel

import (
	"fmt"
	"strings"

	"github.com/dragoman-dev/dragoman/query"
)

// needs is what an operation requires of its request.
type needs int

const (
	needsNothing needs = iota
	needsFile
	needsPlace
	needsQuery
	needsItemOrPlace
)

var required = map[query.Op]needs{
	query.Definition:           needsPlace,
	query.References:           needsPlace,
	query.Hover:                needsPlace,
	query.Implementation:       needsPlace,
	query.PrepareCallHierarchy: needsPlace,
	query.CodeActions:          needsPlace,
	query.DocumentSymbol:       needsFile,
	query.Diagnostics:          needsFile,
	query.WorkspaceSymbol:      needsQuery,
	query.IncomingCalls:        needsItemOrPlace,
	query.OutgoingCalls:        needsItemOrPlace,
	query.WorkspaceDiagnostics: needsNothing,
}

// validate reports every fault of the request at once, in the order of the
// documentation.
func validate(r query.Request) error {
	need, known := required[r.Op]
	if !known {
		return badRequest(r.Op, unknownOperation(r.Op), "Use one of the operations listed.")
	}
	faults := append(missing(r, need), outOfRange(r)...)
	if len(faults) == 0 {
		return nil
	}
	return badRequest(r.Op, strings.Join(faults, "\n"), "")
}

func unknownOperation(op query.Op) string {
	names := make([]string, 0, len(query.Ops()))
	for _, o := range query.Ops() {
		names = append(names, string(o))
	}
	return fmt.Sprintf("Unknown operation %q. Known operations: %s.", string(op), strings.Join(names, ", "))
}

// missing lists the required fields that are absent.
func missing(r query.Request, need needs) (faults []string) {
	noPath := strings.TrimSpace(r.Target.Path) == ""
	noPlace := r.Target.At == nil && r.Target.Span == nil
	if need == needsItemOrPlace {
		if hasItem(r) {
			return nil
		}
		if noPath && noPlace {
			return []string{fmt.Sprintf("callHierarchyItem is required for %s.", r.Op)}
		}
		need = needsPlace
	}
	if noPath && (need == needsFile || need == needsPlace) {
		faults = append(faults, fmt.Sprintf("filePath is required for %s.", r.Op))
	}
	if noPlace && need == needsPlace {
		faults = append(faults, fmt.Sprintf("line is required for %s.", r.Op))
	}
	if need == needsQuery && strings.TrimSpace(r.Query) == "" {
		faults = append(faults, fmt.Sprintf("query is required for %s.", r.Op))
	}
	return faults
}

// outOfRange lists the numbers that are not positive.
func outOfRange(r query.Request) (faults []string) {
	check := func(n int, name, what string) {
		if n < 1 {
			faults = append(faults, fmt.Sprintf("%s must be a positive %s.", name, what))
		}
	}
	if at := start(r.Target); at != nil {
		check(at.Line, "line", "number")
		check(at.Column, "character", "number")
	}
	if span := r.Target.Span; span != nil {
		check(span.End.Line, "endLine", "number")
		check(span.End.Column, "endCharacter", "number")
	}
	if r.Limit < 0 {
		check(r.Limit, "limit", "integer")
	}
	return faults
}

// start is the point asked about: the point, or the start of the span.
func start(t query.Target) *query.Point {
	switch {
	case t.At != nil:
		return t.At
	case t.Span != nil:
		return &t.Span.Start
	}
	return nil
}

// hasItem reports that calls are asked for an item, which then decides alone.
func hasItem(r query.Request) bool {
	item := strings.TrimSpace(string(r.Item))
	return item != "" && item != "null"
}

// asksFile reports that the request is about a file that it names.
func asksFile(r query.Request) bool {
	switch required[r.Op] {
	case needsFile, needsPlace:
		return true
	case needsItemOrPlace:
		return !hasItem(r)
	}
	return false
}
