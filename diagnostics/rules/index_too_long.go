package rules

import (
	"fmt"
	"math"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func indexTooLong() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "index-too-long",
		Severity: diagnostics.Error,
		Summary:  "The index has more lines than are loaded.",
		Kinds:    []diagnostics.Kind{diagnostics.Index},
		Fixes:    []string{fixes.ShortenIndex, fixes.MoveSection},
		Evidence: indexEvidence,
		File: func(p *diagnostics.Pass) {
			rule := p.Config.IndexRules()[0]
			if p.Doc.File.Text.Lines() <= rule.Lines {
				return
			}
			rule.Size = math.MaxInt // what else is cut is said by index-too-large
			l := memdir.Load(p.Doc.Index, rule)
			if !l.Cut {
				return
			}
			reportDropped(p, l, 0, fmt.Sprintf("The index has %s lines; readers load %s, %s.", thousands(l.TotalLines), thousands(rule.Lines), unseen(l)))
		},
	}
}
