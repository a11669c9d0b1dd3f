package rules

import (
	"fmt"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/diagnostics"
)

func snapshotSecret() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "snapshot-secret",
		Severity: diagnostics.Warning,
		Summary:  "Something secret or personal is about to be shared with a team, or is.",
		Evidence: []diagnostics.Evidence{
			{Claim: "what is published is committed, and what was committed once stays in the history of git", Source: "git documentation", Client: "git 2.39", Checked: "2026-11-30"},
			{Claim: "0.6 % of memory files hold strings that look like secrets", Source: "corpus of 4,039 files", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			if p.Team == nil {
				return
			}
			if p.Team.InSnapshot {
				sharedAlready(p)
				return
			}
			r := reviewed(p)
			if r == nil {
				return
			}
			for _, h := range r.Held {
				found := placed(p, h.Path, "")
				if found.Path == h.Path && h.Line > 0 {
					found.Span = lineOf(found.Text, h.Line)
				}
				way := "A person who means it can let it through when they publish."
				if h.Never {
					found.Severity = diagnostics.Error
					way = "Take it out first."
				}
				found.Message = fmt.Sprintf("This would not be published: %s. %s", memdir.Shown(h.Reason, 300), way)
				p.Report(found)
			}
		},
	}
}

// sharedAlready looks for what is personal in a snapshot. Secrets in it, the rule secret
// finds, as in every memory.
func sharedAlready(p *diagnostics.Pass) {
	for _, path := range p.Snapshot.Paths() {
		d, err := p.Snapshot.Doc(path)
		if err != nil {
			continue // which the check tells
		}
		for _, h := range agentmem.Personal(path, d.Source(), "") {
			p.Report(diagnostics.Finding{Path: path, Text: d.File.Text, Span: lineOf(d.File.Text, h.Line),
				Message: fmt.Sprintf("Everybody who has this repository can read this: %s. Take it out here and in the memory that it came from; what was committed stays in the history.", memdir.Shown(h.Reason, 300))})
		}
	}
}
