package agentmem

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/change"
	"mem/internal/need"
)

// formats are the ways in which git keeps a repository, as options of git init.
var formats = map[string][]string{
	"sha1":              nil,
	"sha256":            {"--object-format=sha256"},
	"reftable":          {"--ref-format=reftable"},
	"sha256 + reftable": {"--object-format=sha256", "--ref-format=reftable"},
}

// eachFormat runs a test for every way that the git of this machine knows. What an older git
// does not know, TestReftable has from a newer one.
func eachFormat(t *testing.T, do func(t *testing.T, options ...string)) {
	need.Program(t, "git")
	for name, options := range formats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			probe := newMember(t, "probe", t.TempDir())
			if out, err := probe.tryGit(append([]string{"init", "-q", "probe"}, options...)...); err != nil {
				if !strings.Contains(out, "unknown option") {
					t.Fatalf("git init %v: %v %s", options, err, out)
				}
				need.System(t, false, fmt.Sprintf("its git does not know %v", options))
			}
			do(t, options...)
		})
	}
}

// TestWithoutState: the common version is found in git where the state is gone, also in
// packs, in a worktree and with a detached head; without git all that differs is in doubt.
func TestWithoutState(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, options ...string) {
		ann, ben := team(t, options...)
		ann.topic("build", "## A\n\nOne.\n\n## B\n\nTwo.\n")
		ann.topic("tests", "With -race.\n")
		ann.publish()
		ann.git("add", "-A")
		ann.git("commit", "-qm", "share")
		ann.git("push", "-q")
		ben.git("pull", "-q")
		ben.pull(PullOptions{})
		ben.put("build.md", topicText("build", "## A\n\nOne, and here.\n\n## B\n\nTwo.\n"))
		ann.put("build.md", topicText("build", "## A\n\nOne.\n\n## B\n\nTwo, and there.\n"))
		ann.publish()
		ann.git("commit", "-qam", "more")
		ann.git("push", "-q")
		ben.git("pull", "-q")
		r, err := Setup(context.Background(), ben.open().m.Location.Project, SetupOptions{Program: driverOf(t)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Checks {
			if c.State != "ok" {
				t.Errorf("setup: %+v", c)
			}
		}
		forget := func() {
			t.Helper()
			if err := os.RemoveAll(ben.env.StateDir); err != nil {
				t.Fatal(err)
			}
		}
		for _, how := range [][]string{{"status"}, {"gc", "-q", "--aggressive"}, {"pack-refs", "--all"}, {"checkout", "-q", "--detach"}} {
			ben.git(how...)
			forget()
			if st := ben.wantState(StateDiverged); st.Base != "git" || st.Conflicting != 0 || st.Team.Sum() != 1 || st.Mine.Sum() != 1 {
				t.Errorf("after git %v: %+v", how, st)
			}
		}
		// Another worktree has a head of its own, and shares what is in common.
		other := *ben
		other.dir = filepath.Join(filepath.Dir(ben.dir), "other")
		ben.git("worktree", "add", "-q", "-b", "other", other.dir, "main")
		s := other.open()
		if s.Store != ben.store() || s.Snapshot != other.snapshot() {
			t.Errorf("the worktree has the memory %s and the snapshot %s", s.Store, s.Snapshot)
		}
		if st := other.wantState(StateDiverged); st.Base != "git" || st.Conflicting != 0 || st.Team.Sum() != 1 || st.Mine.Sum() != 1 {
			t.Errorf("in a worktree: %+v", st)
		}
		if err := os.Rename(filepath.Join(ben.dir, ".git"), filepath.Join(ben.dir, "git-was-here")); err != nil {
			t.Fatal(err)
		}
		if st := ben.status(); st.Base != "none" || st.Conflicting == 0 || len(st.Notes) == 0 {
			t.Errorf("without git: %+v", st)
		}
	})
}

// TestWho: who gave a part its text, and when, is known from git.
func TestWho(t *testing.T) {
	t.Parallel()
	eachFormat(t, testWho)
}

func testWho(t *testing.T, options ...string) {
	m := newMember(t, "ann", t.TempDir())
	m.git(append([]string{"init", "-q"}, options...)...)
	m.topic("style", "## Rules\n\nOne.\n\n## Why\n\nSince.\n")
	m.publish()
	m.git("add", ".")
	m.git("commit", "-qm", "Begin")
	m.put("style.md", topicText("style", "## Rules\n\nTwo.\n\n## Why\n\nSince.\n"))
	m.publish()
	m.git("add", ".")
	m.name = "bob"
	m.git("commit", "-qm", "Rules are two now")
	m.git("gc", "-q")
	s := m.open()
	for part, want := range map[string]string{`the section "Rules"`: "bob Rules are two now", `the section "Why"`: "ann Begin"} {
		who, ok, err := s.Who(context.Background(), "style.md", change.Part{Name: part})
		if err != nil || !ok || !who.Committed || who.Author+" "+who.Subject != want || time.Since(who.Time) > time.Hour {
			t.Errorf("%s: %+v %v %v", part, who, ok, err)
		}
	}
	write(t, m.snapshot(), "style.md", topicText("style", "## Rules\n\nThree.\n\n## Why\n\nSince.\n"))
	who, ok, err := s.Who(context.Background(), "style.md", change.Part{Name: `the section "Rules"`})
	if err != nil || !ok || who.Committed || who.Words() != "not committed yet" {
		t.Errorf("%+v %v %v", who, ok, err)
	}
	who, _, err = s.Who(context.Background(), "style.md", change.Part{Name: `the section "Why"`})
	if err != nil || who.Author != "ann" {
		t.Errorf("%+v %v", who, err)
	}
	if _, ok, err := s.Who(context.Background(), "none.md", change.Part{Name: "x"}); ok || err != nil {
		t.Errorf("a file that is not there: %v %v", ok, err)
	}
}

// TestUnknownFormat: a repository of a kind that git has learnt since is told, and nothing
// that depends on it is guessed.
func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"[extensions]\n\tobjectFormat = sha512\n": "sha512",
		"[extensions]\n\trefStorage = tree\n":     "tree",
	} {
		m := newMember(t, "ann", t.TempDir())
		write(t, m.dir, ".git/HEAD", "ref: refs/heads/main\n")
		write(t, m.dir, ".git/refs/heads/main", strings.Repeat("1", 40)+"\n")
		write(t, m.dir, ".git/config", config)
		if err := os.MkdirAll(filepath.Join(m.dir, ".git", "objects"), 0o755); err != nil {
			t.Fatal(err)
		}
		m.topic("a", "A.\n")
		m.publish()
		if err := os.RemoveAll(m.env.StateDir); err != nil {
			t.Fatal(err)
		}
		st := m.status()
		if st.State != StateInSync || st.Base != "none" || !strings.Contains(strings.Join(st.Notes, "\n"), want) {
			t.Errorf("%q: %+v", config, st)
		}
	}
}
