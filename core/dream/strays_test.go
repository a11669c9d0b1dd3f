package dream_test

import (
	"slices"
	"strings"
	"testing"

	"mem/core/dream"
	"mem/core/model/modeltest"
	"mem/core/proposal"
)

const belowMerged = "# Memory\n\n- [other](other.md) — another thing\n- [ship](ship.md) — when deploys go out\n  - Ines has the keys, see [other](other.md#keys).\n  - Port 8080 is taken.\n  - [low](low.md) — below it\n- [deploys](deploys.md) — when deploys go out\n"

func merging() map[string]string {
	return map[string]string{
		"MEMORY.md":  belowMerged,
		"deploys.md": topicText("deploys", "when deploys go out", "project", longBody+"\n\nSee the plan."),
		"ship.md":    topicText("ship", "when deploys go out", "project", longBody),
		"other.md":   topicText("other", "another thing", "reference", "Tea at four."),
		"low.md":     topicText("low", "below it", "reference", "A cellar."),
	}
}

// TestWhatStoodBelowAMergedEntry goes into the topic that stays; entries below it stay.
func TestWhatStoodBelowAMergedEntry(t *testing.T) {
	m := of(merging())
	m.files["MEMORY.md"] = strings.Replace(belowMerged, ", see [other](other.md#keys)", "", 1)
	out := m.dream(t)
	after := m.applied(t, slices.Concat(out.Apply, out.Copies, out.Propose)...).files
	if _, there := after["ship.md"]; there {
		t.Fatal("nothing was merged")
	}
	want := "# Memory\n\n- [other](other.md) — another thing\n- [low](low.md) — below it\n- [deploys](deploys.md) — when deploys go out\n"
	if after["MEMORY.md"] != want {
		t.Errorf("the index is\n%s", after["MEMORY.md"])
	}
	for _, l := range []string{"- Ines has the keys.", "- Port 8080 is taken."} {
		if !strings.Contains(after["deploys.md"], l+"\n") {
			t.Errorf("%q is lost:\n%s", l, after["deploys.md"])
		}
	}
}

// TestAnAgentLeavesDetailsBehind: an agent that takes out an entry and leaves what stood
// below it has it neither below another entry nor lost.
func TestAnAgentLeavesDetailsBehind(t *testing.T) {
	for _, policy := range []proposal.Policy{proposal.HoldDeletions, proposal.Apply} {
		g := of(merging())
		g.files["MEMORY.md"] = "# Memory\n\n- [other](other.md) — another thing\n- [ship](ship.md) — shipping\n  - Port 8080 is taken.\n- [deploys](deploys.md) — when deploys go out\n- [low](low.md) — below\n- [tea](tea.md) — about tea\n- [cocoa](cocoa.md) — about cocoa\n"
		for _, p := range []string{"tea", "cocoa"} { // one of few topics would wait in any case
			g.files[p+".md"] = topicText(p, "about "+p, "reference", strings.Repeat(p+" at four. ", 9))
		}
		g.files["ship.md"] = topicText("ship", "shipping", "project", "The harbour opens at nine, and Rosa has the crane.")
		s := modeltest.Start(t,
			modeltest.Call("Read", modeltest.In{"file_path": "/memory/MEMORY.md"}).And("Read", modeltest.In{"file_path": "/memory/ship.md"}).And("Read", modeltest.In{"file_path": "/memory/deploys.md"}),
			modeltest.Call("Edit", modeltest.In{"file_path": "/memory/deploys.md", "old_string": "See the plan.", "new_string": "See the plan. The harbour opens at nine, and Rosa has the crane."}).
				And("Write", modeltest.In{"file_path": "/memory/ship.md", "content": ""}).
				And("Edit", modeltest.In{"file_path": "/memory/MEMORY.md", "old_string": "- [ship](ship.md) — shipping\n", "new_string": ""}),
			modeltest.Say(`{"did":"merged","files":["ship.md"],"into":"deploys.md","why":"one matter","from":["ship.md"]}`))
		h := newSleeper(t, g, s, "")
		before := h.onDisk("MEMORY.md")
		ran, _, err := h.dream(dream.Params{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		if policy == proposal.HoldDeletions {
			if got := h.onDisk("MEMORY.md"); got != before {
				t.Errorf("before a decision the index is\n%s", got)
			}
			if _, err := proposal.Of(h.Memory).Apply(t.Context(), ran.Proposals[0], proposal.Which{}); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.onDisk("MEMORY.md"); strings.Contains(got, "8080") || strings.Contains(got, "ship") {
			t.Errorf("%s: the index is\n%s", policy, got)
		}
		if got := h.onDisk("deploys.md"); !strings.Contains(got, "\n- Port 8080 is taken.\n") || !strings.Contains(got, "crane") {
			t.Errorf("%s: it says\n%s", policy, got)
		}
	}
}

func (h *home) onDisk(p string) string { return files(h.base)[p] }
