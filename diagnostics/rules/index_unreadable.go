package rules

import (
	"fmt"

	"mem/core/memfile"
	"mem/diagnostics"
)

func indexUnreadable() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-unreadable",
		Severity: diagnostics.Error,
		Summary:  "The index is nothing that can be read as one.",
		Evidence: []diagnostics.Evidence{
			{Claim: "a file over 8 MB, a link, a folder or a device is not read as memory; the largest real index of 4,039 memory files has 612 lines", Source: "corpus", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			if e := p.View.IndexError; e != nil {
				p.Report(diagnostics.Finding{Path: memfile.IndexName,
					Message: fmt.Sprintf("%s %s, so no rule looks at it, or at what only it can tell of topics. %s.", memfile.IndexName, e.Reason, sentence(e.Hint))})
			}
		},
	}
}
