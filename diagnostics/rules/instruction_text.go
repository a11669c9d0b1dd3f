package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"mem/core/guard"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

func instructionText() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "instruction-text",
		Severity: diagnostics.Warning,
		Summary:  "A file addresses its reader with commands.",
		Safety:   true,
		Kinds:    diagnostics.AllKinds,
		Evidence: []diagnostics.Evidence{
			{Claim: "text that a model reads is taken for an order by it (prompt injection)", Source: "OWASP LLM01:2025, MITRE ATLAS AML.T0051", Checked: "2026-11-30"},
			{Claim: "a poisoned document becomes a remembered rule", Source: "what people complain about", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			src := text.Bytes(p.Doc.Source()) // the guard only reads
			// The outline costs more than the search, and nearly no file needs it.
			if len(guard.Instructions(src, likelyCode(p.Doc.Source()))) == 0 {
				return
			}
			t := p.Doc.File.Text
			for _, f := range guard.Instructions(src, p.Doc.Outline().Code) {
				finding := diagnostics.Finding{Span: text.Span{Start: f.Start, End: f.End}, Message: sentence(withoutPlace(f.Reason))}
				if f.More() {
					finding.Span.End = max(f.Start, t.Line(t.LineAt(f.Start)).End)
				} else {
					finding.Fingerprint = instructionFingerprint(t.Slice(finding.Span))
					finding.Message += " If it has to be there, a person can allow its fingerprint " + finding.Fingerprint + "."
				}
				p.Report(finding)
			}
		},
	}
}

// instructionFingerprint names a command: the SHA-256 of its words with one space
// between them, so that it keeps its name when a line is wrapped anew.
func instructionFingerprint(s string) string {
	sum := sha256.Sum256([]byte(memfile.OneLine(s)))
	return hex.EncodeToString(sum[:])
}

const (
	// maxTicks is the longest run of backticks that is looked for again.
	maxTicks = 16
	// maxFenceIndent is how much may stand before a fence on its line: marks of
	// lists and quotes.
	maxFenceIndent = 64
)

// likelyCode gives the spans that are code by their backticks alone: what an outline
// says, but for rare forms. It is linear in src.
func likelyCode(src string) []text.Span {
	var all []text.Span
	paragraph := -1 // its end
	blankLine := "\n\n"
	if strings.Contains(src, "\r\n") {
		blankLine = "\r\n\r\n"
	}
	for at := 0; ; {
		i := strings.IndexByte(src[at:], '`')
		if i < 0 {
			return all
		}
		start := at + i
		at = start
		for at < len(src) && src[at] == '`' {
			at++
		}
		mark := src[start:at]
		if len(mark) > maxTicks {
			continue
		}
		if len(mark) >= 3 && startsLine(src, start) {
			stop := len(src)
			if n := closingFence(src[at:], mark); n >= 0 {
				stop = at + n
			}
			all = append(all, text.Span{Start: start, End: stop})
			at = stop
			continue
		}
		if at > paragraph {
			paragraph = len(src)
			if n := strings.Index(src[at:], blankLine); n >= 0 {
				paragraph = at + n
			}
		}
		if n := closingTicks(src[at:paragraph], mark); n >= 0 {
			all = append(all, text.Span{Start: start, End: at + n})
			at += n
		}
	}
}

// startsLine reports whether nothing but marks of lists and quotes stands before an
// offset on its line.
func startsLine(src string, offset int) bool {
	before := src[max(0, offset-maxFenceIndent):offset]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	return len(before) < maxFenceIndent && strings.Trim(before, " \t>-*+0123456789.)") == ""
}

// closingFence gives the end of the line that closes a fence, -1 where none does.
func closingFence(s, mark string) int {
	for at := 0; ; {
		i := strings.Index(s[at:], mark)
		if i < 0 {
			return -1
		}
		at += i
		start := strings.LastIndexByte(s[:at], '\n') + 1
		end := len(s)
		if n := strings.IndexByte(s[at:], '\n'); n >= 0 {
			end = at + n
		}
		if start > 0 && strings.Trim(s[start:at], " \t>") == "" && strings.Trim(s[at:end], "` \t\r") == "" {
			return end
		}
		at = end
	}
}

// closingTicks gives the end of the run of backticks that closes a code span, -1
// where none does.
func closingTicks(s, mark string) int {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		n := at
		for n < len(s) && s[n] == '`' {
			n++
		}
		if n-at == len(mark) {
			return n
		}
		at = n
	}
}
