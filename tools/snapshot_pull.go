package tools

import (
	"context"
	"errors"

	"mem/core/agentmem"
)

func snapshotPull() spec {
	return spec{
		name:  "snapshot_pull",
		title: "Take news of the team",
		description: "Brings an agent's memory and the team's snapshot together. Where there is no memory yet, it copies the snapshot. Else nothing is taken unless you say what: " +
			"without take and apply it shows the news and the conflicts as data. What is here is never overwritten: texts are merged by section. What you decide is remembered and not asked again; memory_undo takes a change back.",
		in: schema{
			agentArg(),
			opt("apply", boolean("Take all that neither conflicts nor deletes.")),
			opt("take", list("Decisions about single topics.", schema{
				req("path", str(`Of the topic, or MEMORY.md; "*" is all.`)),
				opt("part", str("One conflict of it, as conflicts names it; all of the topic unless given.")),
				req("choice", choice("Each but skip also takes what does not conflict. theirs: conflicts and deletions as the team has them; mine: as here; both: one below the other; skip: take nothing of this version.",
					string(agentmem.TakeTheirs), string(agentmem.TakeMine), string(agentmem.TakeBoth), string(agentmem.Skip))),
			}.nested(""))),
			storeArg(),
		},
		out: schema{
			opt("initialized", boolean("The snapshot was copied.")),
			req("left", snapshotSchema().nested("What is open now.")),
			opt("proposal", str("Id of the proposal that the news wait as, for proposal_show and proposal_apply.")),
			opt("text", str("News that wait, and conflicts with both texts, as data.")),
		}.with(changed()...),
		destructive: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Agent string          `json:"agent"`
			Apply bool            `json:"apply"`
			Take  []agentmem.Wish `json:"take"`
		}) (_ answer, err error) {
			s, err := agentmem.Open(m.OptionsFor(""), a.Agent)
			if err != nil {
				return answer{}, err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			p, err := s.Pull(ctx, agentmem.PullOptions{Apply: a.Apply, Wishes: a.Take})
			if err != nil {
				return answer{}, teamError(err)
			}
			head := ""
			if p.Initialized {
				head = "The snapshot was copied."
			}
			return answer{p, words(head, changeWords(p.Change), snapshotWords(p.Left), p.Text, snapshotNext(p.Left))}, nil
		}),
	}
}
