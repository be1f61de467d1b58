package lsptest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(t, `
on textDocument/definition reply @def.json
on references error -32801 "content modified" times=2
on references delay 2s reply [${line}]
before initialize-reply: request window/workDoneProgress/create {"token":1}
after initialized:
	progress begin tok "Loading"
	sleep 300ms
	progress end tok
after didOpen a.go: publish a.go version=1 [] | log 3 "opened"
expect didOpen a.go version=1 text=@a.go
expect none didChange
expect count references 3
expect order initialize initialized didOpen:a.go references
-- def.json --
{"uri":"${uri:b.go}"}
-- a.go --
package a
`)
		c := connect(t, s.Dial())
		c.start("/w")
		if got := strings.Join(c.methods(), " "); got != "window/workDoneProgress/create $/progress" {
			t.Errorf("before the sleep: %s", got)
		}
		time.Sleep(time.Second)
		c.notify("textDocument/didOpen", open("/w/a.go", "package a\n"))
		at := `{"textDocument":{"uri":"file:///w/a.go"},"position":{"line":7,"character":0}}`
		c.request("2", "textDocument/definition", at)
		c.request("3", "textDocument/references", at)
		c.request("4", "textDocument/references", at)
		c.request("5", "textDocument/references", at)
		synctest.Wait()
		if got := c.reply(2); !strings.Contains(got, `"uri":"file:///w/b.go"`) {
			t.Errorf("definition: %s", got)
		}
		if got := c.reply(4); !strings.Contains(got, "-32801") {
			t.Errorf("second references: %s", got)
		}
		if got := c.reply(5); got != "" {
			t.Errorf("third references too early: %s", got)
		}
		time.Sleep(3 * time.Second)
		if got := c.reply(5); !strings.Contains(got, `"result":[7]`) {
			t.Errorf("third references: %s", got)
		}
		c.stop()
	})
}
