package dream_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/dream"
	"mem/core/model/modeltest"
	"mem/core/proposal"
	"mem/core/sessions"
	"mem/core/transcript"
)

// TestAHostComesBackLate: hours after it was handed the dream, and after another one
// succeeded. What was touched since that one is news for the next: nobody has seen it.
func TestAHostComesBackLate(t *testing.T) {
	h, got := handed(t, small())
	h.clock = h.clock.Add(10 * time.Minute)
	other := h.clock
	h.run(dream.RunOptions{Start: dream.Explicit, Job: "other"})
	h.clock = h.clock.Add(3 * time.Hour) // any lock would be stale
	done, err := h.submit(got.Job, map[string]string{"rate-limit.md": strings.Replace(h.onDisk("rate-limit.md"), "30 requests", "45 requests", 1)})
	if err != nil || !strings.Contains(h.onDisk("rate-limit.md"), "45 requests") {
		t.Fatalf("%+v, %v", done, err)
	}
	if st, err := dream.Of(h.Memory).Lock().Standing(); err != nil || !st.Last.Equal(other) || st.Holder != 0 {
		t.Errorf("%+v, %v; the last that looked began at %s", st, err, other)
	}
}

// TestStateThatSomebodyTouched: proposals that were edited into nonsense or deleted while
// they waited hold no dream up; where it is not known what was undone, nothing is changed,
// and the error says what to do.
func TestStateThatSomebodyTouched(t *testing.T) {
	h := newHome(t, generate(7, 60, 130))
	first := h.run(dream.RunOptions{Start: dream.Explicit, Job: "j1"})
	file := filepath.Join(h.StateDirectory(), "proposals", first.Proposals[0]+".json")
	if err := os.WriteFile(file, []byte(`{"v":1,"id":`), 0o600); err != nil {
		t.Fatal(err)
	}
	second := h.run(dream.RunOptions{Start: dream.Explicit, Job: "j2"})
	if second.Waiting != first.Waiting || len(second.Proposals) != 1 || second.Proposals[0] == first.Proposals[0] {
		t.Errorf("%+v", second)
	}
	if err := os.Remove(filepath.Join(h.StateDirectory(), "proposals", second.Proposals[0]+".json")); err != nil {
		t.Fatal(err)
	}
	if third := h.run(dream.RunOptions{Start: dream.Explicit, Job: "j3"}); third.Waiting != first.Waiting || len(third.Superseded) > 0 {
		t.Errorf("%+v", third)
	}
	h.put("ship.md", topicText("ship", "shipping", "project", longBody)) // something to apply
	if err := os.WriteFile(filepath.Join(h.StateDirectory(), "proposals-applied.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := files(h.base)
	_, err := dream.Run(t.Context(), h.Memory, dream.RunOptions{Start: dream.Explicit, Fixer: fixer(), Policy: proposal.Apply})
	if err == nil || !strings.Contains(err.Error(), "proposals-applied.json") || !strings.Contains(err.Error(), "Remove it") || !maps.Equal(before, files(h.base)) {
		t.Errorf("%v", err)
	}
}

// TestACancelAtAnyTurn leaves memory and lock as they were, and the record says cancelled.
func TestACancelAtAnyTurn(t *testing.T) {
	for turn := 1; turn <= 3; turn++ {
		ctx, cancel := context.WithCancel(t.Context())
		s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
			if r.Turn() == turn {
				cancel()
			}
			switch r.Turn() {
			case 1:
				return modeltest.Call("Read", modeltest.In{"file_path": "/memory/rate-limit.md"})
			case 2:
				return modeltest.Call("Edit", modeltest.In{"file_path": "/memory/rate-limit.md", "old_string": "30 requests", "new_string": "45 requests"})
			}
			return modeltest.Say("Done.")
		})
		h := newSleeper(t, small(), s, "")
		before := files(h.base)
		_, rec, err := h.dreamUntil(ctx, dream.Params{})
		if err == nil || string(rec.End) != "cancelled" || !maps.Equal(before, files(h.base)) {
			t.Errorf("turn %d: %+v, %v", turn, rec, err)
		}
		if _, err := os.Stat(filepath.Join(h.base, "memory", dream.LockName)); !os.IsNotExist(err) {
			t.Errorf("turn %d: the lock file: %v", turn, err)
		}
		cancel()
	}
}

// TestSessionsThatMemRecords are sources as those of a client are.
func TestSessionsThatMemRecords(t *testing.T) {
	s := modeltest.Start(t, modeltest.Call("Grep", modeltest.In{"pattern": "harbour", "path": "/sessions", "output_mode": "content"}), modeltest.Say("Nothing to do."))
	h := newSleeper(t, small(), s, "")
	opened := sessions.Open(h.Memory, sessions.Options{})
	defer opened.Close() //nolint:errcheck // a test
	rec, err := opened.Append(t.Context(), sessions.AppendOptions{Client: "test", Entries: []transcript.Entry{{Role: "user", Text: "the harbour opens at nine"}, {Role: "assistant", Text: "Noted."}}})
	if err != nil {
		t.Fatal(err)
	}
	_, ran, err := h.dream(dream.Params{})
	if err != nil || len(ran.Sessions) != 1 || ran.Sessions[0] != rec.Session || !s.Last().Contains("harbour opens at nine") {
		t.Errorf("%+v, %v", ran, err)
	}
}
