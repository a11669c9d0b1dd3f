package rules

import (
	"fmt"
	"strings"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

func snapshotInvalid() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "snapshot-invalid",
		Severity: diagnostics.Error,
		Summary:  "A snapshot cannot be used as it is.",
		Evidence: []diagnostics.Evidence{
			{Claim: "a snapshot holds the topics, the index and snapshot.json with the time of the last publish", Source: "seed 24.5", Checked: "2026-11-30"},
			{Claim: "a checkout may hold what somebody else put there: links, damaged files, half of a publish", Source: "docs/formats.md", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			r, err := p.Team.Review(p.Context)
			if err != nil {
				p.Fail(err)
				return
			}
			if r == nil || r.Status.State != agentmem.StateInvalid {
				return
			}
			if p.Team.InSnapshot {
				invalidHere(p, r.Status.Problems)
				return
			}
			found := placed(p, memfile.IndexName, "")
			found.Message = "The team's snapshot is not used: " + shownProblem(r.Status.Problems[0].String())
			if n := len(r.Status.Problems) + r.Status.MoreProblems - 1; n > 0 {
				found.Message += fmt.Sprintf(" And %d more problems.", n)
			}
			p.Report(found)
		},
	}
}

// invalidHere reports problems in the snapshot where they stand. What a text says, other
// rules report of every memory.
func invalidHere(p *diagnostics.Pass, problems []agentmem.Problem) {
	for _, x := range problems {
		if x.Kind == agentmem.ProblemContent {
			continue
		}
		found := placed(p, x.Path, "")
		if found.Path == x.Path && x.Line > 0 {
			found.Span = lineOf(found.Text, x.Line)
		}
		found.Message = sentence(shownProblem(x.Reason))
		if found.Path != x.Path {
			found.Message = "This snapshot is not used: " + shownProblem(x.String())
		}
		p.Report(found)
	}
}

func shownProblem(s string) string { return strings.TrimRight(memdir.Shown(s, 500), ".") + "." }

// lineOf gives a line by its number, from 1; the last one where there is none.
func lineOf(t *text.Text, n int) text.Span {
	return t.Line(max(0, min(n, t.Lines())-1))
}
