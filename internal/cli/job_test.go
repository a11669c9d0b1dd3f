package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/hook"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/settings"
	"mem/internal/need"
	"mem/internal/term"
)

// UseFakeJobs makes extraction a job that does what the variable TEST_JOBS says, and each
// end of a turn start one.
func UseFakeJobs() {
	jobKinds = map[string]jobKind{job.Extract: {
		after: func(*app) hook.Afterwards { return fakeCheck{} },
		run: func(ctx context.Context, _ *app, _ *memory.Memory, _ *job.Jobs, r *job.Run) error {
			switch os.Getenv("TEST_JOBS") {
			case "done":
				fmt.Println("printed by the job")
				return r.End(job.Done, func(r *job.Record) { r.Report = "learnt nothing"; r.Turns = 2; r.Calls = 3 })
			case "silent":
				return nil
			case "fail":
				return errors.New("the model is gone")
			case "panic":
				panic("a fault")
			case "slow":
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return fmt.Errorf("TEST_JOBS=%s", os.Getenv("TEST_JOBS"))
		},
	}}
}

type fakeCheck struct{}

func (fakeCheck) Check(_ context.Context, c hook.Case) ([]job.Record, []string, error) {
	if os.Getenv("TEST_JOBS") == "closed" {
		return nil, []string{"no new messages"}, nil
	}
	if os.Getenv("TEST_JOBS") == "hang" {
		select {}
	}
	return []job.Record{{Kind: job.Extract}}, []string{"there is something to learn"}, nil
}

// A job that does not end when it is told to has its record ended all the same.
func TestAJobThatDoesNotEnd(t *testing.T) {
	jobs := job.Open(filepath.Join(t.TempDir(), "state"), settings.Env{})
	for name, end := range map[string]func(id string, stop context.CancelFunc){
		"cancelled": func(id string, _ context.CancelFunc) {
			if _, err := jobs.Cancel(id); err != nil {
				t.Error(err)
			}
		},
		"ended by a signal": func(_ string, stop context.CancelFunc) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			r, err := jobs.Create(job.Record{Kind: job.Extract})
			if err != nil {
				t.Fatal(err)
			}
			parent, stop := context.WithCancel(t.Context())
			defer stop()
			ctx, run, err := jobs.Begin(parent, r.ID)
			if err != nil {
				t.Fatal(err)
			}
			release := make(chan struct{})
			defer close(release)
			began := time.Now()
			end(r.ID, stop)
			err = endJob(ctx, run, 50*time.Millisecond, func() error { <-release; return nil })
			if err == nil || !strings.Contains(err.Error(), "did not end within 50ms") || time.Since(began) > 2*time.Second {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
			if got, err := jobs.Get(r.ID); err != nil || got.State != job.Cancelled || got.Ended.IsZero() {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestBoundedOutput(t *testing.T) {
	var b strings.Builder
	w := &bounded{to: &b, left: 10}
	for range 5 {
		if n, err := w.Write([]byte("12345678")); n != 8 || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
	}
	if b.String() != "1234567812\n… (cut)\n" {
		t.Errorf("got %q", b.String())
	}
}

// A client that keeps standard input open and says nothing is not kept waiting.
func TestHookThatHangs(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close() //nolint:errcheck // a test
	var out, errOut strings.Builder
	a := &app{Printer: term.NewPrinter(term.Streams{In: r, Out: &out, Err: &errOut}, settings.Env{}), env: settings.Env{}}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	a.runHook(ctx, "")
	if took := time.Since(began); took > 2*time.Second || out.Len() > 0 || !strings.Contains(errOut.String(), "gave up") {
		t.Errorf("after %s: %q %q", took, out.String(), errOut.String())
	}
}

func TestHooksAsk(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "mem-mcp")
	need.Link(t, exe, name)
	was := os.Args[0]
	os.Args[0] = name
	defer func() { os.Args[0] = was }()
	for answer, written := range map[string]bool{"y\n": true, "Yes": true, "n\n": false, "\n": false, "": false, "yes please\n": false} {
		home := t.TempDir()
		var out, errOut strings.Builder
		env := settings.Env{Home: home, Cwd: home, StateDir: filepath.Join(home, "state")}
		code := Run(t.Context(), env, term.Streams{In: strings.NewReader(answer), Out: &out, Err: &errOut, InTerminal: true, ErrTerminal: true}, "test",
			[]string{"hooks", "install", "claude-code"})
		_, err := os.Stat(filepath.Join(home, ".claude", "settings.json"))
		if (err == nil) != written || (code == ExitOK) != written || !strings.Contains(errOut.String(), "Write this? [y/N]") {
			t.Errorf("%q: code %d, %v: %s", answer, code, err, errOut.String())
		}
	}
}
