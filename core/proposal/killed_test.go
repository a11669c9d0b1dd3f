package proposal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/job/killtest"
	"mem/core/memory"
	"mem/core/text"
	"mem/internal/need"
)

// deeds are what a process does that is killed at it; id is that of a job.
var deeds = map[string]func(m *memory.Memory, id string) error{
	"settle": func(m *memory.Memory, id string) error {
		_, err := Of(m).Settle(context.Background(), settling(id, Apply))
		return err
	},
	"settle, held": func(m *memory.Memory, id string) error {
		_, err := Of(m).Settle(context.Background(), settling(id, HoldDeletions))
		return err
	},
	"submit": func(m *memory.Memory, id string) error {
		_, err := Submit(context.Background(), m, job.Open(m.StateDirectory(), m.Env()), submitting(id), nil)
		return err
	},
}

func settling(id string, policy Policy) Submission {
	return Submission{Job: id, Kind: job.Dream, Title: "a dream", Policy: policy, Units: Split(work())}
}

func submitting(id string) Submitted {
	return Submitted{Job: id, Report: "learned", Files: []File{
		{Path: "t1.md", Text: strings.Replace(some()["t1.md"], "b of 1", "better b of 1", 1), BaseHash: text.Hash(some()["t1.md"])},
		{Path: "new.md", Text: topic("new", "something new")},
	}}
}

// TestKilledAtEachStep kills a process before each of its system calls that change the
// state or the memory, while it settles the result of a job or takes one of a host. Memory
// is then as before or as after; the next try, which is what the job does, makes it whole once.
func TestKilledAtEachStep(t *testing.T) {
	step := 5
	if os.Getenv("MEM_KILLS") != "" {
		step = 1
	}
	for name := range deeds {
		t.Run(name, func(t *testing.T) {
			kinds := map[string]int{}
			whole, n := 0, 0
			for at := 1; ; at += step {
				w := newWorld(t)
				id := "1m0000000000000"
				if name == "submit" {
					_, r := w.given(job.Extract)
					id = r.ID
				}
				base, err := filepath.EvalSymlinks(w.base)
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "TEST_APPLY="+base, "TEST_DEED="+name, "TEST_ID="+id)
				cmd.Stderr = os.Stderr
				d, err := killtest.Run(cmd, base, at)
				if errors.Is(err, killtest.ErrNot) {
					need.System(t, runtime.GOOS == "linux", "processes are killed at a step only on Linux")
					need.System(t, false, "no process may be traced: "+err.Error())
				}
				if err != nil {
					t.Fatal(err)
				}
				if d.Before == "" {
					if d.Code != 0 {
						t.Fatalf("it ended with %d", d.Code)
					}
					break
				}
				n++
				kinds[strings.Fields(d.Before)[0]]++
				if w.afterDeath(name, id, fmt.Sprintf("killed before the %d. call, %s", at, d.Before)) {
					whole++
				}
			}
			t.Logf("%d kills (%v), of which %d came after the result was stored", n, kinds, whole)
			if n < 5 || whole == 0 || whole == n {
				t.Error("the kills do not lie on both sides of the moment at which the result is stored")
			}
		})
	}
}

// afterDeath looks at what a process left that was killed in a deed, has it done again, and
// looks at that. It tells whether the result was there at once.
func (w *world) afterDeath(deed, id, when string) (whole bool) {
	t := w.t
	t.Helper()
	// Whoever opens the memory next rolls forward what was begun.
	if _, err := w.m.List(t.Context(), memory.ListOptions{}); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	jobs := job.Open(w.m.StateDirectory(), w.m.Env())
	before := some()
	is := func(p, part string) bool { return strings.Contains(w.get(p), part) }
	done := map[string]bool{"new.md": w.get("new.md") != "", "t1.md": is("t1.md", "better b"), "MEMORY.md": is("MEMORY.md", "(new.md)")}
	if deed == "settle" {
		done["t3.md"] = w.get("t3.md") == ""
	}
	for p, is := range done {
		if whole = done["new.md"]; is != whole {
			t.Fatalf("%s: memory is changed by half: %s %v, %v", when, p, is, done)
		}
	}
	if !whole {
		for p, s := range before {
			if w.get(p) != s {
				t.Fatalf("%s: %s is neither as before nor as after: %q", when, p, w.get(p))
			}
		}
	}
	list, notes, err := w.p.List(ListOptions{})
	if err != nil || len(notes) > 0 || len(list) > 1 {
		t.Fatalf("%s: %d proposals, %v, %v", when, len(list), notes, err)
	}
	for _, x := range list {
		x, err := w.p.Get(t.Context(), x.ID) // takes up what was begun
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		for _, u := range x.Units {
			if u.Attempt != "" || (u.State == Applied) != whole && !(deed == "settle, held" && u.Deletes && u.State == Open) {
				t.Fatalf("%s: the memory is changed: %v, and the proposal says %+v", when, whole, u)
			}
		}
	}
	switch deed {
	case "submit":
		r, err := jobs.Get(id)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		// A submission that was under way is over with its process; the host starts anew.
		if r.State == job.Lost {
			if r, err = jobs.Create(job.Record{Kind: job.Extract, State: job.Waiting, Session: r.Session}); err != nil {
				t.Fatal(err)
			}
			s, err := stage.Make(t.Context(), w.m, stage.Options{Job: r.ID})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Keep(); err != nil {
				t.Fatal(err)
			}
		}
		again := submitting(r.ID)
		if whole { // it works on the memory as it is now
			for i := range again.Files {
				again.Files[i].Text = w.get(again.Files[i].Path)
				again.Files[i].BaseHash = text.Hash(again.Files[i].Text)
			}
		}
		if r.State != job.Done {
			if _, err := Submit(t.Context(), w.m, jobs, again, nil); err != nil {
				t.Fatalf("%s, then again: %v", when, err)
			}
		}
	default:
		// The job of a process that died is another one the next time. Its agent has nothing to
		// do where the memory is as it wants it.
		if !whole {
			if err := deeds[deed](w.m, "1m0000000000001"); err != nil {
				t.Fatalf("%s, then again: %v", when, err)
			}
		}
	}
	if n := w.changes(); n != 1 || !is("t1.md", "better b") || strings.Count(w.get("MEMORY.md"), "(new.md)") != 1 {
		t.Fatalf("%s, then again: %d changes\n%s", when, n, w.get("MEMORY.md"))
	}
	open, notes, err := w.p.List(ListOptions{Open: true})
	held := 0
	if deed == "settle, held" {
		held = 1
	}
	if err != nil || len(notes) > 0 || len(open) != held {
		t.Fatalf("%s, then again: %d proposals wait, %v, %v", when, len(open), notes, err)
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, ".*")); len(left) > 0 {
		t.Fatalf("%s: left in the memory: %v", when, left)
	}
	return whole
}
