package guard

import (
	"fmt"
	"slices"

	"mem/core/text"
)

// KindInstruction is text that addresses its reader with a command: what a poisoned document leaves in a memory, so that
// the next model that reads it obeys. It is a warning to a person, never a reason to refuse on its own.
const KindInstruction Kind = "instruction"

// instructionTooMany is the rule of the finding that ends a list of too many.
const instructionTooMany = "too-many-instructions"

// instructionRules are the rules of Instructions, with what their reasons say. The families are those that published
// attacks on assistants fall into: OWASP's LLM01:2025 (prompt injection) and MITRE ATLAS AML.T0051 and AML.T0057 describe
// them, and chat templates of the model vendors define the marks.
var instructionRules = map[string]string{
	"override":      "tells its reader to drop the instructions that it works under",
	"role":          "gives its reader another role or takes its rules away",
	"prompt-marker": "is a mark that divides a model's prompt, as if what follows came from the system",
	"run-command":   "tells its reader to run a command or call a tool at once",
	"pipe-to-shell": "pipes something from the network, or something encoded, into a shell",
	"exfiltrate":    "tells its reader to send private data elsewhere",
	"reveal":        "tells its reader to show its own instructions or secrets",
	"conceal":       "tells its reader to keep something from the user",
}

// Instructions returns the places in content that command whoever reads it: to drop its instructions, change its role,
// run or call something on the spot, send out or show what is private, or keep quiet about it; and the marks of prompts
// and chat templates. English and Chinese are known. Findings are ordered and do not overlap.
//
// Memories are full of imperatives ("Do not mock the database", "Run the linter before committing"), and a person sees
// these findings in every one, so a phrase has to be one that has no other use: what is said of rules, prompts or keys
// in passing is not found. Nor is what stands in quotation marks, in block quotes, or in the spans to skip, which is
// where the caller says that code is; they need no order. HTML comments are not to be skipped: there a model reads what
// a person does not see, so quotation marks hide nothing in them, and neither do those that quote a value of the
// frontmatter. Case, white space, emphasis, full-width letters and hidden characters make no difference.
//
// The cost is linear in content: 20 µs for a memory of 2 KB, 30 µs where every sentence is an imperative. At most
// MaxFindings are listed, with one for the rest.
func Instructions(content []byte, skip []text.Span) []Finding {
	s := sentences{src: content, skip: mergeSpans(skip), table: instructionTable()}
	s.scan()
	found := finish(content, s.found)
	end := 0
	return slices.DeleteFunc(found, func(f Finding) bool { // one that begins inside another, as a pipe inside an order to run it
		if f.Start < end && f.Rule != instructionTooMany {
			return true
		}
		end = f.End
		return false
	})
}

// mergeSpans orders spans and joins those that touch.
func mergeSpans(spans []text.Span) []text.Span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b text.Span) int { return a.Start - b.Start })
	out := spans[:0]
	for _, s := range spans {
		switch n := len(out); {
		case s.End <= s.Start:
		case n > 0 && s.Start <= out[n-1].End:
			out[n-1].End = max(out[n-1].End, s.End)
		default:
			out = append(out, s)
		}
	}
	return out
}

// add lists a finding, or notes that there are more.
func (s *sentences) add(rule string, start, end int) {
	switch n := len(s.found); {
	case n < MaxFindings:
		s.found = append(s.found, Finding{Kind: KindInstruction, Rule: rule, Start: start, End: end,
			Reason: "this " + instructionRules[rule] + "; a model that reads it may obey. Write down what is true instead, put an example in quotation marks or code, or remove it."})
	case n == MaxFindings:
		s.found = append(s.found, Finding{Kind: KindInstruction, Rule: instructionTooMany, Start: start, End: len(s.src),
			Reason: fmt.Sprintf("more than %d commands to the reader: those that follow are not listed; remove the ones above first.", MaxFindings)})
	}
}

// More reports whether the finding says only that there are more than are listed.
func (f Finding) More() bool {
	return f.Rule == instructionTooMany || f.Rule == HiddenTooMany || f.Rule == secretsTooMany
}
