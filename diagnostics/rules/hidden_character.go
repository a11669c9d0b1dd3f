package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"mem/core/guard"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func hiddenCharacter() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "hidden-character",
		Severity: diagnostics.Warning,
		Summary:  "A file holds characters that a model reads and a person does not see.",
		Safety:   true,
		Kinds:    diagnostics.AllKinds,
		Fixes:    []string{fixes.RemoveCharacters},
		Evidence: []diagnostics.Evidence{
			{Claim: "instructions for a model are smuggled in characters that are not drawn", Source: "Unicode Technical Report 36, CVE-2021-42574, published injections", Checked: "2026-11-30"},
			{Claim: "zero-width characters stand in real memories", Source: "corpus of 4,039 files", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			src := p.Doc.Source()
			for _, f := range guard.Hidden(src) {
				finding := diagnostics.Finding{Span: text.Span{Start: f.Start, End: f.End}, Message: sentence(withoutPlace(f.Reason))}
				if f.Kind != guard.KindIncomplete {
					finding.Fingerprint = hiddenFingerprint(src, f.Start, f.End)
					finding.Message += " If it has to be there, a person can allow its fingerprint " + finding.Fingerprint + "."
					finding.Offers = []diagnostics.Offer{{Fix: fixes.RemoveCharacters, Title: "Remove what does not show"}}
				}
				p.Report(finding)
			}
		},
	}
}

// withoutPlace takes "line 3: column 5: " off a reason of the guard: a finding says
// by its span where it is.
func withoutPlace(reason string) string {
	for _, name := range []string{"line ", "column "} {
		if rest, ok := strings.CutPrefix(reason, name); ok {
			if number, after, ok := strings.Cut(rest, ": "); ok && strings.Trim(number, "0123456789") == "" {
				reason = after
			}
		}
	}
	return reason
}

// hiddenContext is how much of the line around hidden characters belongs to their
// fingerprint, in bytes to either side.
const hiddenContext = 128

// hiddenFingerprint names a run of hidden characters: the SHA-256 of the run, a line
// feed, and the line that it is in, as far as hiddenContext goes. So one that is
// allowed may move with its line, and is not allowed anywhere else.
func hiddenFingerprint(src string, start, end int) string {
	from, to := max(0, start-hiddenContext), min(len(src), end+hiddenContext)
	from += strings.LastIndexAny(src[from:start], "\r\n") + 1
	if n := strings.IndexAny(src[end:to], "\r\n"); n >= 0 {
		to = end + n
	}
	for from < start && !utf8.RuneStart(src[from]) {
		from++
	}
	for to > end && to < len(src) && !utf8.RuneStart(src[to]) {
		to--
	}
	sum := sha256.Sum256([]byte(src[start:end] + "\n" + src[from:to]))
	return hex.EncodeToString(sum[:])
}
