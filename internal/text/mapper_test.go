package text

import "testing"

func TestSmoke(t *testing.T) {
	m := NewMapper([]byte("a\r\né世😀x\n\tb\rc"))
	for _, e := range []Encoding{UTF8, UTF16, UTF32} {
		off := 3 + 2 + 3 + 4
		p := m.PositionOfOffset(off, Wire{Encoding: e})
		if got := m.OffsetOfPosition(p, Wire{Encoding: e}); got != off {
			t.Errorf("%v: %v maps to %d, want %d", e, p, got, off)
		}
	}
	if got := m.PointOfOffset(12, CodePoints); got != (Point{2, 4}) {
		t.Error(got)
	}
	if got := CanonicalURI("file:///tmp/a%20b+c#d"); got != "file:///tmp/a%20b%2Bc%23d" {
		t.Error(got)
	}
}
