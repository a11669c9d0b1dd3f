package dream

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/proposal"
)

// rewrite is a memory before and after.
type rewrite struct{ base, want map[string]string }

func note(i int, lines ...string) string {
	return fmt.Sprintf("---\nname: n%d\ndescription: about %d\ntype: project\n---\n\n%s\n", i, i, strings.Join(lines, "\n\n"))
}

// random makes a memory and what some agent made of it: notes merged, cut, edited, moved,
// deleted, made, the index shuffled and reworded.
func random(r *rand.Rand) rewrite {
	line := func(i int) string {
		return fmt.Sprintf("Fact %d of note %d is that %x goes with %x and %x.", r.IntN(1000), i, r.Uint32(), r.Uint32(), r.Uint32())
	}
	base := map[string]string{}
	bodies := map[string][]string{}
	var index []string
	orphans := map[string]bool{}
	n := 3 + r.IntN(10)
	for i := range n {
		p := fmt.Sprintf("n%d.md", i)
		for range 1 + r.IntN(5) {
			bodies[p] = append(bodies[p], line(i))
		}
		if i > 0 && r.IntN(3) == 0 {
			bodies[p] = append(bodies[p], fmt.Sprintf("See [it](n%d.md).", r.IntN(i)))
		}
		base[p] = note(i, bodies[p]...)
		if orphans[p] = r.IntN(4) == 0; orphans[p] {
			continue
		}
		entry := fmt.Sprintf("- [n%d](n%d.md) — about %d", i, i, i)
		for k := range r.IntN(6) - 3 {
			entry += fmt.Sprintf("\n  - detail %d of n%d", k, i)
		}
		index = append(index, entry)
	}
	base[memfile.IndexName] = "# Memory\n\n" + strings.Join(index, "\n") + "\n"
	want := maps.Clone(base)
	gone, moved := map[string]string{}, map[string]string{}
	for i := range n {
		p := fmt.Sprintf("n%d.md", i)
		switch r.IntN(8) {
		case 0: // merged into another that stays
			into := fmt.Sprintf("n%d.md", r.IntN(n))
			if into == p || want[into] == "" || gone[into] != "" {
				continue
			}
			want[into] += "\n" + strings.Join(bodies[p], "\n\n") + "\n"
			delete(want, p)
			gone[p] = into
		case 1:
			delete(want, p)
			gone[p] = "-"
		case 2: // cut to its first line
			want[p] = note(i, bodies[p][0])
		case 3:
			want[p] = note(i, append([]string{"Corrected: " + line(i)}, bodies[p]...)...)
		}
		if want[p] != base[p] && want[p] != "" && r.IntN(4) == 0 {
			moved[p] = "moved-" + p
		}
	}
	if r.IntN(2) == 0 {
		want["new.md"] = note(99, line(99))
		index = append(index, "- [new](new.md) — something new")
	}
	for p := range want { // links follow
		for from, to := range gone {
			if to == "-" || want[to] == "" {
				continue
			}
			want[p] = strings.ReplaceAll(want[p], "]("+from+")", "]("+to+")")
		}
	}
	var left []string
	for _, l := range index {
		p := l[strings.Index(l, "](")+2 : strings.Index(l, ")")]
		if to := gone[p]; to != "" {
			if !orphans[to] || want[to] == "" {
				continue
			}
			orphans[to] = false
			l = strings.Replace(l, "]("+p+")", "]("+to+")", 1) // its entry leads to what took it in
		} else if r.IntN(5) == 0 {
			l = strings.Replace(l, " — ", " — in other words, ", 1)
		}
		left = append(left, l)
	}
	if r.IntN(2) == 0 {
		r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	}
	want[memfile.IndexName] = "# Memory\n\n" + strings.Join(left, "\n") + "\n"
	return rewrite{base, want}
}

func (w rewrite) change() (c change.Change) {
	all := maps.Clone(w.base)
	maps.Copy(all, w.want)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		was, had := w.base[p]
		now, has := w.want[p]
		switch {
		case !had:
			c.Files = append(c.Files, change.File{Path: p, Kind: change.Create, New: now})
		case !has:
			c.Files = append(c.Files, change.File{Path: p, Kind: change.Delete, Base: was})
		default:
			if f, ok := change.EditFile(p, was, change.Lines(was, now)); ok {
				c.Files = append(c.Files, f)
			}
		}
	}
	return c
}

// applied makes units on the memory before, as it is done when they are settled.
func (w rewrite) applied(t *testing.T, units []proposal.Unit) map[string]string {
	t.Helper()
	out := maps.Clone(w.base)
	for _, u := range units {
		for _, f := range u.Change.Files {
			after, stays, err := f.After()
			if err != nil {
				t.Fatal(err)
			}
			if !stays {
				delete(out, f.Path)
				continue
			}
			if now := out[f.Path]; f.Kind == change.Edit && now != f.Base {
				var conflicts []change.Conflict
				if after, conflicts = change.Merge(f.Path, f.Base, after, now); len(conflicts) > 0 {
					t.Fatalf("%s: %s does not go with the others: %+v", u.Title, f.Path, conflicts)
				}
			}
			out[f.Path] = after
		}
	}
	return out
}

// entries gives what an index lists, without order.
func entries(src string) []string {
	var out []string
	for l := range strings.Lines(src) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "- ") {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}

// astray gives a detail that stands below another entry than its own.
func astray(src string) string {
	own := ""
	for l := range strings.Lines(src) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(l, "- ["), "]"); ok && strings.HasPrefix(l, "- [") {
			own = name
		}
		if strings.Contains(l, "- detail ") && !strings.HasSuffix(strings.TrimSpace(l), " "+own) {
			return strings.TrimSpace(l)
		}
	}
	return ""
}

// TestUnitsOfAnyResult: all units together are the result; those that delete nothing
// leave every note and every entry of the others as it was.
func TestUnitsOfAnyResult(t *testing.T) {
	for seed := range uint64(600) {
		w := random(rand.New(rand.NewPCG(seed, 5)))
		units := resultOf(w.change(), nil).units()
		seen := map[string]string{}
		var now []proposal.Unit
		for _, u := range units {
			if !u.Deletes {
				now = append(now, u)
			}
			for _, f := range u.Change.Files {
				if f.Path == memfile.IndexName {
					continue
				}
				if other := seen[f.Path]; other != "" {
					t.Errorf("seed %d: %s is part of %q and %q", seed, f.Path, other, u.Title)
				}
				seen[f.Path] = u.Title
			}
		}
		all := w.applied(t, units)
		for p, s := range w.want {
			if p != memfile.IndexName && all[p] != s {
				t.Errorf("seed %d: %s is not as it was to be:\n%s\nwant\n%s", seed, p, all[p], s)
			}
		}
		for p := range all {
			if _, ok := w.want[p]; !ok {
				t.Errorf("seed %d: %s is still there", seed, p)
			}
		}
		if a, b := entries(all[memfile.IndexName]), entries(w.want[memfile.IndexName]); !slices.Equal(a, b) {
			t.Errorf("seed %d: the index lists\n%s\nwant\n%s", seed, strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
		part := w.applied(t, now)
		before := memfile.ParseIndex(w.base[memfile.IndexName])
		index := memfile.ParseIndex(part[memfile.IndexName])
		for p := range w.base {
			if _, ok := part[p]; !ok {
				t.Errorf("seed %d: %s went without a question", seed, p)
			}
			if p != memfile.IndexName && before.Entry(p) != nil && index.Entry(p) == nil {
				t.Errorf("seed %d: %s lost its entry without a question", seed, p)
			}
		}
		for p := range part {
			if _, had := w.base[p]; !had && p != memfile.IndexName && index.Entry(p) == nil {
				t.Errorf("seed %d: %s has no entry", seed, p)
			}
		}
		for p := range part {
			if n, was := len(listed(before, p)), len(listed(index, p)); p != memfile.IndexName && was > max(n, 1) {
				t.Errorf("seed %d: %s has %d entries, and had %d:\n%s", seed, p, was, n, part[memfile.IndexName])
			}
		}
		if n, was := index.Text().Lines(), before.Text().Lines(); n > was+1 {
			t.Errorf("seed %d: what is applied makes the index longer, %d lines for %d\n%s", seed, n, was, part[memfile.IndexName])
		}
		for l := range strings.Lines(w.base[memfile.IndexName]) {
			if strings.Contains(l, "- detail ") && !strings.Contains(part[memfile.IndexName], l) {
				t.Errorf("seed %d: without a question the index lost %q\n%s", seed, l, part[memfile.IndexName])
			}
		}
		if l := astray(part[memfile.IndexName]); l != "" {
			t.Errorf("seed %d: what stood below an entry stands below another: %s\n%s", seed, l, part[memfile.IndexName])
		}
		if t.Failed() {
			for _, u := range units {
				t.Logf("%s (deletes %v)", u.Title, u.Deletes)
			}
			return
		}
	}
}
