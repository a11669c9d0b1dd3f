package dream_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mem/core/dream"
	"mem/core/memdir"

	"mem/core/memory"
	"mem/core/proposal"
	"mem/core/settings"
	"mem/internal/fastdir"
)

// home is a scratch home with a generated memory on disk.
type home struct {
	*memory.Memory
	t     testing.TB
	base  string
	clock time.Time
}

func newHome(t testing.TB, m *generated) *home {
	t.Helper()
	base := fastdir.New(t)
	h := &home{t: t, base: base, clock: now}
	for p, s := range m.files {
		h.put(p, s)
	}
	h.Memory = h.open()
	return h
}

func (h *home) open() *memory.Memory {
	h.t.Helper()
	m, err := openHome(h.base, func() time.Time { return h.clock })
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = m.Close() })
	return m
}

func openHome(base string, now func() time.Time) (*memory.Memory, error) {
	return memory.Open(memory.Options{MemoryDir: filepath.Join(base, "memory"), Project: base, Env: settings.Env{
		Lookup: func(k string) (string, bool) {
			if k == "MEM_SESSION_ID" {
				return "the-session", true
			}
			return "", false
		},
		Home: filepath.Join(base, "home"), Cwd: base, StateDir: filepath.Join(base, "state"), CacheDir: filepath.Join(base, "cache"), ConfigDir: filepath.Join(base, "config"),
		ManagedSettings: filepath.Join(base, "managed.json"), Now: now,
	}})
}

func (h *home) put(p, s string) {
	h.t.Helper()
	file := filepath.Join(h.base, "memory", filepath.FromSlash(p))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(s), 0o644)); err != nil {
		h.t.Fatal(err)
	}
}

// files reads the memory from disk.
func files(base string) map[string]string {
	out := map[string]string{}
	root := filepath.Join(base, "memory")
	_ = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			b, _ := os.ReadFile(p)
			rel, _ := filepath.Rel(root, p)
			out[filepath.ToSlash(rel)] = string(b)
		}
		return nil
	})
	return out
}

func (h *home) run(o dream.RunOptions) *dream.Ran {
	h.t.Helper()
	o.Fixer = fixer()
	r, err := dream.Run(context.Background(), h.Memory, o)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func TestRunByPolicy(t *testing.T) {
	g := generate(7, 60, 130)
	for _, policy := range []proposal.Policy{proposal.HoldDeletions, proposal.Apply, proposal.Review} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, g)
			before := files(h.base)
			r := h.run(dream.RunOptions{Start: dream.Explicit, Policy: policy, Job: "j1"})
			after := files(h.base)
			gone := 0
			for p := range before {
				if _, ok := after[p]; !ok {
					gone++
				}
			}
			switch policy {
			case proposal.HoldDeletions:
				if r.Change == "" || gone != 0 || len(r.Proposals) != 1 {
					t.Errorf("%+v, %d topics gone", r, gone)
				}
			case proposal.Apply:
				if r.Change == "" || gone != len(g.planted.copies) || len(r.Proposals) != 1 {
					t.Errorf("change %q, proposals %v, %d topics gone, notes %q", r.Change, r.Proposals, gone, r.Notes)
				}
			case proposal.Review:
				if r.Change != "" || !maps.Equal(before, after) || len(r.Proposals) != 2 || len(r.Report.Merged)+len(r.Report.Corrected)+len(r.Report.Dropped) > 0 {
					t.Errorf("%+v", r)
				}
			}
			// All that waits can be applied, in order.
			for _, id := range r.Proposals {
				done, err := proposal.Of(h.Memory).Apply(context.Background(), id, proposal.Which{})
				if err != nil {
					t.Fatal(err)
				}
				for _, u := range done.Held {
					t.Errorf("%s waits still: %s", u.Title, u.Note)
				}
			}
			end := files(h.base)
			for p := range g.planted.copies {
				if _, a := end[p]; a {
					if _, b := end[g.planted.copies[p]]; b {
						t.Errorf("%s and its copy are both there", p)
					}
				}
			}
			// The next dream right after has nothing new to say that waits.
			if again := h.run(dream.RunOptions{Start: dream.Explicit, Policy: policy, Job: "j2"}); again.Waiting > 0 && policy != proposal.Review {
				t.Errorf("again: %d wait\n%s", again.Waiting, again.Report.Markdown())
			}
			// One undo takes back all of what was applied.
			if policy == proposal.Apply {
				h2 := newHome(t, g)
				r := h2.run(dream.RunOptions{Start: dream.Explicit, Policy: policy})
				if _, err := h2.Undo(context.Background(), r.Change); err != nil {
					t.Fatal(err)
				}
				if !maps.Equal(before, files(h2.base)) {
					t.Error("the undo of a dream left something")
				}
			}
		})
	}
}

// TestLaterDreamSupersedes: what waits is what the last dream found. Where that is the same,
// the proposal that somebody may have looked at stays.
func TestLaterDreamSupersedes(t *testing.T) {
	h := newHome(t, generate(7, 120, 260))
	first := h.run(dream.RunOptions{Start: dream.Explicit, Job: "j1"})
	again := h.run(dream.RunOptions{Start: dream.Explicit, Job: "j2"})
	if len(first.Proposals) != 1 || !slices.Equal(again.Proposals, first.Proposals) || again.Waiting != first.Waiting || len(again.Superseded) > 0 || again.Change != "" {
		t.Fatalf("first %v, then %v supersedes %v, applied %q", first.Proposals, again.Proposals, again.Superseded, again.Change)
	}
	h.put("fresh-copy.md", files(h.base)["ledger-quota.md"])
	third := h.run(dream.RunOptions{Start: dream.Explicit, Job: "j3"})
	if !slices.Equal(third.Superseded, first.Proposals) || len(third.Proposals) != 1 || third.Proposals[0] == first.Proposals[0] {
		t.Errorf("first %v, then %v supersedes %v", first.Proposals, third.Proposals, third.Superseded)
	}
}

// TestWhatWasDiscardedIsNotAskedAgain: not as long as the texts are the same, and the report
// says so.
func TestWhatWasDiscardedIsNotAskedAgain(t *testing.T) {
	h := newHome(t, generate(7, 60, 130))
	first := h.run(dream.RunOptions{Start: dream.Explicit, Job: "j1"})
	store := proposal.Of(h.Memory)
	if _, err := store.Discard(context.Background(), first.Proposals[0], proposal.Which{Units: []string{"1", "2"}}, "both are needed"); err != nil {
		t.Fatal(err)
	}
	gone := map[string]bool{}
	p, err := store.Get(context.Background(), first.Proposals[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range p.Units[:2] {
		gone[u.Title] = true
	}
	for range 2 {
		next := h.run(dream.RunOptions{Start: dream.Explicit, Job: "j2"})
		if next.Waiting != first.Waiting-2 || !strings.Contains(next.Report.Markdown(), "2 proposals that somebody discarded before") {
			t.Fatalf("%d wait of %d\n%s", next.Waiting, first.Waiting, next.Report.Markdown())
		}
		p, err := store.Get(context.Background(), next.Proposals[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range p.Units {
			if u.State == proposal.Open && gone[u.Title] {
				t.Errorf("asked again: %s", u.Title)
			}
		}
	}
	// Another text is another matter.
	for _, f := range p.Units[0].Change.Files {
		if f.Path != "MEMORY.md" {
			h.put(f.Path, f.Base+"\nSomething new.\n")
		}
	}
	if next := h.run(dream.RunOptions{Start: dream.Explicit, Job: "j3"}); next.Waiting != first.Waiting-1 {
		t.Errorf("%d wait of %d", next.Waiting, first.Waiting)
	}
}

// TestEditsDuringADream: what somebody writes to a topic, another and the index between
// the look and the result is there afterwards.
func TestEditsDuringADream(t *testing.T) {
	g := generate(7, 120, 260)
	h := newHome(t, g)
	f := fixer()
	edited := false
	h2 := h
	r, err := dream.Run(context.Background(), h.Memory, dream.RunOptions{Start: dream.Explicit, Fixer: during{f, func() {
		if edited {
			return
		}
		edited = true
		all := files(h2.base)
		n := 0
		for _, p := range []string{"basket-invoice.md", "tenant-plugin.md", "ledger-quota.md"} {
			if all[p] == "" {
				t.Fatalf("there is no %s", p)
			}
			h2.put(p, strings.Replace(all[p], "\n---\n\n", "\n---\n\nSomebody wrote this meanwhile.\n\n", 1))
			n++
		}
		h2.put("MEMORY.md", strings.Replace(all["MEMORY.md"], "## Project\n\n", "## Project\n\n- [fresh](fresh.md) — written meanwhile\n", 1))
		h2.put("fresh.md", topicText("fresh", "written meanwhile", "project", "Fresh."))
	}}})
	if err != nil {
		t.Fatal(err)
	}
	after := files(h.base)
	for _, p := range []string{"basket-invoice.md", "tenant-plugin.md", "ledger-quota.md"} {
		if !strings.Contains(after[p], "Somebody wrote this meanwhile.") {
			t.Errorf("%s lost what was written meanwhile", p)
		}
	}
	if !strings.Contains(after["MEMORY.md"], "- [fresh](fresh.md) — written meanwhile\n") || after["fresh.md"] == "" {
		t.Errorf("the index lost the new entry")
	}
	if r.Change == "" {
		t.Errorf("nothing was applied: %q", r.Notes)
	}
}

// during does something in the middle of a dream.
type during struct {
	dream.Fixer
	what func()
}

func (d during) Mend(ctx context.Context, v *memdir.View, o dream.MendOptions) (*dream.Mended, error) {
	d.what()
	return d.Fixer.Mend(ctx, v, o)
}

func TestClosedGatesBeginNothing(t *testing.T) {
	h := newHome(t, generate(7, 120, 260))
	before := files(h.base)
	r := h.run(dream.RunOptions{Start: dream.Auto})
	if r.Closed == nil || r.Closed.Name != dream.GateSessions || r.Report != nil || !maps.Equal(before, files(h.base)) {
		t.Errorf("%+v", r)
	}
	l := dream.Of(h.Memory).Lock()
	held, err := l.Take("other", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := h.run(dream.RunOptions{Start: dream.Explicit}); r.Closed == nil || r.Closed.Name != dream.GateLock {
		t.Errorf("%+v", r)
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
}

func TestCancelledDreamLeavesNothing(t *testing.T) {
	h := newHome(t, generate(7, 120, 260))
	before := files(h.base)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := dream.Run(ctx, h.Memory, dream.RunOptions{Start: dream.Explicit, Fixer: during{fixer(), cancel}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if !maps.Equal(before, files(h.base)) {
		t.Error("memory was touched")
	}
	if _, err := os.Stat(filepath.Join(h.base, "memory", dream.LockName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file is still there: %v", err)
	}
}

func TestDryRun(t *testing.T) {
	h := newHome(t, generate(7, 120, 260))
	before := files(h.base)
	r := h.run(dream.RunOptions{Start: dream.Explicit, DryRun: true})
	if r.Report == nil || r.Report.Empty() || r.Change != "" || !maps.Equal(before, files(h.base)) {
		t.Errorf("%+v", r)
	}
	st, err := dream.Of(h.Memory).Lock().Standing()
	if err != nil || !st.Last.IsZero() {
		t.Errorf("it counts as a dream: %+v, %v", st, err)
	}
}
