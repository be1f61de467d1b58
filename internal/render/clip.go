package render

import "unicode/utf8"

// What was asked is repeated in answers and errors; a request of megabytes must not
// come back as one.
const (
	longestEcho     = 300  // code points of a repeated query
	longestSentence = 4000 // code points of an error's sentence
)

// clip shortens s to n code points; the last one then is an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	at := 0
	for range n - 1 {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at] + "…"
}
