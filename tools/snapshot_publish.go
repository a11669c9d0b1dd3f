package tools

import (
	"context"
	"errors"

	"mem/core/agentmem"
)

func snapshotPublish() spec {
	return spec{
		name:  "snapshot_publish",
		title: "Share memory with the team",
		description: "Brings what is new in an agent's project memory into its snapshot in the checkout, which the team gets when it is committed. Without confirm it only shows what would be published: look at that first, " +
			"since it leaves this machine. Secrets are never published, personal data (topics of the type user, home paths, e-mail addresses) only if a person lets it through; memories of one user (user, local) cannot be published.",
		in: schema{
			agentArg(),
			opt("confirm", boolean("Write it.")),
			opt("only", list("Only these topics, by path.", str(""))),
			opt("note", str("For the team, kept in snapshot.json.")),
			storeArg(),
		},
		out: schema{
			req("agent", str("")), req("snapshot", str("")), req("dryRun", boolean("Nothing was written.")),
			opt("updatedAt", str("What snapshot.json says now.")),
			req("files", list("", schema{
				req("path", str("")), opt("from", str("")), req("action", choice("", "added", "changed", "removed", "renamed")),
			}.nested(""))),
			opt("moreFiles", integer("Not listed.")),
			req("held", list("What is not published, and why.", schema{
				req("item", str("")), req("path", str("")), opt("line", integer("")), req("kind", str("")), req("reason", str("")), opt("never", boolean("Nobody can let it through.")),
			}.nested(""))),
			opt("moreHeld", integer("Not listed.")),
			opt("diff", str("What would change.")),
			opt("notes", list("What else you must know.", str(""))),
		},
		destructive: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Agent   string   `json:"agent"`
			Confirm bool     `json:"confirm"`
			Only    []string `json:"only"`
			Note    string   `json:"note"`
		}) (_ answer, err error) {
			s, err := agentmem.Open(m.OptionsFor(""), a.Agent)
			if err != nil {
				return answer{}, err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			p, err := s.Publish(ctx, agentmem.PublishOptions{Confirm: a.Confirm, Only: a.Only, Note: a.Note})
			if err != nil {
				return answer{}, err
			}
			lines := p.Words()
			if p.DryRun && len(p.Files) > 0 {
				lines = append(lines, "Call again with confirm to publish it.")
			}
			for _, n := range p.Notes {
				lines = append(lines, "Note: "+n)
			}
			return answer{p, words(words(lines...), p.Diff)}, nil
		}),
	}
}
