package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func countEntries(t testing.TB, x *Index) int {
	t.Helper()
	var entries, rows int
	if err := scanOne(t.Context(), x.db, &entries, "SELECT count(*) FROM entry"); err != nil {
		t.Fatal(err)
	}
	if err := scanOne(t.Context(), x.db, &rows, "SELECT count(*) FROM term"); err != nil {
		t.Fatal(err)
	}
	if entries != rows {
		t.Errorf("%d entries, but %d rows in FTS5", entries, rows)
	}
	return entries
}

func TestIncremental(t *testing.T) {
	s := newSession(t, t.TempDir(), "one")
	x := open(t, Options{})
	a := s.prompt("alpha question")
	if r := update(t, x, s.source("p")); r.Entries != 1 {
		t.Errorf("%+v", r)
	}
	size := r0(t, s.path)
	b := s.answer("beta answer")
	r := update(t, x, s.source("p"))
	if r.Entries != 1 || r.Bytes != r0(t, s.path)-size {
		t.Errorf("only the new end is read: %+v", r)
	}
	first(t, x, "alpha", a)
	first(t, x, "beta", b)
	if r := update(t, x, s.source("p")); r.Entries != 0 || r.Bytes != 0 || r.Changed != 0 {
		t.Errorf("nothing is to be done: %+v", r)
	}

	// A line that is being written is read once it has its end; a whole one
	// without a line end counts.
	line := `{"type":"user","uuid":"gamma-id","message":{"role":"user","content":"gamma in two writes"}}`
	s.append(line[:40])
	if r := update(t, x, s.source("p")); r.Entries != 0 || r.Malformed != 0 || r.Pending != 0 {
		t.Errorf("half a line: %+v", r)
	}
	if r := search(t, x, Query{Text: "alpha"}); r.Pending != 0 {
		t.Errorf("half a line is no work that is left: %+v", r)
	}
	s.append(line[40:])
	if r := update(t, x, s.source("p")); r.Entries != 1 {
		t.Errorf("a whole line: %+v", r)
	}
	first(t, x, "gamma", "gamma-id")
	s.append("\n")
	c := s.prompt("delta")
	if r := update(t, x, s.source("p")); r.Entries != 1 || r.Malformed != 0 {
		t.Errorf("%+v", r)
	}
	first(t, x, "delta", c)

	// Touched, and not changed.
	if err := os.Chtimes(s.path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if r := update(t, x, s.source("p")); r.Entries != 0 || countEntries(t, x) != 4 {
		t.Errorf("%+v", r)
	}

	// Another project, as a project that was adopted.
	update(t, x, s.source("q"))
	if r := search(t, x, Query{Text: "alpha", Project: "q"}); len(r.Hits) != 1 {
		t.Errorf("%+v", r)
	}
}

func r0(t testing.TB, path string) int64 {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

func TestReplacedCutGone(t *testing.T) {
	dir := t.TempDir()
	s, o := newSession(t, dir, "one"), newSession(t, dir, "other")
	x := open(t, Options{})
	for i := range 30 {
		s.prompt(fmt.Sprint("original ", i))
	}
	kept := o.prompt("kept")
	update(t, x, s.source("p"), o.source("p"))

	whole, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	// Cut: the same beginning, shorter.
	if err := os.WriteFile(s.path, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	r := search(t, x, Query{Text: "original", Limit: 30})
	for _, h := range r.Hits {
		if h.Offset+int64(h.Length) > int64(len(whole)/2) {
			t.Errorf("a hit behind the end: %+v", h)
		}
	}
	if r.Stale == 0 {
		t.Errorf("stale entries are not told: %+v", r)
	}
	update(t, x, s.source("p"), o.source("p"))
	if n := countEntries(t, x); n != 15 && n != 16 {
		t.Errorf("%d entries after the cut", n)
	}
	// Replaced by longer text of another conversation: the snippets in between
	// must not be those of other records.
	n := newSession(t, dir, "new")
	for i := range 90 {
		n.prompt(fmt.Sprint("replacement original ", i))
	}
	if err := os.Rename(n.path, s.path); err != nil {
		t.Fatal(err)
	}
	if r := search(t, x, Query{Text: "original"}); len(r.Hits) != 0 || r.Stale == 0 || !strings.Contains(r.Reason, "update") {
		t.Errorf("hits from another conversation: %+v", r)
	}
	if r := update(t, x, s.source("p"), o.source("p")); r.Entries != 90 || countEntries(t, x) != 91 {
		t.Errorf("%+v", r)
	}
	// Rewritten in place with the same size and beginning.
	whole, err = os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path, []byte(strings.Replace(string(whole), "original 89", "or1g1nal 89", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(s.path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if r := update(t, x, s.source("p")); r.Entries != 90 {
		t.Errorf("%+v", r)
	}
	// Gone, though not among the given.
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	if r := search(t, x, Query{Text: "or1g1nal"}); len(r.Unread) != 1 || len(r.Hits) != 1 || r.Hits[0].Snippet.Text != "" {
		t.Errorf("the transcript of a hit is gone: %+v", r)
	}
	if r := update(t, x, o.source("p")); r.Gone != 1 || countEntries(t, x) != 1 {
		t.Errorf("%+v", r)
	}
	first(t, x, "kept", kept)
}

func TestBadSources(t *testing.T) {
	dir := t.TempDir()
	x := open(t, Options{})
	ok := newSession(t, dir, "ok")
	want := ok.prompt("findable")
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	mixed := newSession(t, dir, "mixed name?with#odd%20 signs")
	mixed.append("\xef\xbb\xbf" + `{"type":"user","uuid":"bom","message":{"role":"user","content":"after a mark"}}` + "\r\n")
	mixed.append("\r\n\x00\x00garbage\n{\"type\":\"user\",\"message\":{\"content\":\n[]\n" + strings.Repeat("[", 3000) + "\n")
	mixed.append(`{"type":"user","uuid":"cr","message":{"role":"user","content":"with carriage return"}}` + "\r\n")
	mixed.append(`{"type":"user","message":{"role":"user","content":"no id at all"}}` + "\n")
	mixed.append(`{"type":"user","uuid":"` + strings.Repeat("n", 16) + `","timestamp":"yesterday","message":{"role":"user","content":"sixteen"}}` + "\n")
	r := update(t, x, ok.source("p"), mixed.source("p"), mixed.source("p"),
		Source{Path: filepath.Join(dir, "missing.jsonl")}, Source{Path: filepath.Join(dir, "folder.jsonl")})
	if len(r.Unread) != 2 || r.Malformed != 4 {
		t.Errorf("%+v", r)
	}
	first(t, x, "findable", want)
	if h := first(t, x, "mark", "bom"); h.Offset != 0 || !h.Time.IsZero() {
		t.Errorf("%+v", h)
	}
	first(t, x, "carriage", "cr")
	first(t, x, "id", "")
	first(t, x, "sixteen", strings.Repeat("n", 16))
}

func TestLongRecord(t *testing.T) {
	s := newSession(t, t.TempDir(), "long")
	x := open(t, Options{})
	s.prompt(strings.Repeat("x", MaxRecordBytes+1))
	s.append(`{"type":"api-request-blob","x":"` + strings.Repeat("y", MaxRecordBytes+chunkBytes) + `"}` + "\n")
	want := s.prompt("behind it")
	long := s.answer("beginning " + strings.Repeat("filler ", MaxEntryBytes/7) + " unreachable")
	if r := update(t, x, s.source("p")); r.TooLong != 1 || r.Entries != 2 {
		t.Errorf("%+v", r)
	}
	first(t, x, "behind", want)
	first(t, x, "beginning", long)
	if r := search(t, x, Query{Text: "unreachable"}); len(r.Hits) != 0 {
		t.Errorf("%+v", r.Hits)
	}
}

func TestSearchWhileIndexing(t *testing.T) {
	s := newSession(t, t.TempDir(), "s")
	for k := range 5000 {
		s.answer(fmt.Sprintf("words %d", k))
	}
	x := open(t, Options{})
	done := make(chan error, 1)
	go func() {
		_, err := x.Update(context.Background(), []Source{s.source("p")}, UpdateOptions{})
		done <- err
	}()
	for {
		r, err := x.Search(context.Background(), Query{Text: "words"})
		if err != nil {
			t.Fatal(err)
		}
		if r.Total == 5000 {
			break
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestLimit(t *testing.T) {
	dir := t.TempDir()
	var sources []Source
	var all []*session
	for i := range 30 {
		s := newSession(t, dir, fmt.Sprintf("s%02d", i))
		s.at = start.AddDate(0, 0, i)
		for k := range 300 {
			s.answer(fmt.Sprintf("everywhere session%d %s", i, strings.Repeat(fmt.Sprintf("w%dx%d ", i, k), 20)))
		}
		all, sources = append(all, s), append(sources, s.source("p"))
	}
	x := open(t, Options{MaxBytes: MinMaxBytes})
	r := update(t, x, sources...)
	if r.LeftOut == 0 || r.LeftOut >= 30 {
		t.Fatalf("%+v", r)
	}
	used, err := x.used(t.Context())
	if err != nil || used > MinMaxBytes {
		t.Errorf("%d bytes are used (%v)", used, err)
	}
	countEntries(t, x)
	res := search(t, x, Query{Text: "session29"})
	if len(res.Hits) == 0 || res.LeftOut != r.LeftOut {
		t.Errorf("the newest session is there: %+v", res)
	}
	if res := search(t, x, Query{Text: "session0", Sessions: []string{"s00"}}); len(res.Hits) > 0 {
		t.Errorf("the oldest is there: %d hits", len(res.Hits))
	}
	if r := update(t, x, sources...); r.Bytes != 0 || r.Changed != 0 {
		t.Errorf("what was left out is not read again: %+v", r)
	}
	// It comes back when it goes on.
	all[0].at = start.AddDate(0, 1, 0)
	want := all[0].prompt("resumed tomorrow")
	update(t, x, sources...)
	first(t, x, "resumed", want)
	if st, err := os.Stat(x.Path()); err != nil || st.Size() > 2*MinMaxBytes {
		t.Errorf("%v %v", st.Size(), err)
	}
}
