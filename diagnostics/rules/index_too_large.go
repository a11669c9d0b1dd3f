package rules

import (
	"fmt"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func indexTooLarge() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-too-large",
		Severity: diagnostics.Error,
		Summary:  "The index has more text than is loaded.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
		Fixes:    []string{fixes.ShortenIndex, fixes.MoveSection},
		Evidence: indexEvidence,
		File: func(p *diagnostics.Pass) {
			rules := p.Config.IndexRules()
			if p.Doc.File.Text.Len() <= rules[0].Size {
				return
			}
			// The last reader loads the most: what it drops, all do.
			for i := len(rules) - 1; i >= 0; i-- {
				rule := rules[i]
				l := memdir.Load(p.Doc.Index, rule)
				if l.CutBy != "size" {
					continue
				}
				severity, unit := diagnostics.Error, string(rule.Unit)
				who := "readers load"
				if len(rules) > 1 && rule.Unit == memdir.Bytes {
					severity, who = diagnostics.Warning, "readers that count bytes load"
				}
				reportDropped(p, l, severity, fmt.Sprintf("The index has %s %s; %s %s, %s.", thousands(l.TotalSize), unit, who, thousands(rule.Size), unseen(l)))
				return
			}
		},
	}
}
