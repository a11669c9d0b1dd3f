package proposal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"mem/core/change"
)

// TestKilledWhileApplying: a process is killed at some moment while it applies a
// proposal; the next one finishes, and nothing is made twice or half.
func TestKilledWhileApplying(t *testing.T) {
	rounds := 8
	if n, err := strconv.Atoi(os.Getenv("MEM_SOAK")); err == nil && n > 0 {
		rounds *= n
	}
	w := newWorld(t)
	for i := range rounds {
		log := fmt.Sprintf("logs/2026/10/2026-10-%02d.md", i%28+1)
		name := fmt.Sprintf("k%d.md", i)
		c := change.Change{Files: []change.File{
			{Path: name, Kind: change.Create, New: topic("k", "killed")},
			{Path: log, Kind: change.Append, New: fmt.Sprintf("## 10:00:00 note\n\nonce %d.\n\n", i)},
		}}
		id := w.settle(Submission{Kind: fmt.Sprint("kind", i), Policy: Review, Units: Split(c)}).Proposal.ID
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TEST_APPLY="+w.base, "TEST_ID="+id)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, or done before
		d, err := w.p.Apply(t.Context(), id, Which{})
		if err != nil || d.Proposal.State != Applied || len(d.Held) > 0 {
			t.Fatalf("round %d: %+v, %v", i, d, err)
		}
		if n := strings.Count(w.get(log), fmt.Sprintf("once %d.", i)); n != 1 || w.get(name) == "" {
			t.Fatalf("round %d: the log has it %d times, the topic is %q", i, n, w.get(name))
		}
	}
}
