// Command dragoman puts language servers at the disposal of agents and people.
//
// It must never know anything but where its arguments and streams are.
package main

import (
	"os"

	"github.com/dragoman-dev/dragoman/internal/cli"
	"github.com/dragoman-dev/dragoman/internal/proc"
)

// version is set by the linker.
var version string

func main() {
	proc.GuardMain()
	os.Exit(cli.Main(cli.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: version,
	}))
}
