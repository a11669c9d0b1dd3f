package rules

import (
	"strings"

	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func bodyStructure() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "body-structure",
		Severity: diagnostics.Hint,
		Summary:  "A feedback or project topic does not say why, or how to apply it.",
		Kinds:    []diagnostics.Kind{diagnostics.Topic},
		Fixes:    []string{fixes.InsertStructure},
		Evidence: []diagnostics.Evidence{
			{Claim: "feedback and project memories have a line \"**Why:**\" and a line \"**How to apply:**\"", Source: "seed", Checked: "2026-11-30"},
			{Claim: "half of real topics have them", Source: "corpus of 4,039 files", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			f := p.Doc.File
			kind := f.Value("type")
			if kind != "feedback" && kind != "project" || f.Front != nil && !f.Front.Closed {
				return
			}
			first, why, how := structureOf(f.Text, f.Body)
			if first < 0 || why && how {
				return
			}
			finding := diagnostics.Finding{Span: f.Text.Line(first)}
			if first == 0 && f.Text.HasBOM() {
				finding.Span.Start += len(text.BOM)
			}
			lead := "This " + kind + " topic "
			offer := diagnostics.Offer{Fix: fixes.InsertStructure}
			switch {
			case why:
				finding.Message = lead + "says why, but not how to apply it. Add a line \"**How to apply:** …\" that says when it holds and what to do then."
				offer.Title, offer.Arg = "Add a line for how to apply it", fixes.StructureHow
			case how:
				finding.Message = lead + "says how to apply it, but not why: nobody can judge the case that it does not name. Add a line \"**Why:** …\"."
				offer.Title, offer.Arg = "Add a line for why", fixes.StructureWhy
			default:
				finding.Message = lead + "says neither why nor how to apply it: nobody can judge the case that it does not name. Add the lines \"**Why:** …\" and \"**How to apply:** …\"."
				offer.Title, offer.Arg = "Add lines for why and how to apply it", fixes.StructureBoth
			}
			finding.Offers = []diagnostics.Offer{offer}
			p.Report(finding)
		},
	}
}

// What a line begins with that says why, or how to apply; in lower case.
var (
	whyWords = []string{"why", "reason", "rationale", "because:", "原因", "为什么", "為什麼", "为何", "理由", "缘由"}
	howWords = []string{"how to", "how:", "how we apply", "when to apply", "when to use", "apply:", "application", "usage", "applies",
		"如何", "怎么", "怎麼", "怎样", "怎樣", "应用", "應用", "适用", "適用", "用法", "使用", "做法"}
)

// maxLabel is how much of a line is looked at for the colon that makes its beginning
// a label, in bytes.
const maxLabel = 80

// structureOf gives the first line of a body that has text, -1 where none has, and
// whether a line says why and one how to apply. Such a line is a heading, or begins
// with a label: "**Why:** …", "- How to apply: …", "原因：…".
func structureOf(t *text.Text, body text.Span) (first int, why, how bool) {
	first = -1
	src := t.Slice(body)
	line := t.LineAt(body.Start)
	for ; src != "" && !(why && how); line++ {
		l, rest, _ := strings.Cut(src, "\n")
		src = rest
		l = strings.TrimSpace(strings.TrimPrefix(l, text.BOM))
		if l == "" {
			continue
		}
		if first < 0 {
			first = line
		}
		words := strings.TrimLeft(l, "#>*_-+•·0123456789.() \t")
		if words == "" {
			continue
		}
		label := words[:min(len(words), maxLabel)]
		// Most lines end here: their first letter begins none of the words.
		if c := label[0] | 0x20; c < 0x80 && c != 'w' && c != 'r' && c != 'b' && c != 'h' && c != 'a' && c != 'u' {
			if !strings.Contains(l, "*Why") && !strings.Contains(l, "*How") {
				continue
			}
		}
		heading := strings.HasPrefix(l, "#") || strings.HasPrefix(l, "**") && strings.HasSuffix(l, "**")
		labelled := heading || strings.Contains(label, ":") || strings.Contains(label, "：")
		if !labelled {
			continue
		}
		label = strings.ToLower(label)
		why = why || startsWithAny(label, whyWords) || strings.Contains(l, "*Why")
		how = how || startsWithAny(label, howWords) || strings.Contains(l, "*How to apply")
	}
	return first, why, how
}

func startsWithAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
