package mcpserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/memory"
	"mem/internal/need"
)

// mate is a member of a team: a clone, and a server over it.
type mate struct {
	*client
	name, dir string
}

func (m mate) git(args ...string) {
	m.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = m.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(m.dir), "GIT_CONFIG_GLOBAL=" + filepath.Join(filepath.Dir(m.dir), "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=" + m.name, "GIT_COMMITTER_NAME=" + m.name, "GIT_AUTHOR_EMAIL=m@example.com", "GIT_COMMITTER_EMAIL=m@example.com", "SystemRoot=" + os.Getenv("SystemRoot")}
	if out, err := c.CombinedOutput(); err != nil {
		m.t.Fatalf("%s: git %s: %v\n%s", m.name, strings.Join(args, " "), err, out)
	}
}

const reviewer = "agent/reviewer/project"

// take pulls and decides: what conflicts keeps both texts, deletions are made.
func (m mate) take() {
	m.t.Helper()
	left := m.must("snapshot_pull", args{"agent": "reviewer", "apply": true})["left"].(map[string]any)
	if left["action"] == "none" {
		return
	}
	var take []any
	for _, x := range left["files"].([]any) {
		f := x.(map[string]any)
		choice := "both"
		if f["mine"] == nil || f["mine"] == "removed" {
			choice = "theirs"
		}
		if f["team"] != nil {
			take = append(take, args{"path": f["path"], "choice": choice})
		}
	}
	r := m.must("snapshot_pull", args{"agent": "reviewer", "apply": true, "take": take})
	if left := r["left"].(map[string]any); left["action"] != "none" {
		m.t.Fatalf("%s decided %v and is asked again: %v", m.name, take, left)
	}
}

func (m mate) share() {
	m.t.Helper()
	m.git("pull", "-q", "--no-rebase")
	m.take()
	m.must("snapshot_publish", args{"agent": "reviewer", "confirm": true})
	m.git("add", ".claude/agent-memory-snapshots")
	m.git("commit", "-q", "--allow-empty", "-m", "share")
	m.git("push", "-q", "origin", "HEAD:main")
}

// TestTeamThroughTools: two members share an agent's memory by the tools and git, through
// ten rounds with conflicts, renames and deletions. Nothing is lost, and both end equal.
func TestTeamThroughTools(t *testing.T) {
	need.Program(t, "git")
	origin := filepath.Join(t.TempDir(), "origin.git")
	var team []mate
	for _, name := range []string{"ann", "ben"} {
		e := env(t, nil)
		m := mate{name: name, dir: e.Cwd}
		m.client = &client{t: t}
		if name == "ann" {
			m.git("init", "-q", "--bare", "-b", "main", origin)
			m.git("init", "-q", "-b", "main", ".")
			m.git("remote", "add", "origin", origin)
			if err := os.WriteFile(filepath.Join(m.dir, ".gitignore"), []byte(".claude/agent-memory/\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			m.git("add", "-A")
			m.git("commit", "-q", "-m", "start")
			m.git("push", "-q", "-u", "origin", "main")
		} else {
			m.git("clone", "-q", origin, ".")
		}
		m.client = start(t, memory.Options{Env: e})
		team = append(team, m)
	}
	ann, ben := team[0], team[1]
	write := func(m mate, name, body string) {
		t.Helper()
		m.must("memory_write", args{"store": reviewer, "name": name, "description": "about " + name, "type": "project", "body": body})
	}
	write(ann, "build", "## Steps\n\nRun make.")
	dry := ann.must("snapshot_publish", args{"agent": "reviewer"})
	if dry["dryRun"] != true || exists(filepath.Join(ann.dir, ".claude", "agent-memory-snapshots")) {
		t.Errorf("a dry run writes: %v", dry)
	}
	ann.share()
	ben.git("pull", "-q")
	if r := ben.must("snapshot_pull", args{"agent": "reviewer"}); r["initialized"] != true {
		t.Errorf("initialize: %v", r)
	}
	for round := range 10 {
		for _, m := range team {
			fact := fmt.Sprintf("Fact of %s, %d.", m.name, round)
			write(m, fmt.Sprintf("%s-%d", m.name, round), "Alone.\n\n"+fact)
			read := m.must("memory_read", args{"store": reviewer, "topic": "build"})
			m.must("memory_edit", args{"store": reviewer, "topic": "build", "old": "## Steps\n\n", "new": "## Steps\n\n" + fact + "\n", "expected_hash": read["hash"]})
			if round == 3 {
				m.must("memory_move", args{"store": reviewer, "topic": m.name + "-1", "to": "moved/" + m.name + "-1.md"})
			}
			if round == 5 {
				m.must("memory_delete", args{"store": reviewer, "topic": m.name + "-2"})
			}
		}
		turn := []mate{ann, ben}
		if round%2 == 1 {
			turn = []mate{ben, ann}
		}
		for _, m := range turn {
			m.share()
		}
	}
	ann.share()
	ben.share()
	ann.share()
	texts := map[string]string{}
	for _, m := range team {
		st := m.must("snapshot_status", args{"agent": "reviewer"})["agents"].([]any)[0].(map[string]any)
		if st["state"] != "in-sync" {
			t.Errorf("%s: %v", m.name, st)
		}
		all := ""
		for _, x := range m.must("memory_list", args{"store": reviewer})["topics"].([]any) {
			p := x.(map[string]any)["path"].(string)
			b, err := os.ReadFile(filepath.Join(m.dir, ".claude", "agent-memory", "reviewer", filepath.FromSlash(p)))
			if err != nil {
				t.Fatal(err)
			}
			texts[m.name+"/"+p] = string(b)
			all += string(b)
		}
		for round := range 10 {
			for _, who := range []string{"ann", "ben"} {
				if fact := fmt.Sprintf("Fact of %s, %d.", who, round); !strings.Contains(all, fact) {
					t.Errorf("%s lost %q", m.name, fact)
				}
			}
		}
		for _, p := range []string{"ann-2.md", "ben-2.md", "ann-1.md", "ben-1.md"} {
			if _, ok := texts[m.name+"/"+p]; ok {
				t.Errorf("%s still has %s", m.name, p)
			}
		}
	}
	for p, s := range texts {
		if rest, ok := strings.CutPrefix(p, "ann/"); ok && texts["ben/"+rest] != s {
			t.Errorf("%s differs:\n%s\n%s", rest, s, texts["ben/"+rest])
		}
	}
	ann.fails("invalid", "snapshot_pull", args{"agent": "../x"})
}
