package stage

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkStage copies memories of 200 and 2,000 topics of 2 KB, and looks at the
// result of one edit.
func BenchmarkStage(b *testing.B) {
	for _, n := range []int{200, 2000} {
		files := map[string]string{}
		index := "# Memory\n\n"
		for i := range n {
			name := fmt.Sprintf("topic-%04d", i)
			p := fmt.Sprintf("area-%d/%s.md", i%20, name)
			files[p] = topic(name, strings.Repeat(fmt.Sprintf("Line about thing %d that matters here.\n", i), 45))
			index += fmt.Sprintf("- [%s](%s) — about %s\n", name, p, name)
		}
		files["MEMORY.md"] = index
		w := newWorld(b, files)
		b.Run(fmt.Sprintf("make/%d", n), func(b *testing.B) {
			for b.Loop() {
				s, err := Make(b.Context(), w.m, Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				_ = s.Close()
				b.StartTimer()
			}
		})
		s := w.make(Options{})
		write(b, s.Dir()+"/new.md", topic("new", "something new"))
		b.Run(fmt.Sprintf("result/%d", n), func(b *testing.B) {
			for b.Loop() {
				if r, err := s.Result(b.Context()); err != nil || len(r.Change.Files) != 2 {
					b.Fatal(err, r)
				}
			}
		})
	}
}
