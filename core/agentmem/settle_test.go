package agentmem

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// given makes a memory and its snapshot that agree on some files, of which the team then
// has others.
func given(t *testing.T, both, team map[string]string) *member {
	t.Helper()
	m, other := newMember(t, "ann", t.TempDir()), newMember(t, "bob", t.TempDir())
	for p, s := range both {
		m.put(p, s)
	}
	m.publish()
	for p, s := range team {
		other.put(p, s)
	}
	other.publish()
	for p := range filesOf(t, m.snapshot()) {
		remove(t, m.snapshot(), p)
	}
	for p, s := range filesOf(t, other.snapshot()) {
		write(t, m.snapshot(), p, s)
	}
	return m
}

// offered gives what a review asks about, and what becomes of the memory where all of it is
// taken, or each file alone.
func (m *member) offered(each bool) string {
	m.t.Helper()
	s := m.open()
	defer s.Close()
	r, err := s.Review(context.Background(), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range r.Files {
		if len(f.Conflicts) == 0 && len(f.News()) == 0 && (f.MinePath == "") == (f.TheirPath == "") {
			continue // its order or its name, which taking all shows
		}
		fmt.Fprintf(&b, "%s (here %q, there %q)\n", f.Path, f.MinePath, f.TheirPath)
		var parts []string
		for _, c := range f.Conflicts {
			parts = append(parts, fmt.Sprintf("  conflict in %s: %q and %q\n", c.Part, c.Ours, c.Theirs))
		}
		for _, p := range f.News() {
			parts = append(parts, fmt.Sprintf("  news in %s: %q\n", p.Name, p.Theirs))
		}
		slices.Sort(parts)
		b.WriteString(strings.Join(parts, ""))
		if each {
			b.WriteString(m.takes(r, f.Path))
		}
	}
	b.WriteString(m.takes(r, "*"))
	return b.String()
}

// takes gives what taking theirs makes of the memory.
func (m *member) takes(r *Review, p string) string {
	m.t.Helper()
	c, err := r.Take(context.Background(), p, "", TakeTheirs)
	if err != nil {
		return "  taking " + p + ": " + err.Error() + "\n"
	}
	after, err := c.Apply(filesOf(m.t, m.store()))
	if err != nil {
		m.t.Fatal(err)
	}
	return "  taking " + p + " gives\n" + unordered(after)
}

// unordered shows files with the entries of the index sorted: where an entry goes that both
// sides moved is nobody's news.
func unordered(files map[string]string) string {
	lines := strings.SplitAfter(files["MEMORY.md"], "\n")
	slices.Sort(lines)
	files["MEMORY.md"] = strings.Join(lines, "")
	return show(files)
}

// TestSettleTakesNothing: what a settle notes is what lies on disk, so that news nobody took
// are news afterwards.
func TestSettleTakesNothing(t *testing.T) {
	t.Parallel()
	index := func(entries string) string { return "# Memory\n\n" + entries }
	one, two := topicText("one", "One says this.\n\nAnd that as well.\n"), topicText("two", "## Rules\n\nTwo.\n")
	both := map[string]string{"MEMORY.md": index("- [one](one.md) — about one\n- [two](two.md) — about two\n"), "one.md": one, "two.md": two}
	changed := func(of map[string]string, kv ...string) map[string]string {
		out := map[string]string{}
		for p, s := range of {
			out[p] = s
		}
		for i := 0; i < len(kv); i += 2 {
			if out[kv[i]] = kv[i+1]; kv[i+1] == "" {
				delete(out, kv[i])
			}
		}
		return out
	}
	renamed := index("- [one](third.md) — about one\n- [two](two.md) — about two\n")
	for name, c := range map[string]struct{ team, mine map[string]string }{
		"a topic that they renamed":               {changed(both, "MEMORY.md", renamed, "one.md", "", "third.md", one), both},
		"renamed, and its entry changed":          {changed(both, "MEMORY.md", index("- [one](third.md) — about one, and more\n- [two](two.md) — about two\n"), "one.md", "", "third.md", one), both},
		"renamed and changed":                     {changed(both, "MEMORY.md", renamed, "one.md", "", "third.md", one+"\nAnd more.\n"), both},
		"renamed, and the file alone is so here":  {changed(both, "MEMORY.md", renamed, "one.md", "", "third.md", one+"\nAnd more.\n"), changed(both, "one.md", "", "third.md", one)},
		"renamed, and the index alone is so here": {changed(both, "MEMORY.md", renamed, "one.md", "", "third.md", one), changed(both, "MEMORY.md", renamed)},
		"a conflict, and its entry changed": {
			changed(both, "MEMORY.md", index("- [one](one.md) — about one\n- [two](two.md) — about two, and theirs\n"), "two.md", topicText("two", "## Rules\n\nTheirs.\n")),
			changed(both, "two.md", topicText("two", "## Rules\n\nMine.\n")),
		},
		"a topic that they removed": {changed(both, "MEMORY.md", index("- [two](two.md) — about two\n"), "one.md", ""), both},
		"a topic that they added":   {changed(both, "MEMORY.md", both["MEMORY.md"]+"- [new](new.md) — about new\n", "new.md", topicText("new", "New.\n")), both},
		"added, and only its file here": {
			changed(both, "MEMORY.md", both["MEMORY.md"]+"- [new](new.md) — about new\n", "new.md", topicText("new", "New.\n")),
			changed(both, "new.md", topicText("new", "New.\n")),
		},
		"removed, and only its entry here": {
			changed(both, "MEMORY.md", index("- [two](two.md) — about two\n"), "one.md", ""),
			changed(both, "MEMORY.md", index("- [two](two.md) — about two\n")),
		},
		"a topic renamed here, and its entry changed by them": {
			changed(both, "MEMORY.md", index("- [one](one.md) — about one, and more\n- [two](two.md) — about two\n")),
			changed(both, "MEMORY.md", renamed, "one.md", "", "third.md", one),
		},
		"renamed by both": {
			changed(both, "MEMORY.md", renamed, "one.md", "", "third.md", one),
			changed(both, "MEMORY.md", index("- [one](mine.md) — about one\n- [two](two.md) — about two\n"), "one.md", "", "mine.md", one),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := given(t, both, c.team)
			for p := range both {
				remove(t, m.store(), p)
			}
			for p, s := range c.mine {
				m.put(p, s)
			}
			before := m.offered(true)
			if err := m.open().Settle(context.Background()); err != nil {
				t.Fatal(err)
			}
			if after := m.offered(true); after != before {
				t.Errorf("the review before\n%s\nand after\n%s", before, after)
			}
		})
	}
}

// TestALookIsTakenAgain: what changes under a look, as a file that an editor saves, is looked
// at again a few times.
func TestALookIsTakenAgain(t *testing.T) {
	for times, want := range map[int]bool{0: true, moreLooks: true, moreLooks + 1: false} {
		n := 0
		got, err := steady(context.Background(), func() (int, error) {
			if n++; n <= times {
				return 0, fmt.Errorf("one.md: %w", changed("one.md"))
			}
			return 7, nil
		})
		if (err == nil && got == 7) != want {
			t.Errorf("changed %d times: %d, %v after %d looks", times, got, err, n)
		}
	}
	n := 0
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := steady(ctx, func() (int, error) { n++; cancel(); return 0, changed("one.md") }); err == nil || n != 1 {
		t.Errorf("given up: %v after %d looks", err, n)
	}
}

// TestSettleAtAnyMoment: whatever both sides did, and however much an editor made of an edit
// that takes the team's news, a settle leaves the news what they are.
func TestSettleAtAnyMoment(t *testing.T) {
	t.Parallel()
	most, tried := 25, 0
	if n, err := strconv.Atoi(os.Getenv("MEM_SNAPSHOT_SEEDS")); err == nil {
		most = 40 * n
	}
	dirs := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		if tried++; tried > most {
			return
		}
		base := filepath.Join(dirs, fmt.Sprint(tried))
		defer os.RemoveAll(base)
		n := 0
		a, b := newMember(t, "ann", filepath.Join(base, "a")), newMember(t, "ben", filepath.Join(base, "b"))
		ann, ben := &scribe{r, a, &n, map[string]bool{}, map[string]bool{}}, &scribe{r, b, &n, map[string]bool{}, map[string]bool{}}
		for i := range rapid.IntRange(1, 3).Draw(r, "topics") {
			a.topic(fmt.Sprintf("topic-%d", i), "Before.\n\n"+ann.fact()+"\n\n## One\n\n"+ann.fact()+"\n"+ann.fact()+"\n\n## Two\n\n"+ann.fact()+"\n")
		}
		sync := func() {
			for p := range filesOf(t, b.snapshot()) {
				remove(t, b.snapshot(), p)
			}
			for p, s := range filesOf(t, a.snapshot()) {
				write(t, b.snapshot(), p, s)
			}
		}
		a.publish()
		sync()
		b.pull(PullOptions{})
		for _, s := range []*scribe{ann, ben} {
			for range rapid.IntRange(0, 4).Draw(r, "edits") {
				s.edit()
				s.entry()
			}
		}
		if len(ann.topics()) == 0 || len(ben.topics()) == 0 {
			return // an empty memory publishes nothing, and is a copy again
		}
		a.publish()
		sync()
		settles := func(when string) {
			s := b.open()
			defer s.Close()
			here, before := show(filesOf(t, b.store())), b.offered(false)
			if err := s.Settle(context.Background()); err != nil {
				r.Fatal(err)
			}
			if after := b.offered(false); after != before {
				r.Fatalf("%s\n== here\n%s\n== the team\n%s\n== the review before\n%s\n== after\n%s", when, here, show(filesOf(t, b.snapshot())), before, after)
			}
		}
		settles("before anything is taken")
		for range rapid.IntRange(0, 3).Draw(r, "takes") {
			s := b.open()
			review, err := s.Review(context.Background(), nil)
			if err != nil {
				r.Fatal(err)
			}
			paths := []string{"*"}
			for _, f := range review.Files {
				paths = append(paths, f.Path)
			}
			c, err := review.Take(context.Background(), rapid.SampledFrom(paths).Draw(r, "take"), "", TakeTheirs)
			_ = s.Close()
			if err != nil {
				continue
			}
			for _, f := range rapid.Permutation(c.Files).Draw(r, "order") {
				if rapid.IntRange(0, 3).Draw(r, "made") == 0 {
					continue // the editor skips it
				}
				text, exists, err := f.After()
				if err != nil {
					r.Fatal(err)
				}
				if exists {
					b.put(f.Target(), text)
				}
				if !exists || f.Target() != f.Path {
					remove(t, b.store(), f.Path)
				}
				settles("after " + string(f.Kind) + " of " + f.Path)
			}
		}
	})
}
