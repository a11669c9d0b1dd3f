package work

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/fork"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/settings"
)

func newHouse(t *testing.T, vars map[string]string) *House {
	t.Helper()
	dir := t.TempDir()
	env := settings.Env{
		Lookup: func(k string) (string, bool) { v, ok := vars[k]; return v, ok },
		Home:   filepath.Join(dir, "home"), Cwd: dir,
		ConfigDir: filepath.Join(dir, "config"), StateDir: filepath.Join(dir, "state"), CacheDir: filepath.Join(dir, "cache"),
	}
	m, err := memory.Open(memory.Options{Env: env, MemoryDir: filepath.Join(dir, "memory")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return &House{Memory: m, Jobs: job.Open(m.StateDirectory(), env)}
}

// TestHere: however the body of a job ends, its record does.
func TestHere(t *testing.T) {
	h := newHouse(t, nil)
	stop := func(context.Context, *job.Run) error { return nil }
	for name, c := range map[string]struct {
		body   func(ctx context.Context, run *job.Run) error
		state  job.State
		reason string
	}{
		"done":  {stop, job.Done, ""},
		"error": {func(context.Context, *job.Run) error { return errors.New("the model is gone") }, job.Failed, "the model is gone"},
		"panic": {func(context.Context, *job.Run) error { panic("a fault") }, job.Failed, "a fault of mem, please report it: a fault"},
		"by hand": {func(_ context.Context, r *job.Run) error {
			return r.End(job.Done, func(r *job.Record) { r.Report = "x" })
		}, job.Done, ""},
		"cancelled": {func(ctx context.Context, r *job.Run) error {
			if _, err := h.Jobs.Cancel(r.ID()); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}, job.Cancelled, "cancelled"},
	} {
		made, body, err := h.Here(job.Record{Kind: job.Extract}, c.body)
		if err != nil {
			t.Fatal(err)
		}
		if made.Process != os.Getpid() {
			t.Errorf("%s: another process may take it: %+v", name, made)
		}
		failed := body(t.Context())
		r, err := h.Jobs.Get(made.ID)
		if err != nil || r.State != c.state || r.Reason != c.reason || (failed != nil) != (c.reason != "") {
			t.Errorf("%s: %+v, %v, %v", name, r, err, failed)
		}
	}
}

func TestLaunch(t *testing.T) {
	h := newHouse(t, nil)
	_, err := h.Launch(job.Record{Kind: job.Extract}, func(*memory.Memory, *job.Jobs, *job.Record) (int, error) { return 0, errors.New("no such program") })
	list, listErr := h.Jobs.List(job.ListOptions{})
	if err == nil || listErr != nil || len(list) != 1 || list[0].State != job.Failed || list[0].Reason != "no such program" {
		t.Errorf("%v, %+v, %v", err, list, listErr)
	}
	r, err := h.Launch(job.Record{Kind: job.Extract}, func(*memory.Memory, *job.Jobs, *job.Record) (int, error) { return os.Getpid(), nil })
	if err != nil || r.Process != os.Getpid() || r.ProcessStart == "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestInside(t *testing.T) {
	h := newHouse(t, map[string]string{fork.EnvInside: "1"})
	if _, err := h.Launch(job.Record{Kind: job.Extract}, nil); err == nil || !strings.Contains(err.Error(), fork.EnvInside) {
		t.Errorf("%v", err)
	}
	if _, _, err := h.Here(job.Record{Kind: job.Extract}, nil); err == nil {
		t.Error("a job starts inside of a forked agent")
	}
}
