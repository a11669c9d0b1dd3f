//go:build unix

package agentmem

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// limitFiles makes files end at a size, as a full disk would, where a test wants that.
func limitFiles() {
	n, err := strconv.ParseUint(os.Getenv("AGENTMEM_FSIZE"), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// TestFullDisk: where no more can be written, a publish or a pull says so; nothing that was
// there is lost, and with room again it is completed.
func TestFullDisk(t *testing.T) {
	m := newMember(t, "ann", t.TempDir())
	m.env.Now = time.Now
	facts := map[string]string{}
	for i := range 6 {
		name := fmt.Sprintf("topic-%d", i)
		facts[name+".md"] = fmt.Sprintf("Fact %d.", i)
		m.topic(name, "## A\n\n"+facts[name+".md"]+"\n\n## B\n\n"+strings.Repeat("More of it.\n", 200*i))
	}
	m.publish()
	m.topic("fresh", "## A\n\nFresh.\n\n"+strings.Repeat("Much.\n", 400))
	facts["fresh.md"] = "Fresh."
	for _, room := range []int{300, 1000, 3000} {
		c, out := m.process("small", 1, "AGENTMEM_FSIZE="+strconv.Itoa(room))
		rest, _ := out.ReadString(0)
		_ = c.Wait() // out tells how it went
		if room < 2000 && (!strings.Contains(rest, "error:") || !strings.Contains(rest, "too large") && !strings.Contains(rest, "no space")) {
			t.Errorf("with room for %d bytes: %q", room, rest)
		}
		here := filesOf(t, m.store())
		for p, f := range facts {
			if !strings.Contains(here[p], f) {
				t.Fatalf("with room for %d bytes %s lost %q", room, p, f)
			}
		}
		m.whole(facts)
		m.put("fresh.md", topicText("fresh", fmt.Sprintf("## A\n\nFresh.\n\n%d\n%s", room, strings.Repeat("Much.\n", 400))))
	}
}
