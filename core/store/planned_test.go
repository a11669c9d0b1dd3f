package store

import (
	"context"
	"errors"
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

// TestSure: a change whose maker is not sure leaves no trace but a mark, and is not in the history.
func TestSure(t *testing.T) {
	s := open(t)
	write(t, s, memory("a", "One.\n"))
	before := readFile(t, s, "a.md")
	unsure := errors.New("not so")
	c := edit(t, s, "a.md", before, "One.", "Two.")
	asked := 0
	how := How{Sure: func() error {
		asked++
		if got := readFile(t, s, "a.md"); got != before {
			t.Errorf("it is seen before: %q", got)
		}
		return unsure
	}}
	if _, err := s.Apply(context.Background(), c, how); !errors.Is(err, unsure) || asked != 1 || readFile(t, s, "a.md") != before {
		t.Errorf("err = %v, asked %d times", err, asked)
	}
	onlyOurs(t, s)
	for _, o := range []*Store{s, reopen(t, s.dir, filepath.Dir(s.state))} { // this process, and another
		events, _, err := o.History("", "", 10)
		if err != nil || len(events) != 1 {
			t.Errorf("history %+v, %v", events, err)
		}
	}
	unsure = nil
	if r, err := s.Apply(context.Background(), c, how); err != nil || r.ID == "" || !strings.Contains(readFile(t, s, "a.md"), "Two.") {
		t.Errorf("%+v, %v", r, err)
	}
}
