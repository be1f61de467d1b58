package jsonrpc

import (
	"testing"
	"testing/synctest"
)

func TestSmoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen record
		c, p := dial(t, seen.handler(), Options{})
		got := async(c, t.Context(), "a/b")
		m := p.mustRead()
		p.send(`{"jsonrpc":"2.0","method":"n","params":{}}`)
		p.reply(m, `{"ok":true}`)
		if o := <-got; o.err != nil || o.result != `{"ok":true}` {
			t.Fatal(o)
		}
		if len(seen.all()) != 1 {
			t.Fatal(seen.all())
		}
	})
}
