package agentmem

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mem/core/job/killtest"
	"mem/internal/need"
)

// TestCheckoutAfterEachKill kills a process that publishes and pulls before each of its system
// calls that change a file, and has git put other commits into the checkout. No line that
// stood in the memory leaves it, and the next publish completes what was begun.
func TestCheckoutAfterEachKill(t *testing.T) {
	t.Parallel()
	step := 4
	if os.Getenv("MEM_SNAPSHOT_SEEDS") != "" {
		step = 1
	}
	ann, _ := team(t)
	ann.env.Now = time.Now
	n := 0
	w := &wanderer{member: ann, r: rand.New(rand.NewPCG(3, 13)), n: &n, have: map[string]bool{}}
	for range 3 {
		w.write()
		w.share()
		ann.git("add", "-A")
		ann.git("commit", "-q", "-m", "more")
	}
	below := filepath.Dir(ann.env.Home) // all that this test made
	kills := 0
	for at := 1; ; at += step {
		w.log = nil
		w.write()
		w.share() // which no commit has
		w.look()
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), "AGENTMEM_MEMBER="+ann.dir, "AGENTMEM_HOME="+ann.env.Home, fmt.Sprintf("AGENTMEM_NAME=p%d", at), "AGENTMEM_TIMES=1")
		d, err := killtest.Run(cmd, below, at)
		if errors.Is(err, killtest.ErrNot) {
			need.System(t, runtime.GOOS == "linux", "processes are killed at a step only on Linux")
			need.System(t, false, "no process may be traced: "+err.Error())
		}
		if err != nil {
			t.Fatal(err)
		}
		if d.Before == "" {
			if d.Code != 0 {
				t.Fatalf("it ended with %d", d.Code)
			}
			break
		}
		kills++
		w.note("is killed before the %d. call, %s", at, d.Before)
		for _, args := range [][][]string{
			{{"checkout", "-q", "-f", "--detach", "main~1"}},
			{{"reset", "-q", "--hard"}, {"clean", "-q", "-fd"}},
			{{"checkout", "-q", "main~2", "--", "."}},
			{{"stash", "-q", "-u"}},
		}[kills%4] {
			w.note("git %v", args)
			ann.git(args...)
		}
		w.take(true)
		w.look()
		w.share()
		w.take(true)
		w.look()
		ann.git("checkout", "-q", "-f", "main")
		w.take(true)
		w.look()
		w.share()
		w.take(true)
		w.look()
		if st := w.wantState(StateInSync); len(st.Problems) > 0 {
			w.fatal("%+v", st)
		}
		for p := range filesOf(t, w.snapshot()) {
			if strings.Contains(p, tempPrefix) {
				w.fatal("%s was left", p)
			}
		}
	}
	t.Logf("%d kills", kills)
	if kills < 5 {
		t.Errorf("only %d kills", kills)
	}
}
