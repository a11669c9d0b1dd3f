// Package diagnostics owns what is wrong with a memory directory and how it is
// mended: it runs rules over a View, keeps what they found while files stay the
// same, obeys ignore comments and configuration, and turns findings into changes.
//
// Rules stand in diagnostics/rules, fixes in diagnostics/fixes, the formats in
// which findings are printed in diagnostics/report.
package diagnostics

import (
	"context"
	"fmt"
	"strings"

	"mem/core/change"
	"mem/core/text"
)

// Severity says how much a finding matters. The zero value is Off.
type Severity int

// The severities, in rising order. Their names are those of LSP.
const (
	Off Severity = iota
	Hint
	Information
	Warning
	Error
)

var severityNames = [...]string{"off", "hint", "information", "warning", "error"}

func (s Severity) String() string {
	if s < Off || s > Error {
		return fmt.Sprintf("Severity(%d)", int(s))
	}
	return severityNames[s]
}

// ParseSeverity reads the name of a severity.
func ParseSeverity(name string) (Severity, error) {
	for i, n := range severityNames {
		if n == name {
			return Severity(i), nil
		}
	}
	return Off, fmt.Errorf("%q is no severity; it is one of off, hint, information, warning, error", name)
}

// MarshalText gives the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Evidence is where a rule's claim comes from. Limits differ between clients and
// change, so each has a date.
type Evidence struct {
	Claim   string
	Source  string // such as "seed 24.1" or "observed"
	Client  string // with its version; "" where the claim is about no client
	Checked string // YYYY-MM-DD
}

// Rule is one thing that can be wrong with a memory. Exactly one of File, Memory
// and Ignores is set; it is called for every check and keeps nothing.
type Rule struct {
	ID       string
	Severity Severity // unless the configuration says otherwise
	Summary  string   // what it finds, in one line
	// Safety rules are silenced neither by comments nor by .mem.yaml, which come
	// with the content: only the user's own configuration makes exceptions.
	Safety bool
	// Late rules cost so much that they run after the others have been shown.
	Late     bool
	Kinds    []Kind // of the files File is called for
	Fixes    []string
	Evidence []Evidence

	// File looks at one file, p.Doc. What it finds may depend on that file, its
	// modification time, p.Config, p.Guide and p.View.LinkedOnly only: it is kept
	// while these are the same.
	File func(p *Pass)
	// Memory looks at the whole directory; p.Doc is nil.
	Memory func(p *Pass)
	// Ignores looks at the ignore comments of one file after all rules have run.
	Ignores func(p *Pass, comments []Ignore)
}

// Finding is one thing that is wrong, with where it stands and what mends it.
type Finding struct {
	Rule     string
	Severity Severity
	Path     string    // slash-separated, in the memory directory
	Span     text.Span // in Text
	Message  string    // what is wrong, where the other place is, what to do
	Related  []Related
	// Unnecessary marks a region that no reader loads; editors show it faded.
	Unnecessary bool
	// Fingerprint is the SHA-256 in hex under which a person can allow what a
	// safety rule found.
	Fingerprint string
	Offers      []Offer // best first
	// More counts findings of the same rule in the same file that are not told.
	More int

	// Text is the document that Span counts in.
	Text *text.Text
}

// Related is another place that a finding is about.
type Related struct {
	Path    string
	Span    text.Span // in Text
	Message string
	Text    *text.Text // nil means the finding's own
}

// Offer names a fix for a finding, with what the fix has to know.
type Offer struct {
	Fix   string // its ID
	Title string // what it will do, such as "Set the type to feedback"
	Arg   string // for the fix: a type, a path; "" where it needs none
}

// FixKind is where an editor offers a fix.
type FixKind string

// The kinds of fixes, named as the code action kinds of LSP.
const (
	QuickFix FixKind = "quickfix"
	Extract  FixKind = "refactor.extract"
)

// Fix is one way to mend a finding.
type Fix struct {
	ID      string
	Summary string // what it does, in one line
	// Safe fixes keep the meaning of what is there and need no judgement.
	Safe bool
	// Manual fixes leave something to be filled in or chosen by whoever makes them, so
	// they are offered one by one in an editor: FixAll never makes one.
	Manual bool
	// ByTime fixes go by the time at which the file was changed last, which says nothing
	// about a text that another fix has just put there.
	ByTime bool
	Kind   FixKind
	// Command names what an editor has its server do where no change of the memory is what
	// mends: remember a decision, show something, write to another place. Make is nil then,
	// and the fix Manual.
	Command Command
	// Make gives the change that mends f as an offer with arg said. It edits and
	// creates files; a manual one may remove and rename them, too. s is the Snapshot that f was found in. It
	// gives an error, in words for a person, where that cannot be done.
	Make func(ctx context.Context, s *Snapshot, f Finding, arg string) (change.Change, error)
}

// Command is what a server does in place of a change.
type Command string

// The commands. Each is about a part of a file, see PartOf.
const (
	KeepMine Command = "keepMine"       // the text here stays; not asked again
	SkipNews Command = "skipNews"       // this version of the team's is not wanted
	ShowDiff Command = "openDifference" // base, mine and theirs
	Publish  Command = "publish"
)

// PartArg gives the argument of an offer that is about a part of a file, "" for all of it.
func PartArg(path, part string) string {
	if part == "" {
		return path
	}
	return path + "\t" + part
}

// PartOf reads what PartArg gave.
func PartOf(arg string) (path, part string) {
	path, part, _ = strings.Cut(arg, "\t")
	return path, part
}

// Pass is one call of a rule.
type Pass struct {
	*Snapshot
	Context context.Context
	Doc     *Doc
	rule    *Rule
	found   []Finding
	failed  error

	engine *Engine           // for Ignores
	ran    func(string) bool // for Ignores
}

// Report adds a finding. Rule and severity are filled in; so are the path and
// the text of p.Doc where the finding names no path. Where it names one, and has
// no text, the file at that path is read.
func (p *Pass) Report(f Finding) {
	f.Rule = p.rule.ID
	if f.Severity == Off {
		f.Severity = p.rule.Severity
	}
	f.Severity = p.Config.severity(p.rule, f.Severity)
	if f.Severity == Off {
		return
	}
	if f.Path == "" && p.Doc != nil {
		f.Path = p.Doc.Path
	}
	if f.Text == nil {
		if d, err := p.Snapshot.docFor(p.Doc, f.Path); err == nil {
			f.Text = d.File.Text
		} else {
			f.Text, f.Span = text.New(""), text.Span{}
		}
	}
	p.found = append(p.found, f)
}

// Fail says that the rule could not look at something, so that its silence about
// it is no praise.
func (p *Pass) Fail(err error) { p.failed = err }

// Known gives the rules of the engine. Only a call of Ignores has them.
func (p *Pass) Known() []Rule {
	if p.engine == nil {
		return nil
	}
	return p.engine.Rules
}

// Ran reports whether a rule has looked at p.Doc in this check, and has not failed:
// that it found nothing there means something. Only a call of Ignores knows.
func (p *Pass) Ran(rule string) bool { return p.ran != nil && p.ran(rule) }
