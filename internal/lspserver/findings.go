package lspserver

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mem/core/text"
	"mem/diagnostics"
)

// source names the server in diagnostics.
const source = "mem"

// maxShown is how many diagnostics a file has at most: nobody reads more, and each
// costs its place to convert and its bytes to send, with every key.
const maxShown = 500

// shownOf gives the findings that are shown, the most severe where there are too many,
// and how many are left out.
func shownOf(found []diagnostics.Finding) ([]diagnostics.Finding, int) {
	if len(found) <= maxShown {
		return found, 0
	}
	order := slices.Clone(found)
	slices.SortStableFunc(order, func(f, g diagnostics.Finding) int { return int(g.Severity) - int(f.Severity) })
	more := len(found) - maxShown
	for _, f := range order[maxShown:] {
		more += f.More
	}
	return order[:maxShown], more
}

// diagnosticsOf gives findings of one document as the protocol has them.
func (s *server) diagnosticsOf(docs *documents, doc *document, found []diagnostics.Finding) []protocol.Diagnostic {
	if s.features.folded {
		found = foldRepeats(found)
	}
	found, more := shownOf(found)
	out := make([]protocol.Diagnostic, 0, len(found))
	for _, f := range found {
		out = append(out, s.diagnosticOf(docs, doc, f))
	}
	if more > 0 {
		last := &out[len(out)-1]
		last.Message = protocol.String(fmt.Sprintf("%s (%d more findings in this file are not shown here; mem-lsp check lists them.)", found[len(found)-1].Message, more))
	}
	return out
}

func (s *server) diagnosticOf(docs *documents, doc *document, f diagnostics.Finding) protocol.Diagnostic {
	counts := s.reading()
	d := protocol.Diagnostic{
		Range:    rangeOf(f.Text, f.Span, counts),
		Severity: severityOf(f.Severity),
		Code:     protocol.String(f.Rule),
		Source:   protocol.NewOptional(source),
		Message:  protocol.String(f.Message),
	}
	if f.Unnecessary && s.features.faded {
		d.Tags = protocol.NewDiagnosticTags(protocol.DiagnosticTagUnnecessary)
	}
	if s.features.related {
		for _, r := range f.Related {
			in, at := r.Text, docs.uriIn(doc.dir, r.Path)
			if in == nil {
				in = f.Text
			}
			switch {
			case r.Path == "":
				at = doc.uri
			case filepath.IsAbs(r.Path): // outside, as the configuration of the project
				at = uri.File(r.Path)
			}
			d.RelatedInformation = append(d.RelatedInformation, protocol.DiagnosticRelatedInformation{
				Location: protocol.Location{URI: at, Range: rangeOf(in, r.Span, counts)},
				Message:  r.Message,
			})
		}
	}
	return d
}

func severityOf(s diagnostics.Severity) protocol.DiagnosticSeverity {
	switch s {
	case diagnostics.Error:
		return protocol.DiagnosticSeverityError
	case diagnostics.Warning:
		return protocol.DiagnosticSeverityWarning
	case diagnostics.Information:
		return protocol.DiagnosticSeverityInformation
	}
	return protocol.DiagnosticSeverityHint
}

// namedLines is how many lines a folded finding names.
const namedLines = 10

// foldRepeats makes one finding of all that one rule found, at the place of the
// first, with the lines of the others.
func foldRepeats(found []diagnostics.Finding) []diagnostics.Finding {
	first := map[string]int{}
	lines := map[string][]int{}
	var out []diagnostics.Finding
	for _, f := range found {
		i, seen := first[f.Rule]
		if !seen {
			first[f.Rule] = len(out)
			out = append(out, f)
			continue
		}
		out[i].Severity = max(out[i].Severity, f.Severity)
		lines[f.Rule] = append(lines[f.Rule], f.Text.LineAt(f.Span.Start)+1)
	}
	for i := range out {
		more := lines[out[i].Rule]
		if len(more) == 0 {
			continue
		}
		times := "once"
		if len(more) > 1 {
			times = fmt.Sprintf("%d times", len(more))
		}
		out[i].Message += fmt.Sprintf(" %s finds this %s more, %s.", out[i].Rule, times, inLines(more))
		out[i].Related = nil
	}
	return out
}

func inLines(lines []int) string {
	slices.Sort(lines)
	lines = slices.Compact(lines)
	var b strings.Builder
	b.WriteString("in line ")
	if len(lines) > 1 {
		b.Reset()
		b.WriteString("in lines ")
	}
	for i, n := range lines {
		switch {
		case i == namedLines:
			fmt.Fprintf(&b, " and %d others", len(lines)-i)
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}

// overlaps reports whether a span and what somebody selected have a place in
// common; a cursor at either end of a span is at it.
func overlaps(a, b text.Span) bool { return a.Start <= b.End && b.Start <= a.End }
