package rules

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func unknownIgnore() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "unknown-ignore",
		Severity: diagnostics.Warning,
		Summary:  "An ignore comment names no rule, or one that cannot be silenced.",
		Fixes:    []string{fixes.RemoveIgnore},
		Evidence: []diagnostics.Evidence{
			{Claim: "a comment with a misspelled rule does nothing, and its author believes that it does", Source: "ours", Checked: "2026-11-30"},
		},
		Ignores: func(p *diagnostics.Pass, comments []diagnostics.Ignore) {
			for names := range byComment(comments) {
				words := reasonFrom(p, names)
				for _, c := range names[:words] {
					message := whyUnknown(p.Known(), c)
					if message == "" {
						continue
					}
					f := diagnostics.Finding{Span: c.Name, Message: message}
					if words == len(names) && !c.Reason { // what somebody wrote about it is not thrown away
						f.Offers = []diagnostics.Offer{{Fix: fixes.RemoveIgnore, Title: "Remove the ignore comment"}}
					}
					p.Report(f)
				}
				if words < len(names) && isRule(p.Known(), names[words-1].Rule) {
					p.Report(diagnostics.Finding{
						Span: text.Span{Start: names[words].Name.Start, End: names[len(names)-1].Name.End},
						Message: fmt.Sprintf(`The words behind %s name no rules. If they say why, write "--" before them: %s -- because ...`,
							memdir.ShownName(names[words-1].Rule), memdir.ShownName(names[words-1].Rule)),
					})
				}
			}
		},
	}
}

// byComment gives the names of each comment.
func byComment(all []diagnostics.Ignore) iter.Seq[[]diagnostics.Ignore] {
	return func(yield func([]diagnostics.Ignore) bool) {
		for from := 0; from < len(all); {
			to := from + 1
			for to < len(all) && all[to].Comment == all[from].Comment {
				to++
			}
			if !yield(all[from:to]) {
				return
			}
			from = to
		}
	}
}

// reasonFrom gives from which name of a comment on there are only words, which its
// author meant as the reason: the first one behind the first name that no comma sets
// off, and that is no rule and near to none.
func reasonFrom(p *diagnostics.Pass, names []diagnostics.Ignore) int {
	known := p.Known()
	for i := 1; i < len(names); i++ {
		c := names[i]
		between := p.Doc.File.Text.Slice(text.Span{Start: names[i-1].Name.End, End: c.Name.Start})
		if !isRule(known, c.Rule) && !strings.Contains(between, ",") && nearestRule(known, c.Rule) == "" {
			return i
		}
	}
	return len(names)
}

func isRule(known []diagnostics.Rule, id string) bool {
	return slices.ContainsFunc(known, func(r diagnostics.Rule) bool { return r.ID == id })
}

// whyUnknown says why a comment can silence nothing, "" where it can.
func whyUnknown(known []diagnostics.Rule, c diagnostics.Ignore) string {
	if c.Form != diagnostics.IgnoreNextLine && c.Form != diagnostics.IgnoreFile {
		return fmt.Sprintf("There is no ignore comment of the form %s: it is mem-ignore-next-line or mem-ignore-file, and the name of a rule.",
			memdir.ShownName("mem-ignore-"+c.Form))
	}
	if c.Rule == "" {
		return "This comment names no rule, so it silences nothing. Write the name of the rule behind mem-ignore-" + c.Form + "."
	}
	i := slices.IndexFunc(known, func(r diagnostics.Rule) bool { return r.ID == c.Rule })
	switch {
	case i < 0:
		message := fmt.Sprintf("There is no rule named %s, so this comment silences nothing.", memdir.ShownName(c.Rule))
		if near := nearestRule(known, c.Rule); near != "" {
			message += " Is " + near + " meant?"
		}
		return message
	case known[i].Safety:
		return fmt.Sprintf("The safety rule %s cannot be silenced by a comment, which comes with the content. "+
			"Allow what it found in your own configuration, by its fingerprint: guard.allow.", c.Rule)
	case known[i].Ignores != nil || c.Rule == "configuration":
		return fmt.Sprintf("The rule %s cannot be silenced by a comment. Mend what it finds, or switch it off in .mem.yaml.", c.Rule)
	}
	return ""
}

// nearestRule gives the rule that a misspelled name is likely to mean, "" where
// none is near: more than a third of it would have to be typed anew.
func nearestRule(known []diagnostics.Rule, name string) string {
	const longest = 40 // no rule's name is as long
	if len(name) > longest {
		return ""
	}
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	best, least := "", len(name)/3+1
	for _, r := range known {
		if r.Safety || r.Ignores != nil {
			continue
		}
		if d := typingErrors(name, r.ID); d < least {
			best, least = r.ID, d
		}
	}
	return best
}

// typingErrors counts the bytes to insert, delete or replace to turn a into b.
func typingErrors(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
