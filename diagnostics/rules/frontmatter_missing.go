package rules

import (
	"strings"

	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func frontmatterMissing() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "frontmatter-missing",
		Severity: diagnostics.Warning,
		Summary:  "A topic has no frontmatter.",
		Kinds:    topics,
		Fixes:    []string{fixes.AddFrontmatter},
		Evidence: []diagnostics.Evidence{
			{Claim: "a scan reads name, description and type from the frontmatter, and judges by the description whether a topic matters", Source: "seed 24.1", Checked: observed},
			{Claim: "topics are written with name, description and type in frontmatter", Source: "observed", Client: client, Checked: observed},
		},
		File: func(p *diagnostics.Pass) {
			if p.Doc.File.Front != nil || p.View.LinkedOnly {
				return // a file that the index of a repository links may be the repository's own
			}
			for _, problem := range p.Doc.File.Problems {
				if problem.Code == memfile.NotUTF8 {
					return // UTF-16 hides frontmatter, and none can be put before it
				}
			}
			if strings.TrimSpace(strings.TrimPrefix(p.Doc.Source(), text.BOM)) == "" {
				return // body-empty says so, and there is nothing to describe
			}
			if fence, ok := tomlFence(p.Doc); ok {
				p.Report(diagnostics.Finding{
					Span:    fence,
					Message: `The frontmatter is TOML, between "+++" lines, so readers take it as text. Write name, description and type as YAML, one "key: value" a line, between "---" lines.`,
				})
				return
			}
			if above, ok := aboveFrontmatter(p.Doc); ok {
				p.Report(diagnostics.Finding{
					Span:    above,
					Message: `Something stands above the frontmatter, so readers take all of it as text. Move what stands above the first "---" line below the second one.`,
				})
				return
			}
			p.Report(diagnostics.Finding{
				Span:    p.Doc.FirstLine(),
				Message: `The topic has no frontmatter, so nothing tells an agent when to read it. Put name, description and type between two "---" lines at its top.`,
				Offers:  fixes.OfferFrontmatter(p.Doc),
			})
		},
	}
}

// maxAbove is how many lines are looked at for a fence below what does not belong
// above frontmatter, such as a comment or a title.
const maxAbove = 12

// aboveFrontmatter gives what stands above the frontmatter of a document, false where
// there is no frontmatter further down either.
func aboveFrontmatter(d *diagnostics.Doc) (text.Span, bool) {
	t := d.File.Text
	from := -1
	for i := range min(t.Lines(), maxAbove) {
		line := t.Line(i)
		l := strings.TrimRight(strings.TrimPrefix(t.Slice(line), text.BOM), " \t")
		switch {
		case from < 0 && l != "":
			from = i
		case from >= 0 && l == "---":
			f := memfile.Parse(t.String()[line.Start:])
			if f.Front == nil || !f.Front.Closed || f.Value("name")+f.Value("description")+f.Value("type") == "" || memfile.In(d.Outline().Code, line.Start) {
				return text.Span{}, false
			}
			above := text.Span{Start: d.FirstLine().Start, End: line.Start}
			for above.End > above.Start && strings.IndexByte(" \t\r\n", t.String()[above.End-1]) >= 0 {
				above.End--
			}
			return above, true
		}
	}
	return text.Span{}, false
}

// tomlFence gives the line that opens a block of TOML at the head of a document.
func tomlFence(d *diagnostics.Doc) (text.Span, bool) {
	t := d.File.Text
	if t.Slice(d.FirstLine()) != "+++" {
		return text.Span{}, false
	}
	for i := 1; i < t.Lines(); i++ {
		if strings.TrimRight(t.Slice(t.Line(i)), " \t") == "+++" {
			return d.FirstLine(), true
		}
	}
	return text.Span{}, false
}
