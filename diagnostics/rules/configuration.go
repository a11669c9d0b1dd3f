package rules

import "mem/diagnostics"

func configuration() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "configuration",
		Severity: diagnostics.Error,
		Summary:  "A .mem.yaml cannot be obeyed.",
		Evidence: []diagnostics.Evidence{
			{Claim: "the format of .mem.yaml is mem's own; docs/formats.md and docs/mem.schema.json specify it", Source: "ours", Checked: "2026-11-30"},
			{Claim: "settings that are wrong and say nothing of it are a complaint of users: a relative autoMemoryDirectory is ignored in silence", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			for _, problem := range p.Config.Problems {
				p.Report(diagnostics.Finding{Path: problem.Path, Span: problem.Span, Message: problem.Message, Text: problem.Text})
			}
		},
	}
}
