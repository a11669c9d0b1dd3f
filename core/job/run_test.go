package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mem/core/settings"
)

func begin(t *testing.T, j *Jobs) (context.Context, *Run) {
	t.Helper()
	ctx, run, err := j.Begin(t.Context(), create(t, j, Record{}).ID)
	if err != nil {
		t.Fatal(err)
	}
	return ctx, run
}

func TestRunToItsEnd(t *testing.T) {
	j, _ := scene(t)
	ctx, run := begin(t, j)
	for i := range 1000 {
		run.Progress(func(r *Record) { r.Turns = i + 1; r.Last = append(r.Last, fmt.Sprint("turn ", i)) })
	}
	for end := time.Now().Add(3 * time.Second); get(t, j, run.ID()).Turns != 1000; {
		if time.Now().After(end) {
			t.Fatal("progress is not in the record")
		}
		time.Sleep(10 * time.Millisecond)
	}
	run.Progress(func(r *Record) { r.Turns = 1001 })
	if run.Record().Turns != 1001 {
		t.Error("progress is not seen here")
	}
	if err := run.End(Done, func(r *Record) { r.Report = "all well" }); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() == nil {
		t.Error("the context goes on")
	}
	got := get(t, j, run.ID())
	if got.State != Done || got.Turns != 1001 || got.Report != "all well" || got.Ended.IsZero() || got.Started.IsZero() {
		t.Errorf("got %+v", got)
	}
	run.Progress(func(*Record) { t.Error("progress after the end") })
	if err := run.End(Failed, nil); err == nil {
		t.Error("ended twice")
	}
	var busy *BusyError
	if _, _, err := j.Begin(t.Context(), run.ID()); !errors.As(err, &busy) || !strings.Contains(err.Error(), "over") {
		t.Errorf("got %v", err)
	}
}

func TestRunThatAHostTakes(t *testing.T) {
	j, _ := scene(t)
	_, run := begin(t, j)
	if err := run.End(Waiting, nil); err != nil {
		t.Fatal(err)
	}
	got := get(t, j, run.ID())
	if got.State != Waiting || got.Process != 0 || !got.Ended.IsZero() {
		t.Errorf("got %+v", got)
	}
	if _, _, err := j.Begin(t.Context(), run.ID()); err == nil || !strings.Contains(err.Error(), "host") {
		t.Errorf("got %v", err)
	}
	if got, err := j.Cancel(run.ID()); err != nil || got.State != Cancelled || !strings.Contains(got.Reason, "waited") {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCancel(t *testing.T) {
	j, _ := scene(t)
	ctx, run := begin(t, j)
	began := time.Now()
	if got, err := j.Cancel(run.ID()[:14]); err != nil || got.State != Running {
		t.Errorf("got %+v, %v", got, err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("nothing happened")
	}
	if took := time.Since(began); took > time.Second || !errors.Is(context.Cause(ctx), ErrCancelled) {
		t.Errorf("after %s: %v", took, context.Cause(ctx))
	}
	if err := run.End(Cancelled, nil); err != nil {
		t.Fatal(err)
	}
	// One that nobody began ends at once, and is not begun any more.
	queued := create(t, j, Record{})
	if got, err := j.Cancel(queued.ID); err != nil || got.State != Cancelled {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, _, err := j.Begin(t.Context(), queued.ID); err == nil {
		t.Error("a cancelled job was begun")
	}
	if _, err := j.Cancel("zzz"); err == nil {
		t.Error("cancelled what is not there")
	}
}

// A queued job whose process was started and died before it began is lost, not for ever
// about to begin.
func TestStartedAndNeverBegun(t *testing.T) {
	j, _ := scene(t)
	r := create(t, j, Record{Process: 1<<22 - 7, ProcessStart: ""})
	if got := get(t, j, r.ID); got.State != Lost {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkCreate(b *testing.B) {
	j := Open(b.TempDir(), settings.Env{})
	for b.Loop() {
		if _, err := j.Create(Record{Kind: Extract, State: Done}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkListOpen100(b *testing.B) {
	j := Open(b.TempDir(), settings.Env{})
	for range 100 {
		if _, err := j.Create(Record{Kind: Extract, State: Done}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := j.List(ListOptions{Open: true}); err != nil {
			b.Fatal(err)
		}
	}
}
