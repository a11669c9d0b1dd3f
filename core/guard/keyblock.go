package guard

import (
	"bytes"
	"sort"
)

var keyBegin, keyEnd = []byte("-----BEGIN"), []byte("-----END")

// keyBlocks knows where blocks of private keys begin and end in a text, in order, so
// that looking around each of thousands of changes reads the text once.
type keyBlocks struct{ begins, ends []int }

func keyBlocksOf(text []byte) *keyBlocks {
	return &keyBlocks{begins: allOf(text, keyBegin), ends: allOf(text, keyEnd)}
}

func allOf(text, mark []byte) []int {
	var out []int
	for at := 0; ; {
		n := bytes.Index(text[at:], mark)
		if n < 0 {
			return out
		}
		out = append(out, at+n)
		at += n + len(mark)
	}
}

// within gives those of sorted places that lie in a span.
func within(places []int, s span) []int {
	return places[sort.SearchInts(places, s.start):sort.SearchInts(places, s.end)]
}

// whole extends s to the block of a private key that reaches into it.
func (k *keyBlocks) whole(text []byte, s span) span {
	// A mark counts where all of it lies before or behind s.
	before := span{max(0, s.start-pemBytes), s.start}
	if b := within(k.begins, span{before.start, max(before.start, before.end-len(keyBegin)+1)}); len(b) > 0 {
		last := b[len(b)-1]
		if len(within(k.ends, span{last, max(last, before.end-len(keyEnd)+1)})) == 0 {
			s.start = last
		}
	}
	behind := span{s.end, min(len(text), s.end+pemBytes)}
	if e := within(k.ends, span{behind.start, max(behind.start, behind.end-len(keyEnd)+1)}); len(e) > 0 {
		if first := e[0]; len(within(k.begins, span{behind.start, max(behind.start, first-len(keyBegin)+1)})) == 0 {
			s.end = first
			if n := bytes.IndexByte(text[s.end:min(len(text), s.end+contextBytes)], '\n'); n >= 0 {
				s.end += n + 1
			} else {
				s.end = min(len(text), s.end+contextBytes)
			}
		}
	}
	return s
}
