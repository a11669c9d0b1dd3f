package text

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWeightOfEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ToValidUTF8(rapid.String().Draw(t, "s"), "")
		s = strings.Map(func(r rune) rune {
			if r == 0x7f || r == '\b' || r == '\f' {
				return -1 // these have escapes of their own
			}
			return r
		}, s)
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		chars, quarters := Weight(s)
		gotChars, gotQuarters := WeightEncoded(b)
		if gotChars != chars+2 || gotQuarters > quarters+2+2*strings.Count(s, "\u2028") || gotQuarters < quarters+2 {
			t.Fatalf("%q weighs %d, %d, want %d, %d and two quotes", b, gotChars, gotQuarters, chars, quarters)
		}
	})
}
