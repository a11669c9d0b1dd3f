package lspserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
)

func TestWhatADiagnosticSays(t *testing.T) {
	e := start(t, map[string]string{"other.md": "x\n"}, testEngine)
	e.initialize(capable)
	e.open("a.md", "# 中文😀 bad\r\n\r\nfaded\r\n")
	found := e.shown("a.md", 1)
	if codes(found) != "word faded" {
		t.Fatalf("found %q", codes(found))
	}
	d := found[0]
	if d.Range.String() != "0:7-0:10" || d.Severity != 2 || d.Source != "mem" || d.Message != "There is bad." || d.Tags != nil {
		t.Errorf("the diagnostic is %+v", d)
	}
	if len(d.Related) != 1 || d.Related[0].Location.URI != e.uri("other.md") || d.Related[0].Message != "as there" {
		t.Errorf("related: %+v", d.Related)
	}
	if f := found[1]; f.Severity != 4 || len(f.Tags) != 1 || f.Tags[0] != 1 || f.Range.String() != "2:0-2:5" {
		t.Errorf("the faded one is %+v", f)
	}
	for enc, want := range map[string]string{"utf-8": "0:13-0:16", "utf-32": "0:6-0:9"} {
		e := start(t, nil, testEngine)
		e.initialize(offering(enc))
		e.open("a.md", "# 中文😀 bad\n")
		if got := e.shown("a.md", 1)[0].Range.String(); got != want {
			t.Errorf("in %s at %s, want %s", enc, got, want)
		}
	}
	e = start(t, nil, testEngine)
	e.initialize("{}")
	e.open("a.md", "bad faded\n")
	for _, d := range e.shown("a.md", 1) {
		if d.Related != nil || d.Tags != nil {
			t.Errorf("a modest client is shown %+v", d)
		}
	}
}

// Only the files of memories are looked at, and of these only those that count.
func TestFilesThatAreNoMemory(t *testing.T) {
	e := start(t, map[string]string{"MEMORY.md": "# M\n"}, testEngine)
	e.initialize(capable)
	outside := filepath.Join(t.TempDir(), "notes.md")
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": "file://" + filepath.ToSlash(outside), "languageId": "markdown", "version": 1, "text": "bad\n"}})
	for _, name := range []string{"README.md", "CLAUDE.md", "notes.txt", ".hidden/a.md"} {
		e.open(name, "bad\n")
	}
	e.open("topic.md", "bad\n")
	e.shown("topic.md", e.version)
	e.settled()
	e.mu.Lock()
	defer e.mu.Unlock()
	for u, all := range e.pushed {
		for _, p := range all {
			if len(p.Diagnostics) > 0 && u != e.uri("topic.md") {
				t.Errorf("%s: %+v", u, p.Diagnostics)
			}
		}
	}
	if n := len(e.server.dirs); n != 1 {
		t.Errorf("%d directories are open", n)
	}
}

// An index that is open and not saved makes its folder a memory directory; when it
// is closed the folder is none again.
func TestIndexThatIsNotSaved(t *testing.T) {
	e := start(t, nil, testEngine)
	e.dir = t.TempDir()
	e.initialize(capable)
	e.open("sub/topic.md", "bad\n")
	e.settled()
	e.open("MEMORY.md", "- [t](sub/topic.md)\n")
	e.until("sub/topic.md", "the finding", has("word"))
	e.close("MEMORY.md")
	e.until("sub/topic.md", "nothing", lacks("word"))
	// Another program makes it one.
	e.write("MEMORY.md", "- [t](sub/topic.md)\n")
	e.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": e.uri("MEMORY.md"), "type": 1}}})
	e.until("sub/topic.md", "the finding", has("word"))
	// The folder is renamed behind the editor's back.
	if err := os.Rename(e.dir, e.dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	e.notify("workspace/didRenameFiles", map[string]any{"files": []any{map[string]any{"oldUri": "file://" + e.dir, "newUri": "file://" + e.dir + "-moved"}}})
	e.until("sub/topic.md", "nothing", lacks("word"))
	if err := os.Rename(e.dir+"-moved", e.dir); err != nil {
		t.Fatal(err)
	}
}

// Findings are those of what is open over what lies on disk now, whether or not
// the client said that files changed.
func TestOtherFilesAreLookedAt(t *testing.T) {
	e := start(t, map[string]string{"MEMORY.md": "# M\n", "a.md": "a\n"}, testEngine)
	e.initialize(capable)
	topics := func(n int) func([]diagnostic) bool {
		return func(found []diagnostic) bool {
			return len(found) == 1 && found[0].Message == fmt.Sprintf("There are %d topics.", n)
		}
	}
	e.open("MEMORY.md", "# M\n")
	e.until("MEMORY.md", "one topic", topics(1))
	e.open("only in a buffer.md", "b\n")
	e.until("MEMORY.md", "two topics", topics(2))
	e.close("only in a buffer.md")
	e.until("MEMORY.md", "one topic", topics(1))
	e.write("c.md", "c\n")
	e.change("MEMORY.md", "# M \n") // no event
	e.until("MEMORY.md", "two topics", topics(2))
	if err := os.Remove(filepath.Join(e.dir, "c.md")); err != nil {
		t.Fatal(err)
	}
	e.notify("workspace/didDeleteFiles", map[string]any{"files": []any{map[string]any{"uri": e.uri("c.md")}}})
	e.until("MEMORY.md", "one topic", topics(1))
}

// The late rule runs when nothing is typed for a while, over all that is open, and
// what it found stays where it is while somebody types elsewhere.
func TestLateRule(t *testing.T) {
	e := start(t, nil, testEngine)
	e.initialize(capable)
	e.open("a.md", "one\nlate\n")
	if found := e.shown("a.md", 1); has("later")(found) {
		t.Fatal("the late rule did not wait")
	}
	e.until("a.md", "the late finding", has("later"))
	before := slow.Load()
	for range 5 {
		e.edit("a.md", replace(0, 0, 0, 0, "x\n"))
		found := e.shown("a.md", e.version)
		if !has("later")(found) {
			t.Fatalf("version %d lost it: %q", e.version, codes(found))
		}
	}
	found := e.shown("a.md", e.version)
	if found[0].Range.String() != "6:0-6:4" {
		t.Errorf("it stands at %s", found[0].Range)
	}
	if n := slow.Load() - before; n > 1 {
		t.Errorf("the late rule ran %d times while somebody typed", n)
	}
	e.edit("a.md", replace(6, 1, 6, 1, "-"))
	if found := e.shown("a.md", e.version); has("later")(found) {
		t.Errorf("what is not there any more is shown: %+v", found)
	}
}

// A rule that breaks down is logged, once, and the others go on.
func TestRuleThatBreaksDown(t *testing.T) {
	e := start(t, nil, testEngine)
	e.initialize(capable)
	e.open("a.md", "bad panic\n")
	if found := e.shown("a.md", 1); codes(found) != "word" {
		t.Errorf("found %q", codes(found))
	}
	e.edit("a.md", replace(0, 0, 0, 0, "x"))
	e.shown("a.md", 2)
	if n := strings.Count(e.log.String(), "rule breaks on a.md"); n != 1 {
		t.Errorf("it was said %d times:\n%s", n, e.log)
	}
}

// For a client that puts all before a model, what one rule finds is one diagnostic.
func TestFoldedForClaude(t *testing.T) {
	e := start(t, nil, testEngine)
	e.initializeAs("Claude Code", capable)
	e.open("a.md", "bad bad\nbad\nok\nbad\nfaded\n")
	found := e.shown("a.md", 1)
	if codes(found) != "word faded" {
		t.Fatalf("found %q", codes(found))
	}
	if want := "There is bad. word finds this 3 times more, in lines 1, 2, 4."; found[0].Message != want {
		t.Errorf("it says %q, want %q", found[0].Message, want)
	}
	e.change("a.md", strings.Repeat("bad\n", 100))
	if want := "There is bad. word finds this 99 times more, in lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 89 others."; e.shown("a.md", 2)[0].Message != want {
		t.Errorf("it says %q", e.shown("a.md", 2)[0].Message)
	}
	e.change("a.md", "bad\nbad\n")
	if want := "There is bad. word finds this once more, in line 2."; e.shown("a.md", 3)[0].Message != want {
		t.Errorf("it says %q", e.shown("a.md", 3)[0].Message)
	}
}

// What was computed of an old version is not shown: versions only rise, and the
// last one comes.
func TestVersionsRise(t *testing.T) {
	e := start(t, nil, testEngine)
	e.initialize(capable)
	e.open("a.md", "bad\n")
	for range 200 {
		e.edit("a.md", replace(0, 0, 0, 0, "bad "))
	}
	if n := len(e.shown("a.md", e.version)); n != 201 {
		t.Errorf("%d findings of the last version", n)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	last := 0
	for _, p := range e.pushed[e.uri("a.md")] {
		if p.Version < last || len(p.Diagnostics) != p.Version {
			t.Errorf("version %d after %d with %d findings", p.Version, last, len(p.Diagnostics))
		}
		last = p.Version
	}
}

// A document that is closed while it is checked stays without diagnostics.
func TestClosedWhileChecked(t *testing.T) {
	e := start(t, nil, testEngine)
	e.initialize(capable)
	e.open("other.md", "bad\n")
	for range 100 {
		e.open("a.md", "bad late\n")
		e.close("a.md")
	}
	e.edit("other.md", replace(0, 0, 0, 0, "x"))
	e.shown("other.md", e.version)
	time.Sleep(2 * lateAfter)
	e.mu.Lock()
	defer e.mu.Unlock()
	if found := e.latest("a.md"); len(found) > 0 {
		t.Errorf("a closed file is shown with %q", codes(found))
	}
}

// What was found just before an edit, or before the document was closed, is not
// shown after it.
func TestFoundTooLate(t *testing.T) {
	e := start(t, nil, testEngine)
	e.initialize(capable)
	e.open("a.md", "bad\n")
	e.open("b.md", "bad\n")
	e.shown("b.md", 2)
	docs := e.server.documents()
	d := e.server.directory(docs.of(e.dir, "a.md"))
	c, err := d.find(context.Background(), docs.in(e.dir), fresh, false)
	if err != nil {
		t.Fatal(err)
	}
	e.edit("a.md", replace(0, 0, 0, 3, "good"))
	e.close("b.md")
	e.shown("a.md", 3)
	e.wait("the clearing", func() bool { return len(e.latest("b.md")) == 0 })
	for _, doc := range docs.in(e.dir) {
		if len(c.found[doc.rel]) == 0 {
			t.Fatalf("nothing is found in %s", doc.rel)
		}
		d.publish(docs, doc, c.found[doc.rel])
	}
	e.edit("a.md", replace(0, 0, 0, 0, "still "))
	e.shown("a.md", 4)
	e.mu.Lock()
	defer e.mu.Unlock()
	if a, b := e.latest("a.md"), e.latest("b.md"); len(a)+len(b) > 0 {
		t.Errorf("shown: %q and %q", codes(a), codes(b))
	}
	for _, p := range e.pushed[e.uri("a.md")][1:] {
		if p.Version < 3 {
			t.Errorf("version %d is shown again", p.Version)
		}
	}
}

// The configuration of a memory and that of a project are looked at while they are
// typed.
func TestConfigurationIsShown(t *testing.T) {
	e := start(t, map[string]string{"MEMORY.md": "# M\n"})
	e.initialize(capable)
	e.open(".mem.yaml", "rules:\n  no-such-rule: off\n")
	e.until(".mem.yaml", "the finding", has("configuration"))
	e.change(".mem.yaml", "rules: {}\n")
	e.until(".mem.yaml", "nothing", lacks("configuration"))
	e.close(".mem.yaml")

	e.dir = t.TempDir() // no memory
	e.open(".mem.yaml", "rules:\n  no-such-rule: off\n")
	e.until(".mem.yaml", "the finding", has("configuration"))
	e.change(".mem.yaml", "client: any\n")
	e.until(".mem.yaml", "nothing", lacks("configuration"))
	e.close(".mem.yaml")
	e.settled()
}

// A file that is too large to be memory is said so, once.
func TestTooLarge(t *testing.T) {
	e := start(t, nil, testEngine)
	e.initialize(capable)
	e.open("a.md", "bad "+strings.Repeat("x", memdir.DefaultTopicBytes))
	e.edit("a.md", replace(0, 0, 0, 0, "x"))
	if found := e.shown("a.md", 2); len(found) > 0 {
		t.Errorf("found %q", codes(found))
	}
	e.warned(1, "Not checked: a.md has")
	e.settled()
}

// A topic that a fix creates carries the session that the environment names.
func TestOrigin(t *testing.T) {
	e := start(t, nil, func(s *server) { s.origin = "the session" })
	e.initialize(capable)
	e.open("MEMORY.md", "# M\n")
	e.shown("MEMORY.md", 1)
	e.settled()
	e.server.mu.Lock()
	d := e.server.dirs[e.dir]
	e.server.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if got := d.last.snap.Stamp.Origin; got != "the session" {
		t.Errorf("the origin is %q", got)
	}
}

// Of thousands of findings the most severe are shown, and how many more there are.
func TestManyFindings(t *testing.T) {
	e := start(t, nil, testEngine)
	e.initialize(capable)
	e.open("a.md", strings.Repeat("bad ", 3000)+"\n")
	e.until("a.md", "the diagnostics", func(found []diagnostic) bool {
		return len(found) == maxShown && strings.Contains(found[maxShown-1].Message, "(2500 more findings in this file are not shown here; mem-lsp check lists them.)")
	})
	found := []diagnostics.Finding{}
	for i := range maxShown + 2 {
		f := diagnostics.Finding{Severity: diagnostics.Warning, Span: text.Span{Start: i}}
		if i == maxShown+1 {
			f.Severity = diagnostics.Error
		}
		found = append(found, f)
	}
	if some, more := shownOf(found); more != 2 || len(some) != maxShown || some[0].Severity != diagnostics.Error || some[1].Span.Start != 0 {
		t.Errorf("%d more than %d", more, len(some))
	}
}
