package dream_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"mem/core/dream"
	"mem/core/memdir"
)

// endless is a fixer that does not come to its end.
type endless struct{ dream.Fixer }

func (endless) Mend(ctx context.Context, _ *memdir.View, _ dream.MendOptions) (*dream.Mended, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestARunEndsByItsWallLimit: after thirty minutes, well before its lock is stale, and as
// if it had not begun.
func TestARunEndsByItsWallLimit(t *testing.T) {
	if dream.WallLimit != 30*time.Minute || dream.AgentWall >= dream.WallLimit || dream.StaleAfter < 2*dream.WallLimit {
		t.Fatalf("the limits are %s of an agent, %s of a run, %s of the lock", dream.AgentWall, dream.WallLimit, dream.StaleAfter)
	}
	h := newHome(t, small())
	before := files(h.base)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := dream.Run(context.Background(), h.Memory, dream.RunOptions{Start: dream.Explicit, Fixer: endless{}})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != dream.WallLimit {
			t.Errorf("it ended after %s: %v", took, err)
		}
	})
	if after := files(h.base); len(after) != len(before) {
		t.Error("memory was touched")
	}
	if st, err := dream.Of(h.Memory).Lock().Standing(); err != nil || !st.Last.IsZero() || st.Holder != 0 {
		t.Errorf("the lock: %+v, %v", st, err)
	}
	if _, err := os.Stat(filepath.Join(h.base, "memory", dream.LockName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file is there: %v", err)
	}
}
