package guard

import (
	"encoding/base64"
	"encoding/hex"
)

// Shortest runs that the library's decoders look at.
const (
	minBase64 = 16
	minHex    = 32
)

// mayBeEncoded reports whether the decoders could change text: whether it has a percent or \u escape, or a run of
// base64 or hexadecimal that begins with printable ASCII, which is all they accept. They cost 0.1 ms per KB; a text
// without anything encoded, though full of file names and hashes, costs 2 µs per KB here.
func mayBeEncoded(text string) bool {
	run, hexRun := 0, 0 // lengths of the runs of base64 and of hexadecimal digits that end before i
	for i := 0; i <= len(text); i++ {
		var c byte
		if i < len(text) {
			c = text[i]
		}
		if isHex(c) {
			hexRun++
		} else {
			hexRun = 0
		}
		if hexRun == minHex && printableHex(text[i+1-minHex:i+1]) {
			return true
		}
		if isBase64(c) {
			run++
		} else {
			run = 0
		}
		if run == minBase64 && printableBase64(text[i+1-minBase64:i+1]) {
			return true
		}
		switch c {
		case '%':
			if i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
				return true
			}
		case 'u', 'U': // \u0041, U+0041
			if i > 0 && text[i-1] == '\\' || i+1 < len(text) && text[i+1] == '+' {
				return true
			}
		}
	}
	return false
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'f' }

func isBase64(c byte) bool {
	return 'a' <= lower(c) && lower(c) <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '/' || c == '+' || c == '-'
}

func printableHex(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && printable(b)
}

func printableBase64(s string) bool {
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := enc.DecodeString(s); err == nil && printable(b) {
			return true
		}
	}
	return false
}

// printable is what the decoders accept: ASCII without control characters but white space.
func printable(b []byte) bool {
	for _, c := range b {
		if c <= 8 || c >= 0x7F {
			return false
		}
	}
	return true
}
