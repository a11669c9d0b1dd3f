package workspace_test

import (
	"slices"
	"testing"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/workspace"
)

func finds(r *diagnostics.Result, rule string) bool {
	return slices.ContainsFunc(r.Findings, func(f diagnostics.Finding) bool { return f.Rule == rule })
}

// TestAhead: what is expected is checked before it is there, and counts only where it came.
func TestAhead(t *testing.T) {
	const head, broken = "---\nname: a\ndescription: About it.\ntype: user\n---\n\n", "See [b](b.md).\n"
	for name, x := range map[string]struct {
		disk  string // what the topic holds when it is checked
		left  bool
		wants bool // the finding
	}{
		"as expected":          {head + "text\n", true, true},
		"merged with another":  {head + "text\n", false, false},
		"merged to be as that": {head + broken, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, began := range []bool{false, true} {
				w := newWorld(t)
				w.put("m/MEMORY.md", "- [A](a.md) — x\n")
				w.put("m/a.md", head+"text\n")
				cache := memdir.NewCache()
				d := w.open("m", workspace.Options{Cache: cache})
				a := d.Ahead(t.Context())
				defer a.Stop()
				var v *memdir.View
				if began {
					s, err := d.Snapshot(t.Context(), nil)
					if err != nil {
						t.Fatal(err)
					}
					v = s.View
				} else {
					a.Read()
				}
				texts := map[string]string{"a.md": head + broken}
				a.Expect(v, texts)
				w.put("m/a.md", x.disk)
				s, r, err := a.Check(func(got map[string]string) bool { return x.left && got["a.md"] == texts["a.md"] }, []string{"a.md"}, nil)
				if err != nil || s.View.Topic("a.md") == nil || finds(r, "broken-link") != x.wants {
					t.Errorf("began %v: %v, %v", began, r, err)
				}
			}
		})
	}
}

// TestAheadBreaksDown: a look ahead that breaks down takes nobody along, and what it was for is
// read again.
func TestAheadBreaksDown(t *testing.T) {
	w := newWorld(t)
	w.put("m/MEMORY.md", "- [A](a.md) — x\n")
	w.put("m/a.md", "---\nname: a\ntype: user\n---\n\ntext\n")
	d := w.open("m", workspace.Options{})
	a := d.Ahead(t.Context())
	defer a.Stop()
	a.Expect(new(memdir.View), map[string]string{"a.md": "x"}) // it has no source
	s, r, err := a.Check(func(map[string]string) bool { return true }, []string{"a.md"}, nil)
	if err != nil || s.View.Topic("a.md") == nil || !finds(r, "description-missing") {
		t.Errorf("%+v, %+v, %v", s, r, err)
	}
}
