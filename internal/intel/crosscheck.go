package intel

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/dragoman-dev/dragoman/internal/lsp"
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
	if len(silent) > 0 && a.q.mayWait() && a.openUnopened(ctx, silent) {
		found = a.askAgain(ctx, found)
		silent = a.withoutResult(silent, found)
	}
	a.remark = moreFiles(len(silent), a.at.Word)
	return found
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

// withoutDeclaration takes out the files that declare the symbol, which
// references without declarations rightly leave out.
func (a *ask) withoutDeclaration(ctx context.Context, silent []string) []string {
	if a.q.r.IncludeDeclaration || !a.supports(lsp.MethodDefinition) {
		return silent
	}
	declared, err := a.rawLocations(ctx, lsp.MethodDefinition, a.positionParams)
	if err != nil {
		return silent
	}
	return a.withoutResult(silent, declared)
}

// openUnopened opens some of the files; false when all were open before, so that
// asking again would tell nothing new.
func (a *ask) openUnopened(ctx context.Context, files []string) bool {
	opened := 0
	for _, f := range files {
		if _, open := a.opened(f); open {
			continue
		}
		if _, err := a.sess.Mirror().Ensure(ctx, a.q.d.forServer(a.c, f), a.c.LanguageID); err != nil {
			continue
		}
		if opened++; opened == openedForCheck {
			break
		}
	}
	return opened > 0
}

// askAgain repeats the question; the longer answer counts.
func (a *ask) askAgain(ctx context.Context, found []lsp.Location) []lsp.Location {
	ctx, cancel := context.WithTimeout(ctx, secondAsk)
	defer cancel()
	again, err := a.references(ctx, a.q.r.IncludeDeclaration)
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
