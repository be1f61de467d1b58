package query

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestEmptyBodies(t *testing.T) {
	full := []Body{
		&Places{Items: make([]Place, 1)}, &Outline{Items: make([]Symbol, 1)}, &Found{Items: make([]Symbol, 1)},
		&Prose{Markdown: "x"}, &Items{Items: make([]Item, 1)}, &Problems{Files: make([]FileProblems, 1)},
		&Actions{Items: make([]Action, 1)}, &Calls{Groups: []CallGroup{{}, {Calls: make([]Call, 1)}}},
	}
	empty := []Body{
		&Places{}, &Outline{}, &Found{References: make([]Place, 1)}, &Prose{}, &Items{}, &Problems{}, &Actions{},
		&Calls{Groups: make([]CallGroup, 2)},
	}
	for i := range full {
		if full[i].Empty() || !empty[i].Empty() {
			t.Errorf("%T: %v, %v", full[i], full[i].Empty(), empty[i].Empty())
		}
	}
}

func TestKindsAndExitCodes(t *testing.T) {
	for _, tc := range []struct {
		err  error
		kind Kind
		exit int
	}{
		{nil, "", 0},
		{&Error{Kind: BadRequest}, BadRequest, 2},
		{fmt.Errorf("asked: %w", &Error{Kind: NotInstalled}), NotInstalled, 3},
		{&Error{Kind: NotReady, Err: context.DeadlineExceeded}, NotReady, 4},
		{&Error{Kind: ServerGone}, ServerGone, 5},
		{fmt.Errorf("asked: %w", context.Canceled), Canceled, 130},
		{context.DeadlineExceeded, Timeout, 4},
		{errors.New("something else"), Internal, 70},
	} {
		if k, e := KindOf(tc.err), ExitCode(tc.err); k != tc.kind || e != tc.exit {
			t.Errorf("%v: %s %d, want %s %d", tc.err, k, e, tc.kind, tc.exit)
		}
	}
}
