package rules

import (
	"fmt"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func typeUnknown() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "type-unknown",
		Severity: diagnostics.Error,
		Summary:  "The type of a topic is none of the four.",
		Kinds:    topics,
		Fixes:    []string{fixes.SetType},
		Evidence: []diagnostics.Evidence{
			{Claim: "the types are a closed set: user, feedback, project, reference", Source: "seed 24.1", Checked: observed},
			{Claim: "types in use that are none of them: semantic, procedural, episodic, infra, infrastructure", Source: "4,039 files of 137 public repositories", Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := memoryFront(p)
			if f == nil {
				return
			}
			t := f.Value("type")
			if t == "" || memfile.KnownType(t) {
				return
			}
			p.Report(diagnostics.Finding{
				Span:    valueOf(f, "type"),
				Message: fmt.Sprintf("%q is no type of memory, so readers that sort by type pass over this topic. Use user, feedback, project or reference.", memdir.Shown(t, 40)),
				Offers:  fixes.OfferTypes(p.Doc),
			})
		},
	}
}
