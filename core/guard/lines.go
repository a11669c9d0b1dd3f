package guard

import (
	"bytes"
	"hash/maphash"
)

// contextBytes is how much of the unchanged lines around a change is searched with it, for the secrets that span
// lines: a name and its value on the next one, a Kubernetes secret (300 characters at most).
const contextBytes = 1024

// pemBytes is how far the other end of a key block is looked for; see overlapBytes.
const pemBytes = overlapBytes / 2

// blockBytes is how much is compared at once.
const blockBytes = 4096

// changedLines returns the lines of after that before does not contain, neighbouring ones joined, line ends included.
// A line counts as often as it occurs: a second copy of a line is new, a moved one is not. Line ends and a byte order
// mark are no difference.
func changedLines(before, after []byte) []span {
	bom := []byte("\ufeff")
	from := 0
	if bytes.HasPrefix(after, bom) {
		from = len(bom)
	}
	before = bytes.TrimPrefix(before, bom)
	// Most changes touch one place: what is equal at both ends needs no hashing.
	head := commonLines(before, after[from:])
	from, before = from+head, before[head:]
	tail := commonTail(before, after[from:])
	before = before[:len(before)-tail]
	to := len(after) - tail

	seed := maphash.MakeSeed()
	count := make(map[uint64]int)
	eachLine(before, func(_ int, line, _ []byte) { count[maphash.Bytes(seed, line)]++ })
	var out []span
	eachLine(after[from:to], func(at int, line, whole []byte) {
		h := maphash.Bytes(seed, line)
		if count[h] > 0 {
			count[h]--
			return
		}
		s := span{from + at, from + at + len(whole)}
		if n := len(out); n > 0 && out[n-1].end == s.start {
			out[n-1].end = s.end
		} else {
			out = append(out, s)
		}
	})
	return out
}

// eachLine calls f with the offset of each line, the line, and the line with its end.
func eachLine(text []byte, f func(at int, line, whole []byte)) {
	for at := 0; at < len(text); {
		whole := text[at:]
		if n := bytes.IndexByte(whole, '\n'); n >= 0 {
			whole = whole[:n+1]
		}
		f(at, bytes.TrimRight(whole, "\r\n"), whole)
		at += len(whole)
	}
}

// commonLines returns the length of the whole lines that a and b begin with.
func commonLines(a, b []byte) int {
	n := commonPrefix(a, b)
	if n == len(a) && n == len(b) {
		return n
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// commonPrefix returns how many bytes a and b have in common, comparing blocks first.
func commonPrefix(a, b []byte) int {
	n, limit := 0, min(len(a), len(b))
	for n+blockBytes <= limit && bytes.Equal(a[n:n+blockBytes], b[n:n+blockBytes]) {
		n += blockBytes
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

// commonTail returns the length of the whole lines that a and b end with.
func commonTail(a, b []byte) int {
	n, limit := 0, min(len(a), len(b))
	for n+blockBytes <= limit && bytes.Equal(a[len(a)-n-blockBytes:len(a)-n], b[len(b)-n-blockBytes:len(b)-n]) {
		n += blockBytes
	}
	for n < limit && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	// Up to the first line end inside the common part: the line before it may differ.
	i := bytes.IndexByte(a[len(a)-n:], '\n')
	if i < 0 {
		return 0
	}
	return n - i - 1
}

// widen adds to each changed part the whole lines within so many bytes, and where the part lies between the two ends of
// a key block, all of the block.
func widen(text []byte, changed []span, context int, keys *keyBlocks) []span {
	var out []span
	for _, c := range changed {
		s := c
		if from := max(0, c.start-context); from == 0 {
			s.start = 0
		} else if n := bytes.IndexByte(text[from:c.start], '\n'); n >= 0 {
			s.start = from + n + 1
		}
		if to := min(len(text), c.end+context); to == len(text) {
			s.end = to
		} else if n := bytes.LastIndexByte(text[c.end:to], '\n'); n >= 0 {
			s.end = c.end + n + 1
		}
		s = keys.whole(text, s)
		if n := len(out); n > 0 && s.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// contained answers whether a text occurs in another one, whatever their line ends are.
type contained struct {
	text []byte
	lf   []byte // text with LF, made when first needed
}

func newContained(text []byte) *contained { return &contained{text: text} }

func (c *contained) has(part []byte) bool {
	if bytes.Contains(c.text, part) {
		return true
	}
	if !bytes.ContainsRune(part, '\n') {
		return false
	}
	if c.lf == nil {
		c.lf = bytes.ReplaceAll(c.text, []byte("\r\n"), []byte("\n"))
	}
	return bytes.Contains(c.lf, bytes.ReplaceAll(part, []byte("\r\n"), []byte("\n")))
}
