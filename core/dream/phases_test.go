package dream_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mem/core/dream"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/model/modeltest"
	"mem/core/proposal"
)

// phases is a script that consolidates a generated memory in four phases: it orients
// itself, gathers, merges what is nearly the same and what contradicts, dates what is
// stale, and looks over the index.
func phases(g *generated) []modeltest.Step {
	pairs := maps.Clone(g.planted.near)
	maps.Copy(pairs, g.planted.contradictions)
	orient := modeltest.Call("Read", modeltest.In{"file_path": "/memory/MEMORY.md"}).
		And("Grep", modeltest.In{"pattern": "^description:", "output_mode": "content"}).And("Glob", modeltest.In{"pattern": "**/*.md", "path": "/sessions"})
	gather := modeltest.Call("Grep", modeltest.In{"pattern": "from now on|instead", "path": "/sessions", "output_mode": "content"})
	change := modeltest.Say("Merging.")
	var report []string
	read := func(p string) { gather = gather.And("Read", modeltest.In{"file_path": "/memory/" + p}) }
	for _, gone := range slices.Sorted(maps.Keys(pairs)) {
		kept := pairs[gone]
		read(gone)
		read(kept)
		last := strings.TrimSpace(g.files[gone])
		last = last[strings.LastIndex(last, "\n")+1:]
		first := strings.TrimSpace(g.files[kept])
		first = first[strings.LastIndex(first, "\n")+1:]
		why := "they say the same"
		if g.planted.contradictions[gone] != "" {
			last = "Until 2026-11 another limit stood in a note of its own."
			why = "the newer one counts"
		}
		if !strings.Contains(g.files[kept], last) {
			change = change.And("Edit", modeltest.In{"file_path": "/memory/" + kept, "old_string": first, "new_string": first + "\n\n" + last})
		}
		change = change.And("Write", modeltest.In{"file_path": "/memory/" + gone, "content": ""})
		report = append(report, fmt.Sprintf(`{"did":"merged","files":[%q],"into":%q,"why":%q,"from":[%q]}`, gone, kept, why, gone))
	}
	for _, p := range g.planted.dated {
		read(p)
		change = change.And("Edit", modeltest.In{"file_path": "/memory/" + p, "old_string": "Yesterday the", "new_string": "On 2026-11-20 the"})
		report = append(report, fmt.Sprintf(`{"did":"corrected","files":[%q],"why":"dated","from":[%q]}`, p, p))
	}
	change = change.And("Write", modeltest.In{"file_path": "/memory/how-we-ship.md", "content": topicText("how we ship", "How releases go out", "feedback", "From now on releases go out on Mondays, said the person.")})
	report = append(report, `{"did":"added","files":["how-we-ship.md"],"why":"the person said so","from":["/sessions/ship.md"]}`)
	return []modeltest.Step{
		orient, gather, change,
		modeltest.Call("Read", modeltest.In{"file_path": "/memory/MEMORY.md"}),
		modeltest.Call("Edit", modeltest.In{"file_path": "/memory/MEMORY.md", "old_string": "# Memory\n", "new_string": "# Memory of the shop\n"}),
		modeltest.Say(strings.Join(report, "\n") + "\nThe limits are worth a look."),
	}
}

func TestFourPhasesOfARealisticMemory(t *testing.T) {
	g := generate(7, 120, 260)
	s := modeltest.Start(t, phases(g)...)
	h := newSleeper(t, g, s, "")
	h.stamp(g)
	h.session("ship", "from now on we release on Mondays", "Understood.")
	before := files(h.base)
	ran, rec, err := h.dream(dream.Params{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range s.Requests() {
		for _, b := range r.Results() {
			if b.Failed {
				t.Errorf("request %d: %s", i, b.Text)
			}
		}
	}
	after := files(h.base)
	x := memfile.ParseIndex(after["MEMORY.md"])
	// Readers load all of it while merges wait; what stood below entries is in memory still,
	// whatever becomes of what waits.
	if n, size := x.Text().Lines(), len(after["MEMORY.md"]); n > 200 || size > 25_000 {
		t.Errorf("the index has %d lines and %d bytes", n, size)
	}
	var all strings.Builder
	for _, s := range after {
		all.WriteString(s + "\n")
	}
	for l := range strings.Lines(before["MEMORY.md"]) {
		if said, ok := strings.CutPrefix(strings.TrimSpace(l), "- "); ok && strings.HasPrefix(l, " ") && !strings.Contains(all.String(), said) {
			t.Errorf("only what waits says %q", said)
		}
	}
	for p := range before {
		if _, there := after[p]; !there {
			t.Errorf("%s is deleted without a question", p)
		}
	}
	if rec.State != job.Done || rec.Change == "" || len(ran.Proposals) != 1 {
		t.Fatalf("%+v", rec)
	}
	p, err := proposal.Of(h.Memory).Get(context.Background(), ran.Proposals[0])
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "phases.golden.md", ran.Report.Markdown()+"\n# Units that wait\n\n"+titles(p.Units)+"\n# The index\n\n"+after["MEMORY.md"])

	// The next dream has nothing to apply, and proposes what waits already or less.
	if next := h.run(dream.RunOptions{Start: dream.Explicit, DryRun: true}); len(next.Report.Corrected) > 0 {
		t.Errorf("the next dream does more: %+v", next.Report.Corrected)
	}

	// All that waits goes together with what was applied, and then what was planted is gone.
	done, err := proposal.Of(h.Memory).Apply(context.Background(), ran.Proposals[0], proposal.Which{})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range done.Held {
		t.Errorf("%s waits still: %s", u.Title, u.Note)
	}
	end := files(h.base)
	// What the person decided is fresh, which may change the order and nothing else.
	for _, i := range h.run(dream.RunOptions{Start: dream.Explicit, DryRun: true}).Report.Corrected {
		if i.Why != "the most useful entries come first in each list" {
			t.Errorf("the dream after the decision does more: %+v", i)
		}
	}
	for _, planted := range []map[string]string{g.planted.near, g.planted.contradictions, g.planted.copies} {
		for gone, of := range planted {
			_, a := end[gone]
			_, b := end[of]
			if a && b {
				t.Errorf("%s and %s are both there", gone, of)
			}
		}
	}
	last, first := memfile.ParseIndex(end["MEMORY.md"]), memfile.ParseIndex(before["MEMORY.md"])
	for p := range end { // a topic that another one links needs no entry
		if _, was := before[p]; memdir.CheckTopicPath(p) == nil && last.Entry(p) == nil && (!was || first.Entry(p) != nil) {
			t.Errorf("%s has no entry", p)
		}
	}
	for _, e := range last.Entries {
		if _, there := end[e.Target]; !there && !slices.Contains(g.planted.dead, e.Target) {
			t.Errorf("the entry of %s leads nowhere", e.Target)
		}
	}
	// One undo takes back what was applied at first, another one the rest.
	for _, id := range []string{done.Change, rec.Change} {
		if _, err := h.Undo(context.Background(), id); err != nil {
			t.Fatal(err)
		}
	}
	if got := files(h.base); !maps.Equal(got, before) {
		for p := range before {
			if got[p] != before[p] {
				t.Errorf("%s is not as before:\n%s", p, cmp.Diff(before[p], got[p]))
			}
		}
	}
}

// stamp gives the topics on disk the times that they were written at.
func (h *home) stamp(g *generated) {
	h.t.Helper()
	for p, at := range g.times {
		if err := os.Chtimes(filepath.Join(h.base, "memory", filepath.FromSlash(p)), at, at); err != nil {
			h.t.Fatal(err)
		}
	}
}

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("run with -update and read the difference:\n%s", d)
	}
}
