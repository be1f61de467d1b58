package text

import (
	"encoding/binary"
	"unicode/utf8"
)

const highBits = 0x8080808080808080

// isASCII reads words: it runs over every text and every line.
func isASCII(b []byte) bool {
	word := binary.LittleEndian.Uint64
	for len(b) >= 32 {
		if (word(b)|word(b[8:])|word(b[16:])|word(b[24:]))&highBits != 0 {
			return false
		}
		b = b[32:]
	}
	for len(b) >= 8 {
		if word(b)&highBits != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// width is the number of units that a rune of size bytes takes in e. An invalid
// byte counts one in each encoding.
func width(e Encoding, r rune, size int) int {
	switch {
	case e == UTF8:
		return size
	case e == UTF16 && r >= 0x10000:
		return 2
	}
	return 1
}

// unitsBefore counts the units of line before byte off; an off inside a rune
// counts as the start of that rune.
func unitsBefore(line []byte, off int, e Encoding) int {
	if isASCII(line[:off]) {
		return off
	}
	units, at := 0, 0
	for at < off {
		r, size := utf8.DecodeRune(line[at:])
		if at+size > off {
			break
		}
		at += size
		units += width(e, r, size)
	}
	return units
}

// bytesBefore is the byte offset in line of a number of units: the start of the
// rune that the unit lies in, or the end of the line.
func bytesBefore(line []byte, units int, e Encoding) int {
	if units <= len(line) && isASCII(line[:units]) {
		return units
	}
	at := 0
	for at < len(line) {
		r, size := utf8.DecodeRune(line[at:])
		units -= width(e, r, size)
		if units < 0 {
			break
		}
		at += size
	}
	return at
}
