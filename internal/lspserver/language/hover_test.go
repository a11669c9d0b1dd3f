package language_test

import (
	"regexp"
	"strings"
	"testing"

	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/internal/lspserver/language"
)

var diagtestNow = diagtest.Now

// TestBudget looks at indexes past the limits, as each kind of client counts.
func TestBudget(t *testing.T) {
	lines := strings.Repeat("- [a](a.md) — x\n", 230)
	wide := strings.Repeat(strings.Repeat("风", 99)+"\n", 150) // 15,000 units, 44,700 bytes
	for _, c := range []struct {
		name, index string
		client      diagnostics.Client
		line        int
		want        []string
		not         string
	}{
		{"fits", "# Memory\n", diagnostics.AnyClient, 0, []string{"0 % full", "1 of 200 lines", "8 of 25,000 UTF-16 units", "8 of 25,000 bytes", "All of it is loaded."}, "not loaded"},
		{"too many lines", lines, diagnostics.AnyClient, 0, []string{"115 % full", "230 of 200 lines", "Line 201 and what follows (30 lines) are **not loaded** by any reader."}, "among them"},
		{"a line that is dropped", lines, diagnostics.AnyClient, 200, []string{"This line is among them."}, "\x00"},
		{"the last that is loaded", lines, diagnostics.AnyClient, 199, []string{"Line 201"}, "among them"},
		{"too many bytes", wide, diagnostics.AnyClient, 149, []string{"178 % full", "are **not loaded** by readers that count bytes."}, "among them"},
		{"not for Claude Code", wide, diagnostics.ClaudeCode, 149, []string{"75 % full", "All of it is loaded."}, "bytes"},
		{"for those that count bytes", wide, diagnostics.SeedClient, 149, []string{"178 % full", "not loaded", "This line is among them."}, "UTF-16"},
		{"nothing", "", diagnostics.AnyClient, 0, []string{"0 of 200 lines", "All of it is loaded."}, "not loaded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := diagnostics.DefaultConfig()
			config.Client = c.client
			s := read(t, map[string]string{"MEMORY.md": c.index, "a.md": ""}, config)
			d, err := s.Doc("MEMORY.md")
			if err != nil {
				t.Fatal(err)
			}
			tip, ok := language.Hover(s, d, d.File.Text.Line(c.line).Start)
			for _, want := range c.want {
				if !ok || !strings.Contains(tip.Markdown, want) {
					t.Errorf("no %q in\n%s", want, tip.Markdown)
				}
			}
			if strings.Contains(tip.Markdown, c.not) {
				t.Errorf("%q in\n%s", c.not, tip.Markdown)
			}
		})
	}
}

func TestBudgetOfOwnLimits(t *testing.T) {
	config := diagnostics.DefaultConfig()
	config.Limits.IndexLines, config.Limits.IndexSize = 2, 1000
	s := read(t, map[string]string{"MEMORY.md": "a\nb\nc\n"}, config)
	d, err := s.Doc("MEMORY.md")
	if err != nil {
		t.Fatal(err)
	}
	if tip, _ := language.Hover(s, d, 0); !strings.Contains(tip.Markdown, "3 of 2 lines") || !strings.Contains(tip.Markdown, "of 1,000 bytes") {
		t.Error(tip.Markdown)
	}
}

// TestHoverShowsContentAsData has a memory try to write into what is shown of it.
func TestHoverShowsContentAsData(t *testing.T) {
	s := read(t, map[string]string{
		"MEMORY.md": "[x](a.md)\n",
		"a.md": "---\nname: \"**x** [click](command:run) <img src=x>\"\ndescription: \"see www.example.com or https://example.com ![i](y) \\u202e\\x1b[31m\"\ntype: \"`t`\"\n---\n" +
			"```\nfenced\n```\n``````\n\u202ereversed\x07 \xff\n" + strings.Repeat("wide ", 100) + "\n~~~\n</details>\n",
	}, nil)
	d, err := s.Doc("MEMORY.md")
	if err != nil {
		t.Fatal(err)
	}
	tip, ok := language.Hover(s, d, 2)
	if !ok {
		t.Fatal("nothing")
	}
	head, body, fenced := strings.Cut(tip.Markdown, "\n```````markdown\n")
	if !fenced || !strings.HasSuffix(body, "\n```````") || strings.Count(body, "```````") != 1 {
		t.Errorf("the fence does not hold:\n%s", tip.Markdown)
	}
	head = regexp.MustCompile(`\\[[:punct:]]`).ReplaceAllString(head, "")
	for _, live := range []string{"[click](", "<img", "https://", "www.example", "![i]", "**x**", "\u202e", "\x1b"} {
		if strings.Contains(head, live) {
			t.Errorf("%q takes effect in\n%s", live, head)
		}
	}
	for _, hidden := range []string{"\u202e", "\x07", "\xff", strings.Repeat("wide ", 60)} {
		if strings.Contains(body, hidden) {
			t.Errorf("%q stands in\n%s", hidden, body)
		}
	}
}
