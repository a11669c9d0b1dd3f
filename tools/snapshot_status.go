package tools

import (
	"context"

	"mem/core/agentmem"
	"mem/core/memdir"
)

// What the tools for snapshots have in common.

// maxSnapshotAgents is how many agents a result lists.
const maxSnapshotAgents = 40

func agentArg() property { return req("agent", str("Name of the agent, as snapshot_status lists it.")) }

func agentStates() raw {
	return choice("", string(agentmem.StateNone), string(agentmem.StateInitialize), string(agentmem.StateUpdate), string(agentmem.StateInSync),
		string(agentmem.StateAhead), string(agentmem.StateDiverged), string(agentmem.StateInvalid))
}

func snapshotSchema() schema {
	counts := func(doc string) raw {
		return schema{req("added", integer("")), req("changed", integer("")), req("removed", integer("")), req("renamed", integer(""))}.nested(doc)
	}
	return schema{
		req("agent", str("")), req("store", str("Its memory directory.")), req("snapshot", str("The folder in the checkout.")),
		req("action", choice("What to do about it.", string(agentmem.ActionNone), string(agentmem.ActionInitialize), string(agentmem.ActionPromptUpdate))),
		req("state", agentStates()),
		opt("updatedAt", str("When it was published.")), opt("older", boolean("Than the one synced last.")), opt("author", str("")), opt("note", str("")),
		req("base", choice("Where the last common version is known from; with none, all that differs is in doubt.", "state", "git", "none")),
		opt("baseCommit", str("")),
		req("topics", integer("Here.")), req("shared", integer("In the snapshot.")),
		req("mine", counts("What was done here since.")), req("team", counts("News of the team.")),
		req("conflicting", integer("Files with parts that both changed differently.")),
		req("private", integer("Topics about a person, which stay here.")), req("skipped", integer("News that were looked at and left.")),
		req("files", list("What differs.", schema{
			req("path", str("")), opt("from", str("Its earlier name.")), opt("mine", str("")), opt("team", str("")),
			opt("conflicts", list("Parts, as take names them.", str(""))), opt("private", boolean("")), opt("skipped", boolean("")),
		}.nested(""))),
		opt("moreFiles", integer("Not listed.")),
		opt("problems", list("Why the snapshot is not used.", schema{
			req("kind", str("")), opt("path", str("")), opt("line", integer("")), req("reason", str("")), opt("secret", boolean("")),
		}.nested(""))),
		opt("moreProblems", integer("Not listed.")),
		opt("notes", list("What else you must know.", str(""))),
	}
}

func snapshotWords(st *agentmem.Status) string {
	lines := []string{st.Words()}
	for _, f := range st.Files {
		lines = append(lines, "- "+f.Words())
	}
	if st.State == agentmem.StateInvalid {
		for _, p := range st.Problems {
			lines = append(lines, "- "+memdir.Shown(p.String(), 500))
		}
	}
	for _, n := range st.Notes {
		lines = append(lines, "Note: "+n)
	}
	return words(lines...)
}

func snapshotStatus() spec {
	return spec{
		name:  "snapshot_status",
		title: "State of team snapshots",
		description: "Tells how agents' project memories and the snapshots that the team shares through git stand to each other: in sync, news of the team (prompt-update), " +
			"something here that is not shared (local-ahead), both (diverged), or why a snapshot is not used. Name an agent to see its files and conflicts.",
		in: schema{opt("agent", str("Only this agent, with its files.")), storeArg()},
		out: schema{
			req("snapshots", str("The folder that holds them.")),
			req("agents", list("Those that need somebody first.", snapshotSchema().nested(""))),
			opt("moreAgents", integer("Not listed.")),
			opt("notes", list("What else you must know.", str(""))),
		},
		readOnly: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Agent string `json:"agent"`
		}) (answer, error) {
			o, err := agentmem.Overlook(ctx, m.OptionsFor(""), m.Location.Project, a.Agent, maxSnapshotAgents)
			if err != nil {
				return answer{}, err
			}
			var lines []string
			if len(o.Agents) == 0 {
				lines = append(lines, "No agent of this project has a project memory or a snapshot in "+memdir.ShownName(o.Snapshots)+".")
			}
			for _, st := range o.Agents {
				lines = append(lines, snapshotWords(st))
				if len(o.Agents) == 1 {
					lines = append(lines, snapshotNext(st))
				}
			}
			if o.MoreAgents > 0 {
				lines = append(lines, counted(o.MoreAgents, "more agent")+" not listed.")
			}
			for _, n := range o.Notes {
				lines = append(lines, "Note: "+n)
			}
			return answer{o, words(lines...)}, nil
		}),
	}
}
