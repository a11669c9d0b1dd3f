package dream_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mem/core/dream"
)

// of makes a memory of files that are all of one time.
func of(files map[string]string) *generated {
	m := &generated{files: files, times: map[string]time.Time{}}
	for p := range files {
		m.times[p] = now.Add(-48 * time.Hour)
	}
	return m
}

func topicText(name, description, kind, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\ntype: %s\n---\n\n%s\n", name, description, kind, body)
}

const longBody = "Deploys go out on Tuesday and Thursday mornings. Ask Ines before a deploy outside of these days, since the warehouse runs its own jobs then."

func TestMergeOfNearTopics(t *testing.T) {
	m := of(map[string]string{
		"MEMORY.md":        "# Memory\n\n- [deploys](deploys.md) — when deploys go out\n- [ship](old/ship.md) — when things ship\n- [other](other.md) — another thing\n",
		"deploys.md":       "---\nname: deploys\ndescription: when deploys go out\ntype: project\n---\n\n" + longBody + "\n\n## Rollback\n\n- `make rollback`\n",
		"old/ship.md":      "---\nname: ship\ndescription: shipping days\ntype: project\nteam: platform\n---\n\n" + longBody + "\n\n## Rollback\n\n- `make rollback`\n- tell the channel, see [other](../other.md)\n\n## Freeze\n\nNothing ships in the last week of the year.\n",
		"other.md":         topicText("other", "another thing", "reference", "See [the days](old/ship.md#rollback) and [[ship]]."),
		"logs/CLAUDE.md":   "not ours",
		"CLAUDE.md":        "Not ours, and [linked](old/ship.md).",
		"unrelated-one.md": topicText("unrelated-one", "nothing", "user", "Likes tea, and reads [deploys](deploys.md)."),
		"another-one.md":   topicText("another-one", "nothing else", "user", "Wrote [deploys](deploys.md)."),
	})
	out := m.dream(t)
	if len(out.Propose) != 1 || !out.Propose[0].Deletes {
		t.Fatalf("%s", titles(out.Propose))
	}
	after := m.applied(t, slices.Concat(out.Apply, out.Copies, out.Propose)...)
	if _, there := after.files["old/ship.md"]; there {
		t.Error("old/ship.md is still there")
	}
	want := "---\nname: deploys\ndescription: when deploys go out\ntype: project\nteam: platform\n---\n\nshipping days\n\n" + longBody +
		"\n\n## Rollback\n\n- `make rollback`\n- tell the channel, see [other](other.md)\n\n## Freeze\n\nNothing ships in the last week of the year.\n\n## Details from the index\n\nwhen things ship\n"
	got := after.files["deploys.md"]
	if sortedBlocks(got) != sortedBlocks(want) {
		t.Errorf("deploys.md is\n%s\nwant\n%s", got, want)
	}
	if got := after.files["other.md"]; !strings.Contains(got, "See [the days](deploys.md#rollback) and [[deploys]].") {
		t.Errorf("other.md is\n%s", got)
	}
	if got := after.files["MEMORY.md"]; strings.Contains(got, "ship.md") || !strings.Contains(got, "deploys.md") {
		t.Errorf("the index is\n%s", got)
	}
	if after.files["CLAUDE.md"] != m.files["CLAUDE.md"] {
		t.Error("CLAUDE.md was changed")
	}
}

// sortedBlocks makes two texts comparable whose paragraphs may stand in another order.
func sortedBlocks(s string) string {
	parts := strings.Split(strings.TrimSpace(s), "\n\n")
	for i := range parts {
		for j := i + 1; j < len(parts); j++ {
			if parts[j] < parts[i] {
				parts[i], parts[j] = parts[j], parts[i]
			}
		}
	}
	return strings.Join(parts, "\n\n")
}

func TestPinnedTopicsStay(t *testing.T) {
	pinned := func(nested bool, name string) string {
		if nested {
			return "---\nname: " + name + "\ndescription: when deploys go out\nmetadata:\n  type: project\n  pinned: true\n---\n\n" + longBody + "\n"
		}
		return "---\nname: " + name + "\ndescription: when deploys go out\ntype: project\npinned: true\n---\n\n" + longBody + "\n"
	}
	m := of(map[string]string{
		"MEMORY.md": "- [a](a.md) — one\n- [b](b.md) — two\n- [c](c.md) — three\n- [d](d.md) — four\n",
		"a.md":      pinned(true, "a"),
		"b.md":      pinned(false, "b"),
		"c.md":      topicText("c", "when deploys go out", "project", longBody+" And see [d](d.md)."),
		"d.md":      "---\nname: d\ndescription: links a copy\ntype: user\npinned: true\n---\n\nSee [c](c.md) and [gone](gone.md).\n",
	})
	out := m.dream(t)
	after := m.applied(t, slices.Concat(out.Apply, out.Copies, out.Propose)...)
	for _, p := range []string{"a.md", "b.md", "d.md"} {
		if after.files[p] != m.files[p] {
			t.Errorf("%s was changed to\n%s", p, after.files[p])
		}
	}
	if after.files["c.md"] != m.files["c.md"] {
		t.Errorf("c.md was merged, though a pinned topic links it:\n%s", titles(out.Propose))
	}
	report := out.Report.Markdown()
	for _, words := range []string{"is pinned", "d.md links gone.md, which does not exist, and is not to be changed"} {
		if !strings.Contains(report, words) {
			t.Errorf("the report does not say %q:\n%s", words, report)
		}
	}
}

func TestPartialCopy(t *testing.T) {
	var index strings.Builder
	for i := range 20 {
		fmt.Fprintf(&index, "- [topic %d](topic-%d.md) — number %d\n", i, i, i)
	}
	m := of(map[string]string{"MEMORY.md": index.String(), "topic-3.md": topicText("topic-3", "three", "user", "Three.")})
	out := m.dream(t)
	if len(out.Propose) > 0 || len(out.Apply) > 0 {
		t.Errorf("%s%s", titles(out.Apply), titles(out.Propose))
	}
	if !strings.Contains(out.Report.Markdown(), "19 of the 20 files that are linked do not exist") {
		t.Errorf("%s", out.Report.Markdown())
	}
}

func TestDeadLinks(t *testing.T) {
	m := of(map[string]string{
		"MEMORY.md":    "- [a](a.md) — one\n- [b](b.md) — two\n- [moved](moved.md) — it lies in a folder now\n- [gone](gone.md) — what it said\n",
		"a.md":         topicText("a", "one", "user", "See [the old plan](gone.md) and [b](b.md), not `[x](y.md)`, nor [site](https://example.com/x.md) or [up](../README.md)."),
		"b.md":         topicText("b", "two", "user", "See [a](a.md) and [[wish]]."),
		"sub/moved.md": topicText("moved", "three", "user", "Here."),
	})
	out := m.dream(t)
	after := m.applied(t, slices.Concat(out.Apply, out.Copies, out.Propose)...)
	if got := after.files["MEMORY.md"]; strings.Contains(got, "gone.md") || !strings.Contains(got, "(sub/moved.md)") {
		t.Errorf("the index is\n%s\n%s", got, titles(out.Propose))
	}
	if got := after.files["a.md"]; !strings.Contains(got, "See the old plan and [b](b.md), not `[x](y.md)`, nor [site]") {
		t.Errorf("a.md is\n%s", got)
	}
	if after.files["b.md"] != m.files["b.md"] {
		t.Errorf("b.md is\n%s", after.files["b.md"])
	}
}

func TestNothingToDo(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"empty":                 {},
		"notebook":              {"MEMORY.md": "Just words.\n\nMore words.\n"},
		"healthy":               {"MEMORY.md": "- [a](a.md) — one\n", "a.md": topicText("a", "one", "user", "Likes tea.")},
		"only a folder of logs": {"logs/2026/11/2026-11-29.md": "## 10:00:00 x\n\n- type: project\n\nbody\n"},
	} {
		out := of(files).dream(t)
		if len(out.Apply)+len(out.Copies)+len(out.Propose) > 0 || !out.Report.Empty() || !strings.Contains(out.Report.Markdown(), "There is nothing to do.") {
			t.Errorf("%s: %s%s\n%s", name, titles(out.Apply), titles(out.Propose), out.Report.Markdown())
		}
	}
}

func TestLogsAreTold(t *testing.T) {
	out := of(map[string]string{"logs/2026/11/2026-11-29.md": "## 10:00:00 x\n\nbody\n"}).dream(t)
	if !strings.Contains(out.Report.Markdown(), "1 daily log: distilling them needs a model") {
		t.Errorf("%s", out.Report.Markdown())
	}
}

// TestOrderOfTheIndex: within a list, and only where the index fills up.
func TestOrderOfTheIndex(t *testing.T) {
	files := map[string]string{}
	var index strings.Builder
	index.WriteString("# Memory\n\n")
	for i := range 110 {
		name := fmt.Sprintf("t%03d", i)
		kind, extra := "reference", ""
		if i == 100 {
			kind = "feedback"
		}
		if i == 105 {
			extra = "pinned: true\n"
		}
		files[name+".md"] = fmt.Sprintf("---\nname: %s\ndescription: number %d\ntype: %s\n%s---\n\nText number %d of its own.\n", name, i, kind, extra, i*i)
		if i == 60 {
			index.WriteString("\nWords between lists.\n\n")
		}
		fmt.Fprintf(&index, "- [%s](%s.md) — number %d\n", name, name, i)
		if i == 100 {
			index.WriteString("  - a detail of number 100\n")
		}
	}
	files["MEMORY.md"] = index.String()
	m := of(files)
	out := m.dream(t)
	after := m.applied(t, out.Apply...)
	lines := strings.Split(after.files["MEMORY.md"], "\n")
	if lines[2] != "- [t000](t000.md) — number 0" {
		t.Errorf("the first list begins %q", lines[2])
	}
	at := strings.Index(after.files["MEMORY.md"], "Words between lists.\n\n- [t105](t105.md) — number 105\n- [t100](t100.md) — number 100\n  - a detail of number 100\n- [t060]")
	if at < 0 {
		t.Errorf("the index is\n%s", after.files["MEMORY.md"])
	}
	if out := after.dream(t); len(out.Apply) > 0 {
		t.Errorf("again: %s", titles(out.Apply))
	}
}

func TestReportIsBounded(t *testing.T) {
	files := map[string]string{"MEMORY.md": "- [x](x.md) — x\n"}
	for i := range 150 {
		files[fmt.Sprintf("x%d.md", i)] = topicText(fmt.Sprintf("x%d", i), "d", "user", "A text that all of these have, word for word, however often.")
	}
	out := of(files).dream(t)
	if len(out.Report.Merged) != 100 || out.Report.More["merged"] != 49 || !strings.Contains(out.Report.Markdown(), "and 49 more") {
		t.Errorf("%d merged, %v", len(out.Report.Merged), out.Report.More)
	}
}

var _ = dream.Mechanical

// TestDetailsOfWhatIsGoneStay: what stands below an entry that leads nowhere is nowhere else.
func TestDetailsOfWhatIsGoneStay(t *testing.T) {
	index := "# Memory\n\n- [first](first.md) — the first\n  - of the first\n- [gone](gone.md) — was there\n  - of the gone one\n- [lost](lost.md) — nothing below\n- [last](last.md) — the last\n  - of the last\n"
	m := of(map[string]string{"MEMORY.md": index, "first.md": topicText("first", "the first", "project", "One."), "last.md": topicText("last", "the last", "project", "Three.")})
	out := m.dream(t)
	all := m.applied(t, slices.Concat(out.Apply, out.Copies, out.Propose)...)
	want := strings.Replace(strings.Replace(index, "[gone](gone.md)", "gone", 1), "- [lost](lost.md) — nothing below\n", "", 1)
	if got := all.files["MEMORY.md"]; got != want {
		t.Errorf("the index is\n%s", got)
	}
}
