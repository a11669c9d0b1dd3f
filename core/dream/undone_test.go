package dream_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"mem/core/dream"
	"mem/core/model/modeltest"
	"mem/core/proposal"
)

// TestWhatWasUndoneIsNotDoneAgain: neither by the next dream nor by one days later; once the
// text is another, it is looked at anew, and an undo that was undone counts for nothing.
func TestWhatWasUndoneIsNotDoneAgain(t *testing.T) {
	for _, policy := range []proposal.Policy{proposal.HoldDeletions, proposal.Apply} {
		h := newHome(t, generate(7, 60, 130))
		before := files(h.base)
		first := h.run(dream.RunOptions{Start: dream.Explicit, Policy: policy})
		done := files(h.base)
		undo, err := h.Undo(context.Background(), first.Change)
		if err != nil || !maps.Equal(before, files(h.base)) {
			t.Fatal(err)
		}
		for range 2 {
			h.clock = h.clock.Add(40 * time.Hour)
			again := h.run(dream.RunOptions{Start: dream.Explicit, Policy: policy})
			if again.Change != "" || !maps.Equal(before, files(h.base)) {
				t.Fatalf("%s: it was done again: %s", policy, again.Report.Markdown())
			}
			if r := again.Report.Markdown(); !strings.Contains(r, "somebody undid") || again.Waiting == 0 {
				t.Errorf("%s: %d wait\n%s", policy, again.Waiting, r)
			}
		}
		if _, err := h.Undo(context.Background(), undo.ID); err != nil || !maps.Equal(done, files(h.base)) {
			t.Fatal(err)
		}
		if r := h.run(dream.RunOptions{Start: dream.Explicit, Policy: policy}); strings.Contains(r.Report.Markdown(), "somebody undid") {
			t.Errorf("%s: %s", policy, r.Report.Markdown())
		}
	}
}

// TestWhatAnAgentDidAndSomebodyUndid waits for review, and is done where the text is another.
func TestWhatAnAgentDidAndSomebodyUndid(t *testing.T) {
	edit := func(from, to string) []modeltest.Step {
		return []modeltest.Step{
			modeltest.Call("Read", modeltest.In{"file_path": "/memory/rate-limit.md"}),
			modeltest.Call("Edit", modeltest.In{"file_path": "/memory/rate-limit.md", "old_string": from, "new_string": to}),
			modeltest.Say(`{"did":"corrected","files":["rate-limit.md"],"why":"said so","from":["rate-limit.md"]}`)}
	}
	s := modeltest.Start(t, edit("30 requests", "45 requests")...)
	h := newSleeper(t, small(), s, "")
	before := files(h.base)
	_, rec, err := h.dream(dream.Params{})
	if err != nil || rec.Change == "" {
		t.Fatal(rec, err)
	}
	if _, err := h.Undo(context.Background(), rec.Change); err != nil {
		t.Fatal(err)
	}
	s.Then(edit("30 requests", "45 requests")...)
	ran, rec, err := h.dream(dream.Params{})
	if err != nil || rec.Change != "" || !maps.Equal(before, files(h.base)) || ran.Waiting != 1 || !strings.Contains(ran.Report.Markdown(), "somebody undid") {
		t.Fatalf("%+v %v\n%s", rec, err, ran.Report.Markdown())
	}
	h.put("rate-limit.md", strings.Replace(before["rate-limit.md"], "30 requests", "31 requests", 1))
	s.Then(edit("31 requests", "46 requests")...)
	if _, rec, err := h.dream(dream.Params{}); err != nil || rec.Change == "" || !strings.Contains(h.onDisk("rate-limit.md"), "46 requests") {
		t.Errorf("%+v %v\n%s", rec, err, h.onDisk("rate-limit.md"))
	}
}
