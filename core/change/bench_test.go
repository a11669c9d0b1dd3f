package change

import (
	"fmt"
	"strings"
	"testing"
)

func bigIndex(n int) string {
	var b strings.Builder
	b.WriteString("# Memory\n\n")
	for i := range n {
		fmt.Fprintf(&b, "- [topic %d](topic-%d.md) — about the topic number %d and what it is for\n", i, i, i)
	}
	return b.String()
}

func BenchmarkMergeIndex(b *testing.B) {
	for _, n := range []int{200, 2000} {
		base := bigIndex(n)
		ours := strings.Replace(base, "- [topic 0]", "- [ours](ours.md) — x\n- [topic 0]", 1)
		theirs := strings.Replace(base, "- [topic 0]", "- [theirs](theirs.md) — x\n- [topic 0]", 1)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, c := Merge("MEMORY.md", base, ours, theirs); c != nil {
					b.Fatal(c)
				}
			}
		})
	}
}
