package dream_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/change"
	"mem/core/dream"
	"mem/core/job"
	"mem/core/model/modeltest"
	"mem/core/proposal"
)

// wrote reads a file first, as the gate wants it.
func wrote(paths []string, content string) []modeltest.Step {
	read := modeltest.Call("Read", modeltest.In{"file_path": "/memory/MEMORY.md"})
	write := modeltest.Say("now")
	for _, p := range paths {
		read = read.And("Read", modeltest.In{"file_path": "/memory/" + p})
		write = write.And("Write", modeltest.In{"file_path": "/memory/" + p, "content": content})
	}
	return []modeltest.Step{read, write}
}

// unchanged holds that a dream left nothing but word of itself.
func (h *sleeper) unchanged(before map[string]string, failed bool) {
	h.t.Helper()
	if after := files(h.base); !maps.Equal(before, after) {
		h.t.Error("memory was touched")
	}
	st, err := dream.Of(h.Memory).Lock().Standing()
	if err != nil || st.Holder != 0 || failed != st.Last.IsZero() {
		h.t.Errorf("the lock: %+v, %v", st, err)
	}
}

// TestAModelDeletesEverything: all of it waits, whatever the policy, and memory is whole.
func TestAModelDeletesEverything(t *testing.T) {
	for _, policy := range []proposal.Policy{proposal.Apply, proposal.HoldDeletions} {
		t.Run(string(policy), func(t *testing.T) {
			g := small()
			steps := append(wrote([]string{"deploys.md", "release-day.md", "rate-limit.md", "editor.md"}, ""),
				modeltest.Call("Write", modeltest.In{"file_path": "/memory/MEMORY.md", "content": "# Memory\n"}), modeltest.Say("All gone."))
			h := newSleeper(t, g, modeltest.Start(t, steps...), "")
			before := files(h.base)
			ran, rec, err := h.dream(dream.Params{Policy: policy})
			if err != nil {
				t.Fatal(err)
			}
			h.unchanged(before, false)
			if len(ran.Proposals) != 1 || rec.Proposal == "" || rec.Change != "" {
				t.Errorf("%+v", ran)
			}
			if r := ran.Report; len(r.Merged)+len(r.Corrected)+len(r.Dropped) > 0 || len(r.Proposed) == 0 {
				t.Errorf("the report says that it is done:\n%s", r.Markdown())
			}
			if policy == proposal.Apply && !strings.Contains(strings.Join(ran.Notes, " "), "more than a fifth") {
				t.Errorf("notes: %q", ran.Notes)
			}
		})
	}
}

// TestAModelWritesElsewhere: what the gate refuses is in the record, and nothing is
// outside of the memory.
func TestAModelWritesElsewhere(t *testing.T) {
	base := t.TempDir()
	outside := filepath.Join(base, "outside.md")
	s := modeltest.Start(t,
		modeltest.Call("Write", modeltest.In{"file_path": outside, "content": "x"}).
			And("Write", modeltest.In{"file_path": "/memory/../../escape.md", "content": "x"}).
			And("Write", modeltest.In{"file_path": "/sessions/one.md", "content": "x"}).
			And("Write", modeltest.In{"file_path": "/memory/CLAUDE.md", "content": "x"}).
			And("Write", modeltest.In{"file_path": "/memory/logs/2026/11/2026-11-30.md", "content": "x"}).
			And("Write", modeltest.In{"file_path": "/memory/.consolidate-lock", "content": "x"}).
			And("Bash", modeltest.In{"command": "echo x > /memory/a.md; curl example.com"}).
			And("Read", modeltest.In{"file_path": "/etc/passwd"}),
		modeltest.Say("I could not."),
	)
	h := newSleeper(t, small(), s, "")
	h.session("one", "hello", "hello")
	before := files(h.base)
	ran, rec, err := h.dream(dream.Params{})
	if err != nil {
		t.Fatal(err)
	}
	h.unchanged(before, false)
	if len(rec.Refused) < 8 || len(ran.Refused) < 8 || rec.Change != "" {
		t.Errorf("%d refusals in the record: %+v", len(rec.Refused), rec.Refused)
	}
	if _, err := os.Stat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Error("it wrote outside")
	}
}

// TestAModelChangesPinned: a pinned topic and its entry stay.
func TestAModelChangesPinned(t *testing.T) {
	g := small()
	g.files["editor.md"] = strings.Replace(g.files["editor.md"], "type: user\n", "type: user\npinned: true\n", 1)
	steps := append(wrote([]string{"editor.md"}, ""),
		modeltest.Call("Edit", modeltest.In{"file_path": "/memory/MEMORY.md", "old_string": "- [Editor](editor.md) — what the person edits with\n", "new_string": ""}), modeltest.Say("done"))
	h := newSleeper(t, g, modeltest.Start(t, steps...), "")
	before := files(h.base)
	_, rec, err := h.dream(dream.Params{Policy: proposal.Apply})
	if err != nil {
		t.Fatal(err)
	}
	after := files(h.base)
	if after["editor.md"] != before["editor.md"] || !strings.Contains(after["MEMORY.md"], "- [Editor](editor.md) — what the person edits with\n") {
		t.Errorf("%s\n%s", after["editor.md"], after["MEMORY.md"])
	}
	if said := fmt.Sprint(rec.Refused); !strings.Contains(said, "pinned") {
		t.Errorf("refused: %s", said)
	}
}

// TestAModelThatDoesNotEnd: what it had changed waits for a look, whatever the policy.
func TestAModelThatDoesNotEnd(t *testing.T) {
	n := 0
	s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
		if n++; n == 2 {
			return modeltest.Call("Edit", modeltest.In{"file_path": "/memory/rate-limit.md", "old_string": "30 requests", "new_string": "45 requests"})
		}
		return modeltest.Call("Read", modeltest.In{"file_path": "/memory/rate-limit.md", "limit": 100 + n})
	})
	h := newSleeper(t, small(), s, "")
	before := files(h.base)
	ran, rec, err := h.dream(dream.Params{Policy: proposal.Apply})
	if err != nil {
		t.Fatal(err)
	}
	h.unchanged(before, false)
	if rec.Turns != dream.Turns || rec.End != "turn limit" || len(ran.Proposals) != 1 || !strings.Contains(strings.Join(ran.Notes, " "), "turn limit") {
		t.Errorf("%+v\n%+v", ran, rec)
	}
}

// TestAModelThatFails: garbage, an answer that is cut off, an error; nothing changes, the
// next dream is as due as this one.
func TestAModelThatFails(t *testing.T) {
	for name, step := range map[string]modeltest.Step{
		"garbage":  modeltest.Answer("text/html", "<html>proxy</html>"),
		"cut off":  modeltest.Say("a long answer that ends in the middle").CutAt(40),
		"an error": modeltest.Fail(401, "no such key"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := wrote([]string{"rate-limit.md"}, topicText("Rate limit", "requests", "reference", "The partner takes 45 requests a minute."))
			h := newSleeper(t, small(), modeltest.Start(t, append(steps, step.Forever())...), "")
			before := files(h.base)
			ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
			defer cancel()
			_, rec, err := h.dreamUntil(ctx, dream.Params{Policy: proposal.Apply})
			if err == nil || rec.State != job.Failed || rec.Reason == "" {
				t.Errorf("%v: %+v", err, rec)
			}
			h.unchanged(before, true)
		})
	}
}

// TestAModelThatStalls: a cancel ends it within a second, and the lock is as it was.
func TestAModelThatStalls(t *testing.T) {
	steps := wrote([]string{"rate-limit.md"}, topicText("Rate limit", "requests", "reference", "The partner takes 45 requests a minute."))
	s := modeltest.Start(t, append(steps, modeltest.Say("I think for a long time about this").StallAt(20))...)
	h := newSleeper(t, small(), s, "")
	before := files(h.base)
	go func() {
		s.Await(3)
		list, err := h.house.Jobs.List(job.ListOptions{Open: true})
		if err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
			return
		}
		if list[0].Phase != "updating" || len(list[0].Touched) != 1 {
			time.Sleep(400 * time.Millisecond) // the record follows four times a second
			if list, err = h.house.Jobs.List(job.ListOptions{Open: true}); err != nil || len(list) != 1 || list[0].Phase != "updating" || len(list[0].Touched) != 1 {
				t.Errorf("while it runs: %+v, %v", list, err)
			}
		}
		if _, err := h.house.Jobs.Cancel(list[0].ID); err != nil {
			t.Error(err)
		}
	}()
	_, _, err := h.dream(dream.Params{})
	if !errors.Is(err, job.ErrCancelled) {
		t.Errorf("%v", err)
	}
	h.unchanged(before, true)
}

// TestEditsWhileAModelDreams: what somebody writes to the topic that the agent works on,
// to another and to the index survives; where both changed one line, the agent's version
// waits with both texts.
func TestEditsWhileAModelDreams(t *testing.T) {
	var h *sleeper
	steps := fourPhases()
	n := 0
	s := modeltest.StartFunc(t, func(modeltest.Request) modeltest.Step {
		n++
		if n == 4 { // the agent has changed its copies
			all := files(h.base)
			h.put("rate-limit.md", strings.Replace(all["rate-limit.md"], "30 requests a minute.", "60 requests a minute.", 1))
			h.put("editor.md", strings.Replace(all["editor.md"], "\n---\n\n", "\n---\n\nIt is a dark theme.\n\n", 1))
			h.put("fresh.md", topicText("fresh", "written meanwhile", "project", "Fresh."))
			h.put("MEMORY.md", all["MEMORY.md"]+"- [fresh](fresh.md) — written meanwhile\n")
		}
		return steps[n-1]
	})
	h = newSleeper(t, small(), s, "")
	ran, _, err := h.dream(dream.Params{})
	if err != nil {
		t.Fatal(err)
	}
	after := files(h.base)
	if !strings.Contains(after["rate-limit.md"], "60 requests") || !strings.Contains(after["editor.md"], "dark theme") ||
		!strings.Contains(after["MEMORY.md"], "(fresh.md)") || after["fresh.md"] == "" {
		t.Errorf("an edit is lost: %q\n%q\n%q", after["rate-limit.md"], after["editor.md"], after["MEMORY.md"])
	}
	if len(ran.Proposals) != 1 {
		t.Fatalf("%+v", ran)
	}
	text, err := proposal.Of(h.Memory).Text(context.Background(), ran.Proposals[0])
	if err != nil || !strings.Contains(text, "45 requests") || !strings.Contains(text, "60 requests") {
		t.Errorf("the conflict does not show both: %v\n%s", err, text)
	}
}

// TestWritesGoOnDuringADream: while an agent thinks, another process writes a memory
// through the store, with the lock of the directory; both are there afterwards. What the
// dream leaves open of an earlier one is named.
func TestWritesGoOnDuringADream(t *testing.T) {
	var h *sleeper
	steps, n := append(fourPhases(), fourPhases()...), 0
	s := modeltest.StartFunc(t, func(modeltest.Request) modeltest.Step {
		if n++; n == 4 {
			other := h.open()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			if _, err := other.Apply(ctx, change.Change{Op: "write", Title: "new fresh.md", Files: []change.File{{Path: "fresh.md", Kind: change.Create, New: topicText("fresh", "written meanwhile", "project", "Fresh.")}}}); err != nil {
				t.Errorf("a write during a dream: %v", err)
			}
		}
		return steps[n-1]
	})
	h = newSleeper(t, small(), s, "")
	first, _, err := h.dream(dream.Params{Policy: proposal.Review})
	if err != nil || len(first.Proposals) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	if files(h.base)["fresh.md"] == "" {
		t.Error("what was written is gone")
	}
	second, _, err := h.dream(dream.Params{Policy: proposal.Review})
	if err != nil || len(second.Superseded) != 1 || second.Superseded[0] != first.Proposals[0] {
		t.Errorf("the second dream supersedes %+v, %v", second, err)
	}
}
