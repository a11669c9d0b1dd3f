package workspace_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"mem/diagnostics"
	"mem/diagnostics/workspace"
)

// TestManyAtOnce: an editor's checks overlap, while its files change.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	w.put("p/.claude/agent-memory/critic/MEMORY.md", "x\n")
	d := w.open("p/.claude/agent-memory/critic", workspace.Options{})
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 20 {
				s, err := d.Snapshot(context.Background(), buffers("MEMORY.md", marked, ".mem.yaml", fmt.Sprintf("limits: {topics: %d}\n", 1+i)))
				if err != nil {
					t.Error(err)
					return
				}
				if s.Config.Limits.Topics != 1+i {
					t.Errorf("a Snapshot has another's configuration: %+v", s.Config)
				}
				if _, err := d.Check(context.Background(), s, diagnostics.Scope{}); err != nil {
					t.Error(err)
				}
				if n == 0 {
					w.put("p/CLAUDE.md", fmt.Sprintf("line %d\n", i))
				}
			}
		})
	}
	wg.Wait()
}
