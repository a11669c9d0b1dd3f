package dream_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/dream"
	"mem/core/job"
	"mem/core/model/modeltest"
	"mem/core/proposal"
)

// busy gives a sleeper five sessions.
func (h *sleeper) busy() {
	h.t.Helper()
	for i := range 5 {
		h.session(fmt.Sprintf("s%d", i), "the limit is 45 requests a minute now", "Noted.")
	}
}

// due asks as the hook does.
func (h *sleeper) due() (bool, string) {
	h.t.Helper()
	due, reasons, err := dream.Of(h.Memory).Due(context.Background(), h.house.Jobs)
	if err != nil {
		h.t.Fatal(err)
	}
	return due, strings.Join(reasons, "; ")
}

// TestQueuedForAHost: a dream that nobody asked for and nobody may think out waits for
// the next conversation, which does it.
func TestQueuedForAHost(t *testing.T) {
	h := newSleeper(t, small(), nil, "engine: auto\n")
	h.busy()
	if due, why := h.due(); !due {
		t.Fatal(why)
	}
	ran, rec, err := h.dream(dream.Params{Start: dream.Auto})
	if err != nil || !ran.Queued || rec.State != job.Queued || rec.Process != 0 {
		t.Fatalf("%+v\n%+v\n%v", ran, rec, err)
	}
	if st, err := dream.Of(h.Memory).Lock().Standing(); err != nil || !st.Last.IsZero() || st.Holder != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	if due, why := h.due(); due || !strings.Contains(why, rec.ID+" waits for an agent") {
		t.Errorf("a second one is due: %s", why)
	}
	handed, err := dream.Hand(context.Background(), h.house, rec.ID, "tool", fixer())
	if err != nil || handed.Job != rec.ID || len(handed.Sessions) != 5 {
		t.Fatalf("%+v, %v", handed, err)
	}
	began := h.clock
	h.clock = h.clock.Add(20 * time.Minute)
	now := files(h.base)["rate-limit.md"]
	read, err := h.ReadAll(context.Background(), "rate-limit.md")
	if err != nil {
		t.Fatal(err)
	}
	sub := proposal.Submitted{Job: rec.ID, Files: []proposal.File{{Path: "rate-limit.md", Text: strings.Replace(now, "30 requests", "45 requests", 1), BaseHash: read.Hash, Reason: "said so"}}}
	by := map[string]proposal.Finisher{job.Dream: dream.Finish}
	// Somebody else dreams just then: the host keeps its job.
	held, err := dream.Of(h.Memory).Lock().Take("other", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proposal.Submit(context.Background(), h.Memory, h.house.Jobs, sub, by); err == nil {
		t.Error("two dreams at once")
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	done, err := proposal.Submit(context.Background(), h.Memory, h.house.Jobs, sub, by)
	if err != nil || done.Job.State != job.Done || done.Settled.Change == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	if got := files(h.base)["rate-limit.md"]; !strings.Contains(got, "45 requests") {
		t.Error(got)
	}
	// It counts from when it was handed out.
	if st, err := dream.Of(h.Memory).Lock().Standing(); err != nil || !st.Last.Equal(began) {
		t.Errorf("%+v, %v; it began at %s", st, err, began)
	}
}

// TestDailyLogsAreDistilled: at the end of a turn nothing starts; a dream that was asked
// for, or by the clock, is told which logs are new, and they stay.
func TestDailyLogsAreDistilled(t *testing.T) {
	g := small()
	log := "logs/2026/11/2026-11-29.md"
	g.files[log] = "# 2026-11-29\n\n## 10:00 limit\n\nThe partner takes 45 requests a minute from today.\n"
	s := modeltest.Start(t,
		modeltest.Call("Read", modeltest.In{"file_path": "/memory/" + log}).And("Read", modeltest.In{"file_path": "/memory/rate-limit.md"}),
		modeltest.Call("Edit", modeltest.In{"file_path": "/memory/rate-limit.md", "old_string": "30 requests a minute.", "new_string": "45 requests a minute since 2026-11-29."}).
			And("Write", modeltest.In{"file_path": "/memory/" + log, "content": ""}),
		modeltest.Say(`{"did":"corrected","files":["rate-limit.md"],"why":"the log says so","from":["/memory/`+log+`"]}`),
	)
	h := newSleeper(t, g, s, "memory:\n  daily_log: true\n")
	h.busy()
	if due, why := h.due(); due || !strings.Contains(why, "daily-log mode") {
		t.Errorf("due: %v, %s", due, why)
	}
	ran, rec, err := h.dream(dream.Params{Start: dream.Schedule})
	if err != nil {
		t.Fatal(err)
	}
	after := files(h.base)
	if !strings.Contains(after["rate-limit.md"], "since 2026-11-29") || after[log] != g.files[log] || rec.Change == "" || len(ran.Refused) == 0 {
		t.Errorf("%+v\n%s\n%s", ran, after["rate-limit.md"], after[log])
	}
	if p := s.Requests()[0].Prompt(); !strings.Contains(p, "/memory/"+log) || !strings.Contains(p, "kept as daily logs") {
		t.Errorf("the prompt: %s", p)
	}
	// The next one does not name it again.
	s.Then(modeltest.Say("Nothing to do."))
	h.clock = h.clock.Add(time.Hour)
	old := h.clock.Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(h.base, "memory", filepath.FromSlash(log)), old, old); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.dream(dream.Params{}); err != nil {
		t.Fatal(err)
	}
	if p := s.Last().Prompt(); strings.Contains(p, log) || !strings.Contains(p, "last done on Monday, 2026-11-30") {
		t.Errorf("the prompt: %s", p)
	}
}

// TestAFailureIsNotRepeatedAtEachTurn: after one that failed the next dream by itself
// waits an hour.
func TestAFailureIsNotRepeatedAtEachTurn(t *testing.T) {
	h := newSleeper(t, small(), modeltest.Start(t, modeltest.Fail(401, "no such key").Forever()), "")
	h.busy()
	if _, rec, err := h.dream(dream.Params{Start: dream.Auto}); err == nil || rec.State != job.Failed {
		t.Fatalf("%+v, %v", rec, err)
	}
	if due, why := h.due(); due || !strings.Contains(why, "failed") {
		t.Errorf("due again: %s", why)
	}
	h.clock = h.clock.Add(61 * time.Minute)
	if due, why := h.due(); !due {
		t.Errorf("not due any more: %s", why)
	}
}

// TestNoMemoryYet: without a memory there is nothing to consolidate.
func TestNoMemoryYet(t *testing.T) {
	h := newSleeper(t, of(map[string]string{}), nil, "engine: auto\n")
	h.busy()
	if due, why := h.due(); due || !strings.Contains(why, "no memory yet") {
		t.Errorf("due: %v, %s", due, why)
	}
	g, err := dream.Of(h.house.Memory).Check(t.Context(), dream.Explicit, false)
	if c := g.Closed(); err != nil || c == nil || !strings.Contains(c.Reason, "no memory yet") {
		t.Errorf("who asks is told %+v, %v", c, err)
	}
}

// TestSecretsStayHere: what sessions hold of secrets reaches no engine.
func TestSecretsStayHere(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2c3D4", 5)[:36]
	s := modeltest.Start(t,
		modeltest.Call("Read", modeltest.In{"file_path": "/sessions/leaky.md"}).And("Grep", modeltest.In{"pattern": "token", "path": "/sessions", "output_mode": "content"}),
		modeltest.Say("Nothing to do."))
	h := newSleeper(t, small(), s, "")
	h.session("leaky", "the token is "+token, "I will not repeat it.")
	if _, _, err := h.dream(dream.Params{}); err != nil {
		t.Fatal(err)
	}
	if r := s.Last(); !r.Contains("the token is") {
		t.Error("the session was not read")
	}
	for _, r := range s.Requests() {
		if r.Contains(token) {
			t.Error("a secret left")
		}
	}
}

// TestManySessions: the newest are looked at, and the others are told.
func TestManySessions(t *testing.T) {
	s := modeltest.Start(t, modeltest.Say("Nothing to do."))
	h := newSleeper(t, small(), s, "")
	for i := range 45 {
		h.session(fmt.Sprintf("many%02d", i), "nothing new", "Indeed.")
	}
	ran, rec, err := h.dream(dream.Params{})
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Sessions) != 40 || !strings.Contains(s.Last().Prompt(), "5 older ones are left out") || !strings.Contains(ran.Report.Markdown(), "5 sessions touched since the last dream") {
		t.Errorf("%d sessions; %v", len(rec.Sessions), ran.Report.Notes)
	}
}

// TestMendingTouchesNothing: a topic that rules mended is as old as it was.
func TestMendingTouchesNothing(t *testing.T) {
	g := small()
	g.files["deploys.md"] = strings.Replace(g.files["deploys.md"], "how deploys go", "how deploys go: from main", 1) // what strict readers refuse
	h := newSleeper(t, g, nil, "engine: none\n")
	old := h.clock.Add(-100 * 24 * time.Hour)
	p := filepath.Join(h.base, "memory", "deploys.md")
	if err := os.Chtimes(p, old, old); err != nil {
		t.Fatal(err)
	}
	before := files(h.base)["deploys.md"]
	if _, _, err := h.dream(dream.Params{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	if files(h.base)["deploys.md"] == before || info.ModTime().Sub(old).Abs() > time.Second {
		t.Errorf("it has the time %s:\n%s", info.ModTime(), files(h.base)["deploys.md"])
	}
}
