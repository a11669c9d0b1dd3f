package rules_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/fixes"
	"mem/diagnostics/rules"
)

// TestCreatedTopics makes every topic that a broken link offers to create: nothing is
// wrong with it but that a body of a few known words has no structure yet.
func TestCreatedTopics(t *testing.T) {
	cases, err := filepath.Glob("testdata/broken-link/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, file := range cases {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := diagtest.Parse(t, src)
		e := c.Engine(rules.All(), fixes.All())
		s, found := c.Check(t, e)
		for _, f := range found {
			for _, o := range f.Offers {
				if o.Fix != fixes.CreateTopic {
					continue
				}
				made++
				ch, err := e.Make(context.Background(), s, f, o)
				if err != nil {
					t.Errorf("%s: %s: %v", file, o.Title, err)
					continue
				}
				after, err := ch.Apply(c.Texts())
				if err != nil {
					t.Fatal(err)
				}
				files := fstest.MapFS{}
				for p, txt := range after {
					files[p] = &fstest.MapFile{Data: []byte(txt), ModTime: c.Stamp.Now}
				}
				r, err := e.Check(context.Background(), c.Snapshot(t, e, files), diagnostics.Scope{Late: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, g := range r.Findings {
					if g.Path == o.Arg && g.Rule != "body-structure" && g.Rule != "orphan-topic" {
						t.Errorf("%s: %s: %s: %s\n%s", file, o.Title, g.Rule, g.Message, after[o.Arg])
					}
				}
			}
		}
	}
	if made < 10 {
		t.Errorf("only %d topics were made", made)
	}
}

// TestFixesThatComeTooLate makes fixes after what they were found in has gone: each
// says so in words.
func TestFixesThatComeTooLate(t *testing.T) {
	c := diagtest.Parse(t, []byte("-- MEMORY.md --\n- [a](styel.md) — x\n-- style.md --\nx\n-- lonely.md --\nx\n"))
	e := c.Engine(rules.All(), fixes.All())
	_, found := c.Check(t, e)
	later := diagtest.Parse(t, []byte("-- MEMORY.md --\n# Nothing\n\n[b](c.md)\n-- styel.md --\nx\n"))
	s, _ := later.Check(t, e)
	tried := map[string]bool{}
	for _, f := range found {
		for _, o := range f.Offers {
			if !slices.Contains([]string{fixes.RetargetLink, fixes.CreateTopic, fixes.RemoveLink, fixes.RemoveEntry, fixes.AddEntry}, o.Fix) {
				continue
			}
			tried[o.Fix] = true
			if ch, err := e.Make(context.Background(), s, f, o); err == nil {
				t.Errorf("%s: %+v", o.Title, ch)
			}
		}
	}
	if len(tried) != 5 {
		t.Errorf("tried %v", tried)
	}
	for _, arg := range []string{"../x.md", "CON.md", "MEMORY.md", "a/README.md", "x.txt", ""} {
		f := found[0]
		if ch, err := e.Make(context.Background(), s, f, diagnostics.Offer{Fix: fixes.CreateTopic, Arg: arg}); err == nil {
			t.Errorf("create %q: %+v", arg, ch)
		}
	}
}

// linked makes a memory of n topics that link each other. A fifth of them are
// orphans; all others have an entry, which leads nowhere where broken is set. One in
// eight names a topic that there is not.
func linked(b *testing.B, n int, broken bool) fs.FS {
	dir := b.TempDir()
	at := time.Date(2026, 11, 1, 0, 0, 0, 1, time.UTC)
	write := func(p, content string) {
		if err := os.WriteFile(filepath.Join(dir, p), []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, p), at, at); err != nil {
			b.Fatal(err)
		}
	}
	var index strings.Builder
	index.WriteString("# Memory\n\n")
	for i := range n {
		p := fmt.Sprintf("topic-about-%05d.md", i)
		target := p
		if broken {
			target = fmt.Sprintf("another-name-%05d.md", i)
		}
		if i%5 > 0 {
			fmt.Fprintf(&index, "- [Topic %d](%s) — what it is about\n", i, target)
		}
		unknown := ""
		if i%8 == 0 {
			unknown = fmt.Sprintf("[[no-such-name-%d]]", i)
		}
		write(p, fmt.Sprintf("---\nname: topic-about-%05d\ndescription: About %d\ntype: project\n---\nSee [[topic-about-%05d]] %s and [next](topic-about-%05d.md).\n\n%s",
			i, i, max(i-1, 0)/5*5+1, unknown, (i/5*5+1)%n, strings.Repeat("Words of a paragraph that nobody reads.\n", 50)))
	}
	write("MEMORY.md", index.String())
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { root.Close() })
	return memdir.Disk(root)
}

var aboutLinks = []string{"broken-link", "link-outside", "orphan-topic", "unknown-link", "too-many-topics", "topic-stale", "reference-long", "name-duplicate"}

func benchmarkLinks(b *testing.B, n int, broken bool, only ...string) {
	mine := slices.DeleteFunc(rules.All(), func(r diagnostics.Rule) bool { return !slices.Contains(only, r.ID) })
	e := &diagnostics.Engine{Rules: mine, Fixes: fixes.All()}
	src, views, cache := linked(b, n, broken), memdir.NewCache(), diagnostics.NewCache()
	config := diagnostics.DefaultConfig()
	check := func() {
		v, err := memdir.Read(context.Background(), src, views, memdir.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		s := diagnostics.NewSnapshot(v, config, nil, memdir.Stamp{Now: diagtest.Now}, cache)
		r, err := e.Check(context.Background(), s, diagnostics.Scope{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(r.Findings)), "findings")
	}
	check()
	for b.Loop() {
		check()
	}
}

// BenchmarkLinks measures a check after a change elsewhere: what the files hold is
// kept, and the rules about all links run anew. "none" is what reading the View
// costs alone.
func BenchmarkLinks(b *testing.B) {
	for _, n := range []int{200, 10_000} {
		b.Run(fmt.Sprintf("%d/none", n), func(b *testing.B) { benchmarkLinks(b, n, false) })
		for _, id := range aboutLinks {
			b.Run(fmt.Sprintf("%d/%s", n, id), func(b *testing.B) { benchmarkLinks(b, n, false, id) })
		}
		b.Run(fmt.Sprintf("%d/broken", n), func(b *testing.B) { benchmarkLinks(b, n, true, "broken-link") })
	}
}
