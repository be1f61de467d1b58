package state

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("paths of Linux")
	}
	d := Find([]string{"HOME=/h", "XDG_CACHE_HOME=/c", "XDG_STATE_HOME=relative"})
	want := map[string]string{
		d.Config: "/h/.config/dragoman", d.Cache: "/c/dragoman", d.State: "/h/.local/state/dragoman",
		d.Servers(): "/h/.local/share/dragoman/servers",
	}
	for got, w := range want {
		if got != w {
			t.Errorf("%s, want %s", got, w)
		}
	}
	if d := Find(nil); d.Config != "" || d.Servers() != "" {
		t.Errorf("without a home: %+v", d)
	}
}

func TestGetenvTakesTheLast(t *testing.T) {
	if got := Getenv([]string{"A=1", "B=x", "A=2"}, "A"); got != "2" {
		t.Error(got)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b.json")
	for _, text := range []string{"one", "two"} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%q %v", b, err)
		}
	}
	dir, _ := os.Stat(filepath.Dir(path))
	file, _ := os.Stat(path)
	if runtime.GOOS != "windows" && (dir.Mode().Perm() != 0o700 || file.Mode().Perm() != 0o600) {
		t.Errorf("modes %v %v", dir.Mode(), file.Mode())
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriteWhereNothingCanBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(file, "x"), nil); err == nil {
		t.Error("no error")
	}
}

func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".lock")
	release, err := Lock(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, path); err == nil {
		t.Error("taken twice")
	}
	release()
	again, err := Lock(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
