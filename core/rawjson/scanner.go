package rawjson

// maxDepth is how deep values may nest, as in encoding/json.
const maxDepth = 10000

// Scanner checks texts fully, as strictly as encoding/json does, in one pass that only remembers where things are. It keeps its
// memory between values; it serves one goroutine. The zero Scanner is ready.
type Scanner struct {
	stack []byte // '{' or '[' of what is open, counted from base
	base  int    // how deep the value that is checked lies
}

// Value gives the place after the value at i, which is no white space. Within a visit of Object and Array it counts how deep
// that lies.
func (s *Scanner) Value(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		end, _ := ScanString(b, i)
		return end
	case '{', '[':
		return s.compound(b, i)
	default:
		return scalar(b, i)
	}
}

// compound gives the place after the object or array at i.
func (s *Scanner) compound(b []byte, i int) int {
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
			i = Space(b, i+1)
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
			i, _ = ScanString(b, i)
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
			i = Space(b, i)
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
			i = Space(b, i+1)
			if open == '{' {
				if i = memberKey(b, i); i < 0 {
					return -1
				}
			}
			break
		}
	}
}

// memberKey gives the place of the value of the member whose key is at i.
func memberKey(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	i, _ = ScanString(b, i)
	if i < 0 {
		return -1
	}
	i = Space(b, i)
	if i >= len(b) || b[i] != ':' {
		return -1
	}
	return Space(b, i+1)
}

// Object walks the members of the object whose brace is at i: visit gets each key, unescaped, with the place of its value, and
// gives the place after that value, -1 to end the walk. The result is the place after the object. depth is how deep
// the object lies: 0 where it is the text.
func (s *Scanner) Object(b []byte, i, depth int, visit func(key []byte, i int) int) int {
	if depth >= maxDepth {
		return -1
	}
	i = Space(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return -1
		}
		end, escaped := ScanString(b, i)
		if end < 0 {
			return -1
		}
		key := b[i+1 : end-1]
		if escaped {
			key = Unescape(b[i:end])
		}
		i = Space(b, end)
		if i >= len(b) || b[i] != ':' {
			return -1
		}
		i = Space(b, i+1)
		if i >= len(b) {
			return -1
		}
		s.base = depth + 1
		if i = visit(key, i); i < 0 {
			return -1
		}
		i = Space(b, i)
		if i >= len(b) {
			return -1
		}
		switch b[i] {
		case '}':
			return i + 1
		case ',':
			i = Space(b, i+1)
		default:
			return -1
		}
	}
}

// Array walks the elements of the array whose bracket is at i, as Object walks members.
func (s *Scanner) Array(b []byte, i, depth int, visit func(i int) int) int {
	if depth >= maxDepth {
		return -1
	}
	i = Space(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		if i >= len(b) {
			return -1
		}
		s.base = depth + 1
		if i = visit(i); i < 0 {
			return -1
		}
		i = Space(b, i)
		if i >= len(b) {
			return -1
		}
		switch b[i] {
		case ']':
			return i + 1
		case ',':
			i = Space(b, i+1)
		default:
			return -1
		}
	}
}

// Valid reports whether text is one value with nothing but white space around it.
func (s *Scanner) Valid(text []byte) bool {
	s.base = 0
	i := s.Value(text, Space(text, 0))
	return i >= 0 && Space(text, i) == len(text)
}
