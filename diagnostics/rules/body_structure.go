package rules

import (
	"slices"
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
			if first < 0 || why.said && how.said || listsTopics(p.Doc) {
				return
			}
			finding := diagnostics.Finding{Span: f.Text.Line(first)}
			if first == 0 && f.Text.HasBOM() {
				finding.Span.Start += len(text.BOM)
			}
			lead := "This " + kind + " topic "
			offer := func(title, arg string) {
				finding.Offers = []diagnostics.Offer{{Fix: fixes.InsertStructure, Title: title, Arg: arg}}
			}
			switch {
			case why.empty && how.empty:
				finding.Message = lead + "has the lines for why and how to apply it, and nothing stands behind them. Fill them in."
				finding.Span = why.at
			case why.empty && how.said:
				finding.Message = lead + "has a line for why it is so, and nothing stands behind it: nobody can judge the case that it does not name. Fill it in."
				finding.Span = why.at
			case how.empty && why.said:
				finding.Message = lead + "has a line for how to apply it, and nothing stands behind it. Say when it holds and what to do then."
				finding.Span = how.at
			case why.empty:
				finding.Message = lead + "does not say how to apply it, and behind its line for why stands nothing. Fill that in, and add a line \"**How to apply:** …\"."
				finding.Span = why.at
				offer("Add a line for how to apply it", fixes.StructureHow)
			case how.empty:
				finding.Message = lead + "does not say why, and behind its line for how to apply it stands nothing. Fill that in, and add a line \"**Why:** …\"."
				finding.Span = how.at
				offer("Add a line for why", fixes.StructureWhy)
			case why.said:
				finding.Message = lead + "says why, but not how to apply it. Add a line \"**How to apply:** …\" that says when it holds and what to do then."
				offer("Add a line for how to apply it", fixes.StructureHow)
			case how.said:
				finding.Message = lead + "says how to apply it, but not why: nobody can judge the case that it does not name. Add a line \"**Why:** …\"."
				offer("Add a line for why", fixes.StructureWhy)
			default:
				finding.Message = lead + "says neither why nor how to apply it: nobody can judge the case that it does not name. Add the lines \"**Why:** …\" and \"**How to apply:** …\"."
				offer("Add lines for why and how to apply it", fixes.StructureBoth)
			}
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

// said is whether a body says why, or how to apply.
type said struct {
	said  bool
	empty bool      // there is a line for it with nothing behind it …
	at    text.Span // … which is this
}

// structureOf gives the first line of a body that has text, -1 where none has, and
// whether a line says why and one how to apply. Such a line is a heading, or begins
// with a label: "**Why:** …", "- How to apply: …", "原因：…". What it says stands behind
// the label, or below it before the next label or heading.
func structureOf(t *text.Text, body text.Span) (first int, why, how said) {
	first = -1
	src := t.Slice(body)
	line := t.LineAt(body.Start)
	var open []*said // labels that wait for what stands below them
	for ; src != "" && !(why.said && how.said); line++ {
		l, rest, _ := strings.Cut(src, "\n")
		src = rest
		l = strings.TrimSpace(strings.TrimPrefix(l, text.BOM))
		if l == "" {
			continue
		}
		if first < 0 {
			first = line
		}
		isWhy, isHow := labelOf(l)
		if !isWhy && !isHow {
			for _, s := range open {
				s.said = s.said || !strings.HasPrefix(l, "#")
			}
			open = nil
			continue
		}
		filled := behindLabel(l)
		open = nil
		for _, s := range []struct {
			is bool
			of *said
		}{{isWhy, &why}, {isHow, &how}} {
			if !s.is || s.of.said {
				continue
			}
			s.of.said = filled
			if !filled {
				s.of.empty, s.of.at = true, t.Line(line)
				open = append(open, s.of)
			}
		}
	}
	why.empty, how.empty = why.empty && !why.said, how.empty && !how.said
	return first, why, how
}

// labelOf reports whether a line is one that says why, or how to apply.
func labelOf(l string) (why, how bool) {
	words := strings.TrimLeft(l, "#>*_-+•·0123456789.() \t")
	if words == "" {
		return false, false
	}
	label := words[:min(len(words), maxLabel)]
	// Most lines end here: their first letter begins none of the words.
	if c := label[0] | 0x20; c < 0x80 && c != 'w' && c != 'r' && c != 'b' && c != 'h' && c != 'a' && c != 'u' {
		if !strings.Contains(l, "*Why") && !strings.Contains(l, "*How") {
			return false, false
		}
	}
	heading := strings.HasPrefix(l, "#") || strings.HasPrefix(l, "**") && strings.HasSuffix(l, "**")
	if !heading && !strings.Contains(label, ":") && !strings.Contains(label, "：") {
		return false, false
	}
	label = strings.ToLower(label)
	return startsWithAny(label, whyWords) || strings.Contains(l, "*Why"), startsWithAny(label, howWords) || strings.Contains(l, "*How to apply")
}

// placeholders are what people leave where something is to be filled in.
var placeholders = []string{"todo", "tbd", "fixme", "n/a", "?"}

// behindLabel reports whether a label has something to say on its own line.
func behindLabel(l string) bool {
	at := strings.Index(l, ":")
	if wide := strings.Index(l, "："); wide >= 0 && (at < 0 || wide < at) {
		at = wide
	}
	if at < 0 {
		return false
	}
	rest := strings.Trim(l[at:], ":：*_ \t.…-—[]()<>")
	return rest != "" && !slices.Contains(placeholders, strings.ToLower(rest))
}

func startsWithAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
