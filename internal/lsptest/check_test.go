package lsptest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	uriA = "file:///w/a.go"
	docA = `{"textDocument":{"uri":"file:///w/a.go"}}`
	docP = `{"textDocument":{"uri":"file:///w/a.go"},"position":{"line":0,"character":0}}`
)

func changeA(version int, changes string) string {
	return fmt.Sprintf(`{"textDocument":{"uri":"file:///w/a.go","version":%d},"contentChanges":[%s]}`, version, changes)
}

func ranged(l1, c1, l2, c2 int, text string) string {
	return fmt.Sprintf(`{"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}},"text":%q}`, l1, c1, l2, c2, text)
}

// breakages shows each rule firing. A client that is started and stopped properly
// does in between what breaks the rule; raw ones do everything themselves.
var breakages = []struct {
	rule   string
	name   string
	script string
	raw    bool
	do     func(c *client)
	answer func(method string, id, params json.RawMessage) string
}{
	{rule: "framing", name: "length too small", do: func(c *client) {
		c.bytes("Content-Length: 40\r\n\r\n" + `{"jsonrpc":"2.0","method":"$/x","params":{}}`)
	}, script: "allow jsonrpc"},
	{rule: "framing", name: "stray line end", do: func(c *client) { c.bytes("\r\n") }},
	{rule: "framing", name: "header without CR", do: func(c *client) {
		c.bytes("Content-Type: x\n")
	}},
	{rule: "framing", name: "unknown header", do: func(c *client) {
		c.bytes("X-Note: 1\r\n")
		c.notify("$/x", "{}")
	}},
	{rule: "framing", name: "end inside a body", script: "allow shutdown", raw: true, do: func(c *client) {
		c.start("/w")
		c.bytes("Content-Length: 40\r\n\r\n{")
		c.h.Stdin().Close()
	}},
	{rule: "jsonrpc", name: "not JSON", do: func(c *client) { c.body("hello") }},
	{rule: "jsonrpc", name: "no version", do: func(c *client) { c.body(`{"method":"$/x"}`) }},
	{rule: "jsonrpc", name: "neither method nor id", do: func(c *client) { c.body(`{"jsonrpc":"2.0"}`) }},
	{rule: "jsonrpc", name: "params of a wrong kind", do: func(c *client) { c.notify("$/x", "7") }},
	{rule: "request-id", name: "used twice", do: func(c *client) {
		c.request("7", "textDocument/hover", docP)
		c.request("7", "textDocument/hover", docP)
	}, script: "allow request-not-open"},
	{rule: "request-id", name: "null", do: func(c *client) { c.request("null", "workspace/symbol", `{"query":""}`) }},
	{rule: "before-reply", name: "notification", script: "on initialize hang", raw: true, do: func(c *client) {
		c.request("1", "initialize", initParams("/w"))
		c.notify("initialized", "{}")
		synctest.Wait()
		c.h.Kill()
	}},
	{rule: "initialize-once", name: "initialized twice", do: func(c *client) { c.notify("initialized", "{}") }},
	{rule: "initialize-once", name: "initialize twice", do: func(c *client) { c.request("7", "initialize", initParams("/w")) }},
	{rule: "before-initialized", name: "request", raw: true, do: func(c *client) {
		c.request("1", "initialize", initParams("/w"))
		synctest.Wait()
		c.request("2", "workspace/symbol", `{"query":""}`)
		c.notify("initialized", "{}")
		c.stop()
	}},
	{rule: "process-id", name: "another", raw: true, do: func(c *client) {
		c.request("1", "initialize", strings.Replace(initParams("/w"), fmt.Sprint(os.Getpid()), "1", 1))
		synctest.Wait()
		c.notify("initialized", "{}")
		c.stop()
	}},
	{rule: "roots", name: "rootPath differs", raw: true, do: func(c *client) {
		c.request("1", "initialize", strings.Replace(initParams("/w"), `"rootPath":"/w"`, `"rootPath":"/v"`, 1))
		synctest.Wait()
		c.notify("initialized", "{}")
		c.stop()
	}},
	{rule: "roots", name: "no folders", raw: true, do: func(c *client) {
		c.request("1", "initialize", strings.Replace(initParams("/w"), `"workspaceFolders"`, `"x"`, 1))
		synctest.Wait()
		c.notify("initialized", "{}")
		c.stop()
	}},
	{rule: "open-twice", name: "same document", do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.notify("textDocument/didOpen", strings.Replace(open("/w/a.go", "a"), `"version":1`, `"version":2`, 1))
	}},
	{rule: "not-open", name: "didChange", do: func(c *client) { c.notify("textDocument/didChange", changeA(1, `{"text":"x"}`)) }},
	{rule: "not-open", name: "didSave", do: func(c *client) { c.notify("textDocument/didSave", docA) }},
	{rule: "not-open", name: "didClose after didClose", do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.notify("textDocument/didClose", docA)
		c.notify("textDocument/didClose", docA)
	}},
	{rule: "request-not-open", name: "hover", do: func(c *client) { c.request("7", "textDocument/hover", docP) }},
	{rule: "open-close", name: "not wished", script: `capabilities {"textDocumentSync":{"openClose":false,"change":2}}`, do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
	}},
	{rule: "open-close", name: "no sync at all", script: `capabilities {"textDocumentSync":null}`, do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
	}},
	{rule: "change-kind", name: "none wished", script: `capabilities {"textDocumentSync":{"openClose":true}}`, do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.notify("textDocument/didChange", changeA(2, `{"text":"x"}`))
	}},
	{rule: "change-kind", name: "range for full", script: `capabilities {"textDocumentSync":1}`, do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.notify("textDocument/didChange", changeA(2, ranged(0, 0, 0, 1, "b")))
	}},
	{rule: "first-version", name: "2", do: func(c *client) {
		c.notify("textDocument/didOpen", strings.Replace(open("/w/a.go", "a"), `"version":1`, `"version":2`, 1))
	}},
	{rule: "version", name: "same", do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.notify("textDocument/didChange", changeA(1, `{"text":"x"}`))
	}},
	{rule: "version", name: "back after close", do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.notify("textDocument/didClose", docA)
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
	}},
	{rule: "range", name: "past the line", do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "ab\ncd"))
		c.notify("textDocument/didChange", changeA(2, ranged(0, 0, 0, 3, "")))
	}},
	{rule: "range", name: "past the file", do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "ab\ncd"))
		c.notify("textDocument/didChange", changeA(2, ranged(0, 0, 2, 0, "")))
	}},
	{rule: "range", name: "backwards", do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "ab\ncd"))
		c.notify("textDocument/didChange", changeA(2, ranged(1, 0, 0, 0, "")))
	}},
	{rule: "surrogate", name: "UTF-16", do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "😀"))
		c.notify("textDocument/didChange", changeA(2, ranged(0, 1, 0, 2, "")))
	}},
	{rule: "surrogate", name: "UTF-8", script: `capabilities {"positionEncoding":"utf-8"}`, do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "é"))
		c.notify("textDocument/didChange", changeA(2, ranged(0, 0, 0, 1, "")))
	}},
	{rule: "save", name: "not wished", script: `capabilities {"textDocumentSync":{"openClose":true,"change":2}}`, do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.notify("textDocument/didSave", docA)
	}},
	{rule: "save", name: "without the text", script: `capabilities {"textDocumentSync":{"openClose":true,"change":2,"save":{"includeText":true}}}`, do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.notify("textDocument/didSave", docA)
	}},
	{rule: "watched-files", name: "never registered", do: func(c *client) { c.notify("workspace/didChangeWatchedFiles", `{"changes":[]}`) }},
	{rule: "watched-files", name: "after unregistering", script: `
after initialized:
	register didChangeWatchedFiles {"watchers":[]} id=1
	unregister didChangeWatchedFiles id=1`, do: func(c *client) {
		synctest.Wait()
		c.notify("workspace/didChangeWatchedFiles", `{"changes":[]}`)
	}},
	{rule: "capability", name: "not offered", script: `capabilities {"hoverProvider":null}`, do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.request("7", "textDocument/hover", docP)
	}},
	{rule: "cancel", name: "unknown id", do: func(c *client) { c.notify("$/cancelRequest", `{"id":7}`) }},
	{rule: "cancel", name: "twice", do: func(c *client) {
		c.request("7", "workspace/symbol", `{"query":""}`)
		c.notify("$/cancelRequest", `{"id":7}`)
		c.notify("$/cancelRequest", `{"id":7}`)
	}},
	{rule: "answer", name: "unknown id", do: func(c *client) { c.body(`{"jsonrpc":"2.0","id":7,"result":null}`) }},
	{rule: "answer", name: "another id token", script: "id digits\nallow unanswered\nafter initialized: request window/showDocument {} nowait",
		answer: func(_ string, id, _ json.RawMessage) string {
			return `{"jsonrpc":"2.0","id":` + strings.Trim(string(id), `"`) + `,"result":null}`
		}, do: func(*client) {}},
	{rule: "answer", name: "twice", script: "after initialized: request window/showDocument {}", do: func(c *client) {
		c.body(`{"jsonrpc":"2.0","id":1,"result":null}`)
	}},
	{rule: "answer", name: "result and error", script: "after initialized: request window/showDocument {} expect-error 1",
		answer: func(string, json.RawMessage, json.RawMessage) string {
			return `{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}`
		}, do: func(*client) {}},
	{rule: "answer", name: "not the expected result", script: `after initialized: request window/showDocument {} expect {"success":false}`, do: func(*client) {}},
	{rule: "answer", name: "an error", script: `after initialized: progress create tok`,
		answer: func(_ string, id, _ json.RawMessage) string {
			return `{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":-32601,"message":"no"}}`
		}, do: func(*client) {}},
	{rule: "unanswered", name: "never", script: "after initialized: request window/showDocument {}",
		answer: func(string, json.RawMessage, json.RawMessage) string { return "" }, do: func(*client) {}},
	{rule: "configuration", name: "one item for two", script: `after initialized: request configuration {"items":[{"section":"a"},{"section":"b"}]}`,
		answer: func(_ string, id, _ json.RawMessage) string {
			return `{"jsonrpc":"2.0","id":` + string(id) + `,"result":[null]}`
		}, do: func(*client) {}},
	{rule: "shutdown", name: "exit at once", raw: true, do: func(c *client) {
		c.start("/w")
		c.notify("exit", "null")
	}},
	{rule: "shutdown", name: "end of input", raw: true, do: func(c *client) {
		c.start("/w")
		c.h.Stdin().Close()
	}},
	{rule: "shutdown", name: "Kill", raw: true, do: func(c *client) {
		c.start("/w")
		c.h.Kill()
	}},
	{rule: "shutdown", name: "Terminate", raw: true, do: func(c *client) {
		c.start("/w")
		c.h.Terminate()
	}},
	{rule: "after-shutdown", name: "request", raw: true, do: func(c *client) {
		c.start("/w")
		c.request("98", "shutdown", "null")
		c.request("99", "workspace/symbol", `{"query":""}`)
		synctest.Wait()
		c.notify("exit", "null")
	}},
	{rule: "exit", name: "end of input", raw: true, do: func(c *client) {
		c.start("/w")
		c.request("98", "shutdown", "null")
		synctest.Wait()
		c.h.Stdin().Close()
	}},
	{rule: "trace", name: "sent", do: func(c *client) { c.notify("$/setTrace", `{"value":"off"}`) }},
	{rule: "disk", name: "no such file", script: "check disk", do: func(c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.request("7", "textDocument/hover", docP)
	}},
	{rule: "left-running", name: "not stopped", raw: true, do: func(c *client) { c.start("/w") }},
}

var rulePattern = regexp.MustCompile(`rule "([a-z-]+)"`)

// brokenRules plays script against do in a bubble and gives the rules that were
// reported, and everything that was said.
func brokenRules(t *testing.T, script string, do func(t *testing.T, c *client), answer func(string, json.RawMessage, json.RawMessage) string) (rules, said []string) {
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeTB{TB: t}
		c := &client{t: t, h: New(fake, script).Dial(), done: make(chan struct{}), answer: answer}
		go c.read()
		do(t, c)
		synctest.Wait()
		said = fake.end()
		<-c.done
	})
	for _, e := range said {
		if m := rulePattern.FindStringSubmatch(e); m != nil {
			rules = append(rules, m[1])
		} else {
			rules = append(rules, e)
		}
	}
	return rules, said
}

func TestEachRuleFires(t *testing.T) {
	shown := map[string]bool{}
	for _, b := range breakages {
		shown[b.rule] = true
		do := func(t *testing.T, c *client) {
			if b.raw {
				b.do(c)
				return
			}
			c.start("/w")
			b.do(c)
			synctest.Wait()
			c.stop()
		}
		t.Run(b.rule+" "+b.name, func(t *testing.T) {
			if rules, said := brokenRules(t, b.script, do, b.answer); !slices.Equal(rules, []string{b.rule}) {
				t.Errorf("broken: %q", said)
			}
			if rules, said := brokenRules(t, b.script+"\nallow "+b.rule, do, b.answer); len(rules) != 0 {
				t.Errorf("broken although allowed: %q", said)
			}
		})
	}
	for name := range ruleNames {
		if !shown[name] {
			t.Errorf("rule %q has no test that shows it firing", name)
		}
	}
}

// A client that does everything right, at length, breaks nothing.
func TestNoRuleFires(t *testing.T) {
	dir := Workspace(t, "-- a.go --\nx😀yz\n")
	script := `
check disk
id string
before initialize-reply: request configuration {"items":[{"section":"a"}]} expect [null]
after initialized: register didChangeWatchedFiles {"watchers":[]} id=1 | register hover {}
capabilities {"hoverProvider":false}
on references hang
expect order initialize initialized didOpen didChange hover didSave references didClose didOpen shutdown exit
expect didChange version=2 text=@a.go language=go
expect didChange n=1 a.go
expect none $/setTrace
expect count didOpen 2
-- a.go --
x😀yz
`
	rules, said := brokenRules(t, script, func(t *testing.T, c *client) {
		c.answer = func(method string, id, _ json.RawMessage) string {
			result := "null"
			if method == "workspace/configuration" {
				result = "[null]"
			}
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
		}
		a := filepath.Join(dir, "a.go")
		doc := strings.ReplaceAll(docP, uriA, fileURI(a))
		c.start(dir)
		c.notify("textDocument/didOpen", open(a, "x😀z\n"))
		c.notify("workspace/didChangeWatchedFiles", `{"changes":[]}`)
		c.notify("textDocument/didChange", strings.ReplaceAll(changeA(2, ranged(0, 3, 0, 3, "y")), uriA, fileURI(a)))
		c.request("2", "textDocument/hover", doc)
		c.notify("textDocument/didSave", strings.ReplaceAll(docA, uriA, fileURI(a)))
		c.request("3", "textDocument/references", doc)
		c.notify("$/cancelRequest", `{"id":3}`)
		synctest.Wait()
		if got := c.reply(3); !strings.Contains(got, "-32800") {
			t.Errorf("cancelled request: %s", got)
		}
		c.notify("textDocument/didClose", strings.ReplaceAll(docA, uriA, fileURI(a)))
		c.notify("textDocument/didOpen", strings.Replace(open(a, "x"), `"version":1`, `"version":3`, 1))
		c.stop()
	}, nil)
	if len(rules) != 0 {
		t.Errorf("broken: %q", said)
	}
}

func TestExpectationsFail(t *testing.T) {
	for _, expectation := range []string{
		"expect didOpen b.go", "expect didOpen a.go version=2", `expect didOpen a.go text="b"`,
		"expect didOpen language=rust", "expect none didOpen", "expect count didOpen 2",
		"expect order didOpen initialized", "expect exactly initialize initialized didOpen shutdown",
		"expect didOpen n=2", "expect didOpen gen=2", "expect initialize when=nowhere",
	} {
		rules, said := brokenRules(t, expectation, func(t *testing.T, c *client) {
			c.start("/w")
			c.notify("textDocument/didOpen", open("/w/a.go", "a"))
			c.stop()
		}, nil)
		if len(rules) != 1 || !strings.Contains(rules[0], "not met: "+expectation) {
			t.Errorf("%s: %q", expectation, said)
		}
	}
	rules, said := brokenRules(t, `
expect exactly initialize initialized didOpen shutdown exit
expect order initialize didOpen:a.go exit
expect didOpen a.go version=1 text="a" language=go gen=1
expect count didOpen a.go 1
expect none didOpen b.go
expect none didOpen gen=2+`, func(t *testing.T, c *client) {
		c.start("/w")
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		c.stop()
	}, nil)
	if len(rules) != 0 {
		t.Errorf("these are met: %q", said)
	}
}

// What is registered dynamically counts like what was said at first, from the
// request on, and until the client has answered that it is gone.
func TestDynamicSync(t *testing.T) {
	script := `
capabilities {"textDocumentSync":null,"hoverProvider":null}
after initialized:
	register didOpen
	register didChange {"syncKind":1} id=c
	register didSave {"includeText":true}
	request client/registerCapability {"registrations":[{"id":"h","method":"textDocument/hover"}]}
after didSave:
	unregister hover id=h
	request client/unregisterCapability {"unregistrations":[{"id":"c","method":"textDocument/didChange"}]}
`
	play := func(more func(c *client)) ([]string, []string) {
		return brokenRules(t, script, func(t *testing.T, c *client) {
			c.start("/w")
			c.notify("textDocument/didOpen", open("/w/a.go", "a"))
			c.notify("textDocument/didChange", changeA(2, `{"text":"b"}`))
			c.request("7", "textDocument/hover", docP)
			c.notify("textDocument/didSave", strings.Replace(docA, "}}", `},"text":"b"}`, 1))
			synctest.Wait()
			more(c)
			c.stop()
		}, nil)
	}
	if rules, said := play(func(*client) {}); len(rules) != 0 {
		t.Errorf("broken: %q", said)
	}
	rules, said := play(func(c *client) {
		c.notify("textDocument/didChange", changeA(3, `{"text":"b"}`))
		c.request("8", "textDocument/hover", docP)
	})
	if !slices.Equal(rules, []string{"change-kind", "capability"}) {
		t.Errorf("after unregistering: %q", said)
	}
}

// Once it was told to shut down, a client may answer configuration by null.
func TestConfigurationAfterShutdown(t *testing.T) {
	script := "on shutdown: request configuration {\"items\":[{}]} expect null | reply null"
	if rules, said := brokenRules(t, script, func(t *testing.T, c *client) {
		c.start("/w")
		c.stop()
	}, nil); len(rules) != 0 {
		t.Errorf("%q", said)
	}
}

// A hanging server may be killed without shutdown, a dead one needs none.
func TestEndsThatAreFine(t *testing.T) {
	for script, do := range map[string]func(c *client){
		"on symbol hang": func(c *client) {
			c.request("7", "workspace/symbol", `{"query":""}`)
			synctest.Wait()
			c.h.Kill()
		},
		"on symbol crash": func(c *client) { c.request("7", "workspace/symbol", `{"query":""}`); <-c.h.Done() },
		"ignore shutdown": func(c *client) {
			c.request("7", "shutdown", "null")
			time.Sleep(2 * time.Second)
			c.notify("exit", "null")
			<-c.h.Done()
		},
		"ignore exit\nignore eof\nignore term": func(c *client) {
			c.request("7", "shutdown", "null")
			synctest.Wait()
			c.notify("exit", "null")
			c.h.Stdin().Close()
			c.h.Terminate()
			time.Sleep(time.Second)
			if c.h.Exit() != "" {
				c.t.Error("ended by what was to be ignored")
			}
			c.h.Kill()
		},
		"on shutdown error 1 \"no\"": func(c *client) {
			c.request("7", "shutdown", "null")
			synctest.Wait()
			c.notify("exit", "null")
		},
	} {
		if rules, said := brokenRules(t, script, func(t *testing.T, c *client) {
			c.start("/w")
			do(c)
		}, nil); len(rules) != 0 {
			t.Errorf("%s: %q", script, said)
		}
	}
}
