package lsptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// output plays script without a client and gives what it wrote, read by read.
func output(t *testing.T, script string) (reads []string, h *memory) {
	synctest.Test(t, func(t *testing.T) {
		h = New(t, "allow left-running\n"+script).Dial().(*memory)
		synctest.Wait()
		h.run.out.closeWrite()
		b := make([]byte, 1<<20)
		for {
			n, err := h.Stdout().Read(b)
			if err != nil {
				break
			}
			reads = append(reads, string(b[:n]))
		}
	})
	return reads, h
}

func TestOutput(t *testing.T) {
	const a = `{"jsonrpc":"2.0","method":"a"}`
	const plain = "Content-Length: 30\r\n\r\n" + a
	for _, c := range []struct{ script, want string }{
		{"notify a", plain},
		{"notify a\nnotify a", plain + "|" + plain},
		{"join\nnotify a\nnotify a", plain + plain},
		{"header lowercase\nnotify a", "content-length: 30\r\n\r\n" + a},
		{"header content-type\nnotify a", "Content-Length: 30\r\n" + contentType + "\r\n" + a},
		{"header content-type-first | notify a", contentType + "Content-Length: 30\r\n\r\n" + a},
		{"split 40\nnotify a\nsplit 0\nnotify a", plain[:40] + "|" + plain[40:] + "|" + plain},
		{"garbage \"some log line\"\nnotify a", "some log line\n|" + plain},
		{`bytes "Content-Length: 7\r\n"`, "Content-Length: 7\r\n"},
		{`message "not json"`, "Content-Length: 8\r\n\r\nnot json"},
		{"header plain\nnotify a # a comment", plain},
	} {
		reads, _ := output(t, c.script)
		if got := strings.Join(reads, "|"); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.script, got, c.want)
		}
	}
}

func TestMessages(t *testing.T) {
	for script, want := range map[string]string{
		`log 3 "Found 3 source files"`:                  `{"type":3,"message":"Found 3 source files"} window/logMessage`,
		`showMessage 1 "no"`:                            `{"type":1,"message":"no"} window/showMessage`,
		`status true`:                                   `{"health":"ok","quiescent":true} experimental/serverStatus`,
		`status false health=warning message="a b"`:     `{"health":"warning","quiescent":false,"message":"a b"} experimental/serverStatus`,
		`progress begin tok "Loading" 0`:                `{"token":"tok","value":{"kind":"begin","title":"Loading","percentage":0}} $/progress`,
		`progress report 7 40 "x"`:                      `{"token":7,"value":{"kind":"report","percentage":40,"message":"x"}} $/progress`,
		`progress end tok`:                              `{"token":"tok","value":{"kind":"end"}} $/progress`,
		`progress create tok`:                           `{"token":"tok"} window/workDoneProgress/create`,
		`publish /w/a.go version=2 [{"message":"m"}]`:   `{"uri":"file:///w/a.go","version":2,"diagnostics":[{"message":"m"}]} textDocument/publishDiagnostics`,
		`publish /w/a.go version=current`:               `{"uri":"file:///w/a.go","version":0,"diagnostics":[]} textDocument/publishDiagnostics`,
		`publish /w/a.go`:                               `{"uri":"file:///w/a.go","diagnostics":[]} textDocument/publishDiagnostics`,
		`notify x/y {"a":"${generation}"}`:              `{"a":"1"} x/y`,
		`request configuration {"items":[]} nowait`:     `{"items":[]} workspace/configuration`,
		"register hover {\"a\":1} id=7":                 `{"registrations":[{"id":"7","method":"textDocument/hover","registerOptions":{"a":1}}]} client/registerCapability`,
		"unregister hover":                              `{"unregisterations":[{"id":"textDocument/hover","method":"textDocument/hover"}]} client/unregisterCapability`,
		"notify a @d.json\n-- d.json --\n{\n\"b\":1}\n": `{"b":1} a`,
	} {
		reads, _ := output(t, script)
		_, body, _ := strings.Cut(strings.Join(reads, ""), "\r\n\r\n")
		var m struct {
			Method string
			Params json.RawMessage
		}
		json.Unmarshal([]byte(body), &m)
		wantParams, wantMethod, _ := strings.Cut(want, "} ")
		if m.Method != wantMethod || !sameJSON(string(m.Params), wantParams+"}") {
			t.Errorf("%s:\n got %s", script, body)
		}
	}
}

func TestIDStyles(t *testing.T) {
	for style, want := range map[string]string{"string": `"s1","s2"`, "digits": `"1","2"`, "zero": "0,1", "number": "1,2"} {
		reads, _ := output(t, "id "+style+"\nrequest a nowait\nrequest b nowait")
		ids := regexp.MustCompile(`"id":([^,]*),`).FindAllStringSubmatch(strings.Join(reads, ""), -1)
		if len(ids) != 2 || ids[0][1]+","+ids[1][1] != want {
			t.Errorf("%s: %q", style, ids)
		}
	}
}

func TestFlood(t *testing.T) {
	reads, _ := output(t, "flood publish 1000 files=10\nflood log 5\nflood progress 5")
	if len(reads) != 1010 || !strings.Contains(reads[999], "/flood9.go") {
		t.Errorf("%d messages", len(reads))
	}
	_, h := output(t, "flood stderr 10000")
	if s := h.Stderr(); len(s) != stderrKept || !strings.HasSuffix(s, "flood 9999\n") {
		t.Errorf("stderr keeps %d bytes, ends %q", len(s), s[max(0, len(s)-20):])
	}
}

func TestProcessInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(t, "memory 1000\ncpu busy\nstderr one\nsleep 3s | cpu idle\nsleep 10s | cpu unknown\nsleep 20s | exit 3")
		h := s.Dial()
		for _, want := range []int64{2, 3, 3} {
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if got := h.CPU(); got != want*int64(time.Second) {
				t.Errorf("CPU %d, want %d s", got, want)
			}
		}
		if h.Memory() != 1000 || h.Stderr() != "one\n" || h.PID() != 0 || h.Exit() != "" {
			t.Errorf("%d %q %d %q", h.Memory(), h.Stderr(), h.PID(), h.Exit())
		}
		s.SetMemory(1, 7)
		time.Sleep(10 * time.Second)
		if h.CPU() != -1 || h.Memory() != 7 {
			t.Errorf("CPU %d memory %d", h.CPU(), h.Memory())
		}
		s.SetCPU(1, 5)
		if h.CPU() != 5 {
			t.Errorf("CPU %d", h.CPU())
		}
		<-h.Done()
		if h.Exit() != "exit status 3" {
			t.Error(h.Exit())
		}
		if _, err := h.Stdin().Write([]byte("x")); err == nil {
			t.Error("a dead process still takes input")
		}
		if b, err := io.ReadAll(h.Stdout()); err != nil || len(b) != 0 {
			t.Errorf("%q %v", b, err)
		}
	})
}

func TestStopReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(t, "after didOpen: stop reading").Dial()
		c := connect(t, h)
		c.start("/w")
		c.notify("textDocument/didOpen", open("/w/a.go", "a"))
		synctest.Wait()
		wrote := make(chan error)
		go func() {
			_, err := h.Stdin().Write(bytes.Repeat([]byte("x"), 2*stdinSize))
			wrote <- err
		}()
		select {
		case <-wrote:
			t.Error("the write did not wait")
		case <-time.After(time.Hour):
		}
		h.Kill()
		if err := <-wrote; err == nil {
			t.Error("a write to a killed process succeeded")
		}
		<-c.done
	})
}

func TestHeldStdout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(t, "spawn child holding stdout | exit 1").Dial()
		c := connect(t, h)
		<-h.Done()
		synctest.Wait()
		select {
		case <-c.done:
			t.Error("stdout ended with the process")
		default:
		}
		h.Kill()
		<-c.done
		if h.Exit() != "exit status 1" {
			t.Error(h.Exit())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h := New(t, "close stdout").Dial()
		<-connect(t, h).done
		if h.Exit() != "" {
			t.Error("ended")
		}
		h.Kill()
	})
}

// session runs f with a started client.
func session(t *testing.T, script string, f func(t *testing.T, s *Server, c *client)) {
	synctest.Test(t, func(t *testing.T) {
		s := New(t, script)
		c := connect(t, s.Dial())
		c.start("/w")
		f(t, s, c)
		c.stop()
	})
}

func TestAnswers(t *testing.T) {
	session(t, `
on symbol when=first echo
on symbol when=raw raw {"jsonrpc":"2.0","id":${id}}
on symbol n=3 reply "third" gen=1
on symbol reply 1
on symbol reply 2 times=2
on symbol error -32601 "gone" data={"a":[1,${generation}]}
on hover: log 3 ${uri} | sleep 1s | reply {"t":${text:a.go},"v":${version:a.go},"n":${count:hover},"r":"${root}"}
on definition a.go reply "a"
on definition reply "other"
on references log 3 x
`, func(t *testing.T, s *Server, c *client) {
		id := 100
		ask := func(method, params, want string) {
			t.Helper()
			id++
			c.request(fmt.Sprint(id), method, params)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if got := c.reply(float64(id)); !strings.Contains(got, want) {
				t.Errorf("%s %s: %s, want %s", method, params, got, want)
			}
		}
		ask("workspace/symbol", `{"query":"first"}`, `"result":{"query":"first"}`)
		ask("workspace/symbol", `{"query":"raw"}`, `{"id":102,"jsonrpc":"2.0"}`)
		for _, want := range []string{`:1`, `:2`, `third`, `:2`, `{"code":-32601,"data":{"a":[1,1]},"message":"gone"}`, "-32601"} {
			ask("workspace/symbol", `{"query":"x"}`, want)
		}
		c.notify("textDocument/didOpen", open("/w/a.go", "x\n"))
		c.notify("textDocument/didOpen", open("/w/b.go", ""))
		ask("textDocument/hover", docP, `{"n":1,"r":"/w","t":"x\n","v":1}`)
		ask("textDocument/definition", docP, `"a"`)
		ask("textDocument/definition", strings.Replace(docP, "a.go", "b.go", 1), `"other"`)
		ask("textDocument/references", docP, `null`)
		ask("x/unknown", `{}`, `-32601`)
		ask("workspace/diagnostic", `{}`, `{"items":[]}`)
	})
}

func TestLateAnswers(t *testing.T) {
	session(t, "ignore cancel\non symbol delay 5s reply 1\non hover hang", func(t *testing.T, s *Server, c *client) {
		c.notify("textDocument/didOpen", open("/w/a.go", "x\n"))
		c.request("2", "workspace/symbol", "{}")
		c.request("3", "textDocument/hover", docP)
		c.notify("$/cancelRequest", `{"id":2}`)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := c.reply(2); !strings.Contains(got, `"result":1`) {
			t.Errorf("late answer: %s", got)
		}
		if got := c.reply(3); got != "" {
			t.Errorf("hanging: %s", got)
		}
	})
}

func TestWaitAction(t *testing.T) {
	session(t, "after initialized: wait didOpen b.go | log 3 b | wait didOpen count=3 | log 3 third\ncapabilities {\"x\":1}", func(t *testing.T, s *Server, c *client) {
		for i, name := range []string{"a", "b", "c"} {
			c.notify("textDocument/didOpen", open("/w/"+name+".go", ""))
			synctest.Wait()
			if got := len(c.methods()); got != i {
				t.Errorf("after %s: %d messages", name, got)
			}
		}
	})
}

func TestGoInterface(t *testing.T) {
	session(t, "on hover reply 1", func(t *testing.T, s *Server, c *client) {
		s.Handle("hover", func(int, Message) Reply { return Reply{Result: "not used: the script has a rule"} })
		s.Handle("symbol", func(gen int, m Message) Reply {
			res, err := s.Request(gen, "configuration", map[string]any{"items": []any{}})
			return Reply{Result: map[string]any{"gen": gen, "query": rawJSON(m.Params), "res": res, "err": err}}
		})
		s.Handle("references", func(int, Message) Reply { return Reply{Error: &Error{Code: 7, Message: "no"}, Delay: time.Second} })
		s.Handle("definition", func(int, Message) Reply { return Reply{Hang: true} })
		seen := 0
		s.Handle("didOpen", func(int, Message) Reply { seen++; return Reply{} })
		c.answer = func(_ string, id, _ json.RawMessage) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":[]}`, id)
		}
		go func() {
			time.Sleep(time.Second)
			c.notify("textDocument/didOpen", open("/w/a.go", "ab"))
		}()
		if m := s.Await(t, 1, "didOpen", 1); !strings.Contains(m.Params, `"ab"`) || m.Method != "textDocument/didOpen" {
			t.Errorf("%v", m)
		}
		c.notify("textDocument/didChange", changeA(2, ranged(0, 1, 0, 1, "é")))
		c.request("2", "textDocument/hover", docP)
		c.request("3", "workspace/symbol", `{"query":""}`)
		c.request("4", "textDocument/references", docP)
		c.request("5", "textDocument/definition", docP)
		time.Sleep(2 * time.Second)
		for id, want := range map[float64]string{2: `"result":1`, 3: `{"err":null,"gen":1,"query":{"query":""},"res":[]}`, 4: `"code":7`} {
			if got := c.reply(id); !strings.Contains(got, want) {
				t.Errorf("answer %v: %s", id, got)
			}
		}
		if text, ok := s.Text(1, "a.go"); !ok || text != "aéb" || s.Version(1, uriA) != 2 || seen != 1 {
			t.Errorf("%q %v %d %d", text, ok, s.Version(1, uriA), seen)
		}
		if _, ok := s.Text(1, "b.go"); ok {
			t.Error("b.go is open")
		}
		s.Send(1, "x/note", nil)
		s.Publish(1, "a.go", 2, "[]")
		synctest.Wait()
		if got := strings.Join(c.methods(), " "); got != "workspace/configuration x/note textDocument/publishDiagnostics" {
			t.Error(got)
		}
		if s.Generations() != 1 || s.Count(1, "hover") != 1 || len(s.Received(1)) != 8 {
			t.Errorf("%d %v", s.Generations(), s.Methods(1))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := New(t, "")
		h := s.Dial()
		c := connect(t, h)
		c.start("/w")
		s.Crash(1)
		<-h.Done()
		<-c.done
		if h.Exit() != "exit status 2" || !strings.Contains(h.Stderr(), "panic") {
			t.Errorf("%s %s", h.Exit(), h.Stderr())
		}
		if _, err := s.Request(1, "configuration", nil); err == nil {
			t.Error("a dead process asked")
		}
	})
}

func TestScriptErrors(t *testing.T) {
	for script, want := range map[string]string{
		"nonsense":                     `line 1: unknown action "nonsense"`,
		"\non hover replay 1":          `line 2: unexpected "1"`,
		"on hover reply @x":            `no section "x"`,
		"on hover reply":               "takes 1 to 1 words",
		"allow nothing":                `no rule "nothing"`,
		"after hover: sleep long":      "sleep",
		"log 3 \"x":                    "unfinished quotation",
		"notify a {":                   "unfinished JSON",
		"publish a.go colour=red":      "does not know colour=",
		"capabilities true":            "JSON object",
		"id roman":                     "unknown style",
		"ignore me":                    "cannot ignore",
		"expect count hover":           "METHOD N",
		"expect count hover many":      "ends with a number",
		"before breakfast: log 3 eggs": "before initialize-reply",
		"on":                           "a method is missing",
	} {
		if _, err := parseScript(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", script, err)
		}
	}
}

// The package comment is the manual: it names every action and every rule.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for name := range verbs {
		if !regexp.MustCompile(`(?m)^//\t.*\b` + name + `\b`).Match(manual) {
			t.Errorf("action %s is not in doc.go", name)
		}
	}
	for name := range ruleNames {
		if !regexp.MustCompile(`(?m)^//\t` + name + ` `).Match(manual) {
			t.Errorf("rule %s is not in doc.go", name)
		}
	}
}
