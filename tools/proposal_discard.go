package tools

import (
	"context"

	"mem/core/proposal"
)

func proposalDiscard() spec {
	return spec{
		name:        "proposal_discard",
		title:       "Discard a proposal",
		description: "Decides that a proposal, or parts of it, are not to be applied. Memory stays as it is; the proposal is kept for 90 days, to be looked at.",
		in: schema{
			req("id", str("Of the proposal, or the beginning of it.")),
			opt("reason", str("Why, in a few words.")),
		}.with(append(partsArgs(), storeArg())...),
		out:         decidedSchema(),
		destructive: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			ID     string   `json:"id"`
			Reason string   `json:"reason"`
			Units  []string `json:"units"`
			Files  []string `json:"files"`
		}) (answer, error) {
			d, err := m.proposals().Discard(ctx, a.ID, proposal.Which{Units: a.Units, Files: a.Files}, a.Reason)
			if err != nil {
				return answer{}, err
			}
			return m.decided(d), nil
		}),
	}
}
