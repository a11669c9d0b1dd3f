package guard

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestKeyBlocksByDefinition compares what is found by places with what a search of
// the text around each change finds.
func TestKeyBlocksByDefinition(t *testing.T) {
	defined := func(text []byte, s span) span {
		from := max(0, s.start-pemBytes)
		before := text[from:s.start]
		if b := bytes.LastIndex(before, keyBegin); b >= 0 && !bytes.Contains(before[b:], keyEnd) {
			s.start = from + b
		}
		behind := text[s.end:min(len(text), s.end+pemBytes)]
		if e := bytes.Index(behind, keyEnd); e >= 0 && !bytes.Contains(behind[:e], keyBegin) {
			s.end += e
			if n := bytes.IndexByte(text[s.end:min(len(text), s.end+contextBytes)], '\n'); n >= 0 {
				s.end += n + 1
			} else {
				s.end = min(len(text), s.end+contextBytes)
			}
		}
		return s
	}
	r := rand.New(rand.NewPCG(1, 2))
	parts := [][]byte{keyBegin, keyEnd, []byte("\n"), []byte("--"), []byte("text "), bytes.Repeat([]byte("x"), pemBytes-7), bytes.Repeat([]byte("y"), 700)}
	widened := 0
	for range 3000 {
		var text []byte
		for range r.IntN(9) {
			text = append(text, parts[r.IntN(len(parts))]...)
		}
		keys := keyBlocksOf(text)
		for range 8 {
			a := r.IntN(len(text) + 1)
			s := span{a, a + r.IntN(len(text)-a+1)}
			got, want := keys.whole(text, s), defined(text, s)
			if got != want {
				t.Fatalf("%v becomes %v, want %v, in %q", s, got, want, text)
			}
			if got != s {
				widened++
			}
		}
	}
	if widened < 1000 {
		t.Errorf("only %d spans were widened", widened)
	}
}
