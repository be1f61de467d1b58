package proc

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// modeVariable makes the test binary play one of the modes in place of its tests.
const modeVariable = "PROC_TEST_MODE"

func TestMain(m *testing.M) {
	GuardMain()
	if play, ok := modes[os.Getenv(modeVariable)]; ok {
		play()
		return
	}
	goleak.VerifyTestMain(m)
}

// eventually polls until ok or the time is over.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if ok() {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Fatalf("not in time: %s", what)
}

func ended(t *testing.T, h Handle) {
	t.Helper()
	select {
	case <-h.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the process was not reaped in time")
	}
}
