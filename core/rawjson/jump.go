package rawjson

import "bytes"

// String gives the place after the string at i; -1 where none begins there, or it does not end.
func String(b []byte, i int) int {
	if uint(i) >= uint(len(b)) || b[i] != '"' {
		return -1
	}
	for from := i + 1; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return -1
		}
		end := from + n
		first := end // of the backslashes before the quote
		for first > from && b[first-1] == '\\' {
			first--
		}
		if (end-first)%2 == 0 {
			return end + 1
		}
		from = end + 1
	}
}

// Value gives the place after the value at i, which is no white space; -1 where none begins there, or it does not end. It
// counts brackets without telling their kinds apart and needs no stack, however deep the value is.
func Value(b []byte, i int) int {
	if uint(i) >= uint(len(b)) {
		return -1
	}
	switch b[i] {
	case '"':
		return String(b, i)
	case '{', '[':
		return compound(b, i)
	}
	end := i
	for end < len(b) && !delimiters[b[end]] {
		end++
	}
	if end == i {
		return -1
	}
	return end
}

func compound(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = String(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// delimiters are the bytes at which a number or a literal ends.
var delimiters = [256]bool{
	',': true, ':': true, '"': true, '{': true, '}': true, '[': true, ']': true, ' ': true, '\t': true, '\n': true, '\r': true,
}

// Member reads the name and the colon of the member at i: the name as it is written, with its quotes, and the place of its
// value. That is -1 where there is no member.
func Member(b []byte, i int) (name []byte, value int) {
	end := String(b, i)
	if end < 0 {
		return nil, -1
	}
	name = b[i:end]
	if i = Space(b, end); i >= len(b) || b[i] != ':' {
		return nil, -1
	}
	return name, Space(b, i+1)
}

// First gives the place of the first member or element of the object or array whose opening bracket is at i. Where it is
// empty, more is false, and next is the place after it.
func First(b []byte, i int, closing byte) (next int, more bool) {
	if i = Space(b, i+1); i < len(b) && b[i] == closing {
		return i + 1, false
	}
	return i, true
}

// Next goes on after the value that ended before i, in an object or array that ends with closing. With more, next is the place
// of the next member or element, where one has to be; without, it is the place after the object or array. It is -1 where
// neither a comma nor the end follows.
func Next(b []byte, i int, closing byte) (next int, more bool) {
	if i = Space(b, i); i >= len(b) {
		return -1, false
	}
	switch b[i] {
	case ',':
		return Space(b, i+1), true
	case closing:
		return i + 1, false
	}
	return -1, false
}

// Members calls visit with the names, without their quotes but with their escapes, and the values of the object at i, until it
// returns false. It gives the place after the object; -1 where there is none, or where visit ended it.
func Members(b []byte, i int, visit func(name, value []byte) bool) int {
	if uint(i) >= uint(len(b)) || b[i] != '{' {
		return -1
	}
	i, more := First(b, i, '}')
	for more {
		name, at := Member(b, i)
		end := Value(b, at)
		if end < 0 || !visit(name[1:len(name)-1], b[at:end]) {
			return -1
		}
		i, more = Next(b, end, '}')
	}
	return i
}

// Elements calls visit with the values of the array at i until it returns false. It gives the place after the array; -1 where
// there is none, or where visit ended it.
func Elements(b []byte, i int, visit func(value []byte) bool) int {
	if uint(i) >= uint(len(b)) || b[i] != '[' {
		return -1
	}
	i, more := First(b, i, ']')
	for more {
		end := Value(b, i)
		if end < 0 || !visit(b[i:end]) {
			return -1
		}
		i, more = Next(b, end, ']')
	}
	return i
}
