package sessionmem

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mem/core/settings"
)

func TestTemplateHasTheTenSectionsEmpty(t *testing.T) {
	s := Parse(Template())
	if len(s.Parts) != 10 || s.Filled() != 0 || s.Before != "" {
		t.Fatalf("%d sections, %d filled, before %q", len(s.Parts), s.Filled(), s.Before)
	}
	want := "Session Title, Current State, Task specification, Files and Functions, Workflow, Errors & Corrections, Codebase and System Documentation, Learnings, Key results, Worklog"
	var got []string
	for _, p := range s.Parts {
		got = append(got, p.Title)
	}
	if strings.Join(got, ", ") != want {
		t.Errorf("sections %q", got)
	}
	if s.String() != Template() {
		t.Errorf("written again:\n%s", s.String())
	}
}

func TestParseKeepsWhatBelongsNowhere(t *testing.T) {
	s := Parse("\ufeffnote before\r\n# current state\r\nwe test\r\n\r\n# Odd One\r\nkept\r\n# Worklog\r\n- first\r\n```sh\r\n# not a section\r\n```\r\n# Current State\nagain\n")
	got := s.String()
	for _, want := range []string{"# Current State\n_" + Sections[1].About + "_\nwe test\n\nagain\n", "- first\n```sh\n# not a section\n```\n\nnote before\n\n## Odd One\nkept\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if again := Parse(got).String(); again != got {
		t.Errorf("a second time:\n%s\nfirst:\n%s", again, got)
	}
}

var small = settings.SessionMemoryConfig{SectionTokens: 60, TotalTokens: 150}

func TestCheckAndCut(t *testing.T) {
	long := strings.Repeat("one line of the state\n", 40)
	log := strings.Repeat("- a step that was taken\n", 40) + "- the newest step"
	s := Parse("# Current State\n" + long + "# Worklog\n" + log + "\n# Learnings\nshort\n")
	over := s.Check(small)
	if len(over) != 3 || over[0].Title != "Current State" || over[1].Title != "Worklog" || over[2].Title != "" {
		t.Fatalf("over: %v", over)
	}
	cut, was := s.Cut(small)
	if len(was) != 3 || len(cut.Check(small)) != 0 {
		t.Errorf("cut: %v, still over: %v", was, cut.Check(small))
	}
	state, worklog := cut.Parts[1].Body, cut.Parts[9].Body
	if !strings.HasPrefix(state, "one line") || !strings.Contains(state, "[… cut: ") || !strings.HasSuffix(state, "]") {
		t.Errorf("state: %q", state)
	}
	if !strings.HasSuffix(worklog, "- the newest step") || !strings.HasPrefix(worklog, "[… cut: ") {
		t.Errorf("worklog: %q", worklog)
	}
	if cut.Parts[7].Body != "short" {
		t.Errorf("learnings: %q", cut.Parts[7].Body)
	}
	if same, was := Parse("# Learnings\nshort\n").Cut(small); len(was) != 0 || same.Parts[7].Body != "short" {
		t.Errorf("a short one was cut: %v", was)
	}
}

func TestAnyTextIsBroughtWithinItsLimits(t *testing.T) {
	piece := rapid.SampledFrom([]string{"# Worklog\n", "# Current State\n", "# Else\n", "zeta ", "\n", "漢字", "```\n", "\r\n", "\x00\xff", "Title\n===\n", "_About_\n", "~~~\n"})
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Join(rapid.SliceOfN(piece, 0, 200).Draw(t, "pieces"), "")
		c := settings.SessionMemoryConfig{SectionTokens: rapid.IntRange(1, 200).Draw(t, "section"), TotalTokens: rapid.IntRange(1, 600).Draw(t, "total")}
		whole := Parse(content).String()
		for _, w := range []string{"zeta", "漢字"} {
			if a, b := strings.Count(content, w), strings.Count(whole, w); a != b {
				t.Fatalf("%d of %q became %d:\n%s", a, w, b, whole)
			}
		}
		cut, _ := Parse(content).Cut(c)
		if over := cut.Check(c); len(over) > 0 {
			t.Fatalf("still over: %v\n%s", over, cut)
		}
		text := cut.String()
		if again := Parse(text); len(again.Check(c)) > 0 || len(again.Parts) < len(Sections) {
			t.Fatalf("read again: %d sections, over %v\n%s", len(again.Parts), again.Check(c), text)
		}
	})
}

func TestOverSaysWhat(t *testing.T) {
	got := fmt.Sprint(Over{"Worklog", 2100, 2000}, Over{"", 12500, 12000})
	if !strings.Contains(got, "the section Worklog has about 2100 tokens; the limit is 2000") || !strings.Contains(got, "the whole summary has about 12500") {
		t.Error(got)
	}
}
