package rules

import (
	"fmt"

	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func unusedIgnore() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "unused-ignore",
		Severity: diagnostics.Warning,
		Summary:  "An ignore comment silences nothing.",
		Fixes:    []string{fixes.RemoveIgnore},
		Evidence: []diagnostics.Evidence{
			{Claim: "a comment that outlives its reason silences the next finding that comes to stand there", Source: "ours", Checked: "2026-11-30"},
		},
		Ignores: func(p *diagnostics.Pass, comments []diagnostics.Ignore) {
			for _, c := range comments {
				// Of a rule that is off, or runs later, nobody knows whether it would find something.
				if c.Used || !c.Known() || !p.Ran(c.Rule) || isSafety(p, c.Rule) {
					continue
				}
				where := "on the line below"
				if c.File {
					where = "in this file"
				}
				p.Report(diagnostics.Finding{
					Span:    c.Name,
					Message: fmt.Sprintf("The rule %s finds nothing %s, so this comment silences nothing. Remove it, or it will hide what comes to stand here later.", c.Rule, where),
					Offers:  []diagnostics.Offer{{Fix: fixes.RemoveIgnore, Title: "Remove the ignore comment of " + c.Rule}},
				})
			}
		},
	}
}

func isSafety(p *diagnostics.Pass, id string) bool {
	for _, r := range p.Known() {
		if r.ID == id {
			return r.Safety
		}
	}
	return false
}
