package proposal

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/text"
)

// given makes a job that waits for a host, with its stage.
func (w *world) given(kind string) (*job.Jobs, *job.Record) {
	w.t.Helper()
	jobs := job.Open(w.m.StateDirectory(), w.m.Env())
	r, err := jobs.Create(job.Record{Kind: kind, State: job.Waiting, Session: "session-of-the-job"})
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := stage.Make(w.t.Context(), w.m, stage.Options{Job: r.ID, Origin: r.Session})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := s.Keep(); err != nil {
		w.t.Fatal(err)
	}
	return jobs, r
}

func TestAHostHandsIn(t *testing.T) {
	w := newWorld(t)
	jobs, r := w.given(job.Extract)
	base := some()["t1.md"]
	edited := strings.Replace(base, "b of 1", "learned", 1)
	submit := func(files ...File) (*Finished, error) {
		return Submit(t.Context(), w.m, jobs, Submitted{Job: r.ID, Files: files, Report: "what I learned"}, nil)
	}
	secret := "AKIA" + "Z7QMX4TRP2LKWD3B"
	for name, c := range map[string]struct {
		file File
		says string
	}{
		"no base":      {File{Path: "t1.md", Text: edited}, "base_hash"},
		"a wrong base": {File{Path: "t1.md", Text: edited, BaseHash: text.Hash("other")}, "read it again"},
		"outside":      {File{Path: "../x.md", Text: topic("x", "x")}, ".."},
		"CLAUDE.md":    {File{Path: "CLAUDE.md", Text: "obey"}, "not memory"},
		"a secret":     {File{Path: "s.md", Text: topic("s", "key "+secret)}, "line"},
		"pinned":       {File{Path: "kept.md", Delete: true, BaseHash: text.Hash(some()["kept.md"])}, "pinned"},
		"too large":    {File{Path: "l.md", Text: topic("l", strings.Repeat("x", stage.MaxText))}, "bytes"},
		"broken":       {File{Path: "n.md", Text: "just text"}, "frontmatter"},
		"the index":    {File{Path: "MEMORY.md", Delete: true, BaseHash: text.Hash(some()["MEMORY.md"])}, "never"},
		"of nothing":   {File{Path: "none.md", Delete: true}, "nothing to delete"},
	} {
		_, err := submit(c.file, File{Path: "also.md", Text: topic("also", "also")})
		if err == nil || name != "the index" && !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := jobs.Get(r.ID); got.State != job.Waiting {
			t.Fatalf("%s: the job is %s", name, got.State)
		}
	}
	if w.changes() != 0 {
		t.Fatal("something was changed")
	}
	// A text that was read after the job began is a base as well.
	newer := strings.Replace(some()["t2.md"], "a of 2", "by a person", 1)
	w.put("t2.md", newer)
	done, err := submit(
		File{Path: "t1.md", Text: edited, BaseHash: text.Hash(base), Reason: "they said so"},
		File{Path: "t2.md", Text: strings.Replace(newer, "b of 2", "learned too", 1), BaseHash: text.Hash(newer)},
		File{Path: "new.md", Text: topic("new", "new")})
	if err != nil {
		t.Fatal(err)
	}
	if s := done.Settled; len(s.Applied) != 3 || len(s.Held) > 0 || done.Job.State != job.Done || done.Job.Change != s.Change || s.Applied[1].Reason != "they said so" && s.Applied[0].Reason != "they said so" {
		t.Errorf("%+v\n%+v", s, done.Job)
	}
	if !strings.Contains(w.get("MEMORY.md"), "(new.md)") || !strings.Contains(w.get("new.md"), "session-of-the-job") || !strings.Contains(w.get("t2.md"), "by a person") || !strings.Contains(w.get("t2.md"), "learned too") {
		t.Errorf("memory:\n%s\n%s\n%s", w.get("MEMORY.md"), w.get("new.md"), w.get("t2.md"))
	}
	if _, err := submit(File{Path: "z.md", Text: topic("z", "z")}); err == nil || !strings.Contains(err.Error(), "takes one submission") {
		t.Errorf("a second submission: %v", err)
	}
	var gone *stage.GoneError
	if _, err := stage.Open(t.Context(), w.m, r.ID); !errors.As(err, &gone) {
		t.Errorf("the stage is left: %v", err)
	}
}

func TestAHostFollowsThePolicy(t *testing.T) {
	w := newWorld(t)
	jobs, r := w.given(job.Dream)
	done, err := Submit(t.Context(), w.m, jobs, Submitted{Job: r.ID, Files: []File{
		{Path: "t3.md", Delete: true, BaseHash: text.Hash(some()["t3.md"])}, {Path: "new.md", Text: topic("new", "new")}}}, nil)
	if err != nil || titles(done.Settled.Applied) != "new new.md" || titles(done.Settled.Held) != "delete t3.md" || done.Job.Proposal == "" {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestFinishersAndOneAtATime(t *testing.T) {
	w := newWorld(t)
	jobs, r := w.given("other")
	calls := make(chan struct{}, 10)
	by := map[string]Finisher{"other": func(context.Context, *memory.Memory, job.Record, Submitted) (*Finished, error) {
		calls <- struct{}{}
		return &Finished{}, nil
	}}
	var wg sync.WaitGroup
	taken := make(chan error, 8)
	for range 8 {
		wg.Go(func() {
			_, err := Submit(context.Background(), w.m, jobs, Submitted{Job: r.ID}, by)
			taken <- err
		})
	}
	wg.Wait()
	ok := 0
	for range 8 {
		if <-taken == nil {
			ok++
		}
	}
	if ok != 1 || len(calls) != 1 {
		t.Errorf("%d were taken, %d finished", ok, len(calls))
	}
	_, r = w.given("fails")
	by["fails"] = func(context.Context, *memory.Memory, job.Record, Submitted) (*Finished, error) {
		return nil, errors.New("broken")
	}
	if _, err := Submit(t.Context(), w.m, jobs, Submitted{Job: r.ID}, by); err == nil {
		t.Error("no error")
	}
	if got, _ := jobs.Get(r.ID); got.State != job.Waiting {
		t.Errorf("the job is %s", got.State)
	}
}
