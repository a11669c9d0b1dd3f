package dream_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/dream"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/proposal"
)

// TestOneReasonIsReadOnce: the same said of many files is one line, and a list that is cut
// has something of every reason.
func TestOneReasonIsReadOnce(t *testing.T) {
	g := of(map[string]string{"MEMORY.md": "# Memory\n\n"})
	for i := range 240 {
		p := fmt.Sprintf("t%03d.md", i)
		g.files[p] = fmt.Sprintf("---\nname: t%d\ndescription: about w%dx: and more\ntype: project\n---\n\nw%dx\n", i, i, i)
		g.times[p] = now
		if i < 190 {
			g.files["MEMORY.md"] += fmt.Sprintf("- [t%d](%s) — w%dx\n", i, p, i)
		}
	}
	g.files["zz.md"] = topicText("zz", "the last one", "project", "Yesterday it was moved.")
	g.files["MEMORY.md"] += "- [zz](zz.md) — the last one\n"
	g.times["MEMORY.md"], g.times["zz.md"] = now, now
	r := g.dream(t).Report
	said := r.Markdown()
	if n := strings.Count(said, "Put the value in double quotes"); n != 1 {
		t.Errorf("%d lines say that values were quoted", n)
	}
	if n := strings.Count(said, "No link leads from MEMORY.md"); n > 1 {
		t.Errorf("%d lines say that there was no room", n)
	}
	if !strings.Contains(said, "zz.md:7") {
		t.Errorf("what is rare was cut:\n%s", said)
	}
	if n := len(said); n > 8_000 {
		t.Errorf("the report has %d bytes", n)
	}
	if r.More["corrected"]+len(r.Corrected) < 241 {
		t.Errorf("%d corrected, %d more", len(r.Corrected), r.More["corrected"])
	}
}

// TestADryRunSaysWhatWaits: what a run would leave for a person is not told as done.
func TestADryRunSaysWhatWaits(t *testing.T) {
	for policy, done := range map[proposal.Policy]bool{proposal.HoldDeletions: false, proposal.Apply: true, proposal.Review: false} {
		h := newHome(t, generate(7, 60, 130))
		r := h.run(dream.RunOptions{Start: dream.Explicit, DryRun: true, Policy: policy}).Report
		if (len(r.Merged) > 0) != done || (len(r.Dropped) > 0) != done || len(r.Proposed) == 0 {
			t.Errorf("%s: merged %v, dropped %v, proposed %d", policy, r.Merged, r.Dropped, len(r.Proposed))
		}
		if (len(r.Corrected) > 0) != (policy != proposal.Review) {
			t.Errorf("%s: corrected %v", policy, r.Corrected)
		}
	}
}

// TestWhatWasAppliedIsTold: where the second half of a result cannot be kept, the error and
// the record name the change that was made.
func TestWhatWasAppliedIsTold(t *testing.T) {
	h := newSleeper(t, generate(7, 60, 130), nil, "engine: none\n")
	before := files(h.base)["MEMORY.md"]
	dir := filepath.Join(h.StateDirectory(), "proposals")
	m, err := openHome(h.base, func() time.Time {
		// The first half is through when it is applied and no proposal is left of it.
		if left, _ := filepath.Glob(filepath.Join(dir, "*.json")); len(left) == 0 && files(h.base)["MEMORY.md"] != before {
			_ = os.RemoveAll(dir)
			_ = os.WriteFile(dir, nil, 0o600)
		}
		return now
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	h.house = houseOf(m, false)
	_, rec, err := h.dream(dream.Params{})
	if err == nil || rec.State != job.Failed || rec.Change == "" || !strings.Contains(err.Error(), rec.Change) {
		t.Fatalf("%+v, %v", rec, err)
	}
	if _, err := h.Undo(context.Background(), rec.Change); err != nil {
		t.Fatal(err)
	}
	if files(h.base)["MEMORY.md"] != before {
		t.Error("the undo left something")
	}
}

// TestNoMoreUnitsThanAreTaken: what is too much for one result is left for the next, until
// all is done.
func TestNoMoreUnitsThanAreTaken(t *testing.T) {
	g := of(map[string]string{"MEMORY.md": "# Memory\n\n"})
	for i := range 12 {
		text := fmt.Sprintf("---\nname: t%d\ndescription: about w%dx: and more\ntype: project\n---\n\nw%dx %s\n", i/2, i/2, i/2, longBody[i*3:])
		for _, p := range []string{fmt.Sprintf("t%d.md", i), fmt.Sprintf("t%d-copy.md", i)} {
			g.files[p], g.times[p] = text, now
			g.files["MEMORY.md"] += fmt.Sprintf("- [%s](%s) — w%dx\n", memdir.Stem(p), p, i/2)
		}
	}
	g.times["MEMORY.md"] = now
	before := wordsOf(g.files)
	for i := range 30 {
		v, err := memdir.Read(context.Background(), g.fs(), memdir.NewCache(), memdir.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := dream.Mechanical(context.Background(), v, dream.MechanicalOptions{Fixer: fixer(), Now: now, Rule: memdir.SeedRule(), Most: 5})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Apply) > 5 || len(out.Copies)+len(out.Propose) > 5 {
			t.Fatalf("%d and %d units", len(out.Apply), len(out.Copies)+len(out.Propose))
		}
		if i == 0 && !strings.Contains(out.Report.Markdown(), "left for the next dream") {
			t.Error("that something is left is not told")
		}
		if len(out.Apply)+len(out.Copies)+len(out.Propose) == 0 {
			if i < 3 || len(g.files) > 8 {
				t.Errorf("done after %d dreams with %d files", i, len(g.files))
			}
			if l := lost(before, wordsOf(g.files)); len(l) > 0 {
				t.Errorf("lost %v", l)
			}
			return
		}
		g = g.applied(t, append(append(out.Apply, out.Copies...), out.Propose...)...)
	}
	t.Error("it does not come to an end")
}

// TestWhatIsNotTouchedIsTold: files that are not read, and those whose name mem does not
// write, are told and stay; the index gets no entry that hides something.
func TestWhatIsNotTouchedIsTold(t *testing.T) {
	body := "Alpha says one thing about the release procedure, namely that it runs each Tuesday at nine.\n"
	g := of(map[string]string{
		"MEMORY.md":                      "# Memory\n\n- [a](a.md) — first\n",
		"a.md":                           topicText("a", "first", "project", body),
		"nul.md":                         topicText("nul", "a: b", "project", "Binary \x00 here."),
		"c\x01\x1b[31md.md":              topicText("c", "c: \x1b[31m", "project", "Another thing."),
		"dir.md/inner.md":                topicText("inner", "inside", "project", "Inner."),
		"escaped.md":                     "---\nname: escaped\ndescription: \"one \\e[31mtwo\"\ntype: project\n---\n\nWhat it says.\n",
		"deep/\u202egnp.md":              topicText("rtl", "rtl", "project", "Right to left."),
		strings.Repeat("x", 240) + ".md": topicText("long", "long", "project", "Long name."),
	})
	out := g.dream(t)
	after := g.applied(t, out.Apply...)
	if strings.ContainsAny(after.files["MEMORY.md"], "\x00\x01\x1b\u202e") {
		t.Errorf("the index is\n%q", after.files["MEMORY.md"])
	}
	if !strings.Contains(after.files["MEMORY.md"], "[escaped](escaped.md)") {
		t.Errorf("the index is\n%s", after.files["MEMORY.md"])
	}
	said := out.Report.Markdown()
	if !strings.Contains(said, "Not read: dir.md") {
		t.Errorf("dir.md is not told:\n%s", said)
	}
	for _, u := range out.Apply {
		for _, f := range u.Change.Files {
			if f.Path != "MEMORY.md" && memdir.CheckTopicPath(f.Path) != nil {
				t.Errorf("%q would be changed, which mem does not do", f.Path)
			}
		}
	}
	if !strings.Contains(said, "nul.md:") {
		t.Errorf("nul.md is not told:\n%s", said)
	}
	if again := after.dream(t); len(again.Apply) > 0 {
		t.Errorf("a second dream applies\n%s", diffOf(again.Apply))
	}
}

// TestOrphansGetRoom: where the index is full of details, these move into their topics, and
// every topic gets its entry.
func TestOrphansGetRoom(t *testing.T) {
	g := of(map[string]string{"MEMORY.md": "# Memory\n\n"})
	for i := range 60 {
		p := fmt.Sprintf("t%d.md", i)
		g.files[p], g.times[p] = topicText(fmt.Sprintf("t%d", i), fmt.Sprintf("about w%dx", i), "project", fmt.Sprintf("w%dx is said by w%dx alone.", i, i+100)), now
		if i < 20 {
			g.files["MEMORY.md"] += fmt.Sprintf("- [t%d](%s) — about w%dx\n", i, p, i)
			for k := range 8 {
				g.files["MEMORY.md"] += fmt.Sprintf("  - w%dx is a detail\n", 1000+i*10+k)
			}
		}
	}
	g.times["MEMORY.md"] = now
	out := g.dream(t)
	after := g.applied(t, out.Apply...)
	x := memfile.ParseIndex(after.files["MEMORY.md"])
	for p := range g.files {
		if p != "MEMORY.md" && x.Entry(p) == nil {
			t.Errorf("%s has no entry", p)
		}
	}
	if n := x.Text().Lines(); n > 200 {
		t.Errorf("the index has %d lines", n)
	}
	if l := lost(wordsOf(g.files), wordsOf(after.files)); len(l) > 0 {
		t.Errorf("lost %v", l)
	}
	if again := after.dream(t); len(again.Apply) > 0 {
		t.Errorf("a second dream applies\n%s", diffOf(again.Apply))
	}
}
