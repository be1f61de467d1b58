package intel

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// generatedMark is the line by which tools mark what they write.
var generatedMark = regexp.MustCompile(`(?m)^\W*Code generated .*DO NOT EDIT`)

const (
	// generatedHead is how much of a file is looked at for the mark.
	generatedHead = 1024
	// generatedMost bounds the files that are looked at for one answer.
	generatedMost = 1000
)

// generatedFiles is the set of those files that say so in their head or that
// .gitattributes of the workspace calls linguist-generated.
func generatedFiles(root string, paths []string) map[string]bool {
	if len(paths) == 0 {
		return nil
	}
	declared := generatedPatterns(root)
	set := map[string]bool{}
	for _, p := range paths[:min(len(paths), generatedMost)] {
		if declared.match(root, p) || hasGeneratedMark(p) {
			set[p] = true
		}
	}
	return set
}

func hasGeneratedMark(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, generatedHead)
	n, _ := io.ReadFull(f, head)
	return bytes.Contains(head[:n], []byte("DO NOT EDIT")) && generatedMark.Match(head[:n])
}

// attributes are the patterns of .gitattributes that set or unset
// linguist-generated, in order; the last that matches decides.
type attributes []struct {
	glob string
	set  bool
}

func generatedPatterns(root string) (found attributes) {
	content, err := os.ReadFile(filepath.Join(root, ".gitattributes"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		for _, attribute := range fields[1:] {
			name, value, _ := strings.Cut(attribute, "=")
			if strings.TrimPrefix(name, "-") != "linguist-generated" {
				continue
			}
			set := !strings.HasPrefix(name, "-") && value != "false"
			found = append(found, struct {
				glob string
				set  bool
			}{anchored(fields[0]), set})
		}
	}
	return found
}

// anchored makes a doublestar pattern of a .gitattributes pattern: without a slash
// it matches in every folder.
func anchored(pattern string) string {
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		return "**/" + pattern
	}
	return strings.TrimPrefix(pattern, "/")
}

func (a attributes) match(root, path string) (generated bool) {
	if len(a) == 0 {
		return false
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	for _, x := range a {
		if ok, err := doublestar.Match(x.glob, rel); err == nil && ok {
			generated = x.set
		}
	}
	return generated
}
