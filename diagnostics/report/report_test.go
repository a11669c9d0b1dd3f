package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/report"
	"mem/internal/clitest"
)

// engine has what reports say of rules and fixes.
var engine = &diagnostics.Engine{
	Rules: []diagnostics.Rule{
		{ID: "broken-link", Severity: diagnostics.Error, Summary: "A link leads nowhere."},
		{ID: "type-missing", Severity: diagnostics.Warning, Summary: "A topic has no type."},
		{ID: "hidden-character", Severity: diagnostics.Warning, Summary: "A character does not show.", Safety: true},
		{ID: "entry-too-long", Severity: diagnostics.Information, Summary: "An entry is long."},
		{ID: "body-structure", Severity: diagnostics.Hint, Summary: "A topic does not say why."},
	},
	Fixes: []diagnostics.Fix{{ID: "create-topic", Safe: false}, {ID: "remove-entry", Safe: true}},
}

// at finds what is between the marks « and » of a text, and gives the text without
// them.
func at(t *testing.T, marked string) (*text.Text, text.Span) {
	t.Helper()
	from := strings.Index(marked, "«")
	to := strings.Index(marked, "»") - len("«")
	if from < 0 || to < from {
		t.Fatalf("no marks in %q", marked)
	}
	return text.New(strings.NewReplacer("«", "", "»", "").Replace(marked)), text.Span{Start: from, End: to}
}

func finding(t *testing.T, rule, file, message, marked string) diagnostics.Finding {
	f := diagnostics.Finding{Rule: rule, Path: file, Message: message, Severity: engine.Rule(rule).Severity}
	f.Text, f.Span = at(t, marked)
	return f
}

func shownIn(dir string) func(string) string {
	return func(p string) string {
		if p == "" {
			return dir
		}
		return path.Join(dir, p)
	}
}

// sample is one finding of every shape that a format has to cope with.
func sample(t *testing.T) *report.Report {
	link := finding(t, "broken-link", "MEMORY.md", "The entry links gone.md, which does not exist. Create it, or remove the entry.",
		"# Memory\n\n- [Gone](«gone.md») — was here\n- [Gone](gone.md) — twice\n")
	link.Offers = []diagnostics.Offer{{Fix: "remove-entry", Title: "Remove the entry"}, {Fix: "create-topic", Title: "Create gone.md", Arg: "gone.md"}}
	again := strings.LastIndex(link.Text.String(), "gone.md")
	link.Related = []diagnostics.Related{{Span: text.Span{Start: again, End: again + len("gone.md")}, Message: "linked here as well"}}
	long := finding(t, "entry-too-long", "MEMORY.md", "The entry has 300 characters; 150 are enough.",
		"- [Long](long.md) — "+strings.Repeat("many words ", 20)+"«and then some more»"+strings.Repeat(" at the end", 12)+"\n")
	cjk := finding(t, "type-missing", "笔记 😀.md", "The topic 笔记 has no type.", "---\r\nname: 笔记\r\n---\r\n部署😀「«手册»」由她维护\r\n")
	hidden := finding(t, "hidden-character", "笔记 😀.md", "A zero width space does not show; remove it.", "one\tt«\u200b»wo \x1b[31mred\n")
	hidden.Fingerprint = strings.Repeat("ab", 32)
	several := finding(t, "body-structure", "a,b:c%d\n::error::x\x1b[2J.md", "See [this](http://x.example) and {0}.\nSecond line", "first «line\nsecond» line\n")
	empty := finding(t, "type-missing", "empty.md", "The file is empty.", "«»")

	r := report.New()
	r.Add(engine, &diagnostics.Result{
		Findings: []diagnostics.Finding{link, long},
		Unread:   []memdir.Problem{{Path: "big.md", Message: "has 9000000 bytes. Split it."}},
		Failures: []diagnostics.Failure{{Rule: "type-missing", Path: "odd.md", Err: errors.New("it broke down: index out of range")}},
		Files:    3,
	}, shownIn("memory"))
	r.Add(engine, &diagnostics.Result{Findings: []diagnostics.Finding{cjk, hidden, several, empty}, Files: 4}, shownIn("/abs/other memory"))
	r.Skip(memdir.Problem{Path: "locked", Message: "cannot be read: permission denied. Check its permissions."})
	return r
}

func paint(p report.Part, s string) string {
	return "‹" + string("PEWIHRAG"[p]) + ":" + s + "›"
}

func TestGolden(t *testing.T) {
	tool := report.Tool{Version: "1.2.3", Rules: engine.Rules, Page: func(id string) string { return "# " + id + "\n" }}
	for name, print := range map[string]func(*bytes.Buffer, *report.Report) error{
		"pipe.txt": func(b *bytes.Buffer, r *report.Report) error { return report.Text(b, r, report.Look{}) },
		"terminal.txt": func(b *bytes.Buffer, r *report.Report) error {
			return report.Text(b, r, report.Look{Terminal: true, Width: 80})
		},
		"painted.txt": func(b *bytes.Buffer, r *report.Report) error {
			return report.Text(b, r, report.Look{Terminal: true, Width: 60, Paint: paint})
		},
		"report.json":  func(b *bytes.Buffer, r *report.Report) error { return report.JSON(b, r) },
		"report.sarif": func(b *bytes.Buffer, r *report.Report) error { return report.SARIF(b, r, tool) },
		"github.txt":   func(b *bytes.Buffer, r *report.Report) error { return report.GitHub(b, r) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := print(&b, sample(t)); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(b.String(), "\x1b\r") {
				t.Errorf("control characters: %q", b.String())
			}
			clitest.Golden(t, name, b.String())
		})
	}
}

// An empty report has arrays, not nulls.
func TestEmpty(t *testing.T) {
	var b bytes.Buffer
	if err := report.JSON(&b, report.New()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "null") {
		t.Errorf("null in %s", b.String())
	}
	r := report.New()
	r.Add(engine, &diagnostics.Result{Files: 1}, shownIn("memory"))
	b.Reset()
	if err := report.Text(&b, r, report.Look{Terminal: true}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "nothing found; 1 file in 1 memory directory checked\n" {
		t.Errorf("got %q", got)
	}
	b.Reset()
	if err := report.Text(&b, r, report.Look{}); err != nil || b.Len() > 0 {
		t.Errorf("a pipe gets %q, %v", b.String(), err)
	}
}

// In a pipe every finding is one line, whatever files are named; none of them is a
// command to the machine that shows it.
func TestLines(t *testing.T) {
	r := report.New()
	for _, p := range []string{"::error::x.md", "##[group]x.md", "a\nb.md", "a\u2028b.md", "two  spaces.md"} {
		f := finding(t, "type-missing", p, "no type", "«x»")
		r.Add(engine, &diagnostics.Result{Findings: []diagnostics.Finding{f}}, func(p string) string { return p })
	}
	var b bytes.Buffer
	if err := report.Text(&b, r, report.Look{}); err != nil {
		t.Fatal(err)
	}
	want := "./::error::x.md\n./##[group]x.md\na\\nb.md\na\\u2028b.md\ntwo  spaces.md\n"
	if got := strings.ReplaceAll(b.String(), ":1:1: warning type-missing: no type", ""); got != filepath.FromSlash(want) {
		t.Errorf("got %q", got)
	}
	var w bytes.Buffer
	if err := report.GitHub(&w, r); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(w.String()) {
		if !strings.HasPrefix(line, "::warning file=") {
			t.Errorf("a command of somebody else's: %q", line)
		}
	}
}

// A finding is known again when lines come above it, and two of the same text are
// told apart.
func TestPrints(t *testing.T) {
	prints := func(files ...diagnostics.Finding) []string {
		r := report.New()
		r.Add(engine, &diagnostics.Result{Findings: files}, shownIn("memory"))
		var b bytes.Buffer
		if err := report.SARIF(&b, r, report.Tool{}); err != nil {
			t.Fatal(err)
		}
		var log struct {
			Runs []struct {
				Results []struct{ PartialFingerprints map[string]string }
			}
		}
		if err := json.Unmarshal(b.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, x := range log.Runs[0].Results {
			out = append(out, x.PartialFingerprints["memFinding/v1"])
		}
		return out
	}
	one := finding(t, "broken-link", "a.md", "m", "«x» y\n")
	moved := finding(t, "broken-link", "a.md", "other words", "new\n\n  «x» y\n")
	other := finding(t, "broken-link", "b.md", "m", "«x» y\n")
	a := prints(one, one, other)
	if a[0] == a[1] || a[0] == a[2] || a[0] == "" {
		t.Errorf("not told apart: %v", a)
	}
	if b := prints(moved); b[0] != a[0] {
		t.Error("not known again")
	}
}

// Keep leaves what some rules found.
func TestKeep(t *testing.T) {
	r := sample(t)
	r.Keep([]string{"body-structure"})
	if len(r.Findings) != 1 || len(r.Failures) != 0 || r.Worst() != diagnostics.Hint || r.Complete() {
		t.Errorf("kept: %+v", r)
	}
}

// A line with a secret in it is not shown, whatever else is wrong there.
func TestSecret(t *testing.T) {
	secret := finding(t, "body-structure", "a.md", "It looks like a secret.", "the key «hunter2hunter2» it is\nnext line\n")
	secret.Rule = "secret"
	other := secret
	other.Rule, other.Span = "type-missing", text.Span{Start: 0, End: 3}
	next := secret
	next.Rule, next.Span = "type-missing", text.Span{Start: 34, End: 36}
	r := report.New()
	r.Add(engine, &diagnostics.Result{Findings: []diagnostics.Finding{other, secret, next}}, shownIn("memory"))
	for name, print := range map[string]func(*bytes.Buffer) error{
		"text":   func(b *bytes.Buffer) error { return report.Text(b, r, report.Look{Terminal: true}) },
		"pipe":   func(b *bytes.Buffer) error { return report.Text(b, r, report.Look{}) },
		"json":   func(b *bytes.Buffer) error { return report.JSON(b, r) },
		"sarif":  func(b *bytes.Buffer) error { return report.SARIF(b, r, report.Tool{Rules: engine.Rules}) },
		"github": func(b *bytes.Buffer) error { return report.GitHub(b, r) },
	} {
		var b bytes.Buffer
		if err := print(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "hunter2") || name == "text" && !strings.Contains(b.String(), "| next line") {
			t.Errorf("%s: %s", name, b.String())
		}
	}
}

// What is wrong with a project's configuration is said once, though it holds for
// several directories.
func TestAround(t *testing.T) {
	root, err := filepath.Abs("work")
	if err != nil {
		t.Fatal(err)
	}
	f := finding(t, "type-missing", filepath.Join(root, ".mem.yaml"), "There is no such rule.", "«x»")
	r := report.New()
	for _, dir := range []string{"a", "b"} {
		r.Add(engine, &diagnostics.Result{Findings: []diagnostics.Finding{f, finding(t, "type-missing", "x.md", "No type.", "«x»")}}, shownIn(dir))
	}
	if len(r.Findings) != 3 {
		t.Errorf("found: %+v", r.Findings)
	}
}
