package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"mem/core/model/modeltest"
	"mem/internal/need"
)

func topicOf(name, kind, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: what to know of %s\ntype: %s\n---\n\n%s\n", name, name, kind, body)
}

// remember fills the memory of a place with two notes about one thing, one that is out of
// date, and two more: of these, one that goes is no more than a fifth.
func (p *place) remember(t *testing.T) (directory string) {
	t.Helper()
	dir := p.memory(t)
	rel, err := filepath.Rel(p.root, dir)
	if err != nil {
		t.Fatal(err)
	}
	index := "# Memory\n\n"
	for name, text := range map[string]string{
		"deploys": topicOf("deploys", "project", "Deploys go out with `make deploy`.\n\nNobody deploys on Fridays."),
		"release": topicOf("release", "project", "Releases are on Tuesday morning."),
		"limit":   topicOf("limit", "reference", "The partner takes 30 requests a minute."),
		"staging": topicOf("staging", "reference", "Staging answers at staging.example, behind the office network."),
		"reviews": topicOf("reviews", "feedback", "Two people look at each change, one of whom knows the schema."),
	} {
		p.write(t, filepath.Join(rel, name+".md"), text)
	}
	for _, name := range []string{"deploys", "release", "limit", "staging", "reviews"} {
		index += fmt.Sprintf("- [%s](%s.md) — what to know of %s\n", name, name, name)
	}
	p.write(t, filepath.Join(rel, "MEMORY.md"), index)
	return dir
}

// dreaming answers like a model that merges two notes and corrects one.
func dreaming(r modeltest.Request) modeltest.Step {
	switch r.Turn() {
	case 1:
		return modeltest.Call("Read", modeltest.In{"file_path": "/memory/MEMORY.md"}).And("Read", modeltest.In{"file_path": "/memory/deploys.md"}).
			And("Read", modeltest.In{"file_path": "/memory/release.md"}).And("Read", modeltest.In{"file_path": "/memory/limit.md"})
	case 2:
		return modeltest.Call("Write", modeltest.In{"file_path": "/memory/deploys.md", "content": topicOf("deploys", "project", "Deploys go out with `make deploy`.\n\nNobody deploys on Fridays.\n\nReleases are on Tuesday morning.")}).
			And("Write", modeltest.In{"file_path": "/memory/release.md", "content": ""}).
			And("Edit", modeltest.In{"file_path": "/memory/limit.md", "old_string": "30 requests", "new_string": "45 requests"})
	}
	return modeltest.Say(`{"did":"merged","files":["release.md"],"into":"deploys.md","why":"one matter"}`)
}

// filesOf reads a memory without what tells when, or in which session, it was written.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		b, err := os.ReadFile(p)
		var kept []string
		for l := range strings.Lines(string(b)) {
			if s := strings.TrimSpace(l); !strings.HasPrefix(s, "modified:") && !strings.HasPrefix(s, "originSessionId:") {
				kept = append(kept, l)
			}
		}
		out[d.Name()] = strings.Join(kept, "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// dream starts mem-mcp dream.
func (p *place) dream(t *testing.T, args ...string) (c *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	c = exec.Command(binary, append([]string{"dream"}, args...)...)
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	c.Dir, c.Env, c.Stdout, c.Stderr = p.project, p.env, stdout, stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, stdout, stderr
}

type dreamState struct {
	Gates struct{ LastSuccess time.Time }
	Job   *record
}

func (p *place) dreams(t *testing.T) (s dreamState) {
	t.Helper()
	p.json(t, &s, "dream", "status", "--json")
	return s
}

// TestKilledAnywhereInADream kills the program at twenty random moments of a dream:
// every note is as before or as after, no process holds the next dream up, and that
// comes to the same end.
func TestKilledAnywhereInADream(t *testing.T) {
	s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step { return dreaming(r).After(20 * time.Millisecond) })
	place := func() (*place, string) {
		p := newPlace(t)
		p.withModel(t, s, modeltest.Anthropic, "jobs:\n  dream:\n    policy: apply\n")
		return p, p.remember(t)
	}
	p, dir := place()
	before := filesOf(t, dir)
	began := time.Now()
	c, _, stderr := p.dream(t)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	took := time.Since(began)
	after := filesOf(t, dir)
	if _, there := after["release.md"]; there || !strings.Contains(after["limit.md"], "45") || !strings.Contains(after["deploys.md"], "Tuesday") {
		t.Fatalf("%v", after)
	}
	kills, done, untouched := 20, 0, 0
	if os.Getenv("MEM_SOAK") != "" {
		kills = 200
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range kills {
		p, dir := place()
		c, _, _ := p.dream(t)
		time.Sleep(time.Duration(r.Int64N(int64(took * 11 / 10))))
		_ = c.Process.Kill()
		_ = c.Wait()
		st := p.dreams(t) // looking completes or drops what was begun
		mid := filesOf(t, dir)
		for name, text := range mid {
			if text != before[name] && text != after[name] {
				t.Errorf("kill %d: %s is neither as before nor as after:\n%s", i, name, text)
			}
		}
		whole := maps.Equal(mid, after)
		switch {
		case whole:
			done++
		case maps.Equal(mid, before):
			untouched++
		default:
			t.Errorf("kill %d: some of it was done, and some not: %v", i, mid)
		}
		if !whole && !st.Gates.LastSuccess.IsZero() {
			t.Errorf("kill %d: it counts as a dream, and nothing came of it", i)
		}
		if st.Job != nil && st.Job.State == "running" {
			t.Errorf("kill %d: its job runs still", i)
		}
		c, out, stderr := p.dream(t)
		if err := c.Wait(); err != nil || strings.Contains(out.String(), "No dream") {
			t.Errorf("kill %d: the next dream: %v: %s%s", i, err, out, stderr)
		}
		if end := filesOf(t, dir); !maps.Equal(end, after) {
			t.Errorf("kill %d: the next dream came to another end: %v", i, end)
		}
		if p.dreams(t).Gates.LastSuccess.IsZero() {
			t.Errorf("kill %d: the next dream does not count", i)
		}
	}
	t.Logf("a dream takes %s; of %d kills %d left the memory as it was, %d as it was to be", took, kills, untouched, done)
	if untouched == 0 || untouched+done != kills {
		t.Error("no kill came in time: the test shows nothing")
	}
}

// atOnce starts mem-mcp dream in n processes that wait at one pipe, and releases them all
// at one moment. Where there is no shell they are started one after another. ended gets
// what each prints.
func (p *place) atOnce(t *testing.T, n int, args ...string) (ended chan string) {
	t.Helper()
	ended = make(chan string, n)
	shell, err := exec.LookPath("sh")
	held := err == nil && runtime.GOOS != "windows"
	gate, open, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		c := exec.Command(binary, append([]string{"dream"}, args...)...)
		if held {
			c = exec.Command(shell, append([]string{"-c", `read -r _; exec "$@" </dev/null`, "sh"}, c.Args...)...)
			c.Stdin = gate
		}
		stdout, stderr := &bytes.Buffer{}, &bytes.Buffer{}
		c.Dir, c.Env, c.Stdout, c.Stderr = p.project, p.env, stdout, stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			err := c.Wait()
			// Whoever asked and did not get a dream is told so by the exit code as well.
			if busy := strings.Contains(stdout.String(), `"closed"`); busy != (c.ProcessState.ExitCode() == 1) || err != nil && !busy {
				t.Errorf("%v: %s", err, stderr)
			}
			ended <- stdout.String()
		}()
	}
	if err := errors.Join(gate.Close(), open.Close()); err != nil { // all reads come to their end now
		t.Fatal(err)
	}
	return ended
}

// TestSixteenDreamsAtOnce: of sixteen processes that start at one moment one dreams, the
// others say who does; ten times (a hundred in make soak), in turn where there was no dream
// yet and where there was one.
func TestSixteenDreamsAtOnce(t *testing.T) {
	rounds := 10
	if os.Getenv("MEM_SOAK") != "" {
		rounds = 100
	}
	for round := range rounds {
		var mu sync.Mutex
		asked := 0
		release := make(chan struct{})
		s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
			mu.Lock()
			asked++
			mu.Unlock()
			select { // until the others have ended
			case <-release:
			case <-time.After(time.Minute):
			}
			return dreaming(r)
		})
		p := newPlace(t)
		p.withModel(t, s, modeltest.Anthropic, "")
		lock := filepath.Join(p.remember(t), ".consolidate-lock")
		if round%2 == 1 {
			old := time.Now().Add(-48 * time.Hour)
			if err := errors.Join(os.WriteFile(lock, nil, 0o600), os.Chtimes(lock, old, old)); err != nil {
				t.Fatal(err)
			}
		}
		const n = 16
		began := time.Now()
		ended := p.atOnce(t, n, "--json")
		ran := 0
		for i := range n {
			if i == n-1 {
				close(release)
			}
			select {
			case out := <-ended:
				var r struct {
					Closed *struct{ Gate string }
				}
				if err := json.Unmarshal([]byte(out), &r); err != nil || r.Closed != nil && r.Closed.Gate != "lock" {
					t.Errorf("round %d: %v: %s", round, err, out)
				}
				if r.Closed == nil {
					ran++
				}
			case <-time.After(2 * time.Minute):
				t.Fatalf("round %d: %d of %d processes have ended", round, i, n)
			}
		}
		mu.Lock()
		if ran != 1 || asked != 3 {
			t.Errorf("round %d: %d dreamed, with %d requests", round, ran, asked)
		}
		mu.Unlock()
		if info, err := os.Stat(lock); err != nil || info.Size() != 0 || info.ModTime().Before(began.Add(-2*time.Second)) {
			t.Errorf("round %d: the lock file afterwards: %v, %v", round, info, err)
		}
	}
}

// TestDreamInterrupted: Ctrl-C ends a dream within a second, and so does a cancel from
// another process; nothing is left of either.
func TestDreamInterrupted(t *testing.T) {
	for name, stop := range map[string]func(p *place, c *exec.Cmd) error{
		"Ctrl-C": func(_ *place, c *exec.Cmd) error { return c.Process.Signal(os.Interrupt) },
		"cancel": func(p *place, _ *exec.Cmd) error {
			c := exec.Command(binary, "dream", "cancel")
			c.Dir, c.Env = p.project, p.env
			return c.Run()
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "Ctrl-C" && runtime.GOOS == "windows" {
				need.That(t, "a signal to another process", errors.New("Windows has none"))
			}
			s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
				if r.Turn() == 3 {
					return modeltest.Say("I think").StallAt(10)
				}
				return dreaming(r)
			})
			p := newPlace(t)
			p.withModel(t, s, modeltest.Anthropic, "")
			dir := p.remember(t)
			before := filesOf(t, dir)
			c, _, stderr := p.dream(t, "--watch")
			s.Await(3)
			// A cancel is asked for by a process, whose own start is no part of it.
			over, asked := make(chan struct{}), make(chan time.Time, 1)
			go func() {
				var at time.Time
				for ; ; time.Sleep(2 * time.Millisecond) {
					if found, err := filepath.Glob(filepath.Join(p.state(), "mem", "*", "jobs", "*.cancel")); at.IsZero() && err == nil && len(found) > 0 {
						at = time.Now()
					}
					select {
					case <-over:
						asked <- at
						return
					default:
					}
				}
			}()
			began := time.Now()
			stopped := make(chan error, 1)
			go func() { stopped <- stop(p, c) }()
			failed := c.Wait()
			ended := time.Now()
			close(over)
			if at := <-asked; at.After(began) {
				began = at
			}
			if err := <-stopped; err != nil {
				t.Fatal(err)
			}
			if failed == nil {
				t.Error("it says that it succeeded")
			}
			t.Logf("it took %s", ended.Sub(began))
			if took := ended.Sub(began); took > time.Second {
				t.Errorf("it took %s", took)
			}
			if !strings.Contains(stderr.String(), "cancelled; the memory is as it was") || !strings.Contains(stderr.String(), "Edit /memory/limit.md") {
				t.Errorf("it says: %s", stderr)
			}
			if !maps.Equal(before, filesOf(t, dir)) {
				t.Error("memory was touched")
			}
			if _, err := os.Stat(filepath.Join(dir, ".consolidate-lock")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the lock file is there: %v", err)
			}
			if st := p.dreams(t); st.Job == nil || st.Job.State != "cancelled" || !st.Gates.LastSuccess.IsZero() {
				t.Errorf("%+v", st.Job)
			}
			idle(t, 5*time.Second)
		})
	}
}

// TestWatchingADream: a second process that asks with --watch follows the dream of the first;
// Ctrl-C there ends the watching and not the dream, one without --watch is told that it is
// busy, and the end of a turn starts none beside it.
func TestWatchingADream(t *testing.T) {
	if runtime.GOOS == "windows" {
		need.That(t, "a signal to another process", errors.New("Windows has none"))
	}
	release := make(chan struct{})
	s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
		if r.Turn() == 3 {
			select {
			case <-release:
			case <-time.After(time.Minute):
			}
		}
		return dreaming(r)
	})
	p := newPlace(t)
	p.withModel(t, s, modeltest.Anthropic, "jobs:\n  extract:\n    enabled: false\n  session_memory:\n    enabled: false\n")
	dir := p.remember(t)
	c, _, _ := p.dream(t)
	s.Await(3)
	watcher, _, seen := p.dream(t, "--watch")
	told := func() bool {
		list, err := filepath.Glob(filepath.Join(p.state(), "mem", "*", "jobs", "*.json"))
		return err == nil && len(list) == 1
	}
	time.Sleep(300 * time.Millisecond) // until it has looked
	if err := watcher.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := watcher.Wait(); err == nil || !strings.Contains(seen.String(), "Ctrl-C ends watching it") || !strings.Contains(seen.String(), "Edit /memory/limit.md") {
		t.Errorf("%v: %s", err, seen)
	}
	busy, out, why := p.dream(t)
	if err := busy.Wait(); err == nil || busy.ProcessState.ExitCode() != 1 || !strings.Contains(out.String(), `gate "lock"`) || !strings.Contains(why.String(), "a dream is under way") {
		t.Errorf("%v: %s%s", err, out, why)
	}
	for i := range 6 { // enough for a dream by itself
		if err := os.Rename(p.session(t, fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i), "the limit is 45"), filepath.Join(filepath.Dir(dir), fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d.jsonl", i))); err != nil {
			t.Fatal(err)
		}
	}
	own := "aaaaaaaa-0000-4000-8000-000000000000"
	for range 3 {
		p.hook(t, "Stop", own, filepath.Join(filepath.Dir(dir), own+".jsonl"))
	}
	if !told() {
		t.Errorf("there are more jobs than the one dream: %+v", p.jobs(t))
	}
	close(release)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if st := p.dreams(t); st.Job == nil || st.Job.State != "done" || !strings.Contains(filesOf(t, dir)["limit.md"], "45") {
		t.Errorf("%+v", st.Job)
	}
	idle(t, 5*time.Second)
}

// TestDreamThroughTheHook: with five sessions the end of a turn starts a dream, the next
// one none; where nobody may think unasked, it waits for the next conversation.
func TestDreamThroughTheHook(t *testing.T) {
	s := modeltest.StartFunc(t, dreaming)
	for _, auto := range []bool{false, true} {
		p := newPlace(t)
		if auto {
			p.write(t, "config/mem/config.yaml", "engine: auto\njobs:\n  extract:\n    enabled: false\n  session_memory:\n    enabled: false\n")
		} else {
			p.withModel(t, s, modeltest.Anthropic, "jobs:\n  extract:\n    enabled: false\n  session_memory:\n    enabled: false\n")
		}
		dir := p.remember(t)
		own := "bbbbbbbb-0000-4000-8000-000000000001"
		session := func(id, said string) string { // where the client keeps those of this project
			path := filepath.Join(filepath.Dir(dir), id+".jsonl")
			if err := os.Rename(p.session(t, id, said), path); err != nil {
				t.Fatal(err)
			}
			return path
		}
		path := session(own, "hello")
		for i := range 4 {
			session(fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i), "the limit is 45 requests a minute now")
		}
		p.hook(t, "Stop", own, path)
		if len(p.jobs(t)) != 0 {
			t.Fatalf("four other sessions are enough: %+v", p.jobs(t))
		}
		session(fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", 4), "one more")
		p.hook(t, "Stop", own, path)
		idle(t, 30*time.Second)
		if len(p.jobs(t)) != 0 {
			t.Fatalf("another process looked for sessions again within ten minutes: %+v", p.jobs(t))
		}
		if scans, err := filepath.Glob(filepath.Join(p.state(), "mem", "*", "dream-sessions.json")); err != nil || len(scans) != 1 {
			t.Fatal(scans, err)
		} else if err := os.Remove(scans[0]); err != nil { // ten minutes later
			t.Fatal(err)
		}
		_, note, took := p.hook(t, "Stop", own, path)
		t.Logf("the hook took %s %s", took, note)
		idle(t, 30*time.Second)
		jobs := p.jobs(t)
		if len(jobs) != 1 || jobs[0].Kind != "dream" || jobs[0].By != "hook" {
			t.Fatalf("%+v", jobs)
		}
		p.hook(t, "Stop", own, path)
		idle(t, 30*time.Second)
		if n := len(p.jobs(t)); n != 1 {
			t.Errorf("%d dreams", n)
		}
		if !auto {
			if jobs[0].State != "done" || len(jobs[0].Sessions) != 5 || !strings.Contains(filesOf(t, dir)["limit.md"], "45") {
				t.Errorf("%+v", jobs[0])
			}
			continue
		}
		if jobs[0].State != "queued" {
			t.Errorf("%+v", jobs[0])
		}
		if out, _, _ := p.hook(t, "SessionStart", own, path); !strings.Contains(out, jobs[0].ID) || !strings.Contains(out, "dream_start") {
			t.Errorf("the next conversation is told: %q", out)
		}
	}
}

// TestWatchADream follows a dream of another process.
func TestWatchADream(t *testing.T) {
	release := make(chan struct{})
	s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
		if r.Turn() == 2 {
			<-release
		}
		return dreaming(r)
	})
	p := newPlace(t)
	p.withModel(t, s, modeltest.Anthropic, "")
	p.remember(t)
	first, _, _ := p.dream(t)
	s.Await(2)
	second, out, _ := p.dream(t, "--watch")
	time.Sleep(300 * time.Millisecond)
	close(release)
	if err := errors.Join(first.Wait(), second.Wait()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "done") || len(s.Requests()) != 3 {
		t.Errorf("%d requests: %s", len(s.Requests()), out)
	}
}
