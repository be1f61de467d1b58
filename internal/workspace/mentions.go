package workspace

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dragoman-dev/dragoman/internal/catalog"
	"github.com/dragoman-dev/dragoman/internal/route"
)

const (
	// mentionsBudget bounds a scan that its caller did not bound tighter.
	mentionsBudget = 200 * time.Millisecond
	// mentionsMaxFile is the largest file that is scanned.
	mentionsMaxFile = 1 << 20
)

// Mentions scans the workspace's files of a language for an identifier. done is
// false when the scan was cut.
func (w *Workspace) Mentions(ctx context.Context, word, languageID string) (files []string, done bool) {
	if word == "" {
		return nil, true
	}
	ctx, cancel := context.WithTimeout(ctx, mentionsBudget)
	defer cancel()
	all, whole := w.files.list(ctx)
	todo := w.sameLanguage(all, languageID)

	var next atomic.Int64
	var mu sync.Mutex // guards files
	var wg sync.WaitGroup
	for range min(4, runtime.GOMAXPROCS(0)+1) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(todo) {
					return
				}
				if fileMentions(todo[i], word) {
					mu.Lock()
					files = append(files, todo[i])
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	sort.Strings(files)
	return files, whole && ctx.Err() == nil
}

// sameLanguage keeps the files of the languages that share servers with languageID.
func (w *Workspace) sameLanguage(all []string, languageID string) []string {
	exts := catalog.LanguageExtensions(languageID)
	var out []string
	for _, f := range all {
		if exts[ext(f)] {
			out = append(out, f)
			continue
		}
		if exts != nil {
			continue
		}
		for i := range w.admitted {
			if route.LanguageID(&w.admitted[i], f, "") == languageID {
				out = append(out, f)
				break
			}
		}
	}
	return out
}

func fileMentions(path, word string) bool {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > mentionsMaxFile {
		return false
	}
	b, err := os.ReadFile(path)
	return err == nil && mentions(b, word)
}

// mentions reports whether text holds word as a whole identifier.
func mentions(text []byte, word string) bool {
	for off := 0; ; {
		i := bytes.Index(text[off:], []byte(word))
		if i < 0 {
			return false
		}
		start, end := off+i, off+i+len(word)
		before, _ := utf8.DecodeLastRune(text[:start])
		after, _ := utf8.DecodeRune(text[end:])
		if (start == 0 || !identifier(before)) && (end == len(text) || !identifier(after)) {
			return true
		}
		off = end
	}
}

func identifier(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
