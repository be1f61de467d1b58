package server

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/dragoman-dev/dragoman/internal/diag"
	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

const (
	// partialQuiet ends a pull of the workspace that sends partial results and is
	// then kept open by the server for later changes.
	partialQuiet = 2 * time.Second
	// workspaceFirst is how long the first result of such a pull may take.
	workspaceFirst = 60 * time.Second
)

// DiagnoseWorkspace pulls workspace/diagnostic where offered (complete is true
// then); otherwise it returns what is stored.
func (s *Session) DiagnoseWorkspace(ctx context.Context) (byURI map[string][]lsp.Diagnostic, complete bool, err error) {
	if _, err := s.Await(ctx, Settled); err != nil {
		return s.stored(), false, err
	}
	caps := s.Capabilities()
	if !caps.Supports(lsp.MethodWorkspaceDiag, "", "") {
		return s.stored(), false, nil
	}
	complete = true
	for _, p := range caps.DiagnosticProviders("", "") {
		if !p.Workspace {
			continue
		}
		if err := s.pullWorkspace(ctx, p); err != nil {
			return s.stored(), false, err
		}
	}
	return s.stored(), complete, nil
}

// stored is everything that the store holds.
func (s *Session) stored() map[string][]lsp.Diagnostic {
	all := map[string][]lsp.Diagnostic{}
	for _, uri := range s.problems.URIs() {
		all[uri], _ = s.problems.Get(uri)
	}
	return all
}

type previousResult struct {
	URI   string `json:"uri"`
	Value string `json:"value"`
}

// pullWorkspace asks one provider about everything. The answer may come in parts,
// and a server may keep the request open after the last part; quiet ends it then.
func (s *Session) pullWorkspace(ctx context.Context, p lsp.DiagnosticProvider) error {
	src := diag.Pull(p.Identifier)
	key, parts, release := s.partials.open()
	defer release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		raw json.RawMessage
		err error
	}
	done := make(chan result, 1)
	previous := []previousResult{}
	for _, uri := range s.problems.URIs() {
		if id := s.problems.ResultID(src, uri); id != "" {
			previous = append(previous, previousResult{uri, id})
		}
	}
	params := map[string]any{"previousResultIds": previous, "partialResultToken": key}
	if p.Identifier != "" {
		params["identifier"] = p.Identifier
	}
	go func() {
		raw, err := s.ask(ctx, string(lsp.MethodWorkspaceDiag), params)
		done <- result{raw, err}
	}()
	quiet := time.NewTimer(workspaceFirst)
	defer quiet.Stop()
	for {
		select {
		case <-parts.more:
			s.storeReports(src, parts.drain())
			quiet.Reset(partialQuiet)
		case r := <-done:
			s.storeReports(src, parts.drain())
			if r.err == nil {
				s.storeReports(src, []json.RawMessage{r.raw})
			}
			return r.err
		case <-quiet.C:
			if s.track.busy() {
				quiet.Reset(partialQuiet)
				continue
			}
			cancel()
			<-done
			return nil
		}
	}
}

// storeReports stores the parts of a workspace pull.
func (s *Session) storeReports(src diag.Source, parts []json.RawMessage) {
	for _, raw := range parts {
		reports, err := lsp.DecodeWorkspacePull(raw)
		if err != nil {
			s.srv.o.Log.Debug("unreadable workspace diagnostics", "err", err)
			continue
		}
		for _, rep := range reports {
			s.store(src, text.CanonicalURI(rep.URI), rep.Version, rep)
		}
	}
}

// partials collects partial results by the token that we gave.
type partials struct {
	mu   sync.Mutex // guards all
	n    int
	live map[string]*parts
}

type parts struct {
	more chan struct{} // capacity 1: something was added
	mu   sync.Mutex    // guards got
	got  []json.RawMessage
}

// open makes a token; release forgets it.
func (p *partials) open() (token string, ps *parts, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live == nil {
		p.live = map[string]*parts{}
	}
	p.n++
	token = fmt.Sprintf("dragoman-partial-%d", p.n)
	ps = &parts{more: make(chan struct{}, 1)}
	p.live[token] = ps
	return token, ps, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.live, token)
	}
}

// take keeps value when key is one of our tokens.
func (p *partials) take(key string, value json.RawMessage) bool {
	p.mu.Lock()
	ps := p.live[unquoted(key)]
	p.mu.Unlock()
	if ps == nil {
		return false
	}
	ps.mu.Lock()
	ps.got = append(ps.got, append(json.RawMessage(nil), value...))
	ps.mu.Unlock()
	signal(ps.more)
	return true
}

func (ps *parts) drain() []json.RawMessage {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	got := ps.got
	ps.got = nil
	return got
}
