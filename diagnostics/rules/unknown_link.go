package rules

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func unknownLink() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "unknown-link",
		Severity: diagnostics.Information,
		Summary:  "A [[name]] is the name of no topic.",
		Fixes:    []string{fixes.RenameLink},
		Evidence: []diagnostics.Evidence{
			{Claim: "18 % of the [[name]] links in 4,039 memory files are no topic's name letter for letter, 14 % when case, dashes and underscores are folded, 12 % when a missing type is put before them", Source: "corpus", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			x := newTargets(p)
			for _, from := range p.Paths() {
				if p.Context.Err() != nil {
					return
				}
				if isLog(from) {
					continue // as in broken-link
				}
				var d *diagnostics.Doc
				for _, l := range p.Links(from) {
					if !l.Wiki {
						continue
					}
					name, at := wikiName(l)
					if !looksLikeName(l, name) || x.knows(from, l.Target, name) {
						continue
					}
					if d == nil {
						var err error
						if d, err = p.Snapshot.Doc(from); err != nil {
							p.Fail(err)
							break
						}
					}
					if !subscript(d.Source(), l.Span.Start) {
						p.Report(unknownLinkAt(x, d, name, at))
					}
				}
			}
		},
	}
}

// unknownLinkAt makes the finding of a name in d that no topic has.
func unknownLinkAt(x *targets, d *diagnostics.Doc, name string, at text.Span) diagnostics.Finding {
	f := diagnostics.Finding{Path: d.Path, Text: d.File.Text, Span: at}
	for _, t := range x.nearest(name) {
		to := t.Name()
		if t.Path == d.Path || len(f.Offers) == maxNear || strings.ContainsAny(to, "[]|#\r\n") || len(x.p.View.Lookup(to)) != 1 {
			continue
		}
		f.Offers = append(f.Offers, diagnostics.Offer{Fix: fixes.RenameLink, Arg: to, Title: "Write [[" + memdir.Shown(to, 80) + "]] instead"})
	}
	f.Message = fmt.Sprintf("No topic has the name %s.", shownName(name))
	if len(f.Offers) > 0 {
		f.Message += fmt.Sprintf(" Is %s meant?", shownName(f.Offers[0].Arg))
	} else {
		f.Message += " Write that topic, or name one that there is."
	}
	return f
}

// knows reports whether a name, with what stands behind "#" or without, means
// something that there is: a topic, a daily log, the index, a file.
func (x *targets) knows(from, whole, name string) bool {
	if len(x.named(from, name)) > 0 || whole != name && len(x.named(from, whole)) > 0 {
		return true
	}
	if x.exists(strings.TrimSuffix(name, ".md") + ".md") {
		return true
	}
	if len(name) == len("2026-11-30") && name[4] == '-' {
		for _, l := range x.p.View.Logs {
			if l.Date == name {
				return true
			}
		}
	}
	return false
}

// looksLikeName reports whether the text between double brackets may name a topic.
// Prose holds others: tests of a shell ("[[ -f x ]]"), lists in lists, classes of
// characters, citations by number, patterns.
func looksLikeName(l memfile.Link, name string) bool {
	if name == "" || l.Dest.Start > l.Span.Start+len("[[") || strings.ContainsAny(name, "\"$={}<>;*,`") {
		return false
	}
	r, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
		return false
	}
	return strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsDigit(r) })
}

// subscript reports whether the bracket at i stands directly behind a word or a
// bracket, as in "list[[key]]". Text without spaces between its words is not ASCII.
func subscript(src string, i int) bool {
	if i == 0 {
		return false
	}
	c := src[i-1]
	return letter(c) || '0' <= c && c <= '9' || c == '_' || c == ')' || c == ']'
}
