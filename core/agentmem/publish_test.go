package agentmem

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestPersonal: what names a person is held back with its entry, and a person can let it
// through; a secret never.
func TestPersonal(t *testing.T) {
	t.Parallel()
	m := newMember(t, "ann", t.TempDir())
	m.topic("plain", "Run make. Ask noreply@example.com, see /home/user/x.\n")
	m.topic("mail", "Ask jane.doe@company.io.\n")
	m.topic("path", "It lies in /home/jdoe/src.\n")
	m.topic("key", "The token is ghp_"+"16C7e42F292c6912E7710c838347Ae178B4a.\n")
	m.put("me.md", "---\nname: me\ndescription: d\ntype: user\n---\n\nLikes tea.\n")
	m.put("MEMORY.md", "- [me](me.md) — about me\n"+m.get("MEMORY.md"))
	dry, err := m.open().Publish(context.Background(), PublishOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !dry.DryRun || len(filesOf(t, m.snapshot())) != 0 || !strings.Contains(dry.Diff, "Run make") {
		t.Errorf("a dry run: %+v", dry)
	}
	p := m.publish()
	got := filesOf(t, m.snapshot())
	if len(got) != 3 || got["plain.md"] == "" || strings.Count(got["MEMORY.md"], "](") != 1 {
		t.Errorf("published: %s", show(got))
	}
	kinds := map[string]bool{}
	for _, h := range p.Held {
		kinds[h.Item] = true
	}
	for _, item := range []string{"mail.md:email", "path.md:home-path", "key.md:secret", "me.md:user-topic"} {
		if !kinds[item] {
			t.Errorf("%s is not held: %+v", item, p.Held)
		}
	}
	_, err = m.open().Publish(context.Background(), PublishOptions{Confirm: true, Allow: []string{"mail.md:email", "me.md", "key.md", "key.md:secret"}})
	if err != nil {
		t.Fatal(err)
	}
	got = filesOf(t, m.snapshot())
	if got["mail.md"] == "" || got["me.md"] == "" || got["key.md"] != "" || got["path.md"] != "" || strings.Count(got["MEMORY.md"], "](") != 3 {
		t.Errorf("published: %s", show(got))
	}
}

// TestDeterministic: publishing again changes nothing, and line ends and marks of the
// memory do not reach the snapshot.
func TestDeterministic(t *testing.T) {
	m := newMember(t, "ann", t.TempDir())
	m.put("a.md", "\ufeff"+strings.ReplaceAll(topicText("a", "One.\nTwo.\n\n\n"), "\n", "\r\n"))
	m.put("MEMORY.md", "- [a](a.md) — a")
	m.publish()
	first := filesOf(t, m.snapshot())
	if strings.ContainsAny(first["a.md"], "\r\ufeff") || !strings.HasSuffix(first["a.md"], "Two.\n") || first["MEMORY.md"] != "- [a](a.md) — a\n" {
		t.Errorf("%q", first)
	}
	m.wantState(StateInSync)
	if p := m.publish(); len(p.Files) != 0 || p.UpdatedAt != "" || show(filesOf(t, m.snapshot())) != show(first) {
		t.Errorf("%+v", p)
	}
}

// TestPublishEndsAnywhere: wherever a publish ends, a reader does not take the snapshot for
// a newer one, and publishing again completes it.
func TestPublishEndsAnywhere(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for n := range 6 {
		a, b, sync := pair(t)
		a.topic("one", "One.\n")
		a.topic("two", "Two.\n")
		a.publish()
		sync(a, b)
		b.pull(PullOptions{})
		a.put("one.md", topicText("one", "One more.\n"))
		a.topic("three", "Three.\n")
		remove(t, a.store(), "two.md")
		s := a.open()
		k := 0
		s.instant = func(string) error {
			if k++; k > n {
				return killed
			}
			return nil
		}
		_, err := s.Publish(context.Background(), PublishOptions{Confirm: true})
		if done := n >= 5; done != (err == nil) {
			t.Fatalf("after %d writes: %v", n, err)
		}
		sync(a, b)
		if st := b.status(); n > 0 && n < 5 && st.State != StateInvalid {
			t.Errorf("after %d writes a reader sees %s", n, st.State)
		}
		a.publish()
		sync(a, b)
		p := b.pull(PullOptions{Apply: true, Wishes: []Wish{{Path: "two.md", Choice: TakeTheirs}}})
		if p.Left.State != StateInSync || b.get("two.md") != "" || b.get("three.md") == "" || show(filesOf(t, a.store())) != show(filesOf(t, b.store())) {
			t.Errorf("after %d writes and a second publish: %+v", n, p.Left)
		}
	}
}

// TestUnpulledNewsStay: publishing over news that merge cleanly keeps them for everybody,
// and they can still be pulled.
func TestUnpulledNewsStay(t *testing.T) {
	t.Parallel()
	a, b, sync := pair(t)
	a.topic("x", "## A\n\nOne.\n\n## B\n\nTwo.\n")
	a.topic("gone", "Gone soon.\n")
	a.publish()
	sync(a, b)
	b.pull(PullOptions{})
	a.put("x.md", topicText("x", "## A\n\nOne.\n\n## B\n\nTwo, new.\n"))
	remove(t, a.store(), "gone.md")
	a.publish()
	sync(a, b)
	b.put("x.md", topicText("x", "## A\n\nOne, new.\n\n## B\n\nTwo.\n"))
	b.publish()
	s := filesOf(t, b.snapshot())["x.md"]
	if !strings.Contains(s, "One, new.") || !strings.Contains(s, "Two, new.") {
		t.Errorf("%s", s)
	}
	st := b.wantState(StateUpdate)
	if st.Team.Changed != 1 || st.Team.Removed != 1 {
		t.Errorf("%+v", st)
	}
	// A deletion is not made without word; what is skipped is not offered again, stays here, and
	// does not come back to the team.
	if p := b.pull(PullOptions{Apply: true}); p.Left.Team.Removed != 1 || b.get("gone.md") == "" || !strings.Contains(b.get("x.md"), "Two, new.") {
		t.Errorf("%+v", p.Left)
	}
	if p := b.pull(PullOptions{Wishes: []Wish{{Path: "gone.md", Choice: Skip}}}); p.Left.Team.Sum() != 0 || p.Left.Skipped != 1 {
		t.Errorf("%+v", p.Left)
	}
	b.publish()
	if filesOf(t, b.snapshot())["gone.md"] != "" || b.get("gone.md") == "" {
		t.Error("what was skipped came back to the team, or went here")
	}
}
