package agentmem

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// syncFile gives the state of a member's snapshot.
func (m *member) syncFile() string {
	m.t.Helper()
	s := m.open()
	return s.state.file()
}

// TestTamperedState: whatever stands in the state, nothing is lost here, nothing is written
// outside, and what is not known is asked rather than taken for somebody's deletion.
func TestTamperedState(t *testing.T) {
	t.Parallel()
	zero := strings.Repeat("0", 64)
	for _, c := range []struct{ name, sync, fails string }{
		{"odd paths", `{"v":1,"files":{"../../x.md":{"base":"` + zero + `","seen":"` + zero + `"},"/etc/passwd":{"base":"x"},"":{"base":"` + zero + `"}}}`, ""},
		{"unknown texts", `{"v":1,"files":{"x.md":{"base":"` + zero + `"},"MEMORY.md":{"base":"` + zero + `"}}}`, ""},
		{"hashes that are paths", `{"v":1,"files":{"x.md":{"base":"../../../../etc/passwd","seen":"../sync.json"}}}`, ""},
		{"a last pull of nobody", `{"v":1,"files":{},"last":{"change":"../x","files":{"x.md":{"base":"../y"},"z":null},"after":{"x.md":"1"}}}`, ""},
		{"null", `null`, ""},
		{"empty", ``, "remove the file"},
		{"no JSON", `{"v":1,`, "remove the file"},
		{"deep", strings.Repeat(`{"files":`, 20_000), "remove the file"},
		{"newer", `{"v":7}`, "update mem"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, b, sync := pair(t)
			a.topic("x", "## A\n\nOne.\n\n## B\n\nTwo.\n")
			a.publish()
			sync(a, b)
			b.pull(PullOptions{})
			b.put("x.md", topicText("x", "## A\n\nOne, here.\n\n## B\n\nTwo.\n"))
			a.put("x.md", topicText("x", "## A\n\nOne.\n\n## B\n\nTwo, there.\n"))
			a.publish()
			sync(a, b)
			if err := os.WriteFile(b.syncFile(), []byte(c.sync), 0o600); err != nil {
				t.Fatal(err)
			}
			outside := show(filesOf(t, filepath.Dir(b.dir)))
			_, err := b.open().Pull(context.Background(), PullOptions{Apply: true})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || show(filesOf(t, filepath.Dir(b.dir))) != outside {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := b.get("x.md"); !strings.Contains(s, "One, here.") || !strings.Contains(s, "Two") {
				t.Errorf("lost:\n%s", s)
			}
			b.pull(PullOptions{Apply: true, Wishes: []Wish{{Path: "x.md", Choice: TakeBoth}}})
			if s := b.get("x.md"); !strings.Contains(s, "One, here.") || !strings.Contains(s, "Two, there.") {
				t.Errorf("lost:\n%s", s)
			}
			b.publish()
			b.wantState(StateInSync)
		})
	}
}

// TestLostTexts: without the texts that both had in common, what differs is a conflict.
func TestLostTexts(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"gone", "changed"} {
		a, b, sync := pair(t)
		a.topic("x", "## A\n\nOne.\n\n## B\n\nTwo.\n")
		a.publish()
		sync(a, b)
		b.pull(PullOptions{})
		b.put("x.md", topicText("x", "## A\n\nOne, here.\n\n## B\n\nTwo.\n"))
		a.put("x.md", topicText("x", "## B\n\nTwo.\n"))
		a.publish()
		sync(a, b)
		texts := filepath.Join(filepath.Dir(b.syncFile()), "texts")
		list, err := os.ReadDir(texts)
		if err != nil || len(list) == 0 {
			t.Fatal(err)
		}
		for _, d := range list {
			name := filepath.Join(texts, d.Name())
			if how == "gone" {
				err = os.Remove(name)
			} else {
				err = os.WriteFile(name, []byte("something else\n"), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		p := b.pull(PullOptions{Apply: true})
		if !strings.Contains(b.get("x.md"), "One, here.") || len(p.Left.Notes) == 0 && p.Left.State != StateAhead {
			t.Errorf("%s: %+v\n%s", how, p.Left, b.get("x.md"))
		}
	}
}

// TestClockBack: who publishes with a clock that is behind publishes news all the same, and
// undoes nobody's.
func TestClockBack(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	a.topic("x", "One.\n")
	a.publish()
	sync(a, b)
	b.pull(PullOptions{})
	b.now = b.now.Add(-20 * 24 * time.Hour)
	b.topic("y", "Two.\n")
	b.publish()
	sync(b, a)
	if st := a.wantState(StateUpdate); st.Team.Added != 1 {
		t.Errorf("%+v", st)
	}
	// By their times it could be an older commit: that is said, and a person goes on.
	var older *OlderError
	if _, err := a.open().Pull(context.Background(), PullOptions{Apply: true}); !errors.As(err, &older) {
		t.Errorf("%v", err)
	}
	if p := a.pull(PullOptions{Apply: true, Accept: true}); p.Left.State != StateInSync || a.get("y.md") == "" {
		t.Errorf("%+v", p.Left)
	}
}
