package tools

import (
	"context"
	"fmt"
	"strings"

	"mem/core/memory"
	"mem/core/proposal"
)

// decided is what became of a proposal.
type decided struct {
	Proposal shownProposal `json:"proposal"`
	Change   string        `json:"change"`
	Units    []shownUnit   `json:"units"`
	// MoreUnits counts those that are not listed.
	MoreUnits int            `json:"moreUnits,omitempty"`
	Already   int            `json:"alreadyDecided,omitempty"`
	Result    *memory.Change `json:"result,omitempty"`
}

func decidedSchema() schema {
	return schema{
		req("proposal", proposalSchema().nested("As it is now.")).tell(parts("object", "As it is now: "+proposalParts)),
		req("change", str("Id for memory_undo; empty when memory was not changed.")),
		unitList("units", "What became of the units; one that is still open could not be applied, and its note says why."),
		opt("moreUnits", integer("Not listed.")),
		opt("alreadyDecided", integer("Units that were decided before.")),
		madeOf(),
	}
}

func (t target) decided(d *proposal.Done) answer {
	out := decided{Proposal: shortProposal(d.Proposal), Change: d.Change, Already: len(d.Already), Result: d.Result}
	out.Units, out.MoreUnits = t.units(append(append([]proposal.Unit{}, d.Applied...), d.Held...))
	lines := []string{out.Proposal.words(), unitWords(out.Units, out.MoreUnits)}
	if out.Already > 0 {
		lines = append(lines, counted(out.Already, "unit")+" decided before.")
	}
	if d.Result != nil {
		lines = append(lines, changeWords(*d.Result))
	}
	return answer{out, words(lines...)}
}

func proposalApply() spec {
	return spec{
		name:  "proposal_apply",
		title: "Apply a proposal",
		description: "Applies a proposal, or parts of it, as one change that memory_undo takes back. What waits for review needs a person: the client asks them where it can; " +
			"else the result says how they can do it. What others wrote since is merged; a part with a conflict stays open, with both texts.",
		in:          schema{req("id", str("Of the proposal, or the beginning of it."))}.with(append(partsArgs(), storeArg())...),
		out:         decidedSchema(),
		destructive: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			ID    string   `json:"id"`
			Units []string `json:"units"`
			Files []string `json:"files"`
		}) (answer, error) {
			which := proposal.Which{Units: a.Units, Files: a.Files}
			x, err := m.proposals().Get(ctx, a.ID)
			if err != nil {
				return answer{}, err
			}
			units, err := x.Select(which)
			if err != nil {
				return answer{}, err
			}
			if !m.with.AllowApply && !applyAllowed(ctx) {
				if q := m.askApply(x, units); q != nil {
					return answer{}, q
				}
			}
			// The units of a proposal never change, so these are what the person was asked about.
			d, err := m.proposals().Apply(ctx, x.ID, which)
			if err != nil {
				return answer{}, err
			}
			return m.decided(d), nil
		}),
	}
}

// askApply gives the question to a person, nil where nothing waits that they could be
// asked about.
func (t target) askApply(x *proposal.Proposal, units []proposal.Unit) *personError {
	var lines []string
	n, deletes := 0, 0
	for _, u := range units {
		if u.State != proposal.Open {
			continue
		}
		n++
		s := t.unit(u)
		mark := ""
		if u.Deletes {
			deletes++
			mark = " (deletes)"
		}
		if len(lines) < 15 {
			lines = append(lines, "- "+brief(s.Title)+mark)
		}
	}
	if n == 0 {
		return nil
	}
	if n > len(lines) {
		lines = append(lines, fmt.Sprintf("- and %d more", n-len(lines)))
	}
	return &personError{permission: applyID, refusal: fmt.Sprintf("the proposal %s waits for a person, so an agent cannot apply it. Nothing was changed. Tell the person what it does and that they can apply it: "+
		"with `mem-mcp proposals apply %s`, or by starting this server with --allow-apply", x.ID, x.ID), question: fmt.Sprintf("An agent wants to apply %s of the proposal %s (%s, by the job %s) to the memory in %s; %d of them delete something:\n%s\n`mem-mcp proposals show %s` shows the diffs. It can be undone.",
		counted(n, "part"), x.ID, brief(x.Title), brief(x.Kind), t.Location.Directory, deletes, strings.Join(lines, "\n"), x.ID)}
}
