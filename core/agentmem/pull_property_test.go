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

// scribe edits a member's memory at random and notes which facts it took away.
type scribe struct {
	r    *rapid.T
	m    *member
	n    *int
	made map[string]bool
	gone map[string]bool
}

func (s *scribe) fact() string {
	*s.n++
	f := fmt.Sprintf("fact-%d holds here.", *s.n)
	s.made[f] = true
	return f
}

func (s *scribe) drop(text string) {
	for _, f := range factLine.FindAllString(text, -1) {
		s.gone[f] = true
	}
}

func (s *scribe) topics() []string {
	var out []string
	for p := range filesOf(s.m.t, s.m.store()) {
		if p != "MEMORY.md" {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// edit does one thing to one topic.
func (s *scribe) edit() {
	r, m := s.r, s.m
	topics := s.topics()
	kind := rapid.IntRange(0, 9).Draw(r, "kind")
	if len(topics) == 0 || kind == 0 {
		*s.n++
		m.topic(fmt.Sprintf("%s-%d", m.name, *s.n), "## One\n\n"+s.fact()+"\n\n## Two\n\n"+s.fact()+"\n")
		return
	}
	p := rapid.SampledFrom(topics).Draw(r, "topic")
	old := m.get(p)
	lines := strings.SplitAfter(old, "\n")
	var facts []int
	for i, l := range lines {
		if factLine.MatchString(l) {
			facts = append(facts, i)
		}
	}
	at := -1
	if len(facts) > 0 {
		at = rapid.SampledFrom(facts).Draw(r, "line")
	}
	switch {
	case kind <= 2 && at >= 0: // a line before or after
		lines[at] = s.fact() + "\n" + lines[at]
	case kind == 3 && at >= 0:
		lines[at] += s.fact() + "\n"
	case kind == 4 && at >= 0: // another text
		s.drop(lines[at])
		lines[at] = s.fact() + "\n"
	case kind == 5 && at >= 0:
		s.drop(lines[at])
		lines[at] = ""
	case kind == 6: // a section, at the end
		*s.n++
		lines = append(lines, fmt.Sprintf("\n## New %d\n\n%s\n", *s.n%3, s.fact()))
	case kind == 7:
		lines = strings.SplitAfter(strings.Replace(old, "description: about", fmt.Sprintf("description: %s %d about", m.name, *s.n), 1), "\n")
	case kind == 8: // another name
		*s.n++
		to := fmt.Sprintf("%s-renamed-%d.md", m.name, *s.n)
		m.put(to, old)
		remove(m.t, m.store(), p)
		m.put("MEMORY.md", strings.ReplaceAll(m.get("MEMORY.md"), "("+p+")", "("+to+")"))
		return
	case kind == 9:
		s.drop(old)
		remove(m.t, m.store(), p)
		var kept []string
		for _, l := range strings.SplitAfter(m.get("MEMORY.md"), "\n") {
			if !strings.Contains(l, "("+p+")") {
				kept = append(kept, l)
			}
		}
		m.put("MEMORY.md", strings.Join(kept, ""))
		return
	}
	m.put(p, strings.Join(lines, ""))
}

// entry changes what an entry of the index says, or the order of entries or sections, at
// random.
func (s *scribe) entry() {
	lines := strings.SplitAfter(s.m.get("MEMORY.md"), "\n")
	if lines = lines[:len(lines)-1]; len(lines) == 0 {
		return
	}
	at := rapid.IntRange(0, len(lines)-1).Draw(s.r, "entry")
	switch rapid.IntRange(0, 4).Draw(s.r, "of the index") {
	case 0:
		*s.n++
		lines[at] = fmt.Sprintf("%s, %s %d\n", strings.TrimSuffix(lines[at], "\n"), s.m.name, *s.n)
	case 1:
		lines = append(slices.Delete(slices.Clone(lines), at, at+1), lines[at])
	case 2:
		p := rapid.SampledFrom(s.topics()).Draw(s.r, "topic of which the order changes")
		head, rest, _ := strings.Cut(s.m.get(p), "\n## ")
		if one, two, ok := strings.Cut(rest, "\n## "); ok {
			s.m.put(p, head+"\n## "+strings.TrimSuffix(two, "\n")+"\n\n## "+strings.TrimRight(one, "\n")+"\n")
		}
	}
	s.m.put("MEMORY.md", strings.Join(lines, ""))
}

// settledTexts gives a memory as texts are compared: empty lines at the end do not count.
func settledTexts(m *member) string {
	files := filesOf(m.t, m.store())
	for p, s := range files {
		files[p] = normal(s)
	}
	return show(files)
}

// TestPullLosesNoLine: whatever both sides do to a memory, a pull that keeps both texts of
// what conflicts loses no line that nobody took away, in the memory, and after a publish in
// the snapshot; a second pull finds nothing to do.
func TestPullLosesNoLine(t *testing.T) {
	t.Parallel()
	most, tried := 6, 0
	if n, err := strconv.Atoi(os.Getenv("MEM_SNAPSHOT_SEEDS")); err == nil {
		most = 10 * n
	}
	dirs := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		if tried++; tried > most {
			return
		}
		base := filepath.Join(dirs, fmt.Sprint(tried))
		defer os.RemoveAll(base)
		n := 0
		all := map[string]bool{}
		gone := map[string]bool{}
		a, b := newMember(t, "ann", filepath.Join(base, "a")), newMember(t, "ben", filepath.Join(base, "b"))
		sync := func(from, to *member) {
			for p := range filesOf(t, to.snapshot()) {
				remove(t, to.snapshot(), p)
			}
			for p, s := range filesOf(t, from.snapshot()) {
				write(t, to.snapshot(), p, s)
			}
		}
		ann, ben := &scribe{r, a, &n, all, gone}, &scribe{r, b, &n, all, gone}
		for i := range rapid.IntRange(1, 3).Draw(r, "topics") {
			a.topic(fmt.Sprintf("topic-%d", i), "Before.\n\n"+ann.fact()+"\n\n## One\n\n"+ann.fact()+"\n"+ann.fact()+"\n\n## Two\n\n"+ann.fact()+"\n")
		}
		do := func(m *member, f func(s *Shared)) {
			s := m.open()
			f(s)
			_ = s.Close() // the test's end closes it again
		}
		publish := func(m *member) {
			do(m, func(s *Shared) {
				if _, err := s.Publish(context.Background(), PublishOptions{Confirm: true}); err != nil {
					r.Fatalf("%s publishes: %v", m.name, err)
				}
			})
		}
		pull := func(m *member, o PullOptions) (st *Status) {
			do(m, func(s *Shared) {
				p, err := s.Pull(context.Background(), o)
				if err != nil {
					r.Fatalf("%s pulls: %v", m.name, err)
				}
				st = p.Left
			})
			return st
		}
		take := func(m *member) {
			left := pull(m, PullOptions{Apply: true})
			for range 3 {
				var w []Wish
				for _, f := range left.Files {
					switch {
					case f.Team == "":
					case f.Team == "removed" && f.Mine == "", f.Mine == "removed":
						w = append(w, Wish{Path: f.Path, Choice: TakeTheirs})
					default:
						w = append(w, Wish{Path: f.Path, Choice: TakeBoth})
					}
				}
				if len(w) == 0 {
					return
				}
				left = pull(m, PullOptions{Apply: true, Wishes: w})
			}
			r.Fatalf("%s decided everything, and is asked again: %+v", m.name, left)
		}
		publish(a)
		sync(a, b)
		take(b)
		for range rapid.IntRange(1, 3).Draw(r, "rounds") {
			for _, s := range []*scribe{ann, ben} {
				for range rapid.IntRange(0, 4).Draw(r, "edits") {
					s.edit()
				}
			}
			if len(ann.topics()) == 0 || len(ben.topics()) == 0 {
				return // an empty memory publishes nothing, and is a copy again
			}
			publish(a)
			sync(a, b)
			mine, news := show(filesOf(t, b.store())), show(filesOf(t, b.snapshot()))
			take(b)
			publish(b)
			got, shared := show(filesOf(t, b.store())), show(filesOf(t, b.snapshot()))
			for f := range all {
				if !gone[f] && (!strings.Contains(got, f) || !strings.Contains(shared, f)) {
					r.Fatalf("%q was lost\n== here before\n%s\n== the team\n%s\n== here after\n%s\n== shared\n%s", f, mine, news, got, shared)
				}
			}
			sync(b, a)
			take(a)
			if x, y := settledTexts(a), settledTexts(b); x != y {
				r.Fatalf("both do not end equal:\n== ann\n%s\n== ben\n%s", x, y)
			}
		}
	})
}
