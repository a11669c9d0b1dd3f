package dream_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mem/core/change"
	"mem/core/dream"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/proposal"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
	"mem/diagnostics/mending"
	"mem/diagnostics/rules"
)

var update = flag.Bool("update", false, "write what a dream without a model comes to into testdata")

func fixer() dream.Fixer {
	return mending.New(&diagnostics.Engine{Rules: rules.All(), Fixes: fixes.All()}, nil, nil, memdir.Stamp{Origin: "5b8f1f5e-3d0c-4e0a-8a55-0f7c7a0f9d11", Now: now})
}

// tester is what tests and properties share.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func (m *generated) dream(t tester) *dream.Outcome {
	t.Helper()
	v, err := memdir.Read(context.Background(), m.fs(), memdir.NewCache(), memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := dream.Mechanical(context.Background(), v, dream.MechanicalOptions{Fixer: fixer(), Now: now, Rule: memdir.SeedRule()})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// applied gives the memory with units applied one after the other, each merged with what
// came before it, as a store does.
func (m *generated) applied(t tester, units ...proposal.Unit) *generated {
	t.Helper()
	files, times := maps.Clone(m.files), maps.Clone(m.times)
	for _, u := range units {
		for _, f := range u.Change.Files {
			after, exists, err := f.After()
			if err != nil {
				t.Fatalf("unit %s: %v", u.ID, err)
			}
			cur, have := files[f.Path]
			switch {
			case f.Kind == change.Create:
				if have {
					t.Fatalf("unit %s creates %s, which is there", u.ID, f.Path)
				}
				files[f.Path], times[f.Path] = after, now
			case !exists:
				if cur != f.Base {
					t.Fatalf("unit %s deletes %s, which is another text by now", u.ID, f.Path)
				}
				delete(files, f.Path)
			default:
				merged, conflicts := change.Merge(f.Path, f.Base, after, cur)
				if len(conflicts) > 0 {
					t.Fatalf("unit %s and %s: %+v", u.ID, f.Path, conflicts)
				}
				files[f.Path] = merged
			}
		}
	}
	return &generated{files: files, times: times, planted: m.planted}
}

func titles(units []proposal.Unit) string {
	var b strings.Builder
	for _, u := range units {
		fmt.Fprintf(&b, "%s. %s (deletes: %t)\n   %s\n", u.ID, u.Title, u.Deletes, u.Reason)
		for _, f := range u.Change.Files {
			fmt.Fprintf(&b, "   %s %s\n", f.Kind, f.Path)
		}
	}
	return b.String()
}

func TestDreamOfARealisticMemory(t *testing.T) {
	m := generate(7, 120, 260)
	if n := strings.Count(m.files["MEMORY.md"], "\n"); n != 260 {
		t.Fatalf("the index has %d lines", n)
	}
	out := m.dream(t)
	after := m.applied(t, out.Apply...)
	got := out.Report.Markdown() + "\n# Units to apply\n\n" + titles(out.Apply) + "\n# Copies that go\n\n" + titles(out.Copies) + "\n# Units to decide\n\n" + titles(out.Propose) +
		"\n# The index\n\n" + after.files["MEMORY.md"]
	golden := filepath.Join("testdata", "realistic.golden.md")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("run with -update and read the difference:\n%s", d)
	}

	// What was planted is found, and nothing else.
	merges := map[string]bool{}
	for _, u := range out.Apply {
		for _, f := range u.Change.Files {
			if f.Kind == change.Delete {
				t.Errorf("%s is deleted without a question", f.Path)
			}
		}
	}
	for _, u := range out.Copies {
		for _, f := range u.Change.Files {
			if f.Kind == change.Delete {
				merges[f.Path] = true
				if m.planted.copies[f.Path] == "" && !isValue(m.planted.copies, f.Path) {
					t.Errorf("%s was dropped, and is no copy", f.Path)
				}
			}
		}
	}
	if len(merges) != len(m.planted.copies) {
		t.Errorf("%d copies were merged of %d", len(merges), len(m.planted.copies))
	}
	proposed := map[string]bool{}
	for _, u := range out.Propose {
		for _, f := range u.Change.Files {
			if f.Kind == change.Delete {
				proposed[f.Path] = true
			}
		}
	}
	if want := len(m.planted.near) + len(m.planted.contradictions); len(proposed) != want {
		t.Errorf("%d merges are proposed, %d topics are nearly the same: %v", len(proposed), want, slices.Sorted(maps.Keys(proposed)))
	}
	x := memfile.ParseIndex(after.files["MEMORY.md"])
	if l := memdir.Load(x, memdir.SeedRule()); l.Cut {
		t.Errorf("the index is still cut: %s", l.Warning)
	}
	for _, p := range m.planted.pinned {
		if after.files[p] != m.files[p] {
			t.Errorf("%s is pinned and was changed", p)
		}
		if x.Entry(p) == nil && memfile.ParseIndex(m.files["MEMORY.md"]).Entry(p) != nil {
			t.Errorf("%s is pinned and lost its entry", p)
		}
	}
	for _, p := range m.planted.dead {
		if !strings.Contains(titles(out.Propose), p) {
			t.Errorf("the dead link %s is not proposed for removal", p)
		}
	}
	for _, p := range m.planted.dated {
		if !slices.ContainsFunc(out.Report.Left, func(i dream.Item) bool { return strings.Contains(i.What, p) }) {
			t.Errorf("the stale dates of %s are not told", p)
		}
	}
}

// changesOf gives what units do, without their numbers.
func changesOf(lists ...[]proposal.Unit) (out []change.Change) {
	for _, list := range lists {
		for _, u := range list {
			out = append(out, u.Change)
		}
	}
	return out
}

func isValue(m map[string]string, v string) bool {
	for _, x := range m {
		if x == v {
			return true
		}
	}
	return false
}

// TestDreamSettles: a dream right after one that was applied has nothing new to say, be
// the proposals applied or left.
func TestDreamSettles(t *testing.T) {
	seeds := uint64(2)
	if os.Getenv("MEM_SOAK") != "" {
		seeds = 40
	}
	for seed := range seeds {
		m := generate(seed, 120, 260)
		first := m.dream(t)
		half := m.applied(t, first.Apply...)
		second := half.dream(t)
		if len(second.Apply) > 0 {
			t.Errorf("seed %d: a second dream applies\n%s", seed, titles(second.Apply))
		}
		if d := cmp.Diff(changesOf(first.Copies, first.Propose), changesOf(second.Copies, second.Propose)); d != "" {
			t.Errorf("seed %d: what waits is another: %s", seed, d)
		}
		whole := m.applied(t, slices.Concat(first.Apply, first.Copies, first.Propose)...)
		third := whole.dream(t)
		if len(third.Propose)+len(third.Copies) > 0 {
			t.Errorf("seed %d: with everything applied a dream proposes\n%s", seed, titles(third.Propose))
		}
		// Links that went change the order of the index, once.
		if fourth := whole.applied(t, third.Apply...).dream(t); len(fourth.Apply)+len(fourth.Copies)+len(fourth.Propose) > 0 {
			t.Errorf("seed %d: a dream after that applies\n%s", seed, titles(fourth.Apply))
		}
	}
}

// TestDreamLosesNoSentence: every sentence of a topic or of the index is still somewhere,
// whatever is applied.
func TestDreamLosesNoSentence(t *testing.T) {
	m := generate(11, 120, 260)
	out := m.dream(t)
	for name, units := range map[string][]proposal.Unit{"applied": out.Apply, "with proposals": slices.Concat(out.Apply, out.Copies, out.Propose)} {
		after := m.applied(t, units...)
		var all strings.Builder
		for _, s := range after.files {
			all.WriteString(memfile.OneLine(strings.ReplaceAll(s, "[", "")))
			all.WriteByte('\n')
		}
		text := all.String()
		for p, s := range m.files {
			f := memfile.Parse(s)
			for line := range strings.Lines(f.BodyText()) {
				if name == "with proposals" && strings.Contains(line, "](gone-") || strings.Contains(line, "](") && p != memfile.IndexName {
					continue // the link of it may lead elsewhere now
				}
				if _, summary, ok := strings.Cut(line, " — "); ok {
					line = summary
				}
				for _, sentence := range strings.SplitAfter(strings.Trim(strings.TrimSpace(line), "-*+ "), ". ") {
					if sentence = memfile.OneLine(sentence); !strings.Contains(text, strings.TrimSuffix(sentence, ".")) {
						t.Errorf("%s: %s said %q", name, p, sentence)
					}
				}
			}
		}
	}
}

func BenchmarkMechanical(b *testing.B) {
	for _, n := range []int{200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := generate(7, n, min(n, 190))
			for b.Loop() {
				m.dream(b)
			}
		})
	}
}
