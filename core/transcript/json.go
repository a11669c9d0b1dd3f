package transcript

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// What follows reads JSON in one pass that checks it fully, as strictly as
// encoding/json does, while only remembering where things are. A client drops a
// line that does not parse, so a reader that is laxer would see another
// conversation. Positions are indexes into the line; -1 stands for "no JSON".

// maxDepth is how deep values may nest, as in encoding/json.
const maxDepth = 10000

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// scanString returns the index after the string whose opening quote is at i,
// and whether it holds escapes.
func scanString(b []byte, i int) (end int, escaped bool) {
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
	return nibbles[c] != 0xff || c >= 'A' && c <= 'F'
}

// skipSpace returns the index of the first byte from i that is no white space,
// or len(b).
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// scanner checks values; it keeps its stack between them.
type scanner struct {
	stack []byte // '{' or '[' of what is open, counted from base
	base  int    // how deep the value that is checked lies
}

// value returns the index after the value at i, which is no white space.
func (s *scanner) value(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		end, _ := scanString(b, i)
		return end
	case '{', '[':
		return s.compound(b, i)
	default:
		return scalar(b, i)
	}
}

// scalar returns the index after the number or literal at i.
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

// compound returns the index after the object or array at i.
func (s *scanner) compound(b []byte, i int) int {
	s.stack = s.stack[:0]
	for {
		// A value starts at i.
		if i >= len(b) {
			return -1
		}
		switch c := b[i]; c {
		case '{', '[':
			if s.base+len(s.stack) >= maxDepth {
				return -1
			}
			s.stack = append(s.stack, c)
			i = skipSpace(b, i+1)
			if i >= len(b) {
				return -1
			}
			if b[i] == c+2 { // '}' is '{'+2 and ']' is '['+2
				s.stack = s.stack[:len(s.stack)-1]
				i++
				break
			}
			if c == '{' {
				if i = memberKey(b, i); i < 0 {
					return -1
				}
			}
			continue
		case '"':
			i, _ = scanString(b, i)
		default:
			i = scalar(b, i)
		}
		if i < 0 {
			return -1
		}
		// A value ended before i.
		for {
			if len(s.stack) == 0 {
				return i
			}
			open := s.stack[len(s.stack)-1]
			i = skipSpace(b, i)
			if i >= len(b) {
				return -1
			}
			if b[i] == open+2 {
				s.stack = s.stack[:len(s.stack)-1]
				i++
				continue
			}
			if b[i] != ',' {
				return -1
			}
			i = skipSpace(b, i+1)
			if open == '{' {
				if i = memberKey(b, i); i < 0 {
					return -1
				}
			}
			break
		}
	}
}

// memberKey returns the index of the value of the member whose key is at i.
func memberKey(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	i, _ = scanString(b, i)
	if i < 0 {
		return -1
	}
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != ':' {
		return -1
	}
	return skipSpace(b, i+1)
}

// object walks the members of the object at i: visit gets each key, unescaped,
// with the index of its value, and returns the index after that value. The
// result is the index after the object. depth is how deep the object lies.
func (s *scanner) object(b []byte, i, depth int, visit func(key []byte, i int) int) int {
	if depth >= maxDepth {
		return -1
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return -1
		}
		end, escaped := scanString(b, i)
		if end < 0 {
			return -1
		}
		key := b[i+1 : end-1]
		if escaped {
			key = unescape(b[i:end])
		}
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ':' {
			return -1
		}
		i = skipSpace(b, i+1)
		if i >= len(b) {
			return -1
		}
		s.base = depth + 1
		if i = visit(key, i); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		if i >= len(b) {
			return -1
		}
		switch b[i] {
		case '}':
			return i + 1
		case ',':
			i = skipSpace(b, i+1)
		default:
			return -1
		}
	}
}

// unescape gives the text of a string with its quotes, which has been checked.
func unescape(quoted []byte) []byte {
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		return nil
	}
	return []byte(out)
}

// validJSON reports whether line is one value and nothing else.
func (s *scanner) validJSON(line []byte) bool {
	s.base = 0
	i := s.value(line, skipSpace(line, 0))
	return i >= 0 && skipSpace(line, i) == len(line)
}
