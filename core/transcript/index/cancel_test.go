package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mem/core/transcript/transcripttest"
)

func TestCancelAndResume(t *testing.T) {
	dir := t.TempDir()
	var sources []Source
	for i := range 60 {
		s := newSession(t, dir, fmt.Sprint("s", i))
		for k := range 100 {
			s.answer(fmt.Sprintf("words %d of %d", k, i))
		}
		sources = append(sources, s.source("p"))
	}
	x := open(t, Options{Workers: 1})
	ctx, cancel := context.WithCancel(context.Background())
	r, err := x.Update(ctx, sources, UpdateOptions{Progress: func(done, total int64) {
		if done > total/2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if r.Entries == 0 || r.Pending == 0 {
		t.Errorf("what was read is kept: %+v", r)
	}
	res := search(t, x, Query{Text: "words"})
	if res.Pending == 0 || res.Indexed == 0 || res.Total != r.Entries {
		t.Errorf("%+v", res)
	}
	rest := update(t, x, sources...)
	if n := countEntries(t, x); n != 6000 || rest.Entries+r.Entries != n || rest.Pending != 0 {
		t.Errorf("%d entries: %d, then %+v", n, r.Entries, rest)
	}
	if res := search(t, x, Query{Text: "words"}); res.Pending != 0 {
		t.Errorf("%+v", res)
	}
	// Cancelled before it begins.
	if _, err := x.Update(ctx, sources, UpdateOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := x.Search(ctx, Query{Text: "words"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// endless is a transcript over and over, so that a gigabyte takes no disk.
type endless struct {
	data []byte
	size int64
}

func (e *endless) Size() int64 { return e.size }

func (e *endless) Close() error { return nil }

func (e *endless) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < e.size {
		part := e.data[off%int64(len(e.data)):]
		k := copy(p[n:], part[:min(int64(len(part)), e.size-off)])
		n, off = n+k, off+int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// TestCancelOfAGigabyte: an update that is cancelled ends within 100 ms, with what it had
// read in the index. On a machine that is busy one of five tries has to.
func TestCancelOfAGigabyte(t *testing.T) {
	var made bytes.Buffer
	if _, err := transcripttest.Write(&made, transcripttest.Options{Seed: 9, Bytes: 12e6, Noise: 0.8, LongLines: true}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	best := time.Hour
	for try := 0; try < 5 && best > atOnce(); try++ {
		x := open(t, Options{Open: func(string) (File, error) { return &endless{made.Bytes(), 1e9}, nil }})
		ctx, cancel := context.WithCancel(t.Context())
		var cancelled time.Time
		rep, err := x.Update(ctx, []Source{{path, "s", "p"}}, UpdateOptions{Progress: func(done, _ int64) {
			if done > 40e6 && cancelled.IsZero() {
				cancelled = time.Now()
				cancel()
			}
		}})
		took := time.Since(cancelled)
		cancel()
		if !errors.Is(err, context.Canceled) || rep.Pending == 0 || rep.Entries == 0 {
			t.Fatalf("%+v %v", rep, err)
		}
		best = min(best, took)
	}
	if best > atOnce() {
		t.Errorf("it went on for %v", best)
	}
}

// atOnce is how long something may go on that was cancelled: 100 ms. The race detector makes
// what happens in between up to twenty times as slow; make test runs this without it, too.
func atOnce() time.Duration {
	if raceEnabled {
		return 2 * time.Second
	}
	return 100 * time.Millisecond
}
