package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mem/core/agentmem"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/proposal"
)

// What the tools for proposals have in common.

func (t target) proposals() *proposal.Proposals {
	return proposal.Of(t.Memory).Hearing(agentmem.Discarders())
}

func (t target) jobs() *job.Jobs { return job.Open(t.StateDirectory(), t.Env()) }

// applyID names the question whether a proposal may be applied.
const applyID = "apply-proposal"

// mayApply is the key under which a context carries that a person lets a proposal be
// applied.
type mayApply struct{}

// allowApply gives a context in which proposals are applied. Only code that has a
// person's answer may call it.
func allowApply(ctx context.Context) context.Context { return context.WithValue(ctx, mayApply{}, true) }

func applyAllowed(ctx context.Context) bool {
	ok, _ := ctx.Value(mayApply{}).(bool)
	return ok
}

// Limits of what results say of proposals.
const (
	maxProposals = 30
	maxUnits     = 40
	maxUnitFiles = 10
	maxNoteShown = 1_500  // characters
	maxDiffPage  = 16_000 // weight of all diffs on a page
	maxReported  = 4_000
)

// shownUnit is a unit in a result.
type shownUnit struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Reason  string   `json:"reason,omitempty"`
	Sources []string `json:"sources,omitempty"`
	Deletes bool     `json:"deletes"`
	State   string   `json:"state"`
	Change  string   `json:"change,omitempty"`
	Note    string   `json:"note,omitempty"`
	Files   []string `json:"files"`
}

func unitSchema() schema {
	return schema{
		req("id", str("Within the proposal.")), req("title", str("")), opt("reason", str("")),
		opt("sources", list("What it comes from.", str(""))),
		req("deletes", boolean("It removes a topic, an entry or most of a text.")),
		req("state", choice("", "open", "applied", "discarded", "superseded")),
		opt("change", str("What it became, for memory_undo.")),
		opt("note", str("Why it waits.")),
		req("files", list("Paths.", str(""))),
	}
}

// unitList is a property that lists units, told to clients in words.
func unitList(name, doc string) property {
	return req(name, list(doc, unitSchema().nested(""))).tell(parts("array", strings.TrimSpace(doc+" Each: id (within the proposal), title, reason, sources, deletes (a topic, an entry or most of a text), "+
		"state (open, applied, discarded, superseded), change (for memory_undo), note (why it waits), files.")))
}

// madeOf is a property that holds what a change did, told to clients in words.
func madeOf() property {
	return opt("result", changed().nested("What the change did.")).tell(parts("object", "What the change did, as results of memory_write say it: change, directory, files, index, guard, vanished, notes (what else you must know)."))
}

// unit shows a unit; secrets are taken out of its words.
func (t target) unit(u proposal.Unit) shownUnit {
	clean := func(s string, most int) string {
		b, _ := t.Guard().Redact([]byte(s))
		return memory.Fit(string(b), most)
	}
	out := shownUnit{ID: u.ID, Title: clean(u.Title, 300), Reason: clean(u.Reason, 600), Deletes: u.Deletes, State: string(u.State), Change: u.Applied,
		Note: clean(u.Note, maxNoteShown), Files: []string{}}
	for i, s := range u.Sources {
		if i == 5 {
			break
		}
		out.Sources = append(out.Sources, clean(s, 200))
	}
	for i, f := range u.Change.Files {
		if i == maxUnitFiles {
			out.Files = append(out.Files, fmt.Sprintf("and %d more", len(u.Change.Files)-i))
			break
		}
		p := f.Path
		if f.Target() != p {
			p += " → " + f.Target()
		}
		out.Files = append(out.Files, memdir.Shown(p, 300))
	}
	return out
}

// units shows some of many.
func (t target) units(all []proposal.Unit) (out []shownUnit, more int) {
	out = []shownUnit{}
	room := 12_000
	for i, u := range all {
		x := t.unit(u)
		if room -= memory.Size(x); i == maxUnits || room < 0 && i > 0 {
			return out, len(all) - i
		}
		out = append(out, x)
	}
	return out, 0
}

func unitWords(us []shownUnit, more int) string {
	var lines []string
	for _, u := range us {
		l := fmt.Sprintf("- unit %s (%s): %s", u.ID, u.State, memdir.Shown(u.Title, 300))
		if u.Deletes {
			l += " [deletes]"
		}
		if u.Reason != "" {
			l += " — " + brief(u.Reason)
		}
		lines = append(lines, l)
		if u.Note != "" {
			lines = append(lines, "  "+strings.ReplaceAll(memory.Fit(u.Note, maxNoteShown), "\n", "\n  "))
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more units", more))
	}
	return words(lines...)
}

// shownProposal is a proposal in a list.
type shownProposal struct {
	ID           string `json:"id"`
	Kind         string `json:"kind"`
	Title        string `json:"title"`
	State        string `json:"state"`
	Created      string `json:"created"`
	Job          string `json:"job,omitempty"`
	SupersededBy string `json:"supersededBy,omitempty"`
	Units        int    `json:"units"`
	Open         int    `json:"openUnits"`
	Deleting     int    `json:"deletingUnits"` // of the open ones
}

func proposalSchema() schema {
	return schema{
		req("id", str("")), req("kind", str("Of the job that made it.")), req("title", str("")),
		req("state", choice("", "open", "applied", "discarded", "superseded")), req("created", str("")),
		opt("job", str("")), opt("supersededBy", str("")),
		req("units", integer("")), req("openUnits", integer("That wait.")), req("deletingUnits", integer("Of those, that delete something.")),
	}
}

// proposalParts names what an object of proposalSchema has.
const proposalParts = "id, kind (of its job), title, state (open, applied, discarded, superseded), created, job, supersededBy, units, openUnits, deletingUnits (of the open ones)."

func shortProposal(x *proposal.Proposal) shownProposal {
	out := shownProposal{ID: x.ID, Kind: x.Kind, Title: brief(x.Title), State: string(x.State), Created: x.Created.Format(time.RFC3339), Job: x.Job,
		SupersededBy: x.SupersededBy, Units: len(x.Units), Open: x.OpenUnits()}
	for _, u := range x.Units {
		if u.State == proposal.Open && u.Deletes {
			out.Deleting++
		}
	}
	return out
}

func (p shownProposal) words() string {
	return fmt.Sprintf("%s %s: %s — %s, %d of %s wait, %d of them delete", p.ID, p.Kind, p.Title, p.State, p.Open, counted(p.Units, "unit"), p.Deleting)
}

// partsArgs select parts of a proposal.
func partsArgs() []property {
	return []property{
		opt("units", list("Only these units, by id.", str(""))),
		opt("files", list("Only units that do something to these files.", str(""))),
	}
}
