package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/fixes"
	"mem/diagnostics/rules"
)

// pages is where the page of each rule stands. Three parts of a page are written by
// hand (Wrong, Right, Why); the rest is made from the rule, and -update writes it.
const pages = "../../docs/rules"

// TestPages holds every page against its rule, and runs its examples: the rule finds
// something in Wrong and nothing in Right.
func TestPages(t *testing.T) {
	for _, rule := range rules.All() {
		t.Run(rule.ID, func(t *testing.T) {
			file := filepath.Join(pages, rule.ID+".md")
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := partsOf(string(src))
			for _, name := range []string{"Wrong", "Right", "Why"} {
				if strings.TrimSpace(parts[name]) == "" {
					t.Fatalf("%s has no part %q", file, name)
				}
			}
			want := page(t, rule, parts)
			if *update {
				if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(want, string(src)); diff != "" {
				t.Errorf("%s is out of date; run make update (-want +got):\n%s", file, diff)
			}
			wrong, right := findIn(t, rule, example(t, parts["Wrong"])), findIn(t, rule, example(t, parts["Right"]))
			if len(wrong) == 0 {
				t.Error("the rule finds nothing in Wrong")
			}
			for _, f := range right {
				t.Errorf("the rule finds something in Right: %s", f.Message)
			}
		})
	}
}

// TestNoOtherPages looks for pages of rules that are gone.
func TestNoOtherPages(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(pages, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		id := strings.TrimSuffix(filepath.Base(f), ".md")
		if !slices.ContainsFunc(rules.All(), func(r diagnostics.Rule) bool { return r.ID == id }) {
			t.Errorf("%s is the page of no rule", f)
		}
	}
}

// TestRules holds the list against its own promises.
func TestRules(t *testing.T) {
	offered := map[string]bool{}
	seen := map[string]bool{}
	for _, r := range rules.All() {
		calls := 0
		for _, set := range []bool{r.File != nil, r.Memory != nil, r.Ignores != nil} {
			if set {
				calls++
			}
		}
		switch {
		case seen[r.ID]:
			t.Errorf("two rules are named %s", r.ID)
		case calls != 1:
			t.Errorf("%s has %d of File, Memory and Ignores", r.ID, calls)
		case r.File != nil && len(r.Kinds) == 0:
			t.Errorf("%s looks at no kind of file", r.ID)
		case len(r.Evidence) == 0:
			t.Errorf("%s has no evidence", r.ID)
		case !strings.HasSuffix(r.Summary, "."):
			t.Errorf("the summary of %s is no sentence", r.ID)
		}
		seen[r.ID] = true
		for _, e := range r.Evidence {
			if e.Claim == "" || e.Source == "" || !regexp.MustCompile(`^\d{4}-\d\d-\d\d$`).MatchString(e.Checked) {
				t.Errorf("%s: evidence without claim, source or date: %+v", r.ID, e)
			}
		}
		for _, id := range r.Fixes {
			offered[id] = true
			if fixOf(id) == nil {
				t.Errorf("%s offers %s, which is no fix", r.ID, id)
			}
		}
	}
	for _, f := range fixes.All() {
		if (f.Make == nil) != (f.Command != "" && f.Manual) || f.Kind == "" || !offered[f.ID] {
			t.Errorf("the fix %s is not made, has no kind, or no rule offers it", f.ID)
		}
	}
}

func fixOf(id string) *diagnostics.Fix {
	e := diagnostics.Engine{Fixes: fixes.All()}
	return e.Fix(id)
}

// partsOf splits a page at its headings of the second level, fenced ones aside.
func partsOf(src string) map[string]string {
	parts := map[string]string{}
	name, fence := "", ""
	for line := range strings.Lines(src) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence == "" && strings.HasPrefix(trimmed, "```"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		case fence != "" && trimmed == fence:
			fence = ""
		case fence == "" && strings.HasPrefix(line, "## "):
			name = strings.TrimSpace(line[3:])
			continue
		}
		parts[name] += line
	}
	return parts
}

// page gives the whole page.
func page(t *testing.T, r diagnostics.Rule, parts map[string]string) string {
	var b strings.Builder
	part := func(name, body string) { fmt.Fprintf(&b, "\n## %s\n\n%s\n", name, strings.TrimSpace(body)) }
	fmt.Fprintf(&b, "# %s\n\n%s\n\nSeverity: %s.", r.ID, r.Summary, r.Severity)
	if r.Late {
		b.WriteString(" It runs after the other rules.")
	}
	b.WriteString("\n")
	part("Wrong", parts["Wrong"])
	part("Right", parts["Right"])
	part("Why", parts["Why"])
	mend := "Nothing mends this by itself.\n"
	if len(r.Fixes) > 0 {
		mend = ""
		for _, id := range r.Fixes {
			f := fixOf(id)
			if f == nil {
				t.Fatalf("%s offers %s, which is no fix", r.ID, id)
			}
			how := "needs judgement"
			switch {
			case f.Manual:
				how = "in the editor only"
			case f.Safe:
				how = "safe"
			}
			mend += fmt.Sprintf("- `%s` (%s): %s\n", id, how, f.Summary)
		}
	}
	batch := slices.ContainsFunc(r.Fixes, func(id string) bool { return !fixOf(id).Manual })
	switch {
	case len(r.Fixes) > 0 && !batch:
		mend += "\n`mem-lsp fix` and `memory_fix` leave it to you: something has to be filled in or decided.\n"
	case batch:
		mend += "\nSafe fixes are made by `mem-lsp fix` and `memory_fix`; the others only when asked for by `--unsafe` or `unsafe`, or one by one in the editor.\n"
	}
	part("How to mend it", mend)
	configure := fmt.Sprintf("Another severity, or none, in `.mem.yaml`:\n\n```yaml\nrules:\n  %[1]s: off\n```\n\nOr for one place:\n\n```markdown\n<!-- mem-ignore-next-line %[1]s -->\n```\n", r.ID)
	switch {
	case r.Safety:
		configure = "This is a rule of safety: neither `.mem.yaml` nor a comment silences it, since they come with the content. " +
			"What you know to be fine, you allow in your own configuration with the fingerprint that the finding names:\n\n```yaml\nguard:\n  allow: [\"<fingerprint>\"]\n```\n"
	case r.ID == "configuration":
		configure = fmt.Sprintf("Another severity, but not `off`, in `.mem.yaml`:\n\n```yaml\nrules:\n  %s: warning\n```\n", r.ID)
	case r.Ignores != nil:
		configure = fmt.Sprintf("Another severity, or none, in `.mem.yaml`:\n\n```yaml\nrules:\n  %s: off\n```\n", r.ID)
	}
	part("Configure", configure)
	evidence := ""
	for _, e := range r.Evidence {
		who := e.Source
		if e.Client != "" {
			who += ", " + e.Client
		}
		evidence += fmt.Sprintf("- %s (%s, %s)\n", strings.TrimSuffix(e.Claim, "."), who, e.Checked)
	}
	part("Evidence", evidence)
	return b.String()
}

var exampleFence = regexp.MustCompile("(?m)^(`{3,})txtar\n")

// example gives the one memory directory that a part shows.
func example(t *testing.T, part string) string {
	t.Helper()
	m := exampleFence.FindStringSubmatchIndex(part)
	if m == nil {
		t.Fatal("no example")
	}
	fence := part[m[2]:m[3]]
	body, _, ok := strings.Cut(part[m[1]:], "\n"+fence+"\n")
	if !ok {
		t.Fatal("the example does not end")
	}
	return body + "\n"
}

func findIn(t *testing.T, rule diagnostics.Rule, src string) []diagnostics.Finding {
	t.Helper()
	c := diagtest.Parse(t, []byte(src))
	c.Late = rule.Late
	_, all := c.Check(t, c.Engine(rules.All(), fixes.All()))
	return slices.DeleteFunc(all, func(f diagnostics.Finding) bool { return f.Rule != rule.ID })
}
