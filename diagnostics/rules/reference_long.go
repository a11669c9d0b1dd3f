package rules

import (
	"fmt"
	"strings"

	"mem/core/text"
	"mem/diagnostics"
)

func referenceLong() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "reference-long",
		Severity: diagnostics.Information,
		Summary:  "A reference topic is long, where it should only say where things are.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
		Evidence: []diagnostics.Evidence{
			{Claim: "a reference says where to look for what is kept elsewhere; 1 KB of it is a choice of ours", Source: "ours", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			most := p.Config.Limits.ReferenceBytes
			if most <= 0 || p.Doc.File.Body.Len() <= most || p.Doc.File.Value("type") != "reference" {
				return
			}
			body := strings.TrimSpace(p.Doc.File.BodyText())
			if len(body) <= most || listsTopics(p.Doc) {
				return
			}
			p.Report(diagnostics.Finding{
				Span: firstLineOf(p.Doc, body),
				Message: fmt.Sprintf("This reference has %d bytes, more than the %d that suffice to say where things are. Keep where to look; move what it explains into a topic of another type.",
					len(body), most),
			})
		},
	}
}

// firstLineOf gives the first line of a body, which stands trimmed in the file.
func firstLineOf(d *diagnostics.Doc, body string) text.Span {
	at := d.File.Body.Start + strings.Index(d.File.BodyText(), body)
	line := d.File.Text.Line(d.File.Text.LineAt(at))
	return text.Span{Start: at, End: line.End}
}
