package sessionmem

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestPeekAgrees: what the end of a transcript says is never other than what all of it
// says, over many conversations with compactions; and most of the time it says it.
func TestPeekAgrees(t *testing.T) {
	said, silent := 0, 0
	conf := seed
	for n := range uint64(5) {
		r := rand.New(rand.NewPCG(n, 1))
		s := &script{}
		var st *State
		context := 0
		for step := range 40 {
			switch r.IntN(8) {
			case 0:
				s.prompt(strings.Repeat("word ", r.IntN(3_000)))
			case 1:
				if step > 10 && r.IntN(3) == 0 {
					s.compact()
					context = 2_000 + r.IntN(6_000)
				}
			case 2, 3, 4:
				id := fmt.Sprint("c", step)
				context += r.IntN(2_500)
				s.answer(context, id)
				if r.IntN(4) > 0 {
					s.result(id)
				}
			case 5:
				s.row("user", `"isSidechain":true,"message":{"role":"user","content":"aside"}`)
			default:
				context += r.IntN(2_500)
				s.answer(context)
			}
			if s.last == "" {
				continue
			}
			src := strings.NewReader(s.b.String())
			m := s.take(t, st)
			whole := Decide(conf, st, m)
			if d, surely := Peek(conf, st, src, int64(src.Len())); surely {
				said++
				if whole.Due {
					t.Fatalf("seed %d, step %d: the end says %q, all of it %q", n, step, d.Reason, whole.Reason)
				}
			} else if !whole.Due {
				silent++
			}
			if whole.Due {
				st = &State{Session: "s", Leaf: m.Leaf, Tokens: m.Tokens, Boundary: m.Boundary, Updated: time.Unix(1, 0), Size: int64(src.Len())}
			}
		}
	}
	if said < 2*silent {
		t.Errorf("it says so %d times, and has all read %d times", said, silent)
	}
}
