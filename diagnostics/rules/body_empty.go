package rules

import (
	"strings"

	"mem/core/text"
	"mem/diagnostics"
)

func bodyEmpty() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "body-empty",
		Severity: diagnostics.Warning,
		Summary:  "A topic has no text.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
		Evidence: []diagnostics.Evidence{
			{Claim: "empty topics and stubs stand in real memories", Source: "corpus of 4,039 files", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			f := p.Doc.File
			if f.Front != nil && !f.Front.Closed {
				return // where the text begins is not known; frontmatter-unclosed says so
			}
			body := strings.TrimSpace(strings.TrimPrefix(f.BodyText(), text.BOM))
			switch {
			case body == "" && f.Front != nil:
				p.Report(diagnostics.Finding{
					Span:    p.Doc.FirstLine(),
					Message: "This topic has no text below its frontmatter: whoever opens it learns no more than its description says. Write the memory down, or delete the topic and its entry.",
				})
			case body == "":
				p.Report(diagnostics.Finding{
					Span:    p.Doc.FirstLine(),
					Message: "This topic is empty: whoever opens it learns nothing. Write the memory down, or delete the topic and its entry.",
				})
			case strings.HasPrefix(body, "<!--") && onlyComments(p.Doc):
				p.Report(diagnostics.Finding{
					Span:    p.Doc.FirstLine(),
					Message: "This topic has nothing but comments in it: whoever opens it learns nothing. Write the memory down, or delete the topic and its entry.",
				})
			}
		},
	}
}

// onlyComments reports whether comments and white space are all of the body.
func onlyComments(d *diagnostics.Doc) bool {
	at := d.File.Body.Start
	for _, c := range d.Outline().Comments {
		if strings.TrimSpace(d.Source()[at:c.Start]) != "" {
			return false
		}
		at = c.End
	}
	return strings.TrimSpace(d.Source()[at:d.File.Body.End]) == ""
}
