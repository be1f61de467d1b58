package intel

import (
	"bytes"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/dragoman-dev/dragoman/internal/lsp"
	"github.com/dragoman-dev/dragoman/internal/mirror"
	"github.com/dragoman-dev/dragoman/internal/text"
)

const (
	// scanGrace is how long an answer waits for a scan that is not done.
	scanGrace = 30 * time.Millisecond
	// shortestScanned is the shortest word, in runes, that a scan can tell from noise.
	shortestScanned = 3
	// openedForCheck bounds the files opened because they mention the word.
	openedForCheck = 16
	// secondAsk bounds the question that is asked after opening them.
	secondAsk = 10 * time.Second
)

// scan looks for files that mention a word while the server is asked. The ask that
// started it stops it.
type scan struct {
	cancel   context.CancelFunc
	finished chan struct{} // closed by the scanning goroutine
	files    []string
	complete bool
}

// startScan returns nil where a scan would tell nothing.
func (a *ask) startScan(ctx context.Context) *scan {
	word := a.at.Word
	if a.q.d.Mentions == nil || a.c.LanguageID == "" || utf8.RuneCountInString(word) < shortestScanned {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &scan{cancel: cancel, finished: make(chan struct{})}
	go func() {
		defer close(s.finished)
		s.files, s.complete = a.q.d.Mentions(ctx, word, a.c.LanguageID)
	}()
	return s
}

// stop ends the scan and waits for its goroutine.
func (s *scan) stop() {
	if s != nil {
		s.cancel()
		<-s.finished
	}
}

// result waits a little for the scan; false when it was cut.
func (s *scan) result() ([]string, bool) {
	late := time.NewTimer(scanGrace)
	defer late.Stop()
	select {
	case <-s.finished:
	case <-late.C:
	}
	s.stop()
	return s.files, s.complete
}

// crosscheck compares the result with the files that mention the word. When some
// have no result they are opened and the question is asked once more; what stays
// is remarked. It never loses the first answer.
func (a *ask) crosscheck(ctx context.Context, s *scan, found []lsp.Location) []lsp.Location {
	a.remark = ""
	if s == nil || a.c.ReferenceCap > 0 && len(found) >= a.c.ReferenceCap {
		return found
	}
	files, complete := s.result()
	if !complete {
		a.remark = fmt.Sprintf("not cross-checked: the scan for %q was not done in time.", a.at.Word)
		return found
	}
	silent := a.withoutResult(files, found)
	if len(silent) > 0 {
		silent = a.withoutDeclaration(ctx, silent)
	}
	if len(silent) > 0 && a.q.mayWait() && !a.q.d.checked.settled(a.checkKey(), silent) {
		if a.openUnopened(ctx, silent) {
			found = a.askAgain(ctx, found)
			silent = a.withoutResult(silent, found)
		}
		found, silent = a.askSiblings(ctx, found, silent)
	}
	a.q.d.checked.settle(a.checkKey(), silent)
	a.remark = moreFiles(len(silent), a.at.Word)
	return found
}

func (a *ask) checkKey() checkKey {
	return checkKey{a.c.Server, a.sess.Generation(), a.at.Word}
}

// withoutResult lists the files, other than the one asked about, that hold no result.
func (a *ask) withoutResult(files []string, found []lsp.Location) []string {
	if len(files) == 0 {
		return nil
	}
	explained := map[string]bool{a.file.Path: true}
	for _, x := range siting(a.q.d, found, locationURI) {
		explained[x.at.Path] = true
	}
	var silent []string
	for _, f := range files {
		if local, _ := a.q.d.local(f); !explained[local] {
			silent = append(silent, local)
		}
	}
	return silent
}

// withoutDeclaration takes out the files that define or declare the symbol, which
// references without declarations rightly leave out.
func (a *ask) withoutDeclaration(ctx context.Context, silent []string) []string {
	if a.q.r.IncludeDeclaration {
		return silent
	}
	for _, method := range []lsp.Feature{lsp.MethodDefinition, lsp.MethodDeclaration} {
		if len(silent) == 0 || !a.supports(method) {
			continue
		}
		if declared, err := a.rawLocations(ctx, method, a.positionParams); err == nil {
			silent = a.withoutResult(silent, declared)
		}
	}
	return silent
}

// openUnopened opens some of the files and asks about each, so that the server has
// read it when the answer is there; false when all were open before, so that
// asking again would tell nothing new.
func (a *ask) openUnopened(ctx context.Context, files []string) bool {
	opened := 0
	for _, f := range files {
		if _, open := a.opened(f); open {
			continue
		}
		snap, err := a.sess.Mirror().Ensure(ctx, a.q.d.forServer(a.c, f), a.c.LanguageID)
		if err != nil {
			continue
		}
		a.probe(ctx, snap)
		if opened++; opened == openedForCheck {
			break
		}
	}
	return opened > 0
}

// probe asks for the definition of the file's first mention of the word. Its result
// is of no interest: servers load a file that they did not know (gopls a new
// package) or index one that they knew in an older state (clangd) on its way.
func (a *ask) probe(ctx context.Context, snap mirror.Snapshot) {
	off := firstMention(snap.Map.Content(), a.at.Word)
	if off < 0 || !a.supports(lsp.MethodDefinition) {
		return
	}
	_, _ = a.sess.Call(ctx, string(lsp.MethodDefinition), func() (any, error) {
		return positionParams{documentID{snap.URI}, snap.Map.PositionOfOffset(off, a.wire())}, nil
	})
}

// firstMention is the offset of the first whole word that equals word, -1 without one.
func firstMention(content []byte, word string) int {
	for from := 0; ; {
		i := bytes.Index(content[from:], []byte(word))
		if i < 0 {
			return -1
		}
		i += from
		if w, ok := text.WordAt(content, i); ok && w.Start == i && w.End == i+len(word) {
			return i
		}
		from = i + len(word)
	}
}

// askAgain repeats the question; the longer answer counts.
func (a *ask) askAgain(ctx context.Context, found []lsp.Location) []lsp.Location {
	ctx, cancel := context.WithTimeout(ctx, secondAsk)
	defer cancel()
	again, err := a.references(ctx, referenceContext{a.q.r.IncludeDeclaration})
	if err != nil || len(again) < len(found) {
		return found
	}
	return again
}

func moreFiles(n int, word string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 more file mentions %q; the server does not count it.", word)
	}
	return fmt.Sprintf("%d more files mention %q; the server does not count them.", n, word)
}
