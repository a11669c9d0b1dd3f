package rules

import (
	"fmt"
	"strings"

	"mem/core/text"
	"mem/diagnostics"
)

func frontmatterBeyondScan() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "frontmatter-beyond-scan",
		Severity: diagnostics.Error,
		Summary:  "The frontmatter ends after the lines that a scan reads.",
		Kinds:    topics,
		Evidence: []diagnostics.Evidence{
			{Claim: "a scan reads the first 30 lines of a topic to find its frontmatter", Source: "seed 24.1", Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			f := memoryFront(p)
			if f == nil {
				return
			}
			most, last := p.Config.Limits.ScanLines, f.Text.LineAt(f.Front.Span.End-1)
			if last < most {
				return
			}
			var beyond []string
			for _, name := range []string{"name", "description", "type"} {
				if k := f.Key(name); k != nil && f.Text.LineAt(max(k.Raw.End-1, k.Span.Start)) >= most {
					beyond = append(beyond, name)
				}
			}
			what := `its closing "---"`
			if len(beyond) > 0 {
				what = strings.Join(beyond, ", ") + " and " + what
			}
			p.Report(diagnostics.Finding{
				Span: text.Span{Start: f.Text.Line(most).Start, End: f.Text.Line(last).End},
				Message: fmt.Sprintf("The frontmatter ends on line %d, but a scan reads only %d lines of a topic and misses %s. Shorten the frontmatter, or move its long values into the body.",
					last+1, most, what),
			})
		},
	}
}
