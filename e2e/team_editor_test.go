package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mem/internal/need"
)

// teamRoundsEnv says how many rounds two members work in Neovim.
const teamRoundsEnv = "MEM_TEAM_ROUNDS"

// editing is what nvim_team.lua saw.
type editing struct {
	Error                                       string
	Titles, Messages, Questions, Lenses, Errors []string
	Alive                                       bool
}

// mate is somebody of a team with a clone, a home and Neovim.
type mate struct {
	t    *testing.T
	name string
	*place
	origin, clone string

	nvim *exec.Cmd // nil where it does not run
	in   io.Writer
	out  *bufio.Reader
	said bytes.Buffer // its errors
}

type step map[string]any

func (m *mate) store() string { return filepath.Join(m.clone, ".claude", "agent-memory", "reviewer") }
func (m *mate) snapshot() string {
	return filepath.Join(m.clone, ".claude", "agent-memory-snapshots", "reviewer")
}

// open starts the Neovim in which somebody works from then on.
func (m *mate) open() {
	m.t.Helper()
	script, err := filepath.Abs("editors/nvim_team.lua")
	if err != nil {
		m.t.Fatal(err)
	}
	c := exec.Command("nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile "+script)
	c.Dir = m.clone
	c.Env = m.with("MEM_LSP="+languageServer, "MEM_DIR="+m.store(), "MEM_ROOT="+m.clone, "TERM=dumb", "XDG_DATA_HOME="+filepath.Join(m.root, "data"))
	in, err := c.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	m.said.Reset()
	c.Stderr = &m.said
	if err := c.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.nvim, m.in, m.out = c, in, bufio.NewReader(out)
	m.t.Cleanup(func() {
		if m.nvim == c {
			_ = c.Process.Kill() // the test failed before it was closed
			_ = c.Wait()
		}
		if m.t.Failed() {
			log, _ := os.ReadFile(filepath.Join(m.root, "cache", "nvim", "lsp.log"))
			m.t.Logf("%s: the log of Neovim ends with\n%s", m.name, log[max(0, len(log)-4_000):])
		}
	})
}

// quit ends Neovim, and the server with it.
func (m *mate) quit() {
	m.t.Helper()
	m.edit(step{"quit": true})
	c := m.nvim
	m.nvim = nil
	if err := c.Wait(); err != nil {
		m.t.Fatalf("%s: Neovim ends with %v\n%s", m.name, err, m.said.String())
	}
}

// edit does steps in Neovim.
func (m *mate) edit(steps ...step) editing {
	m.t.Helper()
	if m.nvim == nil {
		m.open()
	}
	what, err := json.Marshal(steps)
	if err != nil {
		m.t.Fatal(err)
	}
	late := time.AfterFunc(2*patience, func() { _ = m.nvim.Process.Kill() })
	defer late.Stop()
	if _, err := m.in.Write(append(what, '\n')); err != nil {
		m.t.Fatalf("%s: Neovim takes no steps: %v\n%s", m.name, err, m.said.String())
	}
	b, err := m.out.ReadBytes('\n')
	if err != nil {
		m.t.Fatalf("%s: Neovim left no result of %s: %v\n%s", m.name, what, err, m.said.String())
	}
	var e editing
	if err := json.Unmarshal(b, &e); err != nil {
		m.t.Fatalf("%v in %s", err, b)
	}
	if e.Error != "" || !e.Alive {
		m.t.Fatalf("%s: %s\nsteps: %s\nit had seen: %s\n%s", m.name, e.Error, what, b, m.said.String())
	}
	return e
}

func (m *mate) run(name string, args ...string) string {
	m.t.Helper()
	c := exec.Command(name, args...)
	c.Dir = m.clone
	c.Env = m.with("GIT_CONFIG_GLOBAL="+filepath.Join(m.root, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME="+m.name, "GIT_COMMITTER_NAME="+m.name,
		"GIT_AUTHOR_EMAIL="+m.name+"@example.com", "GIT_COMMITTER_EMAIL="+m.name+"@example.com")
	out, err := c.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s: %s %s: %v\n%s", m.name, name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (m *mate) push() {
	m.t.Helper()
	m.run("git", "add", ".claude/agent-memory-snapshots")
	m.run("git", "commit", "-qm", "News of "+m.name)
	m.run("git", "push", "-q", "origin", "HEAD:main")
}

func (m *mate) pull() { m.t.Helper(); m.run("git", "pull", "-q", "--ff-only", "origin", "main") }

// noted waits until it is noted that a file is the team's as well: the editor's server does
// so soon after it was saved.
func (m *mate) noted(name string) {
	m.t.Helper()
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		found := false
		_ = filepath.WalkDir(m.state(), func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "sync.json" {
				b, err := os.ReadFile(p)
				found = found || err == nil && strings.Contains(string(b), strconv.Quote(name))
			}
			return nil
		})
		if found {
			return
		}
		if time.Now().After(end) {
			m.t.Fatalf("%s: it was not noted that %s is the team's", m.name, name)
		}
	}
}

func (m *mate) read(name string) string {
	b, err := os.ReadFile(filepath.Join(m.store(), name))
	if err != nil {
		return ""
	}
	return withoutEnd(string(b))
}

// withoutEnd takes the newlines at the end off: this Neovim leaves one more in a file that
// it creates for a server.
func withoutEnd(s string) string { return strings.TrimRight(s, "\n") }

func sharedTopic(name, body string) string {
	return fmt.Sprintf("---\nname: %[1]s\ndescription: About %[1]s\ntype: reference\n---\n\n%[2]s", name, body)
}

// publishing publishes all that is new, from the lens of the index.
var publishing = []step{{"open": "MEMORY.md"}, {"lens": "publish", "answer": "Publish"}}

// taking takes all news from the lens of the index.
var taking = []step{{"open": "MEMORY.md"}, {"await": "snapshot-newer"}, {"lens": "takeAll"}, {"save": true}}

func steps(all ...any) []step {
	var out []step
	for _, s := range all {
		switch s := s.(type) {
		case step:
			out = append(out, s)
		case []step:
			out = append(out, s...)
		}
	}
	return out
}

// team gives a member whose clone has no commit yet, and one who starts with a clone of
// what the first has pushed by then.
func team(t *testing.T, first, second string) (a, b *mate) {
	t.Helper()
	origin := filepath.Join(t.TempDir(), "origin.git")
	a = &mate{t: t, name: first, place: newPlace(t), origin: origin}
	b = &mate{t: t, name: second, place: newPlace(t), origin: origin}
	a.clone, b.clone = a.root, b.root
	a.run("git", "init", "-q", "--bare", "-b", "main", origin)
	a.clone = filepath.Join(a.root, "clone")
	if err := os.MkdirAll(a.clone, 0o755); err != nil {
		t.Fatal(err)
	}
	a.run("git", "init", "-q", "-b", "main")
	a.run("git", "remote", "add", "origin", origin)
	return a, b
}

// start clones what others pushed.
func (m *mate) start() {
	m.t.Helper()
	m.run("git", "clone", "-q", m.origin, "clone")
	m.clone = filepath.Join(m.root, "clone")
}

// TestTeamInNeovim has two members work on one memory in Neovim and share it through git:
// conflicting edits, new topics, deletions and renames. What was decided is what both have
// in the end, and nobody is asked twice.
func TestTeamInNeovim(t *testing.T) {
	_, err := exec.LookPath("nvim")
	need.That(t, "nvim, which scripts/editors.sh installs", err)
	_, err = exec.LookPath("git")
	need.That(t, "git", err)
	rounds := 10
	if s := os.Getenv(teamRoundsEnv); s != "" {
		if rounds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	ann, bob := team(t, "ann", "bob")
	ann.write(t, "clone/.claude/agent-memory/reviewer/MEMORY.md", "# Memory\n\n- [style](style.md) — how we write\n")
	ann.write(t, "clone/.claude/agent-memory/reviewer/style.md", sharedTopic("style", "## Rules\n\nRule 0.\n\n## Why\n\nSince.\n"))
	ann.run(binary, "snapshot", "publish", "reviewer", "--yes")
	ann.push()
	bob.start()

	// Nothing is here yet: the lens in the snapshot copies it.
	e := bob.edit(step{"dir": bob.snapshot()}, step{"open": "MEMORY.md"}, step{"lens": "takeAll", "answer": "none"})
	if bob.read("style.md") != ann.read("style.md") || len(e.Errors) > 0 {
		t.Fatalf("the first copy: %+v", e)
	}

	rule := "Rule 0."
	choices := []string{"Take theirs", "Keep mine", "Take both"}
	for i := 1; i <= rounds; i++ {
		choice := choices[(i-1)%len(choices)]
		anns, bobs := fmt.Sprintf("Rule %d of ann.", i), fmt.Sprintf("Rule %d of bob.", i)
		topic := fmt.Sprintf("topic-%d", i)
		e := ann.edit(steps(step{"open": "style.md"}, step{"replace": rule, "with": anns},
			step{"open": topic + ".md"}, step{"append": strings.TrimSuffix(sharedTopic(topic, "What holds for "+topic+", found in round "+strconv.Itoa(i)+".\n\nAnd a second line of "+topic+".\n"), "\n")},
			step{"open": "MEMORY.md"}, step{"append": fmt.Sprintf("- [%[1]s](%[1]s.md) — about %[1]s", topic)}, step{"save": true}, publishing)...)
		if len(e.Questions) != 1 || !strings.Contains(e.Questions[0], topic+".md added") || !strings.Contains(e.Messages[len(e.Messages)-1], "Published to") {
			t.Fatalf("round %d: what ann published: %+v", i, e)
		}
		ann.push()

		// Bob changed the same rule meanwhile, and sees the conflict.
		bob.edit(steps(step{"open": "style.md"}, step{"replace": rule, "with": bobs}, step{"save": true})...)
		bob.pull()
		e = bob.edit(steps(step{"open": "MEMORY.md"}, step{"lens": "publish", "answer": "Publish"})...)
		if len(e.Errors) != 1 || !strings.Contains(e.Errors[0], "Pull first") {
			t.Errorf("round %d: a publish over a conflict: %+v", i, e)
		}
		e = bob.edit(steps(step{"open": "style.md"}, step{"take": "^" + choice, "at": "snapshot-conflict"}, step{"without": "snapshot-conflict"}, step{"save": true}, taking)...)
		for _, c := range choices {
			if !strings.Contains(strings.Join(e.Titles, "\n"), c) {
				t.Errorf("round %d: %q is not offered: %q", i, c, e.Titles)
			}
		}
		got := bob.read("style.md")
		want := map[string]bool{anns: choice != "Keep mine", bobs: choice != "Take theirs"}
		for text, there := range want {
			if strings.Contains(got, text) != there {
				t.Fatalf("round %d, %s: %q there: %v in\n%s", i, choice, text, !there, got)
			}
		}
		if bob.read(topic+".md") != ann.read(topic+".md") || !strings.Contains(bob.read("MEMORY.md"), topic+".md") {
			t.Fatalf("round %d: %s did not come:\n%s\n%s", i, topic, bob.read(topic+".md"), bob.read("MEMORY.md"))
		}
		// What was decided is not asked again, though it changes once more.
		bob.edit(steps(step{"open": "style.md"}, step{"without": "snapshot-conflict"}, step{"replace": "Since.", "with": "Since. Bob, in round " + strconv.Itoa(i) + "."}, step{"save": true},
			step{"without": "snapshot-conflict"})...)
		if i == 2 || i == 3 {
			bob.noted(topic + ".md")
		}
		if i == 2 { // a deletion
			bob.edit(steps(step{"open": "MEMORY.md"}, step{"replace": "- [topic-1](topic-1.md) — about topic-1\n", "with": ""}, step{"save": true})...)
			bob.edit(step{"close": "topic-1.md"})
			if err := os.Remove(filepath.Join(bob.store(), "topic-1.md")); err != nil {
				t.Fatal(err)
			}
		}
		if i == 3 { // a rename
			bob.edit(step{"close": "topic-3.md"})
			if err := os.Rename(filepath.Join(bob.store(), "topic-3.md"), filepath.Join(bob.store(), "third.md")); err != nil {
				t.Fatal(err)
			}
			bob.edit(steps(step{"open": "MEMORY.md"}, step{"replace": "(topic-3.md)", "with": "(third.md)"}, step{"save": true})...)
		}
		e = bob.edit(publishing...)
		if len(e.Errors) > 0 || !strings.Contains(e.Messages[len(e.Messages)-1], "Published to") {
			t.Fatalf("round %d: what bob published: %+v", i, e)
		}
		bob.push()

		if i == 1 { // what git brings is seen without a key pressed
			ann.edit(step{"open": "style.md"}, step{"without": "snapshot-newer"})
		}
		ann.pull()
		if i == 1 {
			ann.edit(step{"await": "snapshot-newer"})
		}
		if i == 2 {
			ann.edit(steps(step{"open": "topic-1.md"}, step{"take": "^Remove topic%-1", "at": "snapshot-newer"}, step{"gone": "topic-1.md"}, step{"save": true})...)
		}
		if i == 3 {
			ann.edit(steps(step{"open": "topic-3.md"}, step{"take": "^Rename it to third", "at": "snapshot-newer"}, step{"gone": "topic-3.md"}, step{"save": true})...)
		}
		ann.edit(steps(step{"open": "style.md"}, step{"await": "snapshot-newer"}, step{"without": "snapshot-conflict"}, step{"open": "MEMORY.md"}, step{"lens": "takeAll"}, step{"save": true})...)
		mine, theirs := topics(t, ann.store()), topics(t, bob.store())
		for _, all := range []map[string]string{mine, theirs} {
			for name := range all {
				all[name] = withoutEnd(all[name])
			}
		}
		if fmt.Sprint(mine) != fmt.Sprint(theirs) {
			t.Fatalf("round %d: ann has\n%v\nand bob\n%v", i, mine, theirs)
		}
		rule = anns
		if choice == "Keep mine" {
			rule = bobs
		}
		if choice == "Take both" {
			rule = bobs + "\n\n" + anns
		}
		for _, m := range []*mate{ann, bob} {
			if s := m.run(binary, "snapshot", "status", "reviewer"); !strings.Contains(s, "in sync") {
				index, _ := os.ReadFile(filepath.Join(m.snapshot(), "MEMORY.md"))
				t.Fatalf("round %d: %s is not in sync: %s\nthe index here:\n%s\nin the snapshot:\n%s", i, m.name, s, m.read("MEMORY.md"), index)
			}
		}
		if i%4 == 0 { // somebody closes the editor for the night
			ann.quit()
		}
	}
	for _, m := range []*mate{ann, bob} {
		if m.nvim != nil {
			m.quit()
		}
	}
}
