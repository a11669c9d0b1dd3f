package tools

import (
	"context"
	"fmt"

	"mem/core/memory"
	"mem/core/proposal"
)

func proposalList() spec {
	return spec{
		name:  "proposal_list",
		title: "Proposals that wait",
		description: "Lists changes to memory that a job proposed and that wait for a person, newest first; with all, those decided in the last 90 days as well. " +
			"proposal_show shows what one does.",
		in: schema{opt("all", boolean("Decided ones, too.")), opt("kind", str("Only of this kind of job.")), storeArg()},
		out: schema{
			req("proposals", list("Newest first.", proposalSchema().nested(""))).tell(parts("array", "Newest first. Each: "+proposalParts)),
			opt("more", integer("Not listed.")),
			opt("notes", list("", str(""))),
		},
		readOnly: true, idempotent: true,
		run: handle(func(_ context.Context, m target, a struct {
			All  bool   `json:"all"`
			Kind string `json:"kind"`
		}) (answer, error) {
			all, notes, err := m.proposals().List(proposal.ListOptions{Kind: a.Kind, Open: !a.All})
			if err != nil {
				return answer{}, err
			}
			var out struct {
				Proposals []shownProposal `json:"proposals"`
				More      int             `json:"more,omitempty"`
				Notes     []string        `json:"notes,omitempty"`
			}
			out.Proposals = []shownProposal{}
			lines := []string{counted(len(all), "proposal") + "."}
			for i, x := range all {
				if i == maxProposals {
					out.More = len(all) - i
					lines = append(lines, fmt.Sprintf("- and %d more", out.More))
					break
				}
				s := shortProposal(x)
				out.Proposals = append(out.Proposals, s)
				lines = append(lines, "- "+s.words())
			}
			for i, n := range notes {
				if i == 5 {
					break
				}
				n = memory.Fit(n, 800)
				out.Notes = append(out.Notes, n)
				lines = append(lines, "Note: "+n)
			}
			return answer{out, words(lines...)}, nil
		}),
	}
}
