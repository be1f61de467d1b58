package lsptest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// script is a parsed script; it is never changed after parsing.
type script struct {
	files        map[string]string
	initialize   string   // whole result, "" for the default
	capabilities []string // objects merged into the default capabilities
	rules        []*rule  // on
	hooks        []*rule  // after
	start        []action
	beforeReply  []action
	expects      []*expect
	allow        map[string]bool
	checkDisk    bool
	lfOnly       bool
	exitCode     int // -1: by the protocol
}

// selector says which messages are meant.
type selector struct {
	method       string // full name, or "*"
	path         string
	when         string
	nth          int // 0: any
	times        int // 0: no limit
	genLo, genHi int // genHi 0: no limit
}

// rule is an answer (on) or a hook (after).
type rule struct {
	selector
	acts []action
}

// expect is an assertion about what arrived.
type expect struct {
	kind string // "", none, count, order, exactly
	selector
	count    int
	version  string
	language string
	text     *string
	sequence []selector
	source   string
}

// parseScript reads the text of a script.
func parseScript(src string) (*script, error) {
	ar := txtar.Parse([]byte(src))
	sc := &script{files: map[string]string{}, allow: map[string]bool{}, exitCode: -1}
	for _, f := range ar.Files {
		sc.files[f.Name] = string(f.Data)
	}
	stmts, err := sc.statements(string(ar.Comment))
	if err != nil {
		return nil, err
	}
	for _, st := range stmts {
		if err := sc.statement(st); err != nil {
			return nil, fmt.Errorf("script line %d: %w", st.line, err)
		}
	}
	return sc, nil
}

type stmt struct {
	line   int
	source string
	toks   []token
}

// statements joins indented lines to the statement above them.
func (sc *script) statements(src string) ([]stmt, error) {
	var out []stmt
	for i, line := range strings.Split(src, "\n") {
		toks, err := sc.tokens(line)
		if err != nil {
			return nil, fmt.Errorf("script line %d: %w", i+1, err)
		}
		if len(toks) == 0 {
			continue
		}
		if (line[0] == ' ' || line[0] == '\t') && len(out) > 0 {
			last := &out[len(out)-1]
			if last.toks[len(last.toks)-1].kind != colon {
				last.toks = append(last.toks, token{kind: separator})
			}
			last.toks = append(last.toks, toks...)
			continue
		}
		out = append(out, stmt{line: i + 1, source: strings.TrimSpace(line), toks: toks})
	}
	return out, nil
}

// statement adds one statement to the script.
func (sc *script) statement(st stmt) error {
	head, rest := st.toks[0].text, st.toks[1:]
	switch head {
	case "initialize":
		return one(rest, func(s string) { sc.initialize = s })
	case "capabilities":
		if len(rest) != 1 || json.Unmarshal([]byte(rest[0].text), &rawObject{}) != nil {
			return fmt.Errorf("capabilities needs one JSON object")
		}
		sc.capabilities = append(sc.capabilities, rest[0].text)
		return nil
	case "on", "after", "crash":
		if head == "crash" {
			if len(rest) == 0 {
				break
			}
			if rest[0].text != "on" {
				return fmt.Errorf("crash on METHOD")
			}
			rest = append(rest[1:len(rest):len(rest)], token{kind: separator}, token{text: "crash"})
		}
		r, err := parseRule(rest)
		if err != nil {
			return err
		}
		if head == "after" {
			sc.hooks = append(sc.hooks, r)
		} else {
			sc.rules = append(sc.rules, r)
		}
		return nil
	case "before", "at":
		if len(rest) == 0 || (head == "before") != (rest[0].text == "initialize-reply") || (head == "at") != (rest[0].text == "start") {
			return fmt.Errorf("before initialize-reply: or at start:")
		}
		acts, err := parseActions(skipColon(rest[1:]))
		if head == "at" {
			sc.start = append(sc.start, acts...)
		} else {
			sc.beforeReply = append(sc.beforeReply, acts...)
		}
		return err
	case "expect":
		e, err := parseExpect(rest)
		if err == nil {
			e.source = st.source
			sc.expects = append(sc.expects, e)
		}
		return err
	case "allow":
		return sc.allowRules(rest)
	case "check":
		sc.checkDisk = true
		return one(rest, func(string) {})
	case "line-ends":
		sc.lfOnly = true
		return one(rest, func(string) {})
	case "exit-code":
		if len(rest) != 1 {
			return fmt.Errorf("exit-code needs a number")
		}
		n, err := strconv.Atoi(rest[0].text)
		sc.exitCode = n
		return err
	}
	acts, err := parseActions(st.toks)
	sc.start = append(sc.start, acts...)
	return err
}

func (sc *script) allowRules(toks []token) error {
	for _, t := range toks {
		if !ruleNames[t.text] {
			return fmt.Errorf("allow: there is no rule %q", t.text)
		}
		sc.allow[t.text] = true
	}
	return nil
}

func one(toks []token, set func(string)) error {
	if len(toks) != 1 {
		return fmt.Errorf("one value expected, got %d", len(toks))
	}
	set(toks[0].text)
	return nil
}

func skipColon(toks []token) []token {
	if len(toks) > 0 && toks[0].kind == colon {
		return toks[1:]
	}
	return toks
}

// parseRule reads METHOD [path] keys [:] ACTIONS; keys may stand anywhere but in a wait.
func parseRule(toks []token) (*rule, error) {
	r := &rule{}
	head, body := splitHead(toks)
	if err := r.selector.parse(head); err != nil {
		return nil, err
	}
	var left []token
	waiting := false
	for _, t := range body {
		if t.kind == separator {
			waiting = false
		}
		waiting = waiting || t.kind == word && t.text == "wait"
		if used, err := r.selector.key(t); err != nil {
			return nil, err
		} else if used && !waiting {
			continue
		}
		left = append(left, t)
	}
	acts, err := parseActions(left)
	r.acts = acts
	return r, err
}

// splitHead ends the head at a colon or before the first verb.
func splitHead(toks []token) (head, body []token) {
	for i, t := range toks {
		if t.kind == colon {
			return toks[:i], toks[i+1:]
		}
		if t.kind == separator || i > 0 && t.kind == word && t.key == "" && isVerb(t.text) {
			return toks[:i], toks[i:]
		}
	}
	return toks, nil
}

// parse reads METHOD [path] keys.
func (s *selector) parse(toks []token) error {
	if len(toks) == 0 || toks[0].key != "" {
		return fmt.Errorf("a method is missing")
	}
	s.method = fullMethod(toks[0].text)
	for _, t := range toks[1:] {
		used, err := s.key(t)
		if err != nil {
			return err
		}
		if used {
			continue
		}
		if s.path != "" || t.key != "" {
			return fmt.Errorf("unexpected %q", t)
		}
		s.path = t.text
	}
	return nil
}

// key takes when=, n=, gen= and times=.
func (s *selector) key(t token) (used bool, err error) {
	switch t.key {
	case "when":
		s.when = t.text
	case "n":
		s.nth, err = strconv.Atoi(t.text)
	case "times":
		s.times, err = strconv.Atoi(t.text)
	case "gen":
		n := strings.TrimSuffix(t.text, "+")
		s.genLo, err = strconv.Atoi(n)
		if n == t.text {
			s.genHi = s.genLo
		}
	default:
		return false, nil
	}
	return true, err
}

// inGen reports whether the selector is about that process.
func (s *selector) inGen(gen int) bool {
	return gen >= s.genLo && (s.genHi == 0 || gen <= s.genHi)
}

func parseExpect(toks []token) (*expect, error) {
	e := &expect{}
	if len(toks) > 0 {
		switch toks[0].text {
		case "none", "count", "order", "exactly":
			e.kind, toks = toks[0].text, toks[1:]
		}
	}
	if e.kind == "order" || e.kind == "exactly" {
		for _, t := range toks {
			if used, err := e.selector.key(t); used || err != nil {
				continue
			}
			m, path, _ := strings.Cut(t.text, ":")
			e.sequence = append(e.sequence, selector{method: fullMethod(m), path: path})
		}
		return e, nil
	}
	if e.kind == "count" {
		if len(toks) < 2 {
			return nil, fmt.Errorf("expect count METHOD N")
		}
		last := toks[len(toks)-1]
		n, err := strconv.Atoi(last.text)
		if err != nil {
			return nil, fmt.Errorf("expect count ends with a number, not %q", last.text)
		}
		e.count, toks = n, toks[:len(toks)-1]
	}
	var left []token
	for _, t := range toks {
		switch t.key {
		case "version":
			e.version = t.text
		case "language":
			e.language = t.text
		case "text":
			text := t.text
			e.text = &text
		default:
			left = append(left, t)
		}
	}
	return e, e.selector.parse(left)
}

// fullMethod expands the short name of a method.
func fullMethod(m string) string {
	if full, ok := shortNames[m]; ok {
		return full
	}
	return m
}

var shortNames = func() map[string]string {
	m := map[string]string{}
	for prefix, names := range map[string]string{
		"textDocument":  "didOpen didChange didSave didClose willSave definition references hover implementation declaration typeDefinition documentSymbol documentHighlight signatureHelp completion codeAction codeLens inlayHint rename prepareRename formatting rangeFormatting diagnostic publishDiagnostics prepareCallHierarchy prepareTypeHierarchy foldingRange selectionRange documentLink",
		"workspace":     "symbol didChangeWatchedFiles didChangeConfiguration configuration workspaceFolders applyEdit executeCommand didChangeWorkspaceFolders",
		"window":        "logMessage showMessage showMessageRequest showDocument",
		"callHierarchy": "incomingCalls outgoingCalls",
		"typeHierarchy": "supertypes subtypes",
		"client":        "registerCapability unregisterCapability",
		"$":             "cancelRequest progress setTrace",
	} {
		for _, n := range strings.Fields(names) {
			m[n] = prefix + "/" + n
		}
	}
	return m
}()

func isVerb(s string) bool { return s == "delay" || verbs[s].compile != nil }
