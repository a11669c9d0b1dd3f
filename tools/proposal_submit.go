package tools

import (
	"context"

	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/proposal"
)

// submission is what became of what a host handed back.
type submission struct {
	Job      string          `json:"job"`
	State    string          `json:"state"`
	Change   string          `json:"change"`
	Applied  []shownUnit     `json:"applied"`
	Held     []shownUnit     `json:"held"`
	More     int             `json:"moreUnits,omitempty"`
	Proposal string          `json:"proposal,omitempty"`
	Refused  []submitRefused `json:"refused,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
	Result   *memory.Change  `json:"result,omitempty"`
}

type submitRefused struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
}

func proposalSubmit() spec {
	return spec{
		name:  "proposal_submit",
		title: "Hand in the result of a job",
		description: "Hands in what you made of a job that you were given: all files that change, each whole. It passes the same checks as any other result (paths, sizes, secrets, pinned topics, deletions) " +
			"and follows the job's policy: applied, or kept for a person. New topics get their entry in MEMORY.md by themselves. A job takes one submission; where one is refused, nothing was changed, and you may hand in a better one.",
		in: schema{
			req("job", str("Id of the job.")),
			req("files", list("What changes; empty where nothing is worth changing.", schema{
				req("path", str("In the memory directory.")),
				opt("text", str("The whole new text, frontmatter included.")),
				opt("delete", boolean("Delete it; a file that comes back under another path with the same body is moved.")),
				opt("base_hash", str("Hash of the text that you changed or delete; leave it out for a new file.")),
				opt("reason", str("Why, in one line.")),
			}.nested(""))),
			opt("report", str("What you did and why, in a few lines of Markdown.")),
			storeArg(),
		},
		out: schema{
			req("job", str("")), req("state", str("Of the job.")),
			req("change", str("Id for memory_undo; empty when nothing was applied.")),
			unitList("applied", ""),
			req("held", list("Waits for a person; the note says why.", unitSchema().nested(""))).tell(parts("array", "Waits for a person; the note says why. As in applied.")),
			opt("moreUnits", integer("Not listed.")),
			opt("proposal", str("Id under which it waits.")),
			opt("refused", list("Never applied.", schema{req("what", str("")), req("reason", str(""))}.nested(""))).tell(parts("array", "Never applied: what, reason.")),
			opt("notes", list("", str(""))),
			madeOf(),
		},
		destructive: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Job    string          `json:"job"`
			Report string          `json:"report"`
			Files  []submittedFile `json:"files"`
		}) (answer, error) {
			s := proposal.Submitted{Job: a.Job, Report: a.Report}
			for _, f := range a.Files {
				s.Files = append(s.Files, proposal.File{Path: f.Path, Text: f.Text, Delete: f.Delete, BaseHash: f.BaseHash, Reason: f.Reason})
			}
			done, err := proposal.Submit(ctx, m.Memory, m.jobs(), s, m.with.Finishers)
			if err != nil {
				return answer{}, err
			}
			out := m.submitted(done)
			return answer{out, out.words()}, nil
		}),
	}
}

type submittedFile struct {
	Path     string `json:"path"`
	Text     string `json:"text"`
	Delete   bool   `json:"delete"`
	BaseHash string `json:"base_hash"`
	Reason   string `json:"reason"`
}

func (t target) submitted(done *proposal.Finished) submission {
	out := submission{Job: done.Job.ID, State: string(done.Job.State), Applied: []shownUnit{}, Held: []shownUnit{}, Notes: done.Notes}
	for _, f := range done.Findings {
		out.Notes = append(out.Notes, memdir.ShownName(f.Path)+": "+memdir.Shown(f.Reason, 400))
	}
	out.Notes = out.Notes[:min(len(out.Notes), 10)]
	s := done.Settled
	if s == nil {
		return out
	}
	out.Change, out.Result = s.Change, s.Result
	var a, h int
	out.Applied, a = t.units(s.Applied)
	out.Held, h = t.units(s.Held)
	out.More = a + h
	if s.Proposal != nil {
		out.Proposal = s.Proposal.ID
	}
	for i, r := range s.Refused {
		if i == 20 {
			break
		}
		out.Refused = append(out.Refused, submitRefused(job.Refused{What: memory.Fit(r.What, 300), Reason: memory.Fit(r.Reason, 600)}))
	}
	out.Notes = append(out.Notes, s.Notes...)
	return out
}

func (s submission) words() string {
	lines := []string{"Job " + s.Job + ": " + s.State + "."}
	if len(s.Applied) > 0 {
		lines = append(lines, "Applied:", unitWords(s.Applied, 0))
	}
	if len(s.Held) > 0 {
		lines = append(lines, "Waits for a person as the proposal "+s.Proposal+":", unitWords(s.Held, s.More))
	}
	for _, r := range s.Refused {
		lines = append(lines, "Refused: "+r.What+": "+r.Reason)
	}
	for _, n := range s.Notes {
		lines = append(lines, "Note: "+n)
	}
	if s.Result != nil {
		lines = append(lines, changeWords(*s.Result))
	}
	return words(lines...)
}
