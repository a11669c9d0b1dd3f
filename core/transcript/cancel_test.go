package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"mem/core/transcript/transcripttest"
)

// repeated is a transcript over and over, so that a gigabyte takes no disk.
type repeated struct {
	data []byte
	size int64
}

func (r *repeated) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < r.size {
		part := r.data[off%int64(len(r.data)):]
		k := copy(p[n:], part[:min(int64(len(part)), r.size-off)])
		n, off = n+k, off+int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// gigabyte is a transcript of that size, shaped like real ones.
func gigabyte(t *testing.T) *repeated {
	t.Helper()
	var made bytes.Buffer
	if _, err := transcripttest.Write(&made, transcripttest.Options{Seed: 9, Bytes: 12e6, Noise: 0.8, LongLines: true}); err != nil {
		t.Fatal(err)
	}
	return &repeated{made.Bytes(), 1e9}
}

// TestCancelOfAGigabyte cancels each way in which a transcript is read whole in the middle: it ends
// within 100 ms. On a machine that is busy one of five tries has to.
func TestCancelOfAGigabyte(t *testing.T) {
	g := gigabyte(t)
	for name, read := range map[string]func(ctx context.Context) error{
		"read": func(ctx context.Context) error {
			_, err := Read(ctx, g, g.size, Options{})
			return err
		},
		"read by one worker": func(ctx context.Context) error {
			_, err := Read(ctx, g, g.size, Options{Workers: 1})
			return err
		},
		"read strictly": func(ctx context.Context) error {
			_, err := Read(ctx, g, g.size, Options{Strict: true})
			return err
		},
		"from the end": func(ctx context.Context) error {
			_, err := ReadTail(ctx, g, g.size, Options{})
			return err
		},
		"facts": func(ctx context.Context) error {
			_, err := note(ctx, g, g.size, nil, nil)
			return err
		},
		"archive": func(ctx context.Context) error {
			return writeArchive(ctx, io.Discard, g, ArchiveHead{Session: "s", Size: g.size}, nil)
		},
		"hash": func(ctx context.Context) error {
			_, err := hashOf(ctx, g, 0, g.size, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			best := time.Hour
			for try := 0; try < 5 && best > atOnce(); try++ {
				ctx, cancel := context.WithCancel(t.Context())
				cancelled := make(chan time.Time, 1)
				timer := time.AfterFunc(20*time.Millisecond, func() { cancelled <- time.Now(); cancel() })
				err := read(ctx)
				took := time.Now()
				timer.Stop()
				cancel()
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("a gigabyte was read in 20 ms, or something is wrong: %v", err)
				}
				best = min(best, took.Sub(<-cancelled))
			}
			if best > atOnce() {
				t.Errorf("it went on for %v", best)
			}
		})
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
