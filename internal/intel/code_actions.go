package intel

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/diag"
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/server"
	"github.com/dragoman-dev/dragoman/internal/text"
	"github.com/dragoman-dev/dragoman/query"
)

const (
	// resolvedActions and resolveTime bound the look at whether actions have an edit.
	resolvedActions = 20
	resolveTime     = 2 * time.Second
	resolveAtOnce   = 4
)

type actionParams struct {
	TextDocument documentID    `json:"textDocument"`
	Range        lsp.Range     `json:"range"`
	Context      actionContext `json:"context"`
}

type actionContext struct {
	Diagnostics []json.RawMessage `json:"diagnostics"`
	Only        []string          `json:"only,omitempty"`
	TriggerKind int               `json:"triggerKind"`
}

// invoked is LSP's trigger kind for actions that were asked for.
const invoked = 1

// offered is an action and who offers it.
type offered struct {
	action lsp.CodeAction
	from   *ask
	// resolved says that the server was asked for the edit.
	resolved bool
}

// codeActions merges what all servers of the file offer for a span.
func codeActions(ctx context.Context, q *question) (*query.Answer, error) {
	span := q.span()
	put := func(ctx context.Context, a *ask) ([]lsp.CodeAction, error) { return a.actions(ctx, span) }
	parts, err := every(ctx, q, q.file, plan{lsp.MethodCodeAction, server.Initialized}, put, none)
	if err != nil {
		return nil, err
	}
	var all []offered
	for _, p := range parts {
		for _, action := range p.value {
			if q.wanted(action.Kind) {
				all = append(all, offered{action: action, from: p.a})
			}
		}
	}
	shown := cut(q, all, q.limit)
	resolveEdits(ctx, shown)
	body := &query.Actions{Items: make([]query.Action, 0, len(shown))}
	for _, o := range shown {
		body.Items = append(body.Items, o.shown())
	}
	ans := q.answer(body)
	ans.At = &span.Start
	ans.Total.N = len(all)
	return ans, nil
}

// span is the range asked about; a point is an empty one.
func (q *question) span() query.Span {
	if q.r.Target.Span != nil {
		return *q.r.Target.Span
	}
	return query.Span{Start: *q.r.Target.At, End: *q.r.Target.At}
}

// wanted filters by dotted prefix: refactor takes refactor.extract.
func (q *question) wanted(kind string) bool {
	if len(q.r.ActionKinds) == 0 {
		return true
	}
	for _, k := range q.r.ActionKinds {
		if k == "" || kind == k || strings.HasPrefix(kind, k+".") {
			return true
		}
	}
	return false
}

func (a *ask) actions(ctx context.Context, span query.Span) ([]lsp.CodeAction, error) {
	known, err := a.known(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := a.call(ctx, string(lsp.MethodCodeAction), func() (any, error) {
		r, err := a.wireSpan(span)
		if err != nil {
			return nil, err
		}
		return actionParams{documentID{a.uri()}, r,
			actionContext{a.contextProblems(known, r), a.q.r.ActionKinds, invoked}}, nil
	})
	if err != nil {
		return nil, err
	}
	return lsp.DecodeActions(raw)
}

// known are the server's problems of the file; they are asked for when none are
// stored for the present text, because fixes hang on them.
func (a *ask) known(ctx context.Context) ([]lsp.Diagnostic, error) {
	if a.snap.Map == nil {
		return nil, nil
	}
	stored, fresh := a.sess.Problems().Get(text.CanonicalURI(a.uri()))
	if fresh == diag.Fresh || fresh == diag.Settled {
		return stored, nil
	}
	now, err := a.diagnose(ctx)
	if err != nil {
		if isGone(err) || ctx.Err() != nil {
			return nil, err
		}
		return stored, nil
	}
	return now.items, nil
}

// wireSpan maps a span of the file; an end before the start is the start.
func (a *ask) wireSpan(span query.Span) (lsp.Range, error) {
	if a.snap.Map == nil {
		return lsp.Range{Start: wirePoint(span.Start), End: wirePoint(span.End)}, nil
	}
	begin, err := a.snap.Map.OffsetOfPoint(textPoint(span.Start), a.q.d.Columns)
	if err != nil {
		return lsp.Range{}, err
	}
	end, err := a.snap.Map.OffsetOfEnd(textPoint(span.End), a.q.d.Columns)
	if err != nil {
		return lsp.Range{}, err
	}
	return lsp.Range{Start: a.snap.Map.PositionOfOffset(begin, a.wire()),
		End: a.snap.Map.PositionOfOffset(max(begin, end), a.wire())}, nil
}

func wirePoint(p query.Point) lsp.Position {
	return lsp.Position{Line: uint32(p.Line - 1), Character: uint32(p.Column - 1)}
}

// contextProblems are the raw problems that go with the request: those named by
// the request, or all that overlap the range.
func (a *ask) contextProblems(known []lsp.Diagnostic, r lsp.Range) []json.RawMessage {
	out := []json.RawMessage{}
	if a.q.r.Problems == nil {
		for _, d := range known {
			if overlaps(d.Range, r) {
				out = append(out, d.Raw)
			}
		}
		return out
	}
	for _, ref := range a.q.r.Problems {
		if raw := a.rawProblem(known, ref); raw != nil {
			out = append(out, raw)
		}
	}
	return out
}

// rawProblem finds the object that the server reported for a problem as shown:
// its message on overlapping ranges, else its code there; else it is put together
// from what was shown.
func (a *ask) rawProblem(known []lsp.Diagnostic, ref query.ProblemRef) json.RawMessage {
	if ref.Raw != nil {
		return ref.Raw
	}
	r, err := a.wireSpan(ref.Span)
	if err != nil {
		return nil
	}
	var byCode json.RawMessage
	for _, d := range known {
		if !overlaps(d.Range, r) {
			continue
		}
		if strings.TrimSpace(d.Message) == strings.TrimSpace(ref.Message) {
			return d.Raw
		}
		if ref.Code != "" && d.Code == ref.Code && byCode == nil {
			byCode = d.Raw
		}
	}
	if byCode != nil {
		return byCode
	}
	return madeProblem(r, ref)
}

func madeProblem(r lsp.Range, ref query.ProblemRef) json.RawMessage {
	raw, err := json.Marshal(struct {
		Range    lsp.Range `json:"range"`
		Severity int       `json:"severity,omitempty"`
		Code     string    `json:"code,omitempty"`
		Source   string    `json:"source,omitempty"`
		Message  string    `json:"message"`
	}{r, severityNumber(ref.Severity), ref.Code, ref.Source, ref.Message})
	if err != nil {
		return nil
	}
	return raw
}

func severityNumber(word string) int {
	switch strings.ToLower(word) {
	case "error":
		return 1
	case "warning":
		return 2
	case "info", "information":
		return 3
	case "hint":
		return 4
	}
	return 0
}

// overlaps counts ranges that touch, as a cursor at the end of a word does.
func overlaps(a, b lsp.Range) bool {
	return comparePositions(a.Start, b.End) <= 0 && comparePositions(b.Start, a.End) <= 0
}

// resolveEdits asks for the edits of actions that came without one, so that it is
// known whether they have any. What is not answered in time stays open.
func resolveEdits(ctx context.Context, shown []offered) {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	slots := make(chan struct{}, resolveAtOnce)
	var wg sync.WaitGroup
	for i := range shown[:min(len(shown), resolvedActions)] {
		if !shown[i].resolvable() {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			shown[i].resolve(ctx)
		})
	}
	wg.Wait()
}

func (o *offered) resolvable() bool {
	return !o.action.IsCommand && !o.action.HasEdit && o.action.Disabled == "" &&
		o.from.sess.Capabilities().Resolves(lsp.MethodCodeAction)
}

func (o *offered) resolve(ctx context.Context) {
	raw, err := o.from.sess.Call(ctx, "codeAction/resolve", func() (any, error) { return o.action.Raw, nil })
	if err != nil {
		return
	}
	full, err := lsp.DecodeActions(append(append(json.RawMessage("["), raw...), ']'))
	if err == nil && len(full) == 1 {
		o.action, o.resolved = full[0], true
	}
}

func (o *offered) shown() query.Action {
	return query.Action{
		Title: o.action.Title, Kind: o.action.Kind, Preferred: o.action.Preferred,
		HasEdit: o.action.HasEdit, EditOnResolve: !o.resolved && o.resolvable(),
		HasCommand: o.action.HasCommand || o.action.IsCommand, Disabled: o.action.Disabled,
		Server: o.from.c.Name, JSON: o.action.Raw,
	}
}
