package store

import (
	"testing"
	"time"
)

// TestBaseWhereTheJournalLostIt: another process emptied or trimmed the journal, which this one
// does not know yet. A text that is handed out from then on is a base all the same.
func TestBaseWhereTheJournalLostIt(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, other *Store){
		"purged": func(t *testing.T, other *Store) {
			if _, err := other.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"trimmed": func(t *testing.T, other *Store) {
			write(t, other, memory("two", "2"))
			write(t, other, memory("three", "3"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			s.journal.segmentSize = 500
			hash := ""
			for _, f := range write(t, s, memory("one", "Text.\n")).Files {
				if f.Path == "one.md" {
					hash = f.Hash
				}
			}
			lose(t, small(t, &stage{dir: s.Directory(), state: s.opt.StateDir}, func(o *Options) {
				o.Now, o.JournalAge, o.JournalSize = func() time.Time { return time.Now().Add(time.Hour) }, time.Nanosecond, 1
			}))
			b, err := s.Load("one.md")
			if err != nil || b.Hash != hash {
				t.Fatalf("%+v, %v", b, err)
			}
			if got, ok := s.Base(hash); !ok || got != b.File.Text.String() {
				t.Errorf("its hash gives %q, %v", got, ok)
			}
		})
	}
}
