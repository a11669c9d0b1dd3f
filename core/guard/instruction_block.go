package guard

import (
	"bytes"
	"unicode/utf8"
)

// blank reports whether a line has nothing but white space.
func blank(line []byte) bool {
	for _, c := range line {
		if c == '\n' {
			return true
		}
		if asciiKinds[c&0x7F] != kindSpace || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// maxMarks bounds the marks that are read at the start of a line.
const maxMarks = 64

// blockStart gives the length of the marks that a line starts with (list, heading, table), 0 for a line that may
// belong to the paragraph above, and whether what follows is a block quote.
func blockStart(line []byte) (mark int, quoted bool) {
	i := 0
	for i < min(len(line), maxMarks) {
		digits := 0
		for i+digits < len(line) && '0' <= line[i+digits] && line[i+digits] <= '9' {
			digits++
		}
		at := func(n int) byte {
			if i+n < len(line) {
				return line[i+n]
			}
			return ' '
		}
		spaceAt := func(n int) bool { c := at(n); return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
		switch c := line[i]; {
		case c == ' ', c == '\t':
			i++
		case c == '>':
			return i, true
		case c == '|':
			return i + 1, false
		case c == '#', (c == '-' || c == '*' || c == '+') && spaceAt(1):
			i++
			mark = i
		case digits > 0 && (at(digits) == '.' || at(digits) == ')') && spaceAt(digits+1):
			i += digits + 1
			mark = i
		default:
			if mark == 0 && (bytes.HasPrefix(line[i:], []byte("```")) || bytes.HasPrefix(line[i:], []byte("~~~")) || bytes.HasPrefix(line[i:], []byte("---"))) {
				mark = i + 3
			}
			return mark, false
		}
	}
	return mark, false
}

// frontEnd gives where the frontmatter of a memory ends, 0 without one.
func frontEnd(src []byte, at int) int {
	rest := bytes.TrimLeft(src[at:], " \t\r\n")
	if !bytes.HasPrefix(rest, []byte("---\n")) && !bytes.HasPrefix(rest, []byte("---\r\n")) {
		return 0
	}
	if n := bytes.Index(rest, []byte("\n---")); n >= 0 {
		return len(src) - len(rest) + n + 1
	}
	return 0
}
