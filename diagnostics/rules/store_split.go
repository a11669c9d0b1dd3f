package rules

import (
	"fmt"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
)

func storeSplit() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "store-split",
		Severity: diagnostics.Information,
		Summary:  "An agent has a second memory nearer the root of the project.",
		Evidence: []diagnostics.Evidence{
			{Claim: "an agent's memory is looked for below the working directory alone, so an agent that is started in a subdirectory has one of its own there",
				Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			if p.Snapshot.Beside == "" {
				return
			}
			f := diagnostics.Finding{Path: memfile.IndexName,
				Message: fmt.Sprintf("This agent has another memory, in %s of this project: which one it reads depends on where it is started. Bring this one there with mem-mcp stores merge.", memdir.ShownName(p.Snapshot.Beside))}
			if d, err := p.Snapshot.Doc(memfile.IndexName); err == nil {
				f.Text, f.Span = d.File.Text, d.FirstLine()
			}
			p.Report(f)
		},
	}
}
