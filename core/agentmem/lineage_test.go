package agentmem

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// onMain gives two members whose main has a topic x with two lines and a topic y.
func onMain(t *testing.T) (ann, ben *member) {
	t.Helper()
	ann, ben = team(t)
	ann.put("x.md", two("First.", "Second."))
	ann.put("MEMORY.md", entryOf("x"))
	ann.topic("y", "## One\n\nWhy.\n")
	ann.send()
	ben.fetched()
	ben.pull(PullOptions{})
	return ann, ben
}

func two(one, other string) string {
	return topicText("x", "## One\n\n"+one+"\n\n## Two\n\n"+other+"\n")
}

// send publishes, commits and pushes.
func (m *member) send() {
	m.t.Helper()
	m.publish()
	m.git("add", "-A")
	m.git("commit", "-q", "-m", m.name)
	m.git("push", "-q", "origin", "HEAD:main")
}

func (m *member) fetched() {
	m.t.Helper()
	m.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
}

func (m *member) wants(p string, lines ...string) {
	m.t.Helper()
	for _, l := range lines {
		if !strings.Contains(m.get(p), l) {
			m.t.Errorf("%s: %q is gone from %s:\n%s", m.name, l, p, m.get(p))
		}
	}
}

func (m *member) wantsShared(p string, lines ...string) {
	m.t.Helper()
	b, err := os.ReadFile(filepath.Join(m.snapshot(), p))
	for _, l := range lines {
		if !strings.Contains(string(b), l) {
			m.t.Errorf("%s: %q is not in the snapshot's %s (%v):\n%s", m.name, l, p, err, b)
		}
	}
}

// TestPutBack: git put back what stood there before a publish that nobody committed. What
// was published is still this memory's own: no pull takes it away, and the next publish, of
// something else, brings it again.
func TestPutBack(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"checkout -f": {"checkout", "-q", "-f", "HEAD", "--", "."},
		"reset":       {"reset", "-q", "--hard"},
		"stash":       {"stash", "-q"},
		"older":       {"checkout", "-q", "-f", "HEAD~1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ann, _ := onMain(t)
			ann.put("y.md", topicText("y", "## One\n\nWhy not.\n"))
			ann.send()
			ann.put("x.md", two("First.\nMine.", "Second."))
			ann.publish()
			ann.git(args...)
			st := ann.wantState(StateAhead)
			if !strings.Contains(strings.Join(st.Notes, " "), "put back") {
				t.Errorf("nobody is told: %q", st.Notes)
			}
			ann.pull(PullOptions{Apply: true, Accept: true})
			ann.wants("x.md", "First.", "Mine.", "Second.")
			ann.put("y.md", topicText("y", "## One\n\nWhy not.\nMore.\n"))
			ann.publish()
			ann.wantsShared("x.md", "First.", "Mine.", "Second.")
			ann.wantsShared("y.md", "Why not.", "More.")
			ann.pull(PullOptions{Apply: true})
			ann.wants("x.md", "First.", "Mine.", "Second.")
			ann.wantState(StateInSync)
		})
	}
}

// TestPutBackBelowNews: what git puts back is newer by its time, for a teammate published it.
func TestPutBackBelowNews(t *testing.T) {
	t.Parallel()
	ann, ben := onMain(t)
	ann.put("x.md", two("First.\nMine.", "Second."))
	ann.publish()
	ben.now = ben.now.Add(time.Hour)
	ben.put("x.md", two("First.", "Second.\nBen's."))
	ben.send()
	ann.git("fetch", "-q")
	ann.git("reset", "-q", "--hard", "origin/main")
	ann.pull(PullOptions{Apply: true})
	ann.wants("x.md", "First.", "Mine.", "Second.", "Ben's.")
	ann.wantState(StateAhead)
	ann.send()
	ben.fetched()
	ben.pull(PullOptions{Apply: true})
	ben.wants("x.md", "First.", "Mine.", "Second.", "Ben's.")
	ben.wantState(StateInSync)
}

// TestPutBackBelowLongHistory: the history is long, so what was found is kept: the next look
// at the same commit finds the same.
func TestPutBackBelowLongHistory(t *testing.T) {
	t.Parallel()
	ann, ben := onMain(t)
	ann.put("x.md", two("First.\nMine.", "Second."))
	ann.publish()
	for i := range maxVersions + 5 {
		write(t, ben.snapshot(), "y.md", topicText("y", fmt.Sprintf("## One\n\nWhy %d.\n", i)))
		ben.git("commit", "-q", "-a", "-m", "by hand")
	}
	ben.now = ben.now.Add(time.Hour)
	ben.put("x.md", two("First.", "Second.\nBen's."))
	ben.send()
	ann.git("fetch", "-q")
	ann.git("reset", "-q", "--hard", "origin/main")
	first := ann.status()
	if kept, err := filepath.Glob(filepath.Join(ann.env.CacheDir, "snapshots", "*.lineage")); err != nil || len(kept) != 1 {
		t.Errorf("%v %v", kept, err)
	}
	if diff := cmp.Diff(first, ann.status()); diff != "" {
		t.Error(diff)
	}
	ann.pull(PullOptions{Apply: true})
	ann.wants("x.md", "First.", "Mine.", "Second.", "Ben's.")
	ann.publish()
	ann.wantsShared("x.md", "First.", "Mine.", "Second.", "Ben's.")
	ann.wantState(StateInSync)
}

// TestTakenBack: a teammate makes a topic what it was before. That is news like others, for
// the commit that is checked out comes from what was synced.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	ann, ben := onMain(t)
	ann.put("x.md", two("First.\nWrong.", "Second."))
	ann.send()
	ben.fetched()
	ben.pull(PullOptions{Apply: true})
	ben.wants("x.md", "Wrong.")
	ben.put("x.md", two("First.", "Second."))
	ben.send()
	ann.fetched()
	ann.wantState(StateUpdate)
	ann.pull(PullOptions{Apply: true})
	if strings.Contains(ann.get("x.md"), "Wrong.") {
		t.Errorf("what the team took back stays:\n%s", ann.get("x.md"))
	}
	ann.wantState(StateInSync)
}

// TestRebased: after a rebase no commit has the text that was published, but what the team
// removed meanwhile is news all the same, and what was published is not.
func TestRebased(t *testing.T) {
	t.Parallel()
	ann, ben := onMain(t)
	ben.put("x.md", two("First.", "Other."))
	ben.send()
	ann.put("x.md", two("First.\nMine.", "Second."))
	ann.publish()
	ann.git("add", "-A")
	ann.git("commit", "-q", "-m", "ann")
	ann.git("pull", "-q", "--rebase", "origin", "main")
	ann.pull(PullOptions{Apply: true})
	ann.wants("x.md", "First.", "Mine.", "Other.")
	if strings.Contains(ann.get("x.md"), "Second.") {
		t.Errorf("what the team replaced stays:\n%s", ann.get("x.md"))
	}
	ann.publish()
	ann.wantState(StateInSync)
}

// TestThereAndBack: who goes to another branch and back is asked nothing, and takes along
// what each branch taught.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	ann, _ := onMain(t)
	ann.git("checkout", "-q", "-b", "topic")
	ann.put("x.md", two("First.\nOn the branch.", "Second."))
	ann.publish()
	ann.git("add", "-A")
	ann.git("commit", "-q", "-m", "branch")
	ann.git("checkout", "-q", "main")
	if st := ann.wantState(StateAhead); st.Conflicting > 0 || st.Team.Sum() > 0 {
		t.Errorf("%+v", st)
	}
	ann.put("x.md", two("First.\nOn the branch.", "Second.\nOn main."))
	ann.publish()
	ann.git("add", "-A")
	ann.git("commit", "-q", "-m", "main")
	ann.git("checkout", "-q", "topic")
	ann.pull(PullOptions{Apply: true})
	ann.wants("x.md", "First.", "On the branch.", "Second.", "On main.")
	ann.publish()
	ann.git("add", "-A")
	ann.git("commit", "-q", "-m", "both")
	ann.git("checkout", "-q", "main")
	ann.git("merge", "-q", "--no-edit", "topic")
	ann.wants("x.md", "First.", "On the branch.", "Second.", "On main.")
	ann.wantState(StateInSync)
}

// TestWhollyGone: a snapshot that nobody committed was cleaned away. It is published anew.
func TestWhollyGone(t *testing.T) {
	t.Parallel()
	ann, _ := team(t)
	ann.topic("x", "## One\n\nFirst.\n")
	ann.publish()
	ann.git("clean", "-q", "-fd")
	ann.wantState(StateNone)
	ann.pull(PullOptions{Apply: true})
	ann.publish()
	ann.wantsShared("x.md", "First.")
	ann.wantState(StateInSync)
}

// TestStateFromBefore: a state that does not say where its texts come from, as earlier
// versions wrote it, is used as it was, and says it from the next sync on.
func TestStateFromBefore(t *testing.T) {
	t.Parallel()
	ann, ben := onMain(t)
	s := ben.open()
	st, err := s.state.load()
	if err != nil {
		t.Fatal(err)
	}
	for p, f := range st.Files {
		st.Files[p] = fileState{Base: f.Base, Seen: f.Seen}
	}
	st.Git = false
	if err := s.state.save(st); err != nil {
		t.Fatal(err)
	}
	ann.put("x.md", two("First.", "Other."))
	ann.send()
	ben.fetched()
	ben.wantState(StateUpdate)
	ben.pull(PullOptions{Apply: true})
	ben.wants("x.md", "Other.")
	ben.wantState(StateInSync)
	if st, err = s.state.load(); err != nil || st.Files["x.md"].Shared == "" || st.Files["y.md"].Shared == "" {
		t.Errorf("%+v %v", st.Files, err)
	}
}

// TestChangedWhileLooking: a file whose hash was known, and that git replaces between the
// look and the reading, is not taken for what it was.
func TestChangedWhileLooking(t *testing.T) {
	t.Parallel()
	ann, _ := onMain(t)
	for _, dir := range []string{ann.store(), ann.snapshot()} {
		name := filepath.Join(dir, "x.md")
		long := time.Now().Add(-time.Hour)
		if err := os.Chtimes(name, long, long); err != nil {
			t.Fatal(err)
		}
		ann.status() // its hash is known from now on
		a, err := ann.open().look(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer a.close()
		side := a.mine
		if dir == ann.snapshot() {
			side = a.theirs
		}
		write(t, dir, "x.md", two("First.", "Second!"))
		if err := os.Chtimes(name, long, long); err != nil {
			t.Fatal(err)
		}
		if s, err := side.text("x.md"); err == nil || !strings.Contains(err.Error(), "try again") {
			t.Fatalf("%q %v", s, err)
		}
		// Trying again does it.
		b, err := ann.open().look(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer b.close()
		if side = b.mine; dir == ann.snapshot() {
			side = b.theirs
		}
		if s, err := side.text("x.md"); err != nil || !strings.Contains(s, "Second!") {
			t.Fatalf("%q %v", s, err)
		}
	}
}
