package proc

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const (
	// modeVariable makes the test binary play one of the modes in place of its tests.
	modeVariable = "PROC_TEST_MODE"
	// unguarded makes it not call GuardMain.
	unguarded = "PROC_TEST_UNGUARDED"
)

func TestMain(m *testing.M) {
	if os.Getenv(unguarded) == "" {
		GuardMain()
	}
	if play, ok := modes[os.Getenv(modeVariable)]; ok {
		play()
		return
	}
	goleak.VerifyTestMain(m)
}

// eventually polls until ok or the time is over.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if ok() {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Fatalf("not in time: %s", what)
}

// ended waits for Done; it is the bound that the package promises, and generous.
func ended(t *testing.T, h Handle) {
	t.Helper()
	select {
	case <-h.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the process was not reaped in time")
	}
}

// run starts the test binary in a mode and takes care of its end.
func run(t *testing.T, mode string, env ...string) Handle {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return begin(t, Spec{Path: exe, Dir: t.TempDir(), Env: append(env, modeVariable+"="+mode)})
}

func begin(t *testing.T, spec Spec) Handle {
	t.Helper()
	h, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Kill()
		ended(t, h)
		h.Stdin().Close()
		h.Stdout().Close()
	})
	return h
}
