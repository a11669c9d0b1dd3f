package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mem/core/agentmem"
	"mem/core/memdir"
)

func snapshotPublish() spec {
	return spec{
		name:  "snapshot_publish",
		title: "Share memory with the team",
		description: "Brings what is new in an agent's project memory into its snapshot in the checkout, which the team gets when it is committed. Without confirm it only shows what would be published: look at that first, " +
			"since it leaves this machine. With confirm, the client asks a person where it can. Secrets are never published, personal data (topics of the type user, home paths, e-mail addresses) only if a person lets it through: name it in allow, and they are asked; memories of one user (user, local) cannot be published.",
		in: schema{
			agentArg(),
			opt("confirm", boolean("Write it.")),
			opt("allow", list("What is held back and a person shall be asked to let through, as held names it (item).", str(""))),
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
			Allow   []string `json:"allow"`
		}) (_ answer, err error) {
			s, err := agentmem.Open(m.OptionsFor(""), a.Agent)
			if err != nil {
				return answer{}, err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			o := agentmem.PublishOptions{Only: a.Only, Note: a.Note, Allow: a.Allow}
			if a.Confirm {
				if o.Plan, o.Confirm = publishAllowed(ctx); !o.Confirm {
					if err := askPublish(ctx, s, o); err != nil {
						return answer{}, err
					}
					o.Confirm = true
				}
			}
			p, err := s.Publish(ctx, o)
			if err != nil {
				return answer{}, teamError(err)
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

// publishID names the question whether something may go to the team.
const publishID = "publish-snapshot"

// mayPublish is the key under which a context carries the plan of a publish that a person
// agreed to.
type mayPublish struct{}

// allowPublish gives a context in which what was planned is published, and nothing else.
// Only code that has a person's answer may call it.
func allowPublish(ctx context.Context, plan string) context.Context {
	return context.WithValue(ctx, mayPublish{}, plan)
}

func publishAllowed(ctx context.Context) (plan string, ok bool) {
	plan, ok = ctx.Value(mayPublish{}).(string)
	return plan, ok
}

// askPublish gives the question to a person. Where the client cannot ask one, the caller's
// own confirm counts, but for what is held back.
func askPublish(ctx context.Context, s *agentmem.Shared, o agentmem.PublishOptions) error {
	if !canAsk(ctx) && len(o.Allow) == 0 {
		return nil
	}
	p, err := s.Publish(ctx, o)
	if err != nil {
		return teamError(err)
	}
	if p.Plan == "" {
		return nil // there is nothing to publish
	}
	command := "mem-mcp snapshot publish " + p.Agent
	for _, item := range o.Allow {
		command += " --allow " + memdir.ShownName(item)
	}
	e := &personError{permission: publishID, what: p.Plan, refusal: fmt.Sprintf("no person said that this may go to the team. Nothing was published. They can do it themselves: %s", command)}
	lines := []string{fmt.Sprintf("An agent wants to publish %s of the memory of %s to %s, which the team gets with the next commit:", counted(len(p.Files)+p.MoreFiles, "file"), memdir.ShownName(p.Agent), memdir.ShownName(p.Snapshot))}
	for i, f := range p.Files {
		if i == 15 {
			lines = append(lines, fmt.Sprintf("- and %d more", len(p.Files)-i+p.MoreFiles))
			break
		}
		lines = append(lines, "- "+memdir.ShownName(f.Path)+" "+f.Action)
	}
	for i, h := range p.Allowed {
		if i == 15 {
			lines = append(lines, fmt.Sprintf("- and %d more that is personal", len(p.Allowed)-i))
			break
		}
		lines = append(lines, "PERSONAL: "+brief(memdir.ShownName(h.Path)+": "+h.Reason))
	}
	e.question = strings.Join(append(lines, "`"+command+" --dry-run` shows all of it."), "\n")
	return e
}
