package dragoman

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/dragoman-dev/dragoman/internal/lsptest"
	"github.com/dragoman-dev/dragoman/internal/proc"
)

func TestMain(m *testing.M) {
	proc.GuardMain()
	lsptest.Main()
	goleak.VerifyTestMain(m)
}
