package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"mem/core/change"
	"mem/core/guard"
)

// fuse is a context that is done once it was asked a number of times.
type fuse struct {
	context.Context
	left atomic.Int64
}

func (f *fuse) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelledAnywhere: a change of many topics that is cancelled is made whole or leaves nothing,
// wherever that meets it.
func TestCancelledAnywhere(t *testing.T) {
	const topics = 20
	var c change.Change
	for i := range topics {
		c.Files = append(c.Files, change.File{Path: fmt.Sprintf("topic-%02d.md", i), Kind: change.Create, New: "text\n"})
	}
	scanner, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, func(o *Options) { o.Guard = scanner })
	write(t, s, memory("before", "It was there.\n"))
	entries := func() int {
		t.Helper()
		list, err := os.ReadDir(s.Directory())
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := entries()
	cancelled := 0
	for asked := int64(0); ; asked++ {
		ctx := &fuse{Context: t.Context()}
		ctx.left.Store(asked)
		_, err := s.Apply(ctx, c, How{})
		if err == nil {
			break
		}
		cancelled++
		if !errors.Is(err, context.Canceled) || entries() != before {
			t.Fatalf("cancelled when it had asked %d times: %v, %d files", asked, err, entries())
		}
		onlyOurs(t, s)
	}
	if cancelled < 3*topics {
		t.Errorf("it looked only %d times whether it was cancelled: each topic is scanned, planned, and written", cancelled)
	}
	if entries() != before+topics {
		t.Errorf("%d files", entries())
	}
}
