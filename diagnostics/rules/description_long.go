package rules

import (
	"fmt"
	"unicode/utf8"

	"mem/core/memfile"
	"mem/diagnostics"
)

func descriptionLong() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "description-long",
		Severity: diagnostics.Information,
		Summary:  "A description is longer than a reader takes in at a glance.",
		Kinds:    topics,
		Evidence: []diagnostics.Evidence{
			{Claim: "the description is one line by which relevance is judged", Source: "seed 24.1", Checked: observed},
			{Claim: "200 characters: the limit is ours; an entry of the index, which shows the description, has 150", Source: "mem", Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := memoryFront(p)
			if f == nil {
				return
			}
			value, most := f.Value("description"), p.Config.Limits.DescriptionLength
			if len(value) <= most {
				return
			}
			n := utf8.RuneCountInString(memfile.OneLine(value))
			if n <= most {
				return
			}
			p.Report(diagnostics.Finding{
				Span:    valueOf(f, "description"),
				Message: fmt.Sprintf("The description has %d characters; up to %d are judged at a glance. Say when the memory matters, and leave what it says to the body.", n, most),
			})
		},
	}
}
