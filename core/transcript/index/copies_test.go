package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneRecordByTheThousand: a transcript repeats one uuid so often that its entries would fill
// all that a search ranks. What else has the word is found, and what is left out is counted.
func TestOneRecordByTheThousand(t *testing.T) {
	dir := t.TempDir()
	old := newSession(t, dir, "old")
	want := old.answer("the merlin is a small falcon")
	flood := newSession(t, dir, "flood")
	flood.append(strings.Repeat(`{"type":"user","uuid":"same","message":{"content":"merlin"}}`+"\n", 20_000))
	x := open(t, Options{})
	update(t, x, old.source("p"))
	rep := update(t, x, flood.source("p"))
	if rep.Entries > 20 || rep.Repeated+rep.Entries != 20_000 {
		t.Errorf("%d entries, %d left out", rep.Entries, rep.Repeated)
	}
	if got := uuids(search(t, x, Query{Text: "merlin"})); len(got) != 2 {
		t.Errorf("found %q, want same and %s", got, want)
	}
}

// TestCopiesInManySessions: the same records stand in so many sessions, as where one was forked
// again and again, that they would fill all that a search ranks.
func TestCopiesInManySessions(t *testing.T) {
	dir := t.TempDir()
	x := open(t, Options{})
	old := newSession(t, dir, "old")
	want := old.answer("the merlin is a small falcon")
	update(t, x, old.source("p"))
	var history strings.Builder
	for i := range 100 {
		fmt.Fprintf(&history, `{"type":"user","uuid":"copied-%d","message":{"content":"merlin"}}`+"\n", i)
	}
	var sources []Source
	for i := range rankEntries/100 + 20 {
		path := filepath.Join(dir, fmt.Sprintf("fork-%d.jsonl", i))
		if err := os.WriteFile(path, []byte(history.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, Source{Path: path, Session: fmt.Sprint("fork-", i), Project: "p"})
	}
	update(t, x, sources...)
	seen := map[string]bool{}
	for q := (Query{Text: "merlin", Limit: 60}); ; {
		r := search(t, x, q)
		for _, u := range uuids(r) {
			if seen[u] {
				t.Errorf("%s is found twice", u)
			}
			seen[u] = true
		}
		if q.Begin = r.Next; r.Next == 0 {
			break
		}
	}
	if !seen[want] || len(seen) != 101 {
		t.Errorf("%d records found, the old one among them: %v", len(seen), seen[want])
	}
}
