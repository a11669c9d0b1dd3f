package tools

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/core/memory"
)

// Limits of what memory_stores lists, in characters of its parts and in number.
const (
	maxStores     = 26_000
	maxSplit      = 6_000
	maxStoreNotes = 3
	maxDefined    = 3
)

// stores is the answer of memory_stores: as much of a list as fits.
type stores struct {
	Project    string           `json:"project"`
	Stores     []agentmem.Store `json:"stores"`
	MoreStores int              `json:"moreStores,omitempty"`
	Split      []agentmem.Part  `json:"split"`
	MoreSplit  int              `json:"moreSplit,omitempty"`
	memory.Notice
}

func memoryStores() spec {
	return spec{
		name:  "memory_stores",
		title: "List the stores of memory",
		description: "Lists every memory that the store argument of the other tools can name: the project's, each agent's own, and folders that are only read; " +
			"how much is in each and what is wrong with it; agents that have none yet; and memory of one agent that lies in several places, with the command that merges it.",
		in: schema{opt("agent", str("Only the stores of this agent."))},
		out: schema{
			req("project", str("Its root, where stores in the checkout lie.")),
			req("stores", list("", schema{
				req("store", str("For the argument store; empty where its folder has a name that cannot be one.")),
				opt("agent", str("")), opt("scope", choice("", "user", "project", "local")),
				req("directory", str("")), req("exists", boolean("")), opt("readOnly", boolean("")),
				opt("snapshot", boolean("Whether the team shares a snapshot of this agent's memory.")),
				opt("health", schema{
					req("topics", integer("")), req("logs", integer("")), req("index", fill("")),
					opt("unread", integer("Files that could not be read.")),
					opt("problems", raw(`{"type":"object","description":"What memory_check finds, secrets aside, by severity.","additionalProperties":{"type":"integer"}}`)),
					opt("lastChange", str("")),
				}.nested("")),
				opt("definedIn", list("Files that define the agent with this memory.", str(""))),
				opt("notes", list("", str(""))),
			}.nested(""))),
			opt("moreStores", integer("Not listed; name an agent.")),
			req("split", list("Memory of an agent that lies apart from its store: a client finds it only where it was started.", schema{
				req("store", str("Where it belongs.")), req("directory", str("")), req("where", str("")),
				req("kind", choice("", "subdirectory", "worktree")), req("topics", integer("")),
				opt("same", boolean("Whether the store has all of it.")),
				opt("merge", str("The command with which a person brings it into the store.")), opt("note", str("")),
			}.nested(""))),
			opt("moreSplit", integer("Not listed.")),
		}.with(notice()...),
		readOnly: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Agent string `json:"agent"`
		}) (answer, error) {
			all, err := agentmem.List(ctx, m.Memory, agentmem.Options{Agent: a.Agent, Look: func(ctx context.Context, dir string) (*memdir.View, map[string]int, error) {
				return m.checks.several.Look(ctx, m.Env(), m.Location.Project.Root, dir)
			}})
			if err != nil {
				return answer{}, err
			}
			s := someStores(all)
			return answer{s, s.words()}, nil
		}),
	}
}

// someStores takes as much of a list as a result holds.
func someStores(all *agentmem.Stores) stores {
	out := stores{Project: all.Project, Stores: []agentmem.Store{}, Split: []agentmem.Part{}, Notice: all.Notice}
	room := maxStores
	for i, s := range all.Stores {
		s.Notes, s.Defined = slices.Clone(s.Notes), slices.Clone(s.Defined)
		if n := len(s.Notes) - maxStoreNotes; n > 0 {
			s.Notes = append(s.Notes[:maxStoreNotes], fmt.Sprintf("%d more notes", n))
		}
		for i, n := range s.Notes {
			s.Notes[i] = memdir.Shown(n, maxFound)
		}
		if n := len(s.Defined) - maxDefined; n > 0 {
			s.Defined = append(s.Defined[:maxDefined], fmt.Sprintf("%d more", n))
		}
		for i, d := range s.Defined {
			s.Defined[i] = memory.Fit(d, 1000)
		}
		s.Directory = memory.Fit(s.Directory, 2000)
		if room -= memory.Size(s); room < 0 && i > 0 {
			out.MoreStores = len(all.Stores) - i
			break
		}
		out.Stores = append(out.Stores, s)
	}
	room = maxSplit
	for i, p := range all.Split {
		if room -= memory.Size(p); room < 0 && i > 0 {
			out.MoreSplit = len(all.Split) - i
			break
		}
		out.Split = append(out.Split, p)
	}
	return out
}

func (s stores) words() string {
	lines := []string{"Stores of " + memdir.ShownName(s.Project) + ":"}
	for _, x := range s.Stores {
		l := "- " + x.Name
		if x.Name == "" {
			l = "- (no name) " + memdir.ShownName(x.Directory)
		}
		switch h := x.Health; {
		case h != nil:
			l += fmt.Sprintf(": %s, index %d %%", counted(h.Topics, "topic"), h.Index.Percent)
			for _, severity := range slices.Sorted(maps.Keys(h.Problems)) {
				l += fmt.Sprintf(", %d %s", h.Problems[severity], severity)
			}
			if h.LastChange != nil {
				l += ", changed " + h.LastChange.Format("2006-01-02")
			}
		case !x.Exists:
			l += ": does not exist yet"
		}
		if x.ReadOnly {
			l += ", only read"
		}
		if x.Snapshot {
			l += ", the team shares a snapshot"
		}
		lines = append(lines, l)
		for _, n := range x.Notes {
			lines = append(lines, "  "+n)
		}
	}
	if s.MoreStores > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more; give an agent", s.MoreStores))
	}
	for _, p := range s.Split {
		l := fmt.Sprintf("Apart from %s, in the %s %s: %s, %s.", p.Store, p.Kind, memdir.ShownName(p.Where), memdir.ShownName(p.Directory), counted(p.Topics, "topic"))
		if p.Merge != "" {
			l += " A person merges it with: " + p.Merge
		}
		lines = append(lines, strings.TrimSpace(l+" "+p.Note))
	}
	if s.MoreSplit > 0 {
		lines = append(lines, fmt.Sprintf("and %d more that lie apart", s.MoreSplit))
	}
	return words(append(lines, noticeWords(s.Notice))...)
}
