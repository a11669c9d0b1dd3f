// Package report prints what a check of memory directories found: as text for
// people, as JSON for programs, as SARIF for code scanning, and as workflow
// commands for GitHub. One file for each format; this one has what they share.
package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
)

// Report is what a check of some memory directories came to. Paths are as a
// person can follow them from where they stand. Its JSON is the format "json";
// no array of it is null.
type Report struct {
	Findings []Finding `json:"findings"`
	// Unread is what could not be looked at, and Failures are rules that broke
	// down: where there are any, silence is no praise.
	Unread      []Unread  `json:"unread"`
	Failures    []Failure `json:"failures"`
	Directories []string  `json:"directories"`
	Files       int       `json:"files"` // looked at

	around map[string]bool // findings outside of the directories, which several of them share
}

// Finding is one thing that is wrong, with its place. Lines and columns count
// from 1, columns in UTF-16 units; the end is the first column behind.
type Finding struct {
	Rule      string               `json:"rule"`
	Severity  diagnostics.Severity `json:"severity"`
	Path      string               `json:"path"`
	Line      int                  `json:"line"`
	Column    int                  `json:"column"`
	EndLine   int                  `json:"endLine"`
	EndColumn int                  `json:"endColumn"`
	Message   string               `json:"message"`
	Fixes     []Fix                `json:"fixes"`
	Related   []Related            `json:"related"`
	// Fingerprint is the name under which a person can allow what a safety rule
	// found.
	Fingerprint string `json:"fingerprint,omitempty"`

	inMemory string // the path in the memory directory
	text     *text.Text
	span     text.Span
}

// Fix is one way to mend a finding, the best first.
type Fix struct {
	Fix   string `json:"fix"`
	Title string `json:"title"`
	Safe  bool   `json:"safe"`
	// Manual fixes are made in an editor only.
	Manual bool `json:"manual,omitempty"`
}

// Related is another place that a finding is about.
type Related struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Message   string `json:"message"`
}

// Unread is a file or folder that could not be looked at, and why.
type Unread struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Failure is a rule that did not do its work on a file, or on a directory.
type Failure struct {
	Rule    string `json:"rule"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

// New makes an empty Report.
func New() *Report {
	return &Report{Findings: []Finding{}, Unread: []Unread{}, Failures: []Failure{}, Directories: []string{}, around: map[string]bool{}}
}

// Add adds what was found in one memory directory. shown gives the path that a
// person can follow of one in that directory ("" is the directory itself).
func (r *Report) Add(e *diagnostics.Engine, res *diagnostics.Result, shown func(path string) string) {
	r.Directories = append(r.Directories, shown(""))
	r.Files += res.Files
	for _, f := range Findings(e, res.Findings, shown) {
		if filepath.IsAbs(filepath.FromSlash(f.inMemory)) { // the configuration of a project, which holds for all its directories
			key := fmt.Sprint(f.Rule, "\x00", f.inMemory, "\x00", f.span, f.Message)
			if r.around[key] {
				continue
			}
			r.around[key] = true
		}
		r.Findings = append(r.Findings, f)
	}
	for _, u := range res.Unread {
		r.Unread = append(r.Unread, Unread{shown(u.Path), u.Message})
	}
	for _, f := range res.Failures {
		r.Failures = append(r.Failures, Failure{f.Rule, shown(f.Path), f.Err.Error()})
	}
}

// Skip adds something that was not looked at.
func (r *Report) Skip(p memdir.Problem) { r.Unread = append(r.Unread, Unread(p)) }

// Findings gives findings as reports have them.
func Findings(e *diagnostics.Engine, found []diagnostics.Finding, shown func(path string) string) []Finding {
	out := make([]Finding, 0, len(found))
	fixes := map[string]diagnostics.Fix{}
	for _, f := range e.Fixes {
		fixes[f.ID] = f
	}
	for _, f := range found {
		x := Finding{Rule: f.Rule, Severity: f.Severity, Path: shown(f.Path), Message: f.Message, Fingerprint: f.Fingerprint,
			Fixes: []Fix{}, Related: []Related{}, inMemory: f.Path, text: f.Text, span: f.Span}
		x.Line, x.Column, x.EndLine, x.EndColumn = placeOf(f.Text, f.Span)
		for _, o := range f.Offers {
			x.Fixes = append(x.Fixes, Fix{o.Fix, o.Title, fixes[o.Fix].Safe, fixes[o.Fix].Manual})
		}
		for _, rel := range f.Related {
			y := Related{Path: shown(rel.Path), Message: rel.Message}
			if rel.Path == "" {
				y.Path = x.Path
			}
			y.Line, y.Column, y.EndLine, y.EndColumn = placeOf(cmp.Or(rel.Text, f.Text), rel.Span)
			x.Related = append(x.Related, y)
		}
		out = append(out, x)
	}
	return out
}

// placeOf gives a span as people and programs count: from 1, columns in UTF-16.
func placeOf(t *text.Text, s text.Span) (line, column, endLine, endColumn int) {
	if t == nil {
		return 1, 1, 1, 1
	}
	from, to := t.Position(s.Start, text.UTF16), t.Position(s.End, text.UTF16)
	return from.Line + 1, from.Character + 1, to.Line + 1, to.Character + 1
}

// Worst gives the highest severity found, Off for none.
func (r *Report) Worst() diagnostics.Severity {
	worst := diagnostics.Off
	for i := range r.Findings {
		worst = max(worst, r.Findings[i].Severity)
	}
	return worst
}

// Complete reports whether all was looked at by all rules.
func (r *Report) Complete() bool { return len(r.Unread)+len(r.Failures) == 0 }

// Keep drops the findings of other rules, and their failures.
func (r *Report) Keep(rules []string) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return !slices.Contains(rules, f.Rule) })
	r.Failures = slices.DeleteFunc(r.Failures, func(f Failure) bool { return !slices.Contains(rules, f.Rule) })
}
