//go:build unix

package proposal

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"mem/internal/need"
)

// TestFullDisk: a process that applies a proposal may write files of so many blocks and no
// more. Whatever it managed, memory is whole, and applying it later makes the rest, once.
func TestFullDisk(t *testing.T) {
	sh := need.Program(t, "sh")
	failed := 0
	for blocks := range 8 {
		w := newWorld(t)
		id := w.settle(Submission{Policy: Review, Units: Split(work())}).Proposal.ID
		cmd := exec.Command(sh, "-c", fmt.Sprintf(`ulimit -f %d; exec "$0"`, blocks), os.Args[0])
		cmd.Env = append(os.Environ(), "TEST_APPLY="+w.base, "TEST_ID="+id)
		out, err := cmd.CombinedOutput()
		if err != nil {
			failed++
			if !strings.Contains(string(out), "file too large") {
				t.Errorf("%d blocks: %s", blocks, out)
			}
		}
		for _, p := range []string{"MEMORY.md", "t1.md", "new.md"} {
			if s := w.get(p); s != "" && !strings.HasSuffix(s, "\n") {
				t.Errorf("%d blocks: %s is cut: %q", blocks, p, s)
			}
		}
		d, err := w.p.Apply(t.Context(), id, Which{})
		if err != nil || d.Proposal.State != Applied || len(d.Held) > 0 {
			t.Errorf("%d blocks, afterwards: %+v, %v", blocks, d, err)
		}
		if w.changes() != 1 || w.get("t3.md") != "" || strings.Count(w.get("MEMORY.md"), "new.md") != 1 {
			t.Errorf("%d blocks: %d changes\n%s", blocks, w.changes(), w.get("MEMORY.md"))
		}
	}
	if failed == 0 {
		t.Error("every process had room enough, so nothing was tested")
	}
	t.Logf("%d of 8 processes had too little room", failed)
}
