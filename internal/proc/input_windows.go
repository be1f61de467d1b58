package proc

import "os"

// input is our end of a child's standard input.
type input struct{ *os.File }
