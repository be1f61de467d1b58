package mirror

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeServer keeps documents as a server does, and objects to what a client must not do.
type fakeServer struct {
	t        testing.TB
	encoding text.Encoding

	mu       sync.Mutex
	docs     map[string]*serverDoc // by URI; the open ones
	versions map[string]int32      // by URI; the last one seen
	log      []string              // "didOpen a.go 1"
	fail     func(method string) error
	hang     map[string]bool // methods that block until ctx ends
}

type serverDoc struct {
	version int32
	text    string
}

func newFake(t testing.TB, e text.Encoding) *fakeServer {
	return &fakeServer{t: t, encoding: e, docs: make(map[string]*serverDoc), versions: make(map[string]int32)}
}

func (s *fakeServer) Notify(ctx context.Context, method string, params any) error {
	s.mu.Lock()
	fail, hang := s.fail, s.hang[method]
	s.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if fail != nil {
		if err := fail(method); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		s.t.Errorf("params of %s: %v", method, err)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(method, raw)
	return nil
}

// message is the union of the params.
type message struct {
	TextDocument struct {
		URI, LanguageID, Text string
		Version               int32
	}
	ContentChanges []struct {
		Range *text.Range
		Text  string
	}
	Text *string
}

func (s *fakeServer) take(method string, raw []byte) {
	var p message
	if err := json.Unmarshal(raw, &p); err != nil {
		s.t.Errorf("%s: %v", method, err)
		return
	}
	uri := p.TextDocument.URI
	short := strings.TrimPrefix(method, "textDocument/")
	d := s.docs[uri]
	line := short + " " + uri[strings.LastIndexByte(uri, '/')+1:]
	switch short {
	case "didOpen":
		if d != nil {
			s.t.Errorf("didOpen of %s, which is open", uri)
		}
		s.docs[uri] = &serverDoc{p.TextDocument.Version, p.TextDocument.Text}
		s.newVersion(uri, p.TextDocument.Version)
		line += fmt.Sprint(" ", p.TextDocument.Version)
	case "didChange":
		if d == nil {
			s.t.Errorf("didChange of %s, which is not open", uri)
			return
		}
		for _, c := range p.ContentChanges {
			d.text = apply(s.t, d.text, c.Range, c.Text, s.encoding)
		}
		d.version = p.TextDocument.Version
		s.newVersion(uri, d.version)
		line += fmt.Sprint(" ", d.version)
	case "didSave":
		if d == nil {
			s.t.Errorf("didSave of %s, which is not open", uri)
		} else if p.Text != nil && *p.Text != d.text {
			s.t.Errorf("didSave of %s with %q, the document is %q", uri, *p.Text, d.text)
		}
		if p.Text != nil {
			line += " +text"
		}
	case "didClose":
		if d == nil {
			s.t.Errorf("didClose of %s, which is not open", uri)
		}
		delete(s.docs, uri)
	default:
		s.t.Errorf("unexpected %s", method)
	}
	s.log = append(s.log, line)
}

func (s *fakeServer) newVersion(uri string, v int32) {
	if v <= s.versions[uri] {
		s.t.Errorf("version %d of %s after %d", v, uri, s.versions[uri])
	}
	s.versions[uri] = v
}

// apply edits as LSP says, written apart from internal/text.
func apply(t testing.TB, doc string, r *text.Range, with string, e text.Encoding) string {
	if r == nil {
		return with
	}
	start, end := offset(t, doc, r.Start, e), offset(t, doc, r.End, e)
	if start > end {
		t.Errorf("range %v is backwards", *r)
		return doc
	}
	return doc[:start] + with + doc[end:]
}

func offset(t testing.TB, doc string, p text.Position, e text.Encoding) int {
	off := 0
	for range p.Line {
		n := strings.IndexAny(doc[off:], "\r\n")
		if n < 0 {
			t.Errorf("line %d is beyond the text", p.Line)
			return len(doc)
		}
		off += n + 1
		if doc[off-1] == '\r' && off < len(doc) && doc[off] == '\n' {
			off++
		}
	}
	for left := int(p.Character); left > 0; {
		r, size := utf8.DecodeRuneInString(doc[off:])
		if size == 0 || r == '\n' || r == '\r' {
			t.Errorf("character %d is beyond its line", p.Character)
			return off
		}
		switch e {
		case text.UTF16:
			left -= utf16.RuneLen(r)
		case text.UTF8:
			left -= size
		case text.UTF32:
			left--
		}
		if left < 0 {
			t.Errorf("position %v lies inside a character", p)
		}
		off += size
	}
	return off
}

// takeLog returns what arrived since the last call.
func (s *fakeServer) takeLog() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log
	s.log = nil
	return log
}

func (s *fakeServer) text(uri string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.docs[uri]; d != nil {
		return d.text, true
	}
	return "", false
}

// world is a folder, a fake server and a mirror between them.
type world struct {
	t    testing.TB
	root string
	s    *fakeServer
	m    *Mirror
	// watched: everything is, when set.
	watched bool
}

var everything = lsp.Sync{OpenClose: true, Change: lsp.SyncIncremental, Save: true}

func newWorld(t testing.TB, sync lsp.Sync, o Options) *world {
	x := &world{t: t, root: t.TempDir(), s: newFake(t, o.Encoding)}
	o.Notifier = x.s
	o.Sync = func(string, string) lsp.Sync { return sync }
	if o.Watched == nil {
		o.Watched = func(string) bool { return x.watched }
	}
	x.m = New(o)
	return x
}

func (x *world) path(name string) string { return filepath.Join(x.root, name) }

func (x *world) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

// write writes a file, and makes it an hour old so that its stat is trusted where a
// ctime could be; see also settle.
func (x *world) write(name, content string) {
	x.t.Helper()
	x.must(os.WriteFile(x.path(name), []byte(content), 0o644))
}

func (x *world) backdate(name string) {
	x.t.Helper()
	old := time.Now().Add(-time.Hour)
	x.must(os.Chtimes(x.path(name), old, old))
}

func (x *world) ensure(name string) Snapshot {
	x.t.Helper()
	snap, err := x.m.Ensure(x.t.Context(), x.path(name), "go")
	x.must(err)
	x.equal(snap)
	return snap
}

// equal checks that server, snapshot and disk say the same.
func (x *world) equal(snap Snapshot) {
	x.t.Helper()
	disk, err := os.ReadFile(snap.Path)
	x.must(err)
	want := string(text.StripBOM(disk))
	if got := string(snap.Map.Content()); got != want {
		x.t.Errorf("the snapshot of %s is %q, the disk says %q", snap.Path, got, want)
	}
	if got, open := x.s.text(snap.URI); open && got != want {
		x.t.Errorf("the server's %s is %q, the disk says %q", snap.Path, got, want)
	}
}

func (x *world) refresh(want ...string) {
	x.t.Helper()
	changed, err := x.m.Refresh(x.t.Context())
	x.must(err)
	for i, p := range changed {
		changed[i] = filepath.Base(p)
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		x.t.Errorf("Refresh (-want +got):\n%s", diff)
	}
}

func (x *world) sent(want ...string) {
	x.t.Helper()
	if diff := cmp.Diff(want, x.s.takeLog()); diff != "" {
		x.t.Errorf("messages (-want +got):\n%s", diff)
	}
}
