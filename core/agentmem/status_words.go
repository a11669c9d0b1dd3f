package agentmem

import (
	"fmt"
	"strings"

	"mem/core/memdir"
)

// Words says in one line how a memory and its snapshot stand to each other.
func (st *Status) Words() string {
	switch st.State {
	case StateNone:
		if st.Topics == 0 {
			return fmt.Sprintf("%s: no memory here and no snapshot.", st.Agent)
		}
		return fmt.Sprintf("%s: no snapshot; %s here that could be published.", st.Agent, counted(st.Topics, "topic")) + st.extra()
	case StateInitialize:
		return fmt.Sprintf("%s: the team shares %s and nothing is here yet; a pull copies it.", st.Agent, counted(st.Shared, "topic"))
	case StateInSync:
		return fmt.Sprintf("%s: in sync, %s.", st.Agent, counted(st.Shared, "topic")) + st.extra()
	case StateInvalid:
		reason := "it cannot be used"
		if len(st.Problems) > 0 {
			reason = st.Problems[0].String()
		}
		return fmt.Sprintf("%s: the snapshot is not used: %s.", st.Agent, memdir.Shown(reason, 500))
	}
	var parts []string
	if n := st.Team.words(); n != "" {
		parts = append(parts, "the team: "+n)
	}
	if n := st.Mine.words(); n != "" {
		parts = append(parts, "here: "+n)
	}
	if st.Conflicting > 0 {
		parts = append(parts, fmt.Sprintf("%d in conflict", st.Conflicting))
	}
	return fmt.Sprintf("%s: %s; %s.", st.Agent, st.State, strings.Join(parts, "; ")) + st.extra()
}

func (st *Status) extra() string {
	s := ""
	if st.Older {
		s += " The checkout has an older snapshot than the one that was synced last: another branch or commit, or a clock that is behind."
	}
	switch {
	case st.Private == 1:
		s += " 1 topic about a person stays here."
	case st.Private > 1:
		s += fmt.Sprintf(" %d topics about a person stay here.", st.Private)
	}
	if st.Skipped > 0 {
		s += fmt.Sprintf(" %d of the team's were skipped.", st.Skipped)
	}
	return s
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (c Counts) words() string {
	var parts []string
	for _, x := range []struct {
		n    int
		what string
	}{{c.Added, "added"}, {c.Changed, "changed"}, {c.Removed, "removed"}, {c.Renamed, "renamed"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	return strings.Join(parts, ", ")
}

// Words says what differs in a file.
func (f FileStatus) Words() string {
	var parts []string
	if f.Team != "" {
		parts = append(parts, f.Team+" by the team")
	}
	if f.Mine != "" {
		parts = append(parts, f.Mine+" here")
	}
	if f.Private {
		parts = append(parts, "about a person, stays here unless a person publishes it")
	}
	if f.Skipped {
		parts = append(parts, "the team's version was skipped")
	}
	if len(f.Parts) > 0 {
		parts = append(parts, "CONFLICT in "+strings.Join(f.Parts, "; "))
	}
	name := memdir.ShownName(f.Path)
	if f.From != "" {
		name += " (was " + memdir.ShownName(f.From) + ")"
	}
	return name + ": " + strings.Join(parts, ", ")
}

// Words says what a publish did or would do.
func (p *Published) Words() []string {
	var lines []string
	switch {
	case len(p.Files) == 0 && p.UpdatedAt == "":
		lines = append(lines, "There is nothing to publish.")
	case p.DryRun:
		lines = append(lines, fmt.Sprintf("This would be published to %s; nothing was written.", p.Snapshot))
	default:
		lines = append(lines, fmt.Sprintf("Published to %s. The team gets it when it is committed and pushed.", p.Snapshot))
	}
	for _, f := range p.Files {
		line := "- " + memdir.ShownName(f.Path) + " " + f.Action
		if f.From != "" {
			line += " (was " + memdir.ShownName(f.From) + ")"
		}
		lines = append(lines, line)
	}
	if p.MoreFiles > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more files", p.MoreFiles))
	}
	for _, h := range p.Held {
		lines = append(lines, "- held back: "+h.Words(p.Agent))
	}
	if p.MoreHeld > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more held back", p.MoreHeld))
	}
	return lines
}

// Words says what is held back of an agent's memory, why, and what can be done.
func (h Held) Words(agent string) string {
	where := memdir.ShownName(h.Path)
	if h.Line > 0 {
		where += fmt.Sprintf(":%d", h.Line)
	}
	way := fmt.Sprintf("a person can let it through: mem-mcp snapshot publish %s --allow %s", agent, memdir.ShownName(h.Item))
	switch {
	case h.Kind == "name":
		way = "rename it"
	case h.Kind == "size":
		way = "shorten it"
	case h.Never:
		way = "take it out first"
	}
	return fmt.Sprintf("%s: %s; %s", where, memdir.Shown(h.Reason, 300), way)
}
