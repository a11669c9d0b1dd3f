package proposal

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mem/core/change"
	"mem/core/job"
	"mem/core/text"
	"mem/internal/need"
)

// outside is everything of the world but its memory and the state, to be compared.
func (w *world) outside() string {
	w.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(w.base, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p == w.dir || p == filepath.Join(w.base, "state") {
			return filepath.SkipDir
		}
		fmt.Fprintln(&b, p, d.Type())
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

// inState tells which files of the state hold a text.
func (w *world) inState(needle string) (found []string) {
	w.t.Helper()
	err := filepath.WalkDir(filepath.Join(w.base, "state"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if strings.Contains(string(b), needle) {
			found = append(found, p)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// What a host says besides the files is stored: without secrets, and not without end.
func TestWordsOfAHostAreBounded(t *testing.T) {
	w := newWorld(t)
	jobs, r := w.given("other")
	secret := "AKIA" + "Z7QMX4TRP2LKWD3B"
	done, err := Submit(t.Context(), w.m, jobs, Submitted{Job: r.ID, Report: "found the key " + secret + "\n" + strings.Repeat("long ", 1<<20),
		Files: []File{{Path: "new.md", Text: topic("new", "new"), Reason: "with the key " + secret + strings.Repeat(" long", 1<<20)}}}, nil)
	if err != nil || done.Settled.Proposal == nil {
		t.Fatalf("%+v, %v", done, err)
	}
	if found := w.inState(secret); len(found) > 0 {
		t.Errorf("the secret is in %v", found)
	}
	for _, p := range w.inState("found the key") {
		if info, err := os.Stat(p); err != nil || info.Size() > 600<<10 {
			t.Errorf("%s has %d bytes, %v", p, info.Size(), err)
		}
	}
	// The same of what another engine makes.
	s := w.settle(Submission{Policy: Review, Title: "title " + secret, Report: secret, Units: []Unit{{Title: secret, Reason: secret, Sources: []string{secret}, Change: work()}}})
	if found := w.inState(secret); s.Proposal == nil || len(found) > 0 {
		t.Errorf("the secret is in %v", found)
	}
}

func TestHostileSubmissions(t *testing.T) {
	w := newWorld(t)
	jobs, r := w.given(job.Extract)
	before := w.outside()
	many := make([]File, 10_000)
	for i := range many {
		many[i] = File{Path: fmt.Sprintf("f%d.md", i), Text: topic("f", "f")}
	}
	good := topic("x", "x")
	cases := map[string][]File{
		"10,000 files": many,
		"50 MB":        {{Path: "big.md", Text: strings.Repeat("x", 50<<20)}},
		"no UTF-8":     {{Path: "u.md", Text: good + "\xff\xfe"}},
		"NUL":          {{Path: "u.md", Text: good + "\x00"}},
		"pinned edit":  {{Path: "kept.md", Text: good, BaseHash: text.Hash(some()["kept.md"])}},
		"would pin":    {{Path: "p.md", Text: strings.Replace(good, "type: project", "type: project\npinned: true", 1)}},
		"twice":        {{Path: "x.md", Text: good}, {Path: "x.md", Text: good}},
		"case":         {{Path: "x.md", Text: good}, {Path: "X.md", Text: good}},
		"case of ours": {{Path: "T1.md", Text: good}},
		"a folder":     {{Path: "t1.md/x.md", Text: good}},
		"a lie":        {{Path: "t1.md", Text: good, BaseHash: text.Hash(some()["t2.md"])}},
		"a short hash": {{Path: "t1.md", Text: good, BaseHash: text.Hash(some()["t1.md"])[:8]}},
		"new of base":  {{Path: "n.md", Text: good, BaseHash: text.Hash("")}},
		"long reason":  {{Path: "../x.md", Text: good, Reason: strings.Repeat("x", 20<<20)}},
	}
	for i, p := range []string{
		"", ".", "..", "/", "../x.md", "/etc/x.md", "a/../../x.md", "./x.md", "a//x.md", "a/./x.md", "x.md/", `..\x.md`, `a\x.md`, `C:\x.md`, "C:x.md", `\\server\x.md`, "//server/x.md",
		"%2e%2e/x.md", "..%2fx.md", "..∕x.md", "x.md\x00", "x\x00.md", "x\n.md", "\u202ex.md", "x\u200b.md", ".hidden.md", "a/.git/x.md", ".consolidate-lock", "CLAUDE.md", "claude.MD", "a/AGENTS.md",
		"README.md", "a/readme.md", "x.txt", "x", "x.md.exe", "CON.md", "nul.md", "x.md:stream", "x.md.", "x.md ", "~/x.md", "logs/2026/11/2026-11-30.md", "logs/x.md", strings.Repeat("a/", 40) + "x.md", strings.Repeat("x", 300) + ".md",
	} {
		cases[fmt.Sprintf("path %d %.20q", i, p)] = []File{{Path: p, Text: good}}
	}
	for name, files := range cases {
		began := time.Now()
		_, err := Submit(t.Context(), w.m, jobs, Submitted{Job: r.ID, Files: files}, nil)
		if err == nil || len(err.Error()) > 20_000 {
			t.Errorf("%s: an error of %d bytes: %.300v", name, len(fmt.Sprint(err)), err)
			_, r = w.given(job.Extract)
			continue
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s took %s", name, took)
		}
		if got, _ := jobs.Get(r.ID); got.State != job.Waiting {
			t.Fatalf("%s: the job is %s", name, got.State)
		}
	}
	if w.changes() != 0 || w.outside() != before {
		t.Errorf("something was changed:\n%s", w.outside())
	}
}

// A submission that failed for a reason of the machine leaves nothing for the next one.
func TestAFailedSubmissionLeavesNothing(t *testing.T) {
	w := newWorld(t)
	jobs, r := w.given(job.Extract)
	unlock, ok, err := jobs.TryLock(lockName)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = Submit(ctx, w.m, jobs, Submitted{Job: r.ID, Files: []File{{Path: "first.md", Text: topic("first", "first")}, {Path: "t3.md", Delete: true, BaseHash: text.Hash(some()["t3.md"])}}}, nil)
	unlock()
	if err == nil {
		t.Fatal("it was taken while the lock was held")
	}
	done, err := Submit(t.Context(), w.m, jobs, Submitted{Job: r.ID, Files: []File{{Path: "second.md", Text: topic("second", "second")}}}, nil)
	if err != nil || len(done.Settled.Applied) != 1 || w.get("first.md") != "" || w.get("t3.md") == "" || w.get("second.md") == "" {
		t.Errorf("%+v, %v", done, err)
	}
}

// Whatever somebody writes into a stored proposal, applying it does nothing outside of
// memory, nothing to what is no topic, and nothing to what is pinned.
func TestTamperedProposals(t *testing.T) {
	w := newWorld(t)
	w.put("CLAUDE.md", "obey\n")
	w.put("README.md", "read\n")
	w.put(".hidden.md", "hidden\n")
	id := w.settle(Submission{Policy: Review, Units: Split(work())}).Proposal.ID
	stored, err := os.ReadFile(w.p.file(id))
	if err != nil {
		t.Fatal(err)
	}
	before := w.outside()
	protected := func() string {
		var b strings.Builder
		for _, p := range []string{"CLAUDE.md", "README.md", ".hidden.md", "kept.md"} {
			fmt.Fprintf(&b, "%s %x\n", p, sha256.Sum256([]byte(w.get(p))))
		}
		return b.String()
	}
	kept := protected()
	set := func(mutate func(f map[string]any, unit map[string]any, x map[string]any)) string {
		var x map[string]any
		if err := json.Unmarshal(stored, &x); err != nil {
			t.Fatal(err)
		}
		for _, u := range x["units"].([]any) {
			unit := u.(map[string]any)
			for _, f := range unit["change"].(map[string]any)["files"].([]any) {
				mutate(f.(map[string]any), unit, x)
			}
		}
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var bad []string
	for _, p := range []string{"../x.md", "/etc/x.md", "CLAUDE.md", "README.md", ".hidden.md", "kept.md", "a/../../x.md", "x.sh", "", `..\x.md`, "logs/../../x.md", "MEMORY.md/x.md", ".consolidate-lock"} {
		bad = append(bad, set(func(f, _, _ map[string]any) { f["path"] = p }), set(func(f, _, _ map[string]any) { f["kind"], f["to"] = "rename", p }),
			set(func(f, _, _ map[string]any) { f["path"], f["kind"], f["base"] = p, "delete", w.get("kept.md") }),
			set(func(f, _, _ map[string]any) { f["path"], f["kind"], f["new"] = p, "append", "planted\n" }))
	}
	for _, k := range []string{"", "bogus", "create", "edit", "delete", "rename", "append"} {
		bad = append(bad, set(func(f, _, _ map[string]any) { f["kind"] = k }))
	}
	for _, n := range []any{-1, 1 << 40, 1.5, "x", nil} {
		bad = append(bad, set(func(f, _, _ map[string]any) {
			f["edits"] = []any{map[string]any{"start": n, "end": n, "new": "planted"}}
		}))
	}
	bad = append(bad,
		set(func(_, u, _ map[string]any) { u["id"], u["attempt"] = "1", "x.1" }), set(func(_, u, _ map[string]any) { u["state"] = "bogus" }), set(func(_, u, _ map[string]any) { u["change"] = map[string]any{} }),
		set(func(_, _, x map[string]any) { x["units"] = nil }), set(func(_, _, x map[string]any) { x["title"] = "\x1b]0;x\x07\n# Obey\n" }), set(func(_, _, x map[string]any) { x["kind"] = "../../x" }), set(func(_, _, x map[string]any) { x["attempts"] = -5 }),
		`{"v":1,"id":"`+id+`","units":[{}]}`, `{"v":1,"id":"`+id+`"}`, `{"v":1,"id":"`+id+`","state":"open","units":[{"id":"1","state":"open","change":{"files":[{}]}}]}`)
	for i, b := range bad {
		if err := os.WriteFile(w.p.file(id), []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := w.p.Apply(t.Context(), id, Which{})
		if _, showErr := w.p.Text(t.Context(), id); showErr != nil && err == nil {
			t.Errorf("%d: it was applied and cannot be shown: %v", i, showErr)
		}
		if w.outside() != before || protected() != kept {
			t.Fatalf("%d: %v: something was changed by\n%.600s", i, err, b)
		}
	}
}

// Two who decide at once: each unit has one fate, and the memory agrees with it.
func TestApplyAndDiscardAtOnce(t *testing.T) {
	w := newWorld(t)
	for i := range 10 {
		name := fmt.Sprintf("n%d.md", i)
		id := w.settle(Submission{Policy: Review, Units: Split(changeOf(map[string]string{name: topic("n", "n")}))}).Proposal.ID
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = w.p.Apply(context.Background(), id, Which{}) })
		wg.Go(func() { _, _ = w.p.Discard(context.Background(), id, Which{}, "no") })
		wg.Wait()
		x, err := w.p.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if there := w.get(name) != ""; there != (x.Units[0].State == Applied) || x.State == Open {
			t.Errorf("%s %s, and the file is there: %v", x.State, x.Units[0].State, there)
		}
	}
}

// A file that somebody moved meanwhile is a conflict that is told, and the rest is made.
func TestAFileThatWasMovedMeanwhile(t *testing.T) {
	w := newWorld(t)
	c := changeOf(map[string]string{"t1.md": strings.Replace(some()["t1.md"], "b of 1", "better", 1), "new.md": topic("new", "new"), "t5.md": ""})
	id := w.settle(Submission{Policy: Review, Units: Split(c)}).Proposal.ID
	for _, p := range []string{"t1.md", "t5.md"} {
		if err := os.MkdirAll(filepath.Join(w.dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(w.dir, p), filepath.Join(w.dir, "sub", p)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := w.p.Apply(t.Context(), id, Which{})
	if err != nil || len(d.Held) != 1 || !strings.Contains(d.Held[0].Note, "gone") || w.get("t1.md") != "" || w.get("new.md") == "" || w.get("sub/t5.md") == "" {
		t.Errorf("%+v, %v", d, err)
	}
}

// The largest proposal that there can be is applied as one change, and shown.
func TestFiveThousandUnits(t *testing.T) {
	need.Asked(t, !testing.Short(), "writes 5,000 files, left out with -short")
	n := 500
	if os.Getenv("MEM_SOAK") != "" {
		n = MaxUnits
	}
	w := newWorld(t)
	var units []Unit
	for i := range n {
		units = append(units, Unit{Title: fmt.Sprintf("unit %d", i), Change: change.Change{Files: []change.File{{Path: fmt.Sprintf("many/n%d.md", i), Kind: change.Create, New: topic(fmt.Sprintf("n%d", i), "n")}}}})
	}
	began := time.Now()
	id := w.settle(Submission{Policy: Review, Units: units}).Proposal.ID
	kept := time.Since(began)
	if _, err := w.p.Text(t.Context(), id); err != nil {
		t.Error(err)
	}
	began = time.Now()
	d, err := w.p.Apply(t.Context(), id, Which{})
	if err != nil || len(d.Applied) != n || w.changes() != 1 {
		t.Errorf("%d applied, %v", len(d.Applied), err)
	}
	t.Logf("%d units: kept in %s, applied in %s", n, kept, time.Since(began))
	if _, err := w.p.Settle(t.Context(), Submission{Policy: Review, Kind: "x", Units: make([]Unit, MaxUnits+1)}); err == nil {
		t.Error("too many units were taken")
	}
}
