package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mem/core/model/modeltest"
	"mem/internal/need"
)

// commandPlace is a place whose jobs are thought out by the installed claude, with a
// scripted model behind it.
type commandPlace struct {
	*place
	program, memory string
}

// newCommandPlace makes one with a memory of three notes, a pinned one, a daily log and a
// session that knows something new.
func newCommandPlace(t *testing.T, s *modeltest.Server, config string) *commandPlace {
	t.Helper()
	p := &commandPlace{place: newPlace(t), program: claudeProgram(t)}
	p.env = p.with("ANTHROPIC_BASE_URL="+s.URL, "ANTHROPIC_API_KEY=sk-scripted", "CLAUDECODE=1")
	p.write(t, "config/mem/config.yaml", fmt.Sprintf("engine: command\nengines:\n  command:\n    name: claude\n    path: %q\n    model: claude-haiku-4-5\n%s", p.program, config))
	p.memory = p.remember(t)
	rel, err := filepath.Rel(p.root, p.memory)
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, filepath.Join(rel, "tea.md"), strings.Replace(topicOf("tea", "user", "The person drinks tea."), "type: user\n", "type: user\npinned: true\n", 1))
	p.write(t, filepath.Join(rel, "CLAUDE.md"), "Rules of people.\n")
	p.write(t, filepath.Join(rel, "logs", "2026", "11", "2026-11-29.md"), "## 10:00 release\n\nReleases need two reviews.\n")
	index := filepath.Join(p.memory, "MEMORY.md")
	b, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, filepath.Join(rel, "MEMORY.md"), string(b)+"- [tea](tea.md) — what the person drinks\n")
	session := filepath.Join(filepath.Dir(p.memory), newsSession+".jsonl")
	if err := os.Rename(p.session(t, newsSession, "the partner takes 45 requests a minute now"), session); err != nil {
		t.Fatal(err)
	}
	return p
}

const newsSession = "aaaaaaaa-0000-4000-8000-000000000001"

// staged gives the path of a file in the copy that the agent works on: the newest, since
// one of a dream that was killed lies there for a day.
func (p *commandPlace) staged(name string) string {
	return filepath.Join(filepath.Dir(p.newest("*/memory/MEMORY.md")), name)
}

// newest gives the file of the newest stage.
func (p *commandPlace) newest(pattern string) string {
	found, _ := filepath.Glob(filepath.Join(p.state(), "mem", "*", "stages", filepath.FromSlash(pattern)))
	last, at := filepath.Join(p.root, "there-is-no-stage", "x"), time.Time{}
	for _, f := range found {
		if info, err := os.Stat(filepath.Dir(f)); err == nil && info.ModTime().After(at) {
			last, at = f, info.ModTime()
		}
	}
	return last
}

// ended holds that nothing of a run is left: no process of ours or of the agent's, no
// conversation that the agent kept, and no stage, but where the program was killed.
func (p *commandPlace) ended(t *testing.T, killed bool) {
	t.Helper()
	idle(t, 5*time.Second)
	p.agentsEnd(t, 2*time.Second)
	if kept, _ := filepath.Glob(filepath.Join(p.root, "claude", "projects", "*stages*")); len(kept) > 0 {
		t.Errorf("the agent keeps conversations: %v", kept)
	}
	if killed {
		return
	}
	if left, _ := filepath.Glob(filepath.Join(p.state(), "mem", "*", "stages", "*")); len(left) > 0 {
		t.Errorf("stages are left: %v", left)
	}
}

// agentsEnd waits until no claude of this place lives; those of other tests do not count.
func (p *commandPlace) agentsEnd(t *testing.T, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		left := p.agents()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("agents are left after %s: %v", within, left)
		}
	}
}

// agents gives the processes that run the agent with this place's home, where the system tells.
func (p *commandPlace) agents() (found []int) {
	for _, pid := range running(p.program) {
		env, err := os.ReadFile(filepath.Join("/proc", pid, "environ"))
		if n, numErr := strconv.Atoi(pid); err == nil && numErr == nil && strings.Contains(string(env), "HOME="+p.root+"\x00") {
			found = append(found, n)
		}
	}
	return found
}

// dreamer is the scripted model of a dream in four phases; what it asks besides gets words.
func (p *commandPlace) dreamer(r modeltest.Request, also func(turn int) *modeltest.Step) modeltest.Step {
	if len(r.Tools) == 0 {
		return modeltest.Say("ok")
	}
	file := func(name string) modeltest.In { return modeltest.In{"file_path": p.staged(name)} }
	if also != nil {
		if step := also(r.Turn()); step != nil {
			return *step
		}
	}
	switch r.Turn() {
	case 1: // orient
		return modeltest.Call("Read", file("MEMORY.md")).And("Grep", modeltest.In{"pattern": "^description:", "output_mode": "content"})
	case 2: // gather
		return modeltest.Call("Read", file("logs/2026/11/2026-11-29.md")).And("Read", file("deploys.md")).And("Read", file("release.md")).And("Read", file("limit.md"))
	case 3: // consolidate
		return modeltest.Call("Write", modeltest.In{"file_path": p.staged("deploys.md"), "content": topicOf("deploys", "project", "Deploys go out with `make deploy`.\n\nNobody deploys on Fridays.\n\nReleases are on Tuesday morning, after two reviews.")}).
			And("Write", modeltest.In{"file_path": p.staged("release.md"), "content": ""}).
			And("Edit", modeltest.In{"file_path": p.staged("limit.md"), "old_string": "30 requests", "new_string": "45 requests"})
	case 4: // prune and index
		return modeltest.Call("Edit", modeltest.In{"file_path": p.staged("MEMORY.md"), "old_string": "- [release](release.md) — what to know of release\n", "new_string": ""})
	}
	return modeltest.Say(`{"did":"merged","files":["release.md"],"into":"deploys.md","why":"one matter","from":["logs/2026/11/2026-11-29.md"]}
{"did":"corrected","files":["limit.md"],"why":"it is 45 now","from":["session aaaaaaaa"]}
Look at the merge.`)
}

// TestClaudeDreams goes the whole way of a dream with the real program and the real
// claude: what it is told, its four phases on a copy, what it may not touch, what applies and
// what waits, the record, and that one undo takes it back.
func TestClaudeDreams(t *testing.T) {
	var known atomic.Pointer[commandPlace] // read where the model is served
	s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step { return known.Load().dreamer(r, nil) })
	p := newCommandPlace(t, s, "")
	known.Store(p)
	before := filesOf(t, p.memory)
	c, out, stderr := p.dream(t, "--json")
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	var ran struct {
		Change    string
		Proposals []string
		Report    struct{ Engine string }
	}
	if err := json.Unmarshal(out.Bytes(), &ran); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	after := filesOf(t, p.memory)
	if !strings.Contains(after["limit.md"], "45 requests") || after["release.md"] != before["release.md"] || after["deploys.md"] != before["deploys.md"] || ran.Change == "" || len(ran.Proposals) != 1 {
		t.Errorf("%s\n%v", out, after)
	}
	for _, name := range []string{"tea.md", "CLAUDE.md", "2026-11-29.md"} {
		if before[name] == "" || after[name] != before[name] {
			t.Errorf("%s was touched: %q", name, after[name])
		}
	}
	first := s.Requests()[slices.IndexFunc(s.Requests(), func(r modeltest.Request) bool { return len(r.Tools) > 0 })]
	for _, told := range []string{"the partner takes 45 requests a minute now", "/memory/logs/2026/11/2026-11-29.md", "Work in four phases"} {
		if !first.Contains(told) {
			t.Errorf("the agent was not told %q", told)
		}
	}
	j := p.dreams(t).Job
	if j == nil || j.State != "done" || j.Turns != 5 || len(j.Sessions) != 1 || j.Engine != "command" || !strings.Contains(j.Report, "one matter") {
		t.Errorf("%+v", j)
	}
	// What waits can be applied, and both can be taken back.
	p.run(t, "proposals", "apply", ran.Proposals[0])
	whole := filesOf(t, p.memory)
	if _, there := whole["release.md"]; there || !strings.Contains(whole["deploys.md"], "two reviews") || strings.Contains(whole["MEMORY.md"], "release.md") {
		t.Errorf("%v", whole)
	}
	p.run(t, "undo", ran.Change)
	if now := filesOf(t, p.memory); !strings.Contains(now["limit.md"], "30 requests") {
		t.Errorf("after the undo: %s", now["limit.md"])
	}
	p.ended(t, false)
}

func (p *place) run(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.Command(binary, args...)
	c.Dir, c.Env = p.project, p.env
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}

// TestClaudeDreamsBadly: an agent that writes where it may not, one that does not come to
// an end, one whose model fails in the middle: the report says so, nothing is lost, and no
// process is left.
func TestClaudeDreamsBadly(t *testing.T) {
	for name, c := range map[string]struct {
		also  func(p *commandPlace, turn int) *modeltest.Step
		fails bool   // no dream came of it
		says  string // in the record
		check func(t *testing.T, p *commandPlace, j *record)
	}{
		"writes outside": {
			also: func(p *commandPlace, turn int) *modeltest.Step {
				if turn > 3 {
					step := modeltest.Say("I could not.")
					return &step
				}
				if turn < 3 {
					return nil
				}
				write := func(path string) modeltest.In { return modeltest.In{"file_path": path, "content": "x"} }
				step := modeltest.Call("Write", write(filepath.Join(p.root, "outside.md"))).
					And("Write", write(filepath.Join(p.memory, "direct.md"))).
					And("Write", write(p.staged("../escape.md"))).
					And("Write", write(p.staged("CLAUDE.md"))).
					And("Write", write(p.staged("logs/2026/11/2026-11-29.md"))).
					And("Write", write(p.staged(".consolidate-lock"))).
					And("Write", write(p.staged("tea.md"))).
					And("Bash", modeltest.In{"command": "touch " + filepath.Join(p.root, "outside.md")})
				return &step
			},
			check: func(t *testing.T, p *commandPlace, j *record) {
				said := fmt.Sprint(j.Refused)
				for _, what := range []string{"outside.md", "direct.md", "escape.md", "CLAUDE.md", "2026-11-29.md", ".consolidate-lock", "Bash"} {
					if !strings.Contains(said, what) {
						t.Errorf("the record does not say that %s was refused: %s", what, said)
					}
				}
				if found, _ := filepath.Glob(filepath.Join(p.root, "outside.md")); len(found) > 0 {
					t.Error("it wrote outside")
				}
			},
		},
		"does not end": {
			also: func(p *commandPlace, turn int) *modeltest.Step {
				step := modeltest.Call("Read", modeltest.In{"file_path": p.staged("limit.md"), "limit": turn})
				if turn == 2 {
					step = modeltest.Call("Edit", modeltest.In{"file_path": p.staged("limit.md"), "old_string": "30 requests", "new_string": "45 requests"})
				}
				return &step
			},
			says: "turn limit",
			check: func(t *testing.T, p *commandPlace, j *record) {
				if j.Turns != 40 {
					t.Errorf("%d turns", j.Turns)
				}
				if list := p.run(t, "proposals"); !strings.Contains(list, "dream") {
					t.Errorf("what it had changed does not wait: %s", list)
				}
			},
		},
		"its model fails": {
			also: func(p *commandPlace, turn int) *modeltest.Step {
				if turn < 4 {
					return nil
				}
				step := modeltest.Fail(401, "invalid x-api-key")
				return &step
			},
			fails: true, says: "401",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var known atomic.Pointer[commandPlace] // read where the model is served
			s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
				p := known.Load()
				return p.dreamer(r, func(turn int) *modeltest.Step { return c.also(p, turn) })
			})
			p := newCommandPlace(t, s, "jobs:\n  dream:\n    policy: apply\n")
			known.Store(p)
			before := filesOf(t, p.memory)
			d, out, stderr := p.dream(t)
			if err := d.Wait(); (err != nil) != c.fails {
				t.Errorf("%v: %s%s", err, out, stderr)
			}
			st := p.dreams(t)
			if st.Job == nil || st.Job.State != map[bool]string{true: "failed", false: "done"}[c.fails] || st.Gates.LastSuccess.IsZero() != c.fails {
				t.Fatalf("%+v: %s%s", st.Job, out, stderr)
			}
			if said := st.Job.Reason + st.Job.End + st.Job.Report; !strings.Contains(said, c.says) {
				t.Errorf("the record does not say %q: %s", c.says, said)
			}
			if after := filesOf(t, p.memory); !maps.Equal(before, after) {
				t.Errorf("memory was touched: %v", after)
			}
			if c.check != nil {
				c.check(t, p, st.Job)
			}
			p.ended(t, false)
		})
	}
}

// TestClaudeDreamIsKilled kills the agent, and the program, in the middle of a dream:
// nothing is lost, no process is left, and the next dream comes to its end.
func TestClaudeDreamIsKilled(t *testing.T) {
	for _, whom := range []string{"the agent", "the program", "Ctrl-C"} {
		t.Run(whom, func(t *testing.T) {
			var known atomic.Pointer[commandPlace] // read where the model is served
			var mu sync.Mutex
			stalls := true
			middle := make(chan struct{})
			s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
				p := known.Load()
				return p.dreamer(r, func(turn int) *modeltest.Step {
					mu.Lock()
					defer mu.Unlock()
					if turn != 4 || !stalls {
						return nil
					}
					stalls = false
					close(middle)
					step := modeltest.Say("I think about it for a long time").StallAt(10)
					return &step
				})
			})
			p := newCommandPlace(t, s, "jobs:\n  dream:\n    policy: apply\n")
			known.Store(p)
			before := filesOf(t, p.memory)
			d, out, stderr := p.dream(t)
			select {
			case <-middle:
			case <-time.After(time.Minute):
				t.Fatalf("it does not come to its fourth turn: %s%s", out, stderr)
			}
			agents := p.agents()
			if len(agents) == 0 {
				need.That(t, "processes that can be looked at", fmt.Errorf("no agent is seen in /proc"))
			}
			var err error
			switch whom {
			case "the agent":
				for _, pid := range agents {
					var agent *os.Process
					if agent, err = os.FindProcess(pid); err == nil {
						err = agent.Kill()
					}
				}
			case "the program":
				err = d.Process.Kill()
			default:
				err = d.Process.Signal(os.Interrupt)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Wait(); err == nil {
				t.Errorf("it says that it succeeded: %s%s", out, stderr)
			}
			p.agentsEnd(t, 2*time.Second)
			st := p.dreams(t)
			if want := map[string]string{"the agent": "failed", "the program": "lost", "Ctrl-C": "cancelled"}[whom]; st.Job == nil || st.Job.State != want || st.Job.Reason == "" {
				t.Errorf("want %s: %+v", want, st.Job)
			}
			if !st.Gates.LastSuccess.IsZero() {
				t.Error("it counts as a dream")
			}
			if after := filesOf(t, p.memory); !maps.Equal(before, after) {
				t.Errorf("memory was touched: %v", after)
			}
			d, out, stderr = p.dream(t)
			if err := d.Wait(); err != nil {
				t.Errorf("the next dream: %v: %s%s", err, out, stderr)
			}
			if after := filesOf(t, p.memory); after["release.md"] != "" || !strings.Contains(after["limit.md"], "45") {
				t.Errorf("the next dream came to another end: %v", after)
			}
			p.ended(t, whom == "the program")
		})
	}
}

// TestClaudeWritesSessionMemory: the summary of a session by the real claude, at the end
// of a turn and when it is asked for.
func TestClaudeWritesSessionMemory(t *testing.T) {
	var known atomic.Pointer[commandPlace] // read where the model is served
	s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
		p := known.Load()
		if len(r.Tools) == 0 {
			return modeltest.Say("ok")
		}
		summary := p.newest("*/summary.md")
		switch r.Turn() {
		case 1:
			return modeltest.Call("Read", modeltest.In{"file_path": summary})
		case 2:
			return modeltest.Call("Edit", modeltest.In{"file_path": summary, "old_string": "the very next step._\n", "new_string": "the very next step._\nThe limit is 45 now.\n"}).
				And("Write", modeltest.In{"file_path": filepath.Join(p.root, "outside.md"), "content": "x"}).
				And("Write", modeltest.In{"file_path": filepath.Join(filepath.Dir(summary), "more.md"), "content": "x"})
		}
		return modeltest.Say("Done.")
	})
	p := newCommandPlace(t, s, "jobs:\n  extract:\n    enabled: false\n  dream:\n    enabled: false\n")
	known.Store(p)
	path := filepath.Join(filepath.Dir(p.memory), newsSession+".jsonl")
	p.hook(t, "Stop", newsSession, path)
	idle(t, time.Minute)
	jobs := p.jobs(t)
	if len(jobs) != 1 || jobs[0].Kind != "session-memory" || jobs[0].State != "done" || jobs[0].Turns != 3 || jobs[0].Engine != "command" {
		t.Fatalf("%+v", jobs)
	}
	if said := fmt.Sprint(jobs[0].Refused); !strings.Contains(said, "outside.md") || !strings.Contains(said, "more.md") {
		t.Errorf("refused: %s", said)
	}
	if out := p.run(t, "summary", newsSession); !strings.Contains(out, "The limit is 45 now.") {
		t.Errorf("the summary: %s", out)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(p.memory), newsSession, "session-memory", "*")); len(left) != 1 || filepath.Base(left[0]) != "summary.md" {
		t.Errorf("beside the summary: %v", left)
	}
	if found, _ := filepath.Glob(filepath.Join(p.root, "outside.md")); len(found) > 0 {
		t.Error("it wrote outside")
	}
	p.ended(t, false)
}
