package store

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestUndoOfALossFollowsTheTopic tells what happens to a topic between the loss of
// its entry and the undo of it, and what the undo leaves.
func TestUndoOfALossFollowsTheTopic(t *testing.T) {
	const one, two, three = "- [one](one.md) — about one\n", "- [two](two.md) — about two\n", "- [three](three.md) — about three\n"
	at := func(s *Store, p string) string { return filepath.Join(s.Directory(), filepath.FromSlash(p)) }
	move := func(t *testing.T, s *Store, from, to string) {
		t.Helper()
		v := view(t, s)
		c, _, err := v.Move(t.Context(), v.Topic(from), to)
		if err == nil {
			_, err = s.Apply(t.Context(), c, How{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	rename := func(t *testing.T, s *Store, from, to string) {
		t.Helper()
		if err := os.Rename(at(s, from), at(s, to)); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(t *testing.T, s *Store, p string) {
		t.Helper()
		if err := os.Remove(at(s, p)); err != nil {
			t.Fatal(err)
		}
	}
	del := func(t *testing.T, s *Store, p string) {
		t.Helper()
		if _, err := s.Apply(t.Context(), view(t, s).Delete(p, readFile(t, s, p)), How{}); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name      string
		lost      string // the index that another program leaves
		do        func(t *testing.T, s *Store)
		index     string // after the undo
		topics    []string
		note      string // in the result
		withTopic bool   // the topic was lost as well
	}{
		{name: "mem moved it", lost: three + one, do: func(t *testing.T, s *Store) { move(t, s, "two.md", "sub/zwei.md") },
			index: "- [two](sub/zwei.md) — about two\n" + three + one, topics: []string{"one.md", "sub/zwei.md", "three.md"}, note: "two.md is now sub/zwei.md"},
		{name: "mem moved it twice", lost: three + one, do: func(t *testing.T, s *Store) { move(t, s, "two.md", "x.md"); move(t, s, "x.md", "y.md") },
			index: "- [two](y.md) — about two\n" + three + one, topics: []string{"one.md", "three.md", "y.md"}, note: "y.md"},
		{name: "mem moved it there and back", lost: three + one, do: func(t *testing.T, s *Store) { move(t, s, "two.md", "x.md"); move(t, s, "x.md", "two.md") },
			index: two + three + one, topics: []string{"one.md", "three.md", "two.md"}},
		{name: "mem moved it and gave it an entry", lost: three + one, do: func(t *testing.T, s *Store) {
			move(t, s, "two.md", "x.md")
			overwrite(t, s, "MEMORY.md", three+one+"- [Two again](x.md)\n")
		}, index: three + one + "- [Two again](x.md)\n", topics: []string{"one.md", "three.md", "x.md"}},
		{name: "another program moved it", lost: three + one, do: func(t *testing.T, s *Store) { rename(t, s, "two.md", "zwei.md") },
			index: "- [two](zwei.md) — about two\n" + three + one, topics: []string{"one.md", "three.md", "zwei.md"}, note: "zwei.md"},
		{name: "mem deleted it", lost: three + one, do: func(t *testing.T, s *Store) { del(t, s, "two.md") },
			index: three + one, topics: []string{"one.md", "three.md"}, note: "two.md was deleted since"},
		{name: "mem moved and deleted it", lost: three + one, do: func(t *testing.T, s *Store) { move(t, s, "two.md", "x.md"); del(t, s, "x.md") },
			index: three + one, topics: []string{"one.md", "three.md"}, note: "x.md was deleted since"},
		{name: "another program deleted it", lost: three + one, do: func(t *testing.T, s *Store) { remove(t, s, "two.md") },
			index: two + three + one, topics: []string{"one.md", "three.md", "two.md"}, note: "two.md was removed by another program"},
		{name: "mem moved it and another program deleted it", lost: three + one, do: func(t *testing.T, s *Store) { move(t, s, "two.md", "x.md"); remove(t, s, "x.md") },
			index: "- [two](x.md) — about two\n" + three + one, topics: []string{"one.md", "three.md", "x.md"}, note: "x.md"},
		{name: "the whole index was emptied and one was moved", lost: "", do: func(t *testing.T, s *Store) { move(t, s, "two.md", "x.md") },
			index: three + "- [two](x.md) — about two\n" + one, topics: []string{"one.md", "three.md", "x.md"}, note: "x.md"},
		{name: "the whole index was emptied and one was deleted", lost: "", do: func(t *testing.T, s *Store) { del(t, s, "two.md") },
			index: three + one, topics: []string{"one.md", "three.md"}, note: "two.md was deleted since"},
		{name: "it was gone and comes back under another name", withTopic: true, lost: three + one,
			do:    func(t *testing.T, s *Store) { rename(t, s, "hidden", "zwei.md") },
			index: "- [two](zwei.md) — about two\n" + three + one, topics: []string{"one.md", "three.md", "zwei.md"}, note: "zwei.md"},
		{name: "it was gone and comes back", withTopic: true, lost: three + one,
			do:    func(t *testing.T, s *Store) { rename(t, s, "hidden", "two.md") },
			index: two + three + one, topics: []string{"one.md", "three.md", "two.md"}},
		{name: "it was put back by hand", lost: three + one, do: func(t *testing.T, s *Store) { overwrite(t, s, "MEMORY.md", three+two+one) },
			index: three + two + one, topics: []string{"one.md", "three.md", "two.md"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t)
			for _, n := range []string{"one", "two", "three"} {
				write(t, s, memory(n, "text of "+n))
			}
			overwrite(t, s, "MEMORY.md", tt.lost)
			if tt.withTopic {
				rename(t, s, "two.md", "hidden")
			}
			rest()
			losses := view(t, s).Losses
			if len(losses) == 0 {
				t.Fatal("no loss")
			}
			tt.do(t, s)
			r, err := s.Undo(t.Context(), losses[0].ID, How{})
			if err != nil {
				t.Fatal(err)
			}
			if got := readFile(t, s, "MEMORY.md"); got != tt.index {
				t.Errorf("index:\n%s\nwant:\n%s", got, tt.index)
			}
			var topics []string
			for _, topic := range view(t, s).Topics {
				topics = append(topics, topic.Path)
			}
			if !slices.Equal(topics, tt.topics) {
				t.Errorf("topics %q, want %q", topics, tt.topics)
			}
			if notes := strings.Join(r.Notes, "\n"); (tt.note == "") != (notes == "") || !strings.Contains(notes, tt.note) {
				t.Errorf("notes %q, want %q", notes, tt.note)
			}
			events, _, err := s.History("", "", 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.ID == losses[0].ID && e.UndoneBy != r.ID {
					t.Errorf("the loss counts as undone by %q, not by %q", e.UndoneBy, r.ID)
				}
				if e.Files == nil {
					t.Errorf("the event %s has no list of files", e.ID)
				}
			}
			before := tree(t, s.Directory())
			for range 2 { // and back again: the undo of the undo, and that one's
				if r, err = s.Undo(t.Context(), r.ID, How{}); err != nil {
					t.Fatal(err)
				}
			}
			if after := tree(t, s.Directory()); !maps.Equal(after, before) {
				t.Errorf("after two more undos:\n%s\nwant:\n%s", show(after), show(before))
			}
		})
	}
}
