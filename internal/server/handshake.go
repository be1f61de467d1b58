package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/mirror"
	"github.com/dragoman-dev/dragoman/internal/proc"
	"github.com/dragoman-dev/dragoman/internal/text"
)

// replayLimit bounds the opening of the previous generation's documents.
const replayLimit = 20 * time.Second

// initializeParams is what the server is told about us.
type initializeParams struct {
	ProcessID             int             `json:"processId"`
	ClientInfo            clientInfo      `json:"clientInfo"`
	RootPath              string          `json:"rootPath"`
	RootURI               string          `json:"rootUri"`
	Capabilities          any             `json:"capabilities"`
	InitializationOptions json.RawMessage `json:"initializationOptions"`
	Trace                 string          `json:"trace"`
	WorkspaceFolders      []folder        `json:"workspaceFolders"`
}

type clientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// dial starts a process and shakes hands. Whatever happens, either a session is
// returned that the caller stops, or everything is released.
func (s *Server) dial(ctx context.Context, gen int, previous *Session) started {
	h, err := s.o.Dial(ctx)
	if err != nil {
		return started{err: s.dialError(err)}
	}
	sess := newSession(s, gen, h)
	if err := sess.handshake(ctx, previous); err != nil {
		return sess.abandon(ctx, err)
	}
	sess.live()
	return started{session: sess}
}

func (s *Server) dialError(err error) error {
	var missing *proc.NotFoundError
	if errors.As(err, &missing) {
		return err
	}
	return &StartError{Name: s.o.Name, Err: err}
}

// abandon releases a session whose handshake failed and says why.
func (s *Session) abandon(ctx context.Context, err error) started {
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() == context.DeadlineExceeded {
		err = fmt.Errorf("no answer to initialize within %v", s.srv.o.StartTimeout)
	}
	exit := ""
	var gone *GoneError
	lost := errors.As(err, &gone)
	switch {
	case s.ended(dieWithin):
		exit = s.h.Exit()
		if lost {
			err = nil // the exit says it all
		}
	case lost && gone.Exit != "":
		err = errors.New(gone.Exit)
	}
	if exit == "" && s.answered && ctx.Err() == nil {
		s.stop(ctx, s.srv.o.StopTimeout)
	} else {
		s.fail(&GoneError{Name: s.srv.o.Name, Generation: s.gen, Exit: exit})
		s.release()
	}
	stderr := s.h.Stderr()
	return started{err: &StartError{Name: s.srv.o.Name, Err: err, Exit: exit, Stderr: stderr}, stderr: stderr}
}

// handshake runs from initialize to the first documents.
func (s *Session) handshake(ctx context.Context, previous *Session) error {
	raw, err := s.conn.Call(ctx, "initialize", s.srv.initializeParams())
	if err != nil {
		return s.translate(ctx, err)
	}
	s.answered = true
	caps, err := lsp.ParseInitialize(raw)
	if err != nil {
		return fmt.Errorf("unusable answer to initialize: %w", err)
	}
	s.begin(caps)
	if err := s.notify(ctx, "initialized", struct{}{}); err != nil {
		return err
	}
	if settings := s.srv.o.Settings; hasContent(settings) && !s.srv.o.Traits.PullsSettings {
		err := s.notify(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": settings})
		if err != nil {
			return err
		}
	}
	s.track.initialized()
	if previous == nil || previous.mirror == nil {
		return nil
	}
	rctx, cancel := context.WithTimeout(ctx, replayLimit)
	defer cancel()
	if err := previous.mirror.Replay(rctx, s.mirror); err != nil && s.conn.Err() != nil {
		return s.translate(ctx, err)
	}
	return nil
}

func (s *Server) initializeParams() initializeParams {
	init := s.o.InitializationOptions
	if len(init) == 0 {
		init = json.RawMessage("{}")
	}
	return initializeParams{
		ProcessID:             os.Getpid(),
		ClientInfo:            clientInfo{Name: "dragoman", Version: s.o.Version},
		RootPath:              s.o.Root,
		RootURI:               text.PathToURI(s.o.Root),
		Capabilities:          lsp.ClientCapabilities(s.o.Traits.ExtraCapabilities),
		InitializationOptions: init,
		Trace:                 "off",
		WorkspaceFolders:      s.folders(),
	}
}

func (s *Server) folders() []folder {
	return []folder{{URI: text.PathToURI(s.o.Root), Name: filepath.Base(s.o.Root)}}
}

// hasContent reports whether settings say anything.
func hasContent(settings json.RawMessage) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(settings, &m) == nil {
		return len(m) > 0
	}
	return len(settings) > 0 && string(settings) != "null"
}

// begin takes the negotiated capabilities and makes the mirror that obeys them.
func (s *Session) begin(caps *lsp.Capabilities) {
	s.wire.Store(uint32(caps.Encoding()))
	s.negotiated = caps.Encoding()
	s.setCapabilities(caps)
	s.mirror = mirror.New(mirror.Options{
		Notifier:    notifier{s},
		Encoding:    caps.Encoding(),
		Sync:        s.documentSync,
		MaxFileSize: s.srv.o.MaxFileSize,
		Watched:     s.watched,
		LFOnly:      s.srv.o.Traits.LFOnly,
		OnClose:     s.closed,
	})
}

// closed notes that a document was closed.
func (s *Session) closed(uri string) {
	uri = text.CanonicalURI(uri)
	s.problems.Closed(uri)
	if s.track.isBuilding(uri) {
		s.track.unbuild(uri)
	}
}
