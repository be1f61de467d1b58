package render

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dragoman-dev/dragoman/query"
)

// Error prints err for people and models: one sentence, then a line with the hint.
func Error(err error) string {
	msg, hint := sentence(err)
	if hint == "" {
		return msg
	}
	return msg + "\nHint: " + hint
}

// sentence splits err into what happened and what to do about it. Messages of
// validation may stand on several lines; any other control character is escaped.
func sentence(err error) (message, hint string) {
	var e *query.Error
	if errors.As(err, &e) {
		hint = e.Hint
		message = e.Error()
		if message == string(e.Kind) {
			message = fallback(e.Kind, err)
		}
	} else {
		message = fallback(query.KindOf(err), err)
	}
	if hint == "" {
		hint = defaultHint(query.KindOf(err))
	}
	return finish(message), string(appendEscaped(nil, strings.TrimSpace(hint), true))
}

// fallback is the sentence of an error that brings none of its own.
func fallback(k query.Kind, err error) string {
	switch k {
	case query.Canceled:
		return "The question was cancelled."
	case query.Timeout:
		return "No answer came within the time limit."
	case query.Internal:
		return "dragoman failed: " + err.Error()
	}
	return err.Error()
}

func defaultHint(k query.Kind) string {
	switch k {
	case query.BadRequest:
		return "Correct the request and ask again."
	case query.NoServer, query.NotInstalled, query.Unsupported:
		return "`dragoman doctor` shows which language servers can be used here."
	case query.NotAdmitted:
		return "Run `dragoman trust` in this folder if you trust it."
	case query.StartFailed, query.ServerGone, query.ServerError:
		return "Ask again; `dragoman status` shows the state of the servers."
	case query.NotReady, query.Timeout:
		return "Ask again in a moment; the server goes on working."
	case query.StaleText:
		return "Ask again; the file kept changing."
	case query.Internal:
		return "This is a fault of dragoman; please report it with its log."
	}
	return ""
}

// finish makes s a sentence: first letter upper case unless it is a name, a full
// stop at the end.
func finish(s string) string {
	s = clip(s, longestSentence)
	s = strings.TrimSpace(string(appendEscaped(nil, strings.ReplaceAll(s, "\r\n", "\n"), true)))
	if s == "" {
		return "Something failed."
	}
	if last, _ := utf8.DecodeLastRuneInString(s); !unicode.IsPunct(last) && !unicode.IsSymbol(last) {
		s += "."
	}
	return s
}
