package rules

import (
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func encoding() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "encoding",
		Severity: diagnostics.Error,
		Summary:  "A file is not UTF-8, or starts with a byte order mark.",
		Kinds:    diagnostics.AllKinds,
		Fixes:    []string{fixes.RemoveBOM},
		Evidence: []diagnostics.Evidence{
			{Claim: "bytes that are no UTF-8 are read as U+FFFD", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
			{Claim: "a byte order mark is removed from the index before it is loaded", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			if p.Doc.File.Text.HasBOM() {
				p.Report(diagnostics.Finding{
					Severity: diagnostics.Information,
					Span:     text.Span{End: len(text.BOM)},
					Message:  "The file starts with a byte order mark, which some readers take for part of the first line. Remove it.",
					Offers:   []diagnostics.Offer{{Fix: fixes.RemoveBOM, Title: "Remove the byte order mark"}},
				})
			}
			for _, problem := range p.Doc.File.Problems {
				if problem.Code == memfile.NotUTF8 {
					p.Report(diagnostics.Finding{Span: problem.Span, Message: sentence(problem.Message)})
				}
			}
		},
	}
}
