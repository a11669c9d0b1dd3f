package rules

import (
	"fmt"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func nameNotSlug() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "name-not-slug",
		Severity: diagnostics.Information,
		Summary:  "The name of a topic is not in kebab-case.",
		Kinds:    topics,
		Fixes:    []string{fixes.SlugName},
		Evidence: []diagnostics.Evidence{
			{Claim: "names are written in kebab-case", Source: "observed", Client: client, Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := memoryFront(p)
			if f == nil {
				return
			}
			name := f.Value("name")
			slug := fixes.Kebab(name)
			if name == "" || name == slug {
				return
			}
			where := valueOf(f, "name")
			for _, problem := range f.Problems {
				if problem.Code == memfile.Syntax && problem.Span == where {
					return // what the name is, is known once it is quoted
				}
			}
			message := fmt.Sprintf("The name %q is not in kebab-case (small letters, digits and single dashes), in which names are written and linked.", memdir.Shown(name, 80))
			if slug != "" {
				message += " Write " + memdir.ShownName(memdir.Shown(slug, 80)) + "."
			}
			p.Report(diagnostics.Finding{Span: where, Message: message, Offers: fixes.OfferSlug(p.Doc)})
		},
	}
}
