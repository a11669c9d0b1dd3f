package dream_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mem/core/dream"
	"mem/core/job"
	"mem/core/proposal"
)

// crowded is a memory whose index is too long since details of topics stand in it.
func crowded() *generated {
	g := small()
	index := g.files["MEMORY.md"]
	var details strings.Builder
	for i := range 210 {
		fmt.Fprintf(&details, "  - w%dx is a detail of deploys\n", i)
	}
	g.files["MEMORY.md"] = strings.Replace(index, "how deploys go\n", "how deploys go\n"+details.String(), 1)
	g.files["again.md"] = strings.ReplaceAll(g.files["rate-limit.md"], "name: Rate limit", "name: Again")
	g.files["MEMORY.md"] += "- [Again](again.md) — w900x about the limit\n"
	return of(g.files)
}

// handed gives a host a dream of a memory.
func handed(t *testing.T, g *generated) (*sleeper, *dream.Handed) {
	t.Helper()
	h := newSleeper(t, g, nil, "engine: auto\n")
	got, err := dream.Hand(context.Background(), h.house, "", "tool", fixer())
	if err != nil {
		t.Fatal(err)
	}
	return h, got
}

// submit hands in what somebody makes of files as they are in memory; "" deletes.
func (h *sleeper) submit(job string, texts map[string]string) (*proposal.Finished, error) {
	h.t.Helper()
	sub := proposal.Submitted{Job: job}
	for p, s := range texts {
		f := proposal.File{Path: p, Text: s, Delete: s == "", Reason: "so it is"}
		if read, err := h.ReadAll(context.Background(), p); err == nil {
			f.BaseHash = read.Hash
		}
		sub.Files = append(sub.Files, f)
	}
	return proposal.Submit(context.Background(), h.Memory, h.house.Jobs, sub, map[string]proposal.Finisher{"dream": dream.Finish})
}

// TestAHostLosesNoDetail: a host hands in a whole text that stands on what it read, into
// which rules have moved details of the index meanwhile. Both are there afterwards.
func TestAHostLosesNoDetail(t *testing.T) {
	g := crowded()
	before := wordsOf(g.files)
	for name, c := range map[string]struct {
		texts func(map[string]string) map[string]string
		cut   bool // the index is cut by rules as well
	}{
		"nothing": {func(map[string]string) map[string]string { return nil }, true},
		"the topic that takes details": {func(now map[string]string) map[string]string {
			return map[string]string{"deploys.md": strings.Replace(now["deploys.md"], "on Fridays", "on Saturdays", 1)}
		}, true},
		"that topic goes": {func(map[string]string) map[string]string { return map[string]string{"deploys.md": ""} }, false},
		"the copy as well": {func(now map[string]string) map[string]string {
			return map[string]string{"again.md": "", "rate-limit.md": strings.Replace(now["rate-limit.md"], "30 requests", "45 requests", 1)}
		}, true},
		"the copy alone": {func(now map[string]string) map[string]string {
			return map[string]string{"again.md": strings.Replace(now["again.md"], "30 requests", "45 requests", 1)}
		}, true},
		"the index": {func(now map[string]string) map[string]string {
			return map[string]string{"MEMORY.md": strings.Replace(now["MEMORY.md"], "- [Editor]", "- [The editor]", 1)}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, got := handed(t, g)
			done, err := h.submit(got.Job, c.texts(g.files))
			if err != nil {
				t.Fatal(err)
			}
			after := files(h.base)
			if l := lost(before, wordsOf(after)); len(l) > 0 {
				t.Errorf("%d words are lost without a question: %v", len(l), l[:min(len(l), 5)])
			}
			if n := strings.Count(after["MEMORY.md"], "\n"); (n < 200) != c.cut {
				t.Errorf("the index has %d lines", n)
			}
			if p := done.Settled.Proposal; p != nil {
				if _, err := proposal.Of(h.Memory).Apply(context.Background(), p.ID, proposal.Which{}); err != nil {
					t.Fatal(err)
				}
				may := map[string]bool{}
				switch name { // a host that deletes a topic deletes its entry
				case "that topic goes":
					may = wordsOf(map[string]string{"MEMORY.md": g.files["MEMORY.md"]})
				case "the copy as well":
					may["w900x"] = true
				}
				if l := lost(before, wordsOf(files(h.base))); slices.ContainsFunc(l, func(w string) bool { return !may[w] }) {
					t.Errorf("applied, %v are lost", l)
				}
			}
		})
	}
}

// TestARefusedSubmissionLeavesTheStage: after one that was refused the next is as good as
// the first would have been.
func TestARefusedSubmissionLeavesTheStage(t *testing.T) {
	g := crowded()
	h, got := handed(t, g)
	var no *proposal.RejectedError
	for range 2 {
		if _, err := h.submit(got.Job, map[string]string{"deploys.md": g.files["deploys.md"] + "more\n", "again.md": "", "../out.md": "x"}); !errors.As(err, &no) {
			t.Fatal(err)
		}
	}
	if _, err := h.submit(got.Job, nil); err != nil {
		t.Fatal(err)
	}
	after := files(h.base)
	if l := lost(wordsOf(g.files), wordsOf(after)); len(l) > 0 || !strings.Contains(after["deploys.md"], "w9x is a detail") || strings.Contains(after["deploys.md"], "more") || strings.Count(after["MEMORY.md"], "\n") > 200 {
		t.Errorf("%v are lost\n%s\n%s", l, after["deploys.md"], after["MEMORY.md"])
	}
	if r, err := h.house.Jobs.Get(got.Job); err != nil || r.State != job.Done {
		t.Errorf("%+v, %v", r, err)
	}
}
