package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mem/core/memfile"
)

// playEditor opens the index that is too long in an editor, and mends it there.
func playEditor(s *stage) {
	if s.err != nil {
		return
	}
	if len(s.languageServer) == 0 {
		s.say("NOT PLAYED: there is no mem-lsp beside mem-mcp or in PATH. Install it with: go install ./cmd/mem-lsp")
		s.step.Shown = append(s.step.Shown, "not played: mem-lsp was not found")
		return
	}
	index := filepath.Join(s.longMemory, memfile.IndexName)
	before := readLines(s, index)
	s.say("A person opens the index of the second project, whose %d lines are too many, in an editor that runs mem-lsp.", len(before))
	e := s.edit("editor", index)
	found := e.diagnostics(s)
	tooLong := diagnosticOf(found, "index-too-long")
	if s.err != nil {
		return
	}
	s.check(tooLong != nil && tooLong.Severity == 1 && tooLong.Range.Start.Line == 200 && len(tooLong.Tags) == 1,
		"from line 201 on the editor shows the lines faded, as an error: no agent loads them", found)
	if s.err != nil {
		return
	}
	s.back("line %d: %s", tooLong.Range.Start.Line+1, tooLong.Message)
	actions := e.actions(s, *tooLong, "refactor.extract")
	s.check(len(actions) > 0, "it offers to move them", actions)
	if s.err != nil {
		return
	}
	s.say("The person takes the first of %d: %s", len(actions), actions[0].Title)
	created := e.take(s, actions[0])
	left := e.diagnostics(s)
	s.check(diagnosticOf(left, "index-too-long") == nil && diagnosticOf(left, "index-too-large") == nil, "the index fits now: the error is gone", left)
	e.quit(s)
	after := readLines(s, index)
	if s.err != nil {
		return
	}
	s.check(len(after) <= 200 && len(created) == 1, fmt.Sprintf("the index on disk has %d lines instead of %d, and there is one new topic", len(after), len(before)), created)
	if s.err != nil {
		return
	}
	moved, err := os.ReadFile(created[0])
	if err != nil {
		s.fail(err)
		return
	}
	s.check(allThere(before, strings.Join(after, "\n"), string(moved)), "every entry is in one of the two", string(moved))
	topic := strings.Split(string(moved), "\n")
	s.show(filepath.Base(created[0]) + ":")
	s.show(topic[:min(8, len(topic))]...)
	s.show("…")
}

func diagnosticOf(all []diagnostic, code string) *diagnostic {
	for i := range all {
		if all[i].Code == code {
			return &all[i]
		}
	}
	return nil
}

// allThere reports whether each entry of an index stands in one of some texts.
func allThere(lines []string, texts ...string) bool {
	for _, l := range lines {
		found := !strings.HasPrefix(l, "- ")
		for _, t := range texts {
			found = found || strings.Contains(t, l)
		}
		if !found {
			return false
		}
	}
	return true
}
