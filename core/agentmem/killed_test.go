package agentmem

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mem/core/memory"
	"mem/core/settings"
)

// asMember works as another process on a member's memory where a test called this binary
// for that: it changes a topic of its own, publishes, pulls and looks, as often as it is
// told; 0 is until it is killed.
func asMember() bool {
	dir := os.Getenv("AGENTMEM_MEMBER")
	if dir == "" {
		return false
	}
	home, me := os.Getenv("AGENTMEM_HOME"), os.Getenv("AGENTMEM_NAME")
	times, err := strconv.Atoi(os.Getenv("AGENTMEM_TIMES"))
	fail := func(err error) {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	if err != nil {
		fail(err)
	}
	limitFiles()
	env := settings.Env{Lookup: func(string) (string, bool) { return "", false }, Home: home, Cwd: dir,
		ConfigDir: filepath.Join(home, "config"), StateDir: filepath.Join(home, "state"), CacheDir: filepath.Join(home, "cache"),
		ManagedSettings: filepath.Join(home, "none.json"), Now: time.Now}
	fmt.Println("begun")
	for i := 0; times == 0 || i < times; i++ {
		file := filepath.Join(dir, ".claude", "agent-memory", "reviewer", me+".md")
		if err := os.WriteFile(file+".new", []byte(topicText(me, fmt.Sprintf("## Facts\n\n%s knows %d.\n", me, i))), 0o644); err != nil {
			fail(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			fail(err)
		}
		s, err := Open(memory.Options{Env: env, Project: dir, Actor: "test"}, "reviewer")
		if err != nil {
			fail(err)
		}
		if _, err := s.Publish(context.Background(), PublishOptions{Confirm: true}); err != nil {
			fail(fmt.Errorf("publish: %w", err))
		}
		if st, err := s.Status(context.Background()); err != nil {
			fail(fmt.Errorf("status: %w", err))
		} else if st.State == StateInvalid {
			for _, p := range st.Problems {
				if p.Kind != ProblemManifest { // somebody is publishing
					fail(fmt.Errorf("status: %v", p))
				}
			}
		}
		if _, err := s.Pull(context.Background(), PullOptions{Apply: true}); err != nil {
			fail(fmt.Errorf("pull: %w", err))
		}
		if err := s.Close(); err != nil {
			fail(err)
		}
	}
	return true
}

// process starts this binary as a member and waits until it works.
func (m *member) process(name string, times int, vars ...string) (c *exec.Cmd, out *bufio.Reader) {
	m.t.Helper()
	self, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	c = exec.Command(self, "-test.run=^$")
	c.Env = append(os.Environ(), append(vars, "AGENTMEM_MEMBER="+m.dir, "AGENTMEM_HOME="+m.env.Home, "AGENTMEM_NAME="+name, "AGENTMEM_TIMES="+strconv.Itoa(times))...)
	pipe, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	out = bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); err != nil || line != "begun\n" {
		m.t.Fatalf("%q %v", line, err)
	}
	return c, out
}

// times gives how often something is tried, more in make soak.
func often(few int) int {
	if n, err := strconv.Atoi(os.Getenv("MEM_SNAPSHOT_SEEDS")); err == nil {
		return max(few, n)
	}
	return few
}

// whole makes sure that a memory with its snapshot is what it was, and can go on.
func (m *member) whole(facts map[string]string) {
	m.t.Helper()
	m.publish()
	if p := m.pull(PullOptions{Apply: true}); p.Left.State != StateInSync {
		m.t.Fatalf("%+v", p.Left)
	}
	here, shared := filesOf(m.t, m.store()), filesOf(m.t, m.snapshot())
	for p, fact := range facts {
		if !strings.Contains(here[p], fact) || !strings.Contains(shared[p], fact) {
			m.t.Fatalf("%s: %q was lost\n== here\n%s\n== shared\n%s", p, fact, here[p], shared[p])
		}
	}
	for p := range shared {
		if strings.Contains(p, tempPrefix) {
			m.t.Fatalf("%s was left", p)
		}
	}
}

// TestKilled: a process that publishes and pulls is killed at any instant. Nothing is lost,
// what it left is completed by the next one, and nobody takes it for more than it is.
func TestKilled(t *testing.T) {
	t.Parallel()
	m := newMember(t, "ann", t.TempDir())
	m.env.Now = time.Now
	facts := map[string]string{}
	for i := range 12 {
		name := fmt.Sprintf("topic-%d", i)
		m.topic(name, fmt.Sprintf("## A\n\nFact %d.\n", i))
		facts[name+".md"] = fmt.Sprintf("Fact %d.", i)
	}
	m.publish()
	for i := range often(3) {
		c, out := m.process("busy", 0)
		time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond)
		_ = c.Process.Kill()
		rest, _ := out.ReadString(0)
		_ = c.Wait() // it was killed
		if strings.Contains(rest, "error") {
			t.Fatal(rest)
		}
		st := m.status()
		for _, p := range st.Problems {
			if p.Kind != ProblemManifest {
				t.Fatalf("after a kill: %v", p)
			}
		}
		if i%3 == 0 {
			p := fmt.Sprintf("topic-%d.md", i%12)
			facts[p] = fmt.Sprintf("Fact %d, after %d kills.", i%12, i)
			m.put(p, topicText(strings.TrimSuffix(p, ".md"), "## A\n\n"+facts[p]+"\n"))
		}
		m.whole(facts)
	}
}

// TestManyAtOnce: processes that publish, look and pull at once lose nothing of each other.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	m := newMember(t, "ann", t.TempDir())
	m.env.Now = time.Now
	m.topic("first", "## A\n\nFirst.\n")
	m.publish()
	facts := map[string]string{"first.md": "First."}
	var group sync.WaitGroup
	const times = 3
	for i := range min(often(4), 30) {
		name := fmt.Sprintf("p%d", i)
		facts[name+".md"] = fmt.Sprintf("%s knows %d.", name, times-1)
		c, out := m.process(name, times)
		group.Go(func() {
			rest, _ := out.ReadString(0)
			if err := c.Wait(); err != nil || rest != "" {
				t.Errorf("%s: %v %s", name, err, rest)
			}
		})
	}
	group.Wait()
	m.whole(facts)
}
