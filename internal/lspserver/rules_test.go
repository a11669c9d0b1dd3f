package lspserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// The rules of these tests are small ones of their own, so that they show what the
// server makes of findings and fixes and nothing else.

// findWord finds every place of a word.
func findWord(id, word string, d diagnostics.Rule, offers ...diagnostics.Offer) diagnostics.Rule {
	d.ID = id
	if d.Severity == diagnostics.Off {
		d.Severity = diagnostics.Warning
	}
	d.Kinds = diagnostics.AllKinds
	d.File = func(p *diagnostics.Pass) {
		src := p.Doc.Source()
		for at := 0; ; {
			i := strings.Index(src[at:], word)
			if i < 0 {
				return
			}
			span := text.Span{Start: at + i, End: at + i + len(word)}
			at = span.End
			p.Report(diagnostics.Finding{Span: span, Message: "There is " + word + ".", Offers: offers,
				Unnecessary: id == "faded", Related: []diagnostics.Related{{Path: "other.md", Span: text.Span{}, Message: "as there", Text: text.New("")}}})
		}
	}
	return d
}

func editFix(id string, safe bool, kind diagnostics.FixKind, make func(s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error)) diagnostics.Fix {
	return diagnostics.Fix{ID: id, Safe: safe, Kind: kind, Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
		return make(s, f, arg)
	}}
}

func inPlace(f diagnostics.Finding, with string) change.File {
	file, _ := change.EditFile(f.Path, f.Text.String(), []text.Edit{{Span: f.Span, New: with}})
	return file
}

// slow counts how often the late rule ran.
var slow atomic.Int64

// testEngine has the word "bad", which is mended in place, by a new file, in
// another file or not at all; "late" and "faded", and the rule that breaks down at
// "panic".
func testEngine(s *server) {
	s.engine = &diagnostics.Engine{
		Rules: []diagnostics.Rule{
			findWord("word", "bad", diagnostics.Rule{}, diagnostics.Offer{Fix: "better", Title: "Write good", Arg: "good"},
				diagnostics.Offer{Fix: "create", Title: "Create a topic", Arg: "new topic.md"},
				diagnostics.Offer{Fix: "elsewhere", Title: "Change the other", Arg: "other.md"},
				diagnostics.Offer{Fix: "impossible", Title: "Do the impossible"}),
			findWord("faded", "faded", diagnostics.Rule{Severity: diagnostics.Hint}),
			findWord("later", "late", diagnostics.Rule{Late: true, Severity: diagnostics.Error}, diagnostics.Offer{Fix: "better", Title: "Write early", Arg: "early"}),
			{ID: "breaks", Severity: diagnostics.Warning, Kinds: diagnostics.AllKinds, File: func(p *diagnostics.Pass) {
				if strings.Contains(p.Doc.Source(), "panic") {
					panic("the rule")
				}
			}},
			{ID: "counts", Severity: diagnostics.Information, Memory: func(p *diagnostics.Pass) {
				if n := len(p.View.Topics); n > 0 && p.View.Index.Exists {
					p.Report(diagnostics.Finding{Path: memfile.IndexName, Message: fmt.Sprintf("There are %d topics.", n)})
				}
			}},
		},
		Fixes: []diagnostics.Fix{
			editFix("better", true, diagnostics.QuickFix, func(_ *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
				return change.Change{Files: []change.File{inPlace(f, arg)}}, nil
			}),
			editFix("create", false, diagnostics.Extract, func(s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
				if s.View.Topic(arg) != nil {
					return change.Change{}, errors.New("there is one")
				}
				line := f.Text.Slice(f.Text.FullLine(f.Text.LineAt(f.Span.Start)))
				return change.Change{Files: []change.File{{Path: arg, Kind: change.Create, New: line}, inPlace(f, "moved")}}, nil
			}),
			editFix("elsewhere", false, diagnostics.QuickFix, func(s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
				d, err := s.Doc(arg)
				if err != nil {
					return change.Change{}, err
				}
				line := d.File.Text.Line(d.File.Text.Lines() - 1)
				file, _ := change.EditFile(arg, d.Source(), []text.Edit{{Span: text.Span{Start: line.End, End: line.End}, New: "!"}, {Span: text.Span{Start: line.Start, End: line.Start}, New: "¡"}})
				return change.Change{Files: []change.File{file}}, nil
			}),
			editFix("impossible", false, diagnostics.QuickFix, func(*diagnostics.Snapshot, diagnostics.Finding, string) (change.Change, error) {
				return change.Change{}, errors.New("that cannot be done")
			}),
		},
	}
	rules := s.engine.Rules
	for i := range rules {
		if rules[i].Late {
			find := rules[i].File
			rules[i].File = func(p *diagnostics.Pass) { slow.Add(1); find(p) }
		}
	}
	s.rules = rules
}
