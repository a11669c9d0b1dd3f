package rawjson

import (
	"encoding/binary"
	"math/bits"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// ScanString gives the place after the string whose opening quote is at i, fully checked, and whether it holds
// escapes.
func ScanString(b []byte, i int) (end int, escaped bool) {
	i++
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			quote := x ^ ('"' * lowBits)
			slash := x ^ ('\\' * lowBits)
			// The lowest bit that is set stands at the first byte that is a
			// quote, a backslash or a control character.
			stop := ((quote-lowBits)&^quote | (slash-lowBits)&^slash | (x-0x20*lowBits)&^x) & highBits
			if stop != 0 {
				i += bits.TrailingZeros64(stop) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			return -1, escaped
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			// Escapes come in clusters: line ends with the tabs after them.
			for i+1 < len(b) && b[i] == '\\' {
				switch b[i+1] {
				case 'n', 't', '"', '\\', '/', 'b', 'f', 'r':
					i += 2
				case 'u':
					if i+6 > len(b) || !isHex(b[i+2]) || !isHex(b[i+3]) || !isHex(b[i+4]) || !isHex(b[i+5]) {
						return -1, escaped
					}
					i += 6
				default:
					return -1, escaped
				}
			}
			if i+1 == len(b) && b[i] == '\\' {
				return -1, escaped
			}
		case c < 0x20:
			return -1, escaped
		default:
			i++ // within the last seven bytes
		}
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// scalar gives the place after the number or literal at i.
func scalar(b []byte, i int) int {
	switch b[i] {
	case 't':
		return literal(b, i, "true")
	case 'f':
		return literal(b, i, "false")
	case 'n':
		return literal(b, i, "null")
	default:
		return number(b, i)
	}
}

func literal(b []byte, i int, want string) int {
	if len(b)-i >= len(want) && string(b[i:i+len(want)]) == want {
		return i + len(want)
	}
	return -1
}

func number(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i >= len(b):
		return -1
	case b[i] == '0':
		i++
	case b[i] >= '1' && b[i] <= '9':
		i = digits(b, i)
	default:
		return -1
	}
	if i < len(b) && b[i] == '.' {
		j := digits(b, i+1)
		if j == i+1 {
			return -1
		}
		i = j
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		j := digits(b, i)
		if j == i {
			return -1
		}
		i = j
	}
	return i
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}
