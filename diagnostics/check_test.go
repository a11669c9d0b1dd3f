package diagnostics_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func files(src map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for p, s := range src {
		m[p] = &fstest.MapFile{Data: []byte(s), Mode: 0o644, ModTime: now.Add(-time.Hour)}
	}
	return m
}

// directory gives Snapshots of changing files that share what was kept.
type directory struct {
	files  fstest.MapFS
	views  *memdir.Cache
	cache  *diagnostics.Cache
	config *diagnostics.Config
}

func open(src map[string]string) *directory {
	return &directory{files(src), memdir.NewCache(), diagnostics.NewCache(), diagnostics.DefaultConfig()}
}

func (d *directory) snapshot(t *testing.T) *diagnostics.Snapshot {
	t.Helper()
	v, err := memdir.Read(context.Background(), d.files, d.views, memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return diagnostics.NewSnapshot(v, d.config, nil, memdir.Stamp{Origin: "a-session", Now: now}, d.cache)
}

func check(t *testing.T, e *diagnostics.Engine, s *diagnostics.Snapshot, scope diagnostics.Scope) *diagnostics.Result {
	t.Helper()
	r, err := e.Check(context.Background(), s, scope)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// word is a rule that finds every occurrence of a word.
func word(id, w string, severity diagnostics.Severity) diagnostics.Rule {
	return diagnostics.Rule{ID: id, Severity: severity, Kinds: diagnostics.AllKinds, File: func(p *diagnostics.Pass) {
		src := p.Doc.Source()
		for at := 0; ; {
			i := strings.Index(src[at:], w)
			if i < 0 {
				return
			}
			p.Report(diagnostics.Finding{Span: text.Span{Start: at + i, End: at + i + len(w)}, Message: w + " stands here", Fingerprint: "f-" + w})
			at += i + len(w)
		}
	}}
}

func shown(fs []diagnostics.Finding) string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprintf("%s:%d %s %s", f.Path, f.Text.LineAt(f.Span.Start)+1, f.Severity, f.Rule))
	}
	return strings.Join(out, ", ")
}

var memory = map[string]string{
	"MEMORY.md":                  "# Memory\n\n- [A](a.md) — apple\n",
	"a.md":                       "---\nname: a\n---\napple\npear\n",
	"b/c.md":                     "pear\n",
	"logs/2026/01/2026-01-02.md": "apple\n",
}

func TestFindingsAreOrdered(t *testing.T) {
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{word("pears", "pear", diagnostics.Warning), word("apples", "apple", diagnostics.Error)}}
	r := check(t, e, open(memory).snapshot(t), diagnostics.Scope{})
	want := "MEMORY.md:3 error apples, a.md:4 error apples, a.md:5 warning pears, b/c.md:1 warning pears, logs/2026/01/2026-01-02.md:1 error apples"
	if got := shown(r.Findings); got != want || r.Files != 4 {
		t.Errorf("%s (%d files)", got, r.Files)
	}
	r = check(t, e, open(memory).snapshot(t), diagnostics.Scope{Paths: []string{"b/c.md", "gone.md"}})
	if got := shown(r.Findings); got != "b/c.md:1 warning pears" || r.Files != 1 {
		t.Errorf("%s (%d files)", got, r.Files)
	}
}

// One rule that breaks down is named with the file; the others go on.
func TestARuleThatBreaksDown(t *testing.T) {
	broken := diagnostics.Rule{ID: "broken", Severity: diagnostics.Error, Kinds: []diagnostics.Kind{diagnostics.Topic}, File: func(p *diagnostics.Pass) {
		if p.Doc.Path == "a.md" {
			panic("no such thing")
		}
	}}
	whole := diagnostics.Rule{ID: "whole", Severity: diagnostics.Error, Memory: func(*diagnostics.Pass) { panic("none at all") }}
	unsure := diagnostics.Rule{ID: "unsure", Severity: diagnostics.Error, Memory: func(p *diagnostics.Pass) { p.Fail(errors.New("could not look")) }}
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{broken, whole, unsure, word("pears", "pear", diagnostics.Warning)}}
	r := check(t, e, open(memory).snapshot(t), diagnostics.Scope{})
	if got := shown(r.Findings); got != "a.md:5 warning pears, b/c.md:1 warning pears" {
		t.Error(got)
	}
	if len(r.Failures) != 3 || r.Failures[0].Rule != "whole" || r.Failures[1].Rule != "unsure" || r.Failures[2].Path != "a.md" ||
		!strings.Contains(r.Failures[2].Error(), "no such thing") {
		t.Errorf("%v", r.Failures)
	}
}

func TestFilesThatAreTheSameAreNotCheckedAgain(t *testing.T) {
	var calls atomic.Int32
	counted := diagnostics.Rule{ID: "counted", Severity: diagnostics.Hint, Kinds: diagnostics.AllKinds, File: func(p *diagnostics.Pass) {
		calls.Add(1)
		p.Report(diagnostics.Finding{Span: text.Span{End: 1}, Message: p.Doc.Source()[:5]})
	}}
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{counted}}
	d := open(memory)
	expect := func(want int32, why string) *diagnostics.Result {
		t.Helper()
		r := check(t, e, d.snapshot(t), diagnostics.Scope{})
		if got := calls.Swap(0); got != want {
			t.Errorf("%s: %d calls, want %d", why, got, want)
		}
		if len(r.Findings) != len(d.files) {
			t.Errorf("%s: %d findings", why, len(r.Findings))
		}
		return r
	}
	expect(4, "first")
	expect(0, "same")
	d.files["a.md"] = &fstest.MapFile{Data: []byte("other text\n"), Mode: 0o644, ModTime: now.Add(-time.Minute)}
	if r := expect(1, "one changed"); r.Findings[1].Message != "other" {
		t.Error(r.Findings[1].Message)
	}
	d.config = diagnostics.DefaultConfig()
	expect(4, "another configuration")
}

func TestSeverities(t *testing.T) {
	safe := word("safe", "pear", diagnostics.Warning)
	safe.Safety = true
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{word("apples", "apple", diagnostics.Error), safe}}
	d := open(map[string]string{"a.md": "apple\npear\n"})
	for _, c := range []struct {
		set  map[string]diagnostics.Severity
		want string
	}{
		{nil, "a.md:1 error apples, a.md:2 warning safe"},
		{map[string]diagnostics.Severity{"apples": diagnostics.Hint, "safe": diagnostics.Error}, "a.md:1 hint apples, a.md:2 error safe"},
		{map[string]diagnostics.Severity{"apples": diagnostics.Off, "safe": diagnostics.Off}, "a.md:2 warning safe"},
	} {
		d.config = diagnostics.DefaultConfig()
		d.config.Severities = c.set
		if got := shown(check(t, e, d.snapshot(t), diagnostics.Scope{}).Findings); got != c.want {
			t.Errorf("%v: %s", c.set, got)
		}
	}
}

// A comment in a file never silences a rule of safety; the user's own
// configuration does, by fingerprint.
func TestSilence(t *testing.T) {
	safe := word("safe", "pear", diagnostics.Warning)
	safe.Safety = true
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{word("fruit", "apple", diagnostics.Error), safe}}
	d := open(map[string]string{
		"a.md": "<!-- mem-ignore-next-line fruit, safe -->\napple pear\napple\n",
		"b.md": "---\nname: b\n# mem-ignore-next-line fruit\ndescription: apple\n---\ntext <!-- mem-ignore-file safe -->\npear apple\n",
		"c.md": "apple\n<!-- mem-ignore-file fruit -->\napple\n",
	})
	want := "a.md:2 warning safe, a.md:3 error fruit, b.md:7 warning safe, b.md:7 error fruit"
	if got := shown(check(t, e, d.snapshot(t), diagnostics.Scope{}).Findings); got != want {
		t.Error(got)
	}
	e.Allowed = func(f string) bool { return f == "f-pear" || f == "f-apple" }
	if got := shown(check(t, e, d.snapshot(t), diagnostics.Scope{}).Findings); got != "a.md:3 error fruit, b.md:7 error fruit" {
		t.Error(got)
	}
}

func TestLateRulesRunWhenAsked(t *testing.T) {
	late := word("late", "pear", diagnostics.Error)
	late.Late = true
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{late}}
	d := open(memory)
	if r := check(t, e, d.snapshot(t), diagnostics.Scope{}); len(r.Findings) != 0 {
		t.Error(shown(r.Findings))
	}
	if r := check(t, e, d.snapshot(t), diagnostics.Scope{Late: true}); len(r.Findings) != 2 {
		t.Error(shown(r.Findings))
	}
}

func TestACheckEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	stop := diagnostics.Rule{ID: "stop", Severity: diagnostics.Error, Kinds: diagnostics.AllKinds, File: func(*diagnostics.Pass) { cancel() }}
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{stop}}
	if _, err := e.Check(ctx, open(memory).snapshot(t), diagnostics.Scope{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What a rule of files said of a memory directory is not kept when that turns out
// to be the root of a repository, though no file of it changed.
func TestACheckForgetsWhenTheRootBecomesARepository(t *testing.T) {
	plain := diagnostics.Rule{ID: "plain", Severity: diagnostics.Warning, Kinds: []diagnostics.Kind{diagnostics.Topic}, File: func(p *diagnostics.Pass) {
		if !p.View.LinkedOnly {
			p.Report(diagnostics.Finding{Message: "here"})
		}
	}}
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{plain}}
	d := open(map[string]string{"MEMORY.md": "- [A](a.md)\n", "a.md": "a"})
	expect := func(n int) {
		t.Helper()
		if got := check(t, e, d.snapshot(t), diagnostics.Scope{}).Findings; len(got) != n {
			t.Errorf("%d findings, want %d", len(got), n)
		}
	}
	expect(1)
	d.files[".git/HEAD"] = &fstest.MapFile{Data: []byte("x"), ModTime: now}
	expect(0)
	delete(d.files, ".git/HEAD")
	expect(1)
}

// A file with thousands of findings of one rule shows a thousand, and says how many
// there are. Mending takes them all.
func TestFindingsAreBounded(t *testing.T) {
	r1, f1 := replaceBy("one", "apple", "pear", true)
	find := r1.File
	r1.File = func(p *diagnostics.Pass) { // the last one matters most
		sub := *p
		find(&sub)
		all := diagnostics.Found(&sub)
		for i, f := range all {
			if f.Severity = diagnostics.Hint; i == len(all)-1 {
				f.Severity = diagnostics.Error
			}
			p.Report(f)
		}
	}
	e := engine(r1, f1, word("two", "plum", diagnostics.Warning))
	d := open(map[string]string{"a.md": strings.Repeat("apple\nplum\n", 1001), "b.md": strings.Repeat("apple\nplum\n", 1000), "c.md": strings.Repeat("apple\n", 15_000)})
	r := check(t, e, d.snapshot(t), diagnostics.Scope{})
	if len(r.Findings) != 5000 {
		t.Fatalf("%d findings", len(r.Findings))
	}
	for i, want := range map[int]string{
		0: "apple stands here", 1998: "apple stands here And 1 more finding of this rule in this file.", 1999: "plum stands here And 1 more finding of this rule in this file.",
		3999: "plum stands here", 4999: "apple stands here And 14000 more findings of this rule in this file.",
	} {
		if f := r.Findings[i]; f.Message != want || (f.Rule == "one") == (f.Severity == diagnostics.Warning) {
			t.Errorf("%d: %s %s: %q, want %q", i, f.Severity, f.Rule, f.Message, want)
		}
	}
	if f := r.Findings[1998]; f.Severity != diagnostics.Error {
		t.Errorf("%+v", f)
	}
	again := check(t, e, d.snapshot(t), diagnostics.Scope{}) // from what is kept
	if again.Findings[4999].Message != r.Findings[4999].Message {
		t.Errorf("%q", again.Findings[4999].Message)
	}
	done, after := mend(t, e, d, diagnostics.FixOptions{})
	if strings.Contains(after["c.md"], "apple") || len(done.Applied) != 17_001 || len(done.Left) != 2000 || len(done.Result.Findings) != 2000 {
		t.Errorf("%d applied, %d left", len(done.Applied), len(done.Left))
	}
}
