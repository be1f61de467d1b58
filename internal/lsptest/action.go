package lsptest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// action is one step of a list.
type action struct {
	// blocks: it may wait, so the rest of its list runs on a goroutine.
	blocks bool
	do     func(x *turn)
}

// turn is one run of a list of actions, in answer to m (nil: to nothing).
type turn struct {
	r *run
	m *inbound
}

// args are the words of an action.
type args struct {
	pos  []token
	keys map[string]string
}

// str is the i-th word, "" when absent.
func (a args) str(i int) string {
	if i < len(a.pos) {
		return a.pos[i].text
	}
	return ""
}

// json is the i-th word as JSON, or otherwise.
func (a args) json(i int, otherwise string) string {
	if i < len(a.pos) {
		return a.pos[i].json()
	}
	return otherwise
}

// verb is a kind of action.
type verb struct {
	least, most int // number of words
	blocks      bool
	keys        string
	compile     func(a args) (func(x *turn), error)
}

// parseActions reads a list of actions.
func parseActions(toks []token) ([]action, error) {
	var out []action
	var cur []token
	flush := func() error {
		acts, err := parseAction(cur)
		out, cur = append(out, acts...), nil
		return err
	}
	for _, t := range toks {
		if t.kind != separator {
			if t.kind == colon {
				return nil, fmt.Errorf("unexpected colon after %v", cur)
			}
			cur = append(cur, t)
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return out, flush()
}

// parseAction reads one action; delay makes two of it.
func parseAction(toks []token) ([]action, error) {
	if len(toks) == 0 {
		return nil, nil
	}
	if toks[0].text == "delay" && len(toks) >= 2 {
		first, err := parseAction([]token{{text: "sleep"}, toks[1]})
		if err != nil {
			return nil, err
		}
		rest, err := parseAction(toks[2:])
		return append(first, rest...), err
	}
	name := toks[0].text
	v, ok := verbs[name]
	if !ok || toks[0].kind != word {
		return nil, fmt.Errorf("unknown action %q", name)
	}
	a := args{keys: map[string]string{}}
	for _, t := range toks[1:] {
		if t.key == "" {
			a.pos = append(a.pos, t)
			continue
		}
		if !strings.Contains(" "+v.keys+" ", " "+t.key+" ") {
			return nil, fmt.Errorf("%s does not know %s=", name, t.key)
		}
		a.keys[t.key] = t.text
		if t.key == "data" {
			a.keys[t.key] = t.json()
		}
	}
	if len(a.pos) < v.least || len(a.pos) > v.most {
		return nil, fmt.Errorf("%s takes %d to %d words, got %d", name, v.least, v.most, len(a.pos))
	}
	do, err := v.compile(a)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return []action{{blocks: blocks(name, v, a), do: do}}, nil
}

// blocks refines the table: creating a token waits, asking with nowait does not.
func blocks(name string, v verb, a args) bool {
	switch name {
	case "progress":
		return a.str(0) == "create"
	case "request":
		for _, t := range a.pos {
			if t.kind == word && t.text == "nowait" {
				return false
			}
		}
	}
	return v.blocks
}

// verbs is the table of actions.
var verbs = map[string]verb{
	// Answers.
	"reply": {1, 1, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.reply(x.m, `"result":`+x.expand(a.json(0, ""))) }, nil
	}},
	"echo": {0, 0, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.reply(x.m, `"result":`+x.expand("${params}")) }, nil
	}},
	"error": {2, 2, false, "data", func(a args) (func(*turn), error) {
		code, err := strconv.Atoi(a.str(0))
		return func(x *turn) {
			var data any
			if a.keys["data"] != "" {
				data = rawJSON(x.expand(a.keys["data"]))
			}
			x.r.replyError(x.m, code, x.expand(a.str(1)), data)
		}, err
	}},
	"raw": {1, 1, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.replyRaw(x.m, x.expand(a.str(0))) }, nil
	}},
	"hang": {0, 0, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.hang(x.m) }, nil
	}},

	// Time.
	"sleep": {1, 1, true, "", func(a args) (func(*turn), error) {
		d, err := time.ParseDuration(a.str(0))
		return func(x *turn) { x.r.sleep(d) }, err
	}},
	"wait": {1, 2, true, "when count", func(a args) (func(*turn), error) {
		var s selector
		if err := s.parse(a.pos); err != nil {
			return nil, err
		}
		s.when = a.keys["when"]
		n, err := strconv.Atoi(or(a.keys["count"], "0"))
		return func(x *turn) { x.r.waitFor(s, n) }, err
	}},

	// What servers tell.
	"publish":     {1, 2, false, "version", compilePublish},
	"progress":    {2, 4, false, "", compileProgress},
	"log":         {2, 2, false, "", compileLog("window/logMessage")},
	"showMessage": {2, 2, false, "", compileLog("window/showMessage")},
	"status": {1, 1, false, "health message", func(a args) (func(*turn), error) {
		quiescent, err := strconv.ParseBool(a.str(0))
		return func(x *turn) {
			p := map[string]any{"health": or(a.keys["health"], "ok"), "quiescent": quiescent}
			if m := a.keys["message"]; m != "" {
				p["message"] = x.expand(m)
			}
			x.r.notify("experimental/serverStatus", toJSON(p))
		}, err
	}},
	"notify": {1, 2, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.notify(fullMethod(a.str(0)), x.expand(a.json(1, ""))) }, nil
	}},

	// What servers ask. The blocking variants are chosen in compile.
	"request":    {1, 6, true, "", compileRequest},
	"register":   {1, 2, true, "id", compileRegister},
	"unregister": {1, 1, true, "id", compileUnregister},

	// Ends.
	"crash": {0, 0, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) {
			x.r.writeStderr("panic: crash asked for by the script\n")
			x.r.end("exit status 2")
		}, nil
	}},
	"exit": {1, 1, false, "", func(a args) (func(*turn), error) {
		code, err := strconv.Atoi(a.str(0))
		return func(x *turn) { x.r.end(exitStatus(code)) }, err
	}},

	// Mischief.
	"stderr": {1, 1, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.writeStderr(x.expand(a.str(0)) + "\n") }, nil
	}},
	"garbage": {1, 1, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.write([]byte(a.str(0) + "\n")) }, nil
	}},
	"bytes": {1, 1, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.write([]byte(a.str(0))) }, nil
	}},
	"message": {1, 1, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.body(x.expand(a.str(0))) }, nil
	}},
	"split": {1, 1, false, "", func(a args) (func(*turn), error) {
		n, err := strconv.Atoi(a.str(0))
		return func(x *turn) { x.r.restyle(func(s *frameStyle) { s.split = n }) }, err
	}},
	"join": {0, 0, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.restyle(func(s *frameStyle) { s.join = true }) }, nil
	}},
	"header": {1, 1, false, "", func(a args) (func(*turn), error) {
		h := a.str(0)
		if !strings.Contains(" lowercase content-type content-type-first plain ", " "+h+" ") {
			return nil, fmt.Errorf("unknown style %q", h)
		}
		return func(x *turn) { x.r.restyle(func(s *frameStyle) { s.header = h }) }, nil
	}},
	"id": {1, 1, false, "", func(a args) (func(*turn), error) {
		style := a.str(0)
		if !strings.Contains(" string digits zero number ", " "+style+" ") {
			return nil, fmt.Errorf("unknown style %q", style)
		}
		return func(x *turn) { x.r.setIDStyle(style) }, nil
	}},
	"flood": {2, 3, false, "files", compileFlood},
	"ignore": {1, 1, false, "", func(a args) (func(*turn), error) {
		what := a.str(0)
		if !strings.Contains(" shutdown exit eof term cancel ", " "+what+" ") {
			return nil, fmt.Errorf("cannot ignore %q", what)
		}
		return func(x *turn) { x.r.ignore(what) }, nil
	}},
	"stop": {1, 1, false, "", func(a args) (func(*turn), error) {
		if a.str(0) != "reading" {
			return nil, fmt.Errorf("stop reading")
		}
		return func(x *turn) { x.r.stopReading() }, nil
	}},
	"close": {1, 1, false, "", func(a args) (func(*turn), error) {
		if a.str(0) != "stdout" {
			return nil, fmt.Errorf("close stdout")
		}
		return func(x *turn) { x.r.out.closeWrite() }, nil
	}},
	"spawn": {1, 3, false, "", func(a args) (func(*turn), error) {
		return func(x *turn) { x.r.spawnHolder() }, nil
	}},
	"cpu": {1, 1, false, "", func(a args) (func(*turn), error) {
		mode := a.str(0)
		var d time.Duration
		var err error
		if mode != "busy" && mode != "idle" && mode != "unknown" {
			d, err = time.ParseDuration(mode)
		}
		return func(x *turn) { x.r.cpu.set(mode, d) }, err
	}},
	"memory": {1, 1, false, "", func(a args) (func(*turn), error) {
		n, err := strconv.ParseInt(a.str(0), 10, 64)
		return func(x *turn) { x.r.memory.Store(n) }, err
	}},
}

func compilePublish(a args) (func(*turn), error) {
	return func(x *turn) {
		path := a.str(0)
		p := map[string]any{"uri": x.expand("${uri:" + path + "}"), "diagnostics": rawJSON(x.expand(a.json(1, "[]")))}
		switch v := a.keys["version"]; v {
		case "":
		case "current":
			p["version"] = x.r.version(path)
		default:
			p["version"] = rawJSON(v)
		}
		x.r.notify("textDocument/publishDiagnostics", toJSON(p))
	}, nil
}

func compileProgress(a args) (func(*turn), error) {
	kind, tok := a.str(0), jsonToken(a.pos[1])
	if kind == "create" {
		return func(x *turn) { x.r.ask("window/workDoneProgress/create", `{"token":`+tok+`}`, nil) }, nil
	}
	v := map[string]any{"kind": kind}
	text := map[string]string{"begin": "title", "report": "message", "end": "message"}[kind]
	if text == "" {
		return nil, fmt.Errorf("create, begin, report or end, not %q", kind)
	}
	for _, t := range a.pos[2:] {
		if n, err := strconv.Atoi(t.text); err == nil && t.kind == word {
			v["percentage"] = n
		} else {
			v[text] = t.text
		}
	}
	return func(x *turn) {
		x.r.notify("$/progress", x.expand(`{"token":`+tok+`,"value":`+toJSON(v)+`}`))
	}, nil
}

func compileLog(method string) func(args) (func(*turn), error) {
	return func(a args) (func(*turn), error) {
		typ, err := strconv.Atoi(a.str(0))
		return func(x *turn) {
			x.r.notify(method, toJSON(map[string]any{"type": typ, "message": x.expand(a.str(1))}))
		}, err
	}
}

// compileRequest reads METHOD [JSON] [expect JSON] [expect-error CODE] [nowait].
func compileRequest(a args) (func(*turn), error) {
	method, params, want := fullMethod(a.str(0)), "", &wanted{}
	nowait := false
	for i := 1; i < len(a.pos); i++ {
		t := a.pos[i]
		switch {
		case t.kind == word && t.text == "nowait":
			nowait = true
		case t.kind == word && (t.text == "expect" || t.text == "expect-error") && i+1 < len(a.pos):
			i++
			if t.text == "expect" {
				want.result = a.pos[i].json()
			} else {
				want.code = a.pos[i].text
			}
		case i == 1:
			params = t.json()
		default:
			return nil, fmt.Errorf("unexpected %q", t)
		}
	}
	return func(x *turn) {
		w := *want
		w.result = x.expand(w.result)
		if nowait {
			x.r.askLater(method, x.expand(params), &w)
			return
		}
		x.r.ask(method, x.expand(params), &w)
	}, nil
}

func compileRegister(a args) (func(*turn), error) {
	method := fullMethod(a.str(0))
	id := or(a.keys["id"], method)
	return func(x *turn) {
		reg := map[string]any{"id": id, "method": method}
		options := x.expand(a.json(1, ""))
		if options != "" {
			reg["registerOptions"] = rawJSON(options)
		}
		x.r.ask("client/registerCapability", toJSON(map[string]any{"registrations": []any{reg}}), nil)
	}, nil
}

func compileUnregister(a args) (func(*turn), error) {
	method := fullMethod(a.str(0))
	id := or(a.keys["id"], method)
	return func(x *turn) {
		reg := map[string]any{"id": id, "method": method}
		x.r.ask("client/unregisterCapability", toJSON(map[string]any{"unregisterations": []any{reg}}), nil)
	}, nil
}

func compileFlood(a args) (func(*turn), error) {
	n, err := strconv.Atoi(a.str(1))
	if err != nil {
		return nil, err
	}
	files, err := strconv.Atoi(or(a.keys["files"], "1"))
	if err != nil || files < 1 {
		return nil, fmt.Errorf("files=%s", a.keys["files"])
	}
	var each func(x *turn, i int)
	switch kind := a.str(0); kind {
	case "publish":
		each = func(x *turn, i int) {
			uri := x.expand(fmt.Sprintf("${uri:flood%d.go}", i%files))
			d := fmt.Sprintf(`{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"severity":1,"message":"flood %d"}`, i)
			x.r.notify("textDocument/publishDiagnostics", `{"uri":`+toJSON(uri)+`,"diagnostics":[`+d+`]}`)
		}
	case "log":
		each = func(x *turn, i int) {
			x.r.notify("window/logMessage", fmt.Sprintf(`{"type":4,"message":"flood %d"}`, i))
		}
	case "progress":
		each = func(x *turn, i int) {
			x.r.notify("$/progress", fmt.Sprintf(`{"token":"flood","value":{"kind":"report","message":"flood %d"}}`, i))
		}
	case "stderr":
		each = func(x *turn, i int) { x.r.writeStderr(fmt.Sprintf("flood %d\n", i)) }
	default:
		return nil, fmt.Errorf("cannot flood with %q", kind)
	}
	return func(x *turn) {
		for i := range n {
			each(x, i)
		}
	}, nil
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// jsonToken is a progress token: a number as it is, all else as a string.
func jsonToken(t token) string {
	if _, err := strconv.Atoi(t.text); err == nil && t.kind == word {
		return t.text
	}
	return toJSON(t.text)
}

func exitStatus(code int) string { return fmt.Sprintf("exit status %d", code) }
