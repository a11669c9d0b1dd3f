package dream

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/proposal"
)

// TestRoomOfAnyResult: where the index is too long while something waits, details move into
// topics at once; none is lost, entries stay, and what waits goes with it afterwards.
func TestRoomOfAnyResult(t *testing.T) {
	moved, going := 0, 0
	for seed := range uint64(400) {
		w := random(rand.New(rand.NewPCG(seed, 5)))
		r := resultOf(w.change(), nil)
		r.units()
		if r.without == nil {
			continue
		}
		full := r.without.Text().Lines()
		rule := memdir.SeedRule()
		rule.Lines = max(full-3, 1)
		r.room = &roomFor{rule: rule, text: func(p string) (string, bool) { s, ok := w.base[p]; return s, ok }}
		units := r.units()
		var now, later []proposal.Unit
		for _, u := range units {
			if u.Deletes {
				later = append(later, u)
			} else {
				now = append(now, u)
			}
		}
		part := w.applied(t, now)
		all := rewrite{base: part}.applied(t, later)
		if strings.Count(part[memfile.IndexName], "\n") < strings.Count(r.base.Text().String(), "\n") {
			moved++
		}
		for _, g := range r.files {
			if !g.stays && g.first != "" {
				going++
			}
		}
		before, index := memfile.ParseIndex(w.base[memfile.IndexName]), memfile.ParseIndex(part[memfile.IndexName])
		for p := range w.base {
			if _, ok := part[p]; !ok {
				t.Errorf("seed %d: %s went without a question", seed, p)
			}
			if p != memfile.IndexName && before.Entry(p) != nil && index.Entry(p) == nil {
				t.Errorf("seed %d: %s lost its entry without a question", seed, p)
			}
		}
		for p, s := range w.want { // details may have come, nothing else
			if p != memfile.IndexName && !strings.HasPrefix(all[p], strings.TrimRight(s, "\n")) {
				t.Errorf("seed %d: %s is not as it was to be:\n%s\nwant\n%s", seed, p, all[p], s)
			}
		}
		for p := range all {
			if _, ok := w.want[p]; !ok {
				t.Errorf("seed %d: %s is still there", seed, p)
			}
		}
		said := strings.Join(slices.Collect(maps.Values(part)), "\n")
		for l := range strings.Lines(w.base[memfile.IndexName]) {
			if l = strings.TrimSpace(l); strings.HasPrefix(l, "- detail ") && !strings.Contains(said, l) {
				t.Errorf("seed %d: without a question %q was lost", seed, l)
			}
		}
		if l := astray(part[memfile.IndexName]); l != "" {
			t.Errorf("seed %d: %s stands below another entry\n%s", seed, l, part[memfile.IndexName])
		}
		if t.Failed() {
			return
		}
	}
	if moved < 20 || going == 0 {
		t.Errorf("only %d results had details to move, %d of topics that go", moved, going)
	}
}

// TestDetailsInTopics: words stay, links lead where they led, and nothing is said twice.
func TestDetailsInTopics(t *testing.T) {
	for _, c := range []struct{ name, src, details, want string }{
		{"two", "Text.\n", "  - one\n  - two, see [it](it.md)\n", "Text.\n\n## Details from the index\n\n- one\n- two, see [it](../it.md)\n"},
		{"deeper ones stay below", "Text.\n", "    - one\n      - below it\n", "Text.\n\n## Details from the index\n\n- one\n  - below it\n"},
		{"said already", "One is\ntwo.\n", "  - One is two.\n", "One is\ntwo.\n"},
		{"words without a mark", "Text.\r\n", "  more of it\r\n", "Text.\r\n\r\n## Details from the index\r\n\r\nmore of it\r\n"},
		{"no end of the frontmatter", "---\nname: x\n", "  - one\n", ""},
	} {
		got, ok := withDetails(c.src, "sub/x.md", []string{c.details})
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", c.name, got, ok, c.want)
		}
	}
}
