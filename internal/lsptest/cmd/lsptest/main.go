// The command lsptest plays a script as a language server on stdin and stdout, for
// use by hand: broken rules and unmet expectations are written on stderr.
package main

import (
	"fmt"
	"os"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
)

func main() {
	lsptest.Main()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: lsptest FILE")
		os.Exit(2)
	}
	os.Exit(lsptest.PlayFile(os.Args[1]))
}
