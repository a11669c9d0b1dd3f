package rules

import (
	"fmt"

	"mem/core/memfile"
	"mem/diagnostics"
)

func tooManyTopics() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "too-many-topics",
		Severity: diagnostics.Warning,
		Summary:  "There are more topics than a scan lists.",
		Evidence: []diagnostics.Evidence{
			{Claim: "a scan of the memory directory lists 200 topics, the newest by modification time", Source: "seed 24.1", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			n, most := len(p.View.Topics), p.Config.Limits.Topics
			if most <= 0 || n <= most {
				return
			}
			f := diagnostics.Finding{Path: memfile.IndexName,
				Message: fmt.Sprintf("There are %d topics; a scan lists the %d that changed last and leaves out %d. Merge those that belong together, and delete what no longer holds.", n, most, n-most)}
			if d, err := p.Snapshot.Doc(memfile.IndexName); err == nil {
				f.Text, f.Span = d.File.Text, d.FirstLine()
			}
			p.Report(f)
		},
	}
}
