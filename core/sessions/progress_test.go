package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"mem/core/memory"
	"mem/core/transcript/transcripttest"
)

// TestEveryLongOperationTellsAndStops: whatever reads transcripts tells how far it is, never more than
// there is to do and never backwards, and ends where it is when it is cancelled in the middle of that.
func TestEveryLongOperationTellsAndStops(t *testing.T) {
	var small, large bytes.Buffer
	for b, size := range map[*bytes.Buffer]int64{&small: 8 << 20, &large: 40 << 20} {
		if _, err := transcripttest.Write(b, transcripttest.Options{Seed: 4, Bytes: size, Noise: 0.8}); err != nil {
			t.Fatal(err)
		}
	}
	for name, do := range map[string]func(context.Context, *Sessions, Progress) error{
		"list": func(ctx context.Context, s *Sessions, p Progress) error {
			_, err := s.List(ctx, ListOptions{Progress: p})
			return err
		},
		"resume": func(ctx context.Context, s *Sessions, p Progress) error {
			_, err := s.Resume(ctx, ResumeOptions{Session: first, Progress: p})
			return err
		},
		"search": func(ctx context.Context, s *Sessions, p Progress) error {
			_, err := s.Search(ctx, SearchOptions{Query: "module", Wait: time.Minute, Progress: p})
			return err
		},
		"export": func(ctx context.Context, s *Sessions, p Progress) error {
			_, err := s.Export(ctx, io.Discard, ExportOptions{Session: first, Progress: p})
			return err
		},
		"page of an export": func(ctx context.Context, s *Sessions, p Progress) error {
			_, err := s.ExportPage(ctx, ExportOptions{Session: first, Progress: p}, "")
			return err
		},
		"archive": func(ctx context.Context, s *Sessions, p Progress) error {
			_, err := s.Archive(ctx, ArchiveOptions{Sessions: []string{first}, Progress: p})
			return err
		},
		"adopt": func(ctx context.Context, s *Sessions, p Progress) error {
			_, err := s.m.Adopt(ctx, memory.AdoptOptions{Old: s.m.Location.Project.Root + "-old", Progress: p})
			return err
		},
		"moved": func(ctx context.Context, s *Sessions, p Progress) error {
			_, err := s.m.Moved(ctx, memory.MovedOptions{Progress: p})
			return err
		},
		"summary": func(ctx context.Context, s *Sessions, p Progress) error {
			_, err := s.Summary(ctx, first, p)
			if errors.Is(err, ErrNoSummary) {
				return nil
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			more := small.String()
			if name == "search" {
				more = large.String() // it looks ten times a second
			}
			d.put(first, talk(first, d.env.Cwd, "Where is the zebra?", "Here.")+more, time.Hour)
			old := d.env.Cwd + "-old"
			d.write(d.folder(old)+"/"+second+".jsonl", talk(second, old, "Where is the zebra?", "Here.")+more, time.Hour)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var mu sync.Mutex
			var cancelled time.Time
			err := do(ctx, d.open(Options{}), func(string, int64, int64) {
				mu.Lock()
				defer mu.Unlock()
				if cancelled.IsZero() {
					cancelled = time.Now()
					cancel()
				}
			})
			switch took := time.Since(cancelled); {
			case cancelled.IsZero():
				t.Error("it tells nothing")
			case !errors.Is(err, context.Canceled):
				t.Errorf("cancelled, it gives %v", err)
			case took > 2*time.Second:
				t.Errorf("cancelled, it goes on for %v", took)
			}
			told, wrong := map[string]int64{}, ""
			if err := do(t.Context(), d.open(Options{}), func(what string, done, total int64) {
				mu.Lock()
				defer mu.Unlock()
				if wrong == "" && (done < told[what] || done > total || done < 0) {
					wrong = fmt.Sprintf("%s: %d of %d after %d", what, done, total, told[what])
				}
				told[what] = done
			}); err != nil || wrong != "" {
				t.Errorf("%s %v", wrong, err)
			}
		})
	}
}
