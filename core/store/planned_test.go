package store

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/change"
	"mem/core/memdir"
)

// TestPlanned: whoever asks is told of the texts before they are there, others merged in, and of
// no change that takes or appends something.
func TestPlanned(t *testing.T) {
	s := open(t)
	write(t, s, memory("a", "One.\n\n## Two\n\nTwo.\n"))
	told := 0
	apply := func(c change.Change) map[string]string {
		t.Helper()
		var texts map[string]string
		if _, err := s.Apply(context.Background(), c, How{Planned: func(got map[string]string) {
			told++
			texts = got
			for p, text := range got {
				if b, err := os.ReadFile(filepath.Join(s.Directory(), p)); err == nil && string(b) == text {
					t.Errorf("%s is there already", p)
				}
			}
		}}); err != nil {
			t.Fatal(err)
		}
		return texts
	}
	base := readFile(t, s, "a.md")
	c := edit(t, s, "a.md", base, "One.", "Ours.")
	overwrite(t, s, "a.md", strings.Replace(base, "\nTwo.", "\nTheirs.", 1))
	got := apply(c)
	if len(got) != 1 || got["a.md"] != readFile(t, s, "a.md") || !strings.Contains(got["a.md"], "Ours.") || !strings.Contains(got["a.md"], "Theirs.") {
		t.Errorf("planned %q", got)
	}
	v := view(t, s)
	c, err := v.Create("b.md", memory("b", "B.\n"), stamp)
	if err != nil {
		t.Fatal(err)
	}
	if got = apply(c); len(got) != 2 || got["b.md"] != readFile(t, s, "b.md") || got["MEMORY.md"] != readFile(t, s, "MEMORY.md") {
		t.Errorf("planned %q", got)
	}
	told = 0
	apply(memdir.Log(memdir.LogNote{Body: "x"}, stamp))
	apply(view(t, s).Delete("a.md", readFile(t, s, "a.md")))
	if told != 0 {
		t.Errorf("told %d times", told)
	}
}
