package mcpserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// nearest returns the known name that word most likely means, "" for none.
func nearest(word string, known []string) string {
	if len(word) > 100 {
		return ""
	}
	plain := simplify(word)
	best, bestDistance := "", len(plain)/3+1
	for _, k := range known {
		if d := distance(plain, simplify(k)); d < bestDistance || d == 0 {
			best, bestDistance = k, d
		}
	}
	if best != "" || len(plain) < 3 {
		return best
	}
	for _, k := range known {
		if strings.Contains(simplify(k), plain) {
			return k
		}
	}
	return ""
}

// simplify removes what spellings differ in: case, underscores, dashes.
func simplify(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// distance is the number of insertions, deletions and replacements of bytes
// between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// clip shortens a name that came from outside before it is shown.
func clip(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	r := []rune(s)
	return string(r[:most]) + "…"
}

// compact removes insignificant blanks from JSON that is known to be valid.
func compact(s string) []byte {
	var b bytes.Buffer
	if json.Compact(&b, []byte(s)) != nil {
		return []byte(s)
	}
	return b.Bytes()
}
