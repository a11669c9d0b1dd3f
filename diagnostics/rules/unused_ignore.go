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
			for names := range byComment(comments) {
				words := reasonFrom(p, names)
				for _, c := range names[:words] {
					// Of a rule that is off, or runs later, nobody knows whether it would find something.
					if c.Used || !c.Known() || !p.Ran(c.Rule) || isSafety(p, c.Rule) {
						continue
					}
					where := "on the line below"
					if c.File {
						where = "in this file"
					}
					f := diagnostics.Finding{
						Span:    c.Name,
						Message: fmt.Sprintf("The rule %s finds nothing %s, so this comment silences nothing. Remove it, or it will hide what comes to stand here later.", c.Rule, where),
					}
					if words == len(names) { // else words without a name would be left
						f.Offers = []diagnostics.Offer{{Fix: fixes.RemoveIgnore, Title: "Remove the ignore comment of " + c.Rule}}
					}
					p.Report(f)
				}
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
