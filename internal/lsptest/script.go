package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
func (sc *script) statement(st stmt) (err error) {
	rest := st.toks[1:]
	switch st.toks[0].text {
	case "initialize":
		sc.initialize, err = one(rest)
		return err
	case "capabilities":
		return sc.addCapabilities(rest)
	case "on":
		return appendRule(&sc.rules, rest)
	case "after":
		return appendRule(&sc.hooks, rest)
	case "crash":
		if len(rest) > 0 {
			return appendRule(&sc.rules, crashRule(rest))
		}
	case "before":
		return appendActions(&sc.beforeReply, rest, "initialize-reply")
	case "at":
		return appendActions(&sc.start, rest, "start")
	case "expect":
		return sc.expectation(rest, st.source)
	case "allow":
		return sc.allowRules(rest)
	case "check":
		sc.checkDisk = true
		return word1(rest, "disk")
	case "line-ends":
		sc.lfOnly = true
		return word1(rest, "lf")
	case "exit-code":
		return sc.setExitCode(rest)
	}
	acts, err := parseActions(st.toks)
	sc.start = append(sc.start, acts...)
	return err
}

// crashRule turns "on METHOD …" of a crash into a rule.
func crashRule(toks []token) []token {
	if toks[0].text == "on" {
		toks = toks[1:]
	}
	return append(slices.Clone(toks), token{kind: separator}, token{text: "crash"})
}

func appendRule(to *[]*rule, toks []token) error {
	r, err := parseRule(toks)
	if err == nil {
		*to = append(*to, r)
	}
	return err
}

// appendActions reads WHEN [:] ACTIONS.
func appendActions(to *[]action, toks []token, when string) error {
	if len(toks) == 0 || toks[0].text != when {
		return errors.New("an action must begin with \"before initialize-reply:\" or \"at start:\"")
	}
	toks = toks[1:]
	if len(toks) > 0 && toks[0].kind == colon {
		toks = toks[1:]
	}
	acts, err := parseActions(toks)
	*to = append(*to, acts...)
	return err
}

func (sc *script) expectation(toks []token, source string) error {
	e, err := parseExpect(toks)
	if err == nil {
		e.source = source
		sc.expects = append(sc.expects, e)
	}
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

func (sc *script) addCapabilities(toks []token) error {
	s, err := one(toks)
	if err != nil || json.Unmarshal([]byte(s), &rawObject{}) != nil {
		return fmt.Errorf("capabilities needs one JSON object")
	}
	sc.capabilities = append(sc.capabilities, s)
	return nil
}

func (sc *script) setExitCode(toks []token) error {
	s, err := one(toks)
	if err == nil {
		sc.exitCode, err = strconv.Atoi(s)
	}
	return err
}

// one gives the only word.
func one(toks []token) (string, error) {
	if len(toks) != 1 {
		return "", fmt.Errorf("one value expected, got %d", len(toks))
	}
	return toks[0].text, nil
}

// word1 wants exactly this word.
func word1(toks []token, want string) error {
	if len(toks) != 1 || toks[0].text != want {
		return fmt.Errorf("only %q is known here", want)
	}
	return nil
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
