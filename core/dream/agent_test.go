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

	"mem/core/dream"
	"mem/core/engine"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/model/modeltest"
	"mem/core/project"
	"mem/core/proposal"
	"mem/core/work"
)

// sleeper is a home whose dreams are thought out by a scripted model.
type sleeper struct {
	*home
	house *work.House
}

func newSleeper(t testing.TB, m *generated, s *modeltest.Server, config string) *sleeper {
	t.Helper()
	h := newHome(t, m)
	if s != nil {
		config = fmt.Sprintf("engine: provider\nengines:\n  provider:\n    base_url: %s\n    model: m\n%s", s.URL, config)
	}
	dir := filepath.Join(h.base, "config")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Memory = h.open()
	if len(h.Warnings) > 0 {
		t.Fatal(h.Warnings)
	}
	return &sleeper{h, houseOf(h.Memory, true)}
}

func houseOf(m *memory.Memory, host bool) *work.House {
	return &work.House{Memory: m, Jobs: job.Open(m.StateDirectory(), m.Env()), Proposals: proposal.Of(m),
		Choose: func(automatic bool) engine.Choice {
			return engine.Choose(m.Env(), m.Config, engine.Have{Host: host}, automatic)
		}}
}

// session writes a conversation of the project.
func (h *sleeper) session(id string, said ...string) {
	h.t.Helper()
	dir := filepath.Join(h.base, "home", ".claude", "projects", project.Slug(h.base))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	var b strings.Builder
	parent := "null"
	for i, text := range said {
		role := []string{"user", "assistant"}[i%2]
		uuid := fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, i+1)
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":%s,"timestamp":"2026-11-30T11:%02d:00Z","sessionId":%q,"cwd":%q,"version":"2.1.332","message":{"role":%q,"id":"m%d","content":%q}}`+"\n",
			parent, role, uuid, i, id, h.base, role, i, text)
		parent = uuid
	}
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(b.String()), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// dream runs a dream as a job and gives what is recorded of it.
func (h *sleeper) dream(p dream.Params) (*dream.Ran, *job.Record, error) {
	h.t.Helper()
	return h.dreamUntil(context.Background(), p)
}

func (h *sleeper) dreamUntil(ctx context.Context, p dream.Params) (*dream.Ran, *job.Record, error) {
	h.t.Helper()
	raw, err := p.Encode()
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := h.house.Jobs.Create(job.Record{Kind: job.Dream, By: "tool", Params: raw})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, run, err := h.house.Jobs.Begin(ctx, r.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	ran, failed := dream.RunJob(ctx, h.house, run, fixer())
	if failed != nil {
		if err := run.End(job.Failed, func(r *job.Record) { r.Reason = failed.Error() }); err != nil {
			h.t.Fatal(err)
		}
	}
	if r, err = h.house.Jobs.Get(r.ID); err != nil {
		h.t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(h.StateDirectory(), "stages", "*"))
	if err != nil || len(left) > 0 {
		h.t.Errorf("left behind: %v, %v", left, err)
	}
	return ran, r, failed
}

// small is a memory in which two topics say one thing in different words, and one is out
// of date.
func small() *generated {
	return of(map[string]string{
		"MEMORY.md": "# Memory\n\n- [Deploys](deploys.md) — how deploys go\n- [Release day](release-day.md) — when releases are\n" +
			"- [Rate limit](rate-limit.md) — requests a minute\n- [Editor](editor.md) — what the person edits with\n" +
			"- [Staging](staging.md) — where staging is\n- [Reviews](reviews.md) — who reviews\n",
		"deploys.md":     topicText("Deploys", "how deploys go", "project", "Deploys go out from the main branch with `make deploy`.\n\nNobody deploys on Fridays."),
		"release-day.md": topicText("Release day", "when releases are", "project", "Releases are on Tuesday morning.\n\nSee [Deploys](deploys.md)."),
		"rate-limit.md":  topicText("Rate limit", "requests a minute", "reference", "The partner takes 30 requests a minute."),
		"staging.md":     topicText("Staging", "where staging is", "reference", "Staging answers at staging.example, behind the office network."),
		"reviews.md":     topicText("Reviews", "who reviews", "feedback", "Two people look at each change, one of whom knows the schema."),
		"editor.md":      topicText("Editor", "what the person edits with", "user", "The person edits with Helix. Details stand in [Release day](release-day.md)."),
	})
}

const mergedDeploys = `---
name: Deploys
description: how deploys go, and when
type: project
---

Deploys go out from the main branch with ` + "`make deploy`" + `.

Nobody deploys on Fridays.

Releases are on Tuesday morning.
`

// fourPhases is a script that looks around, reads, changes and reports.
func fourPhases() []modeltest.Step {
	return []modeltest.Step{
		modeltest.Call("Read", modeltest.In{"file_path": "/memory/MEMORY.md"}).And("Grep", modeltest.In{"pattern": "^description:", "output_mode": "content"}),
		modeltest.Call("Grep", modeltest.In{"pattern": "limit", "path": "/sessions", "output_mode": "content"}).
			And("Read", modeltest.In{"file_path": "/memory/deploys.md"}).And("Read", modeltest.In{"file_path": "/memory/release-day.md"}).
			And("Read", modeltest.In{"file_path": "/memory/rate-limit.md"}).And("Read", modeltest.In{"file_path": "/memory/editor.md"}),
		modeltest.Call("Write", modeltest.In{"file_path": "/memory/deploys.md", "content": mergedDeploys}).
			And("Edit", modeltest.In{"file_path": "/memory/rate-limit.md", "old_string": "30 requests a minute.", "new_string": "45 requests a minute since 2026-11-29 (30 before)."}).
			And("Edit", modeltest.In{"file_path": "/memory/editor.md", "old_string": "[Release day](release-day.md)", "new_string": "[Deploys](deploys.md)"}).
			And("Write", modeltest.In{"file_path": "/memory/release-day.md", "content": ""}),
		modeltest.Call("Edit", modeltest.In{"file_path": "/memory/MEMORY.md", "old_string": "- [Release day](release-day.md) — when releases are\n", "new_string": ""}),
		modeltest.Say("{\"did\":\"merged\",\"files\":[\"/memory/release-day.md\"],\"into\":\"deploys.md\",\"why\":\"both are about getting releases out\",\"from\":[\"release-day.md\"]}\n" +
			"- {\"did\":\"corrected\",\"files\":[\"rate-limit.md\"],\"why\":\"the partner takes 45 now\",\"from\":[\"/sessions/one.md\"]}\n" +
			"{\"did\":\"dropped\",\"files\":[\"never-there.md\"],\"why\":\"made up\"}\n" +
			"Have a look at the Friday rule."),
	}
}

func TestAModelDreams(t *testing.T) {
	s := modeltest.Start(t, fourPhases()...)
	h := newSleeper(t, small(), s, "")
	h.session("one", "the partner told us the limit is 45 requests a minute now", "Noted.")
	before := files(h.base)
	ran, rec, err := h.dream(dream.Params{})
	if err != nil {
		t.Fatal(err)
	}
	after := files(h.base)
	for i, r := range s.Requests() {
		for _, b := range r.Results() {
			if b.Failed {
				t.Logf("request %d: %s", i, b.Text)
			}
		}
	}
	if !strings.Contains(after["rate-limit.md"], "45 requests a minute since 2026-11-29") {
		t.Errorf("the correction is not applied:\n%s", after["rate-limit.md"])
	}
	// The deletion waits, with what belongs to it.
	for _, p := range []string{"release-day.md", "deploys.md", "editor.md"} {
		if after[p] != before[p] {
			t.Errorf("%s changed without a look:\n%s", p, after[p])
		}
	}
	if !strings.Contains(after["MEMORY.md"], "(release-day.md)") {
		t.Errorf("the index lost the entry of what waits:\n%s", after["MEMORY.md"])
	}
	if len(ran.Proposals) != 1 || rec.State != job.Done || rec.Change == "" || rec.Engine != "provider" || rec.Turns != 5 {
		t.Fatalf("%+v\n%+v", ran, rec)
	}
	if _, err := proposal.Of(h.Memory).Apply(context.Background(), ran.Proposals[0], proposal.Which{}); err != nil {
		t.Fatal(err)
	}
	end := files(h.base)
	if _, there := end["release-day.md"]; there || !strings.Contains(end["deploys.md"], "Tuesday") || strings.Contains(end["MEMORY.md"], "release-day") || strings.Contains(end["editor.md"], "release-day") {
		t.Errorf("applied, it is not what the agent made: %v\n%s\n%s", slices.Sorted(maps.Keys(end)), end["MEMORY.md"], end["editor.md"])
	}
	for _, want := range []string{"both are about getting releases out", "session one", "Friday rule", "files do not show that"} {
		if !strings.Contains(rec.Report, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	first := s.Requests()[0]
	for _, want := range []string{"Today is Monday, 2026-11-30", "/sessions/one.md", "You have 40 turns"} {
		if !strings.Contains(first.Prompt(), want) {
			t.Errorf("the prompt does not say %q:\n%s", want, first.Prompt())
		}
	}
	st, err := dream.Of(h.Memory).Lock().Standing()
	if err != nil || st.Last.IsZero() || st.Holder != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}
