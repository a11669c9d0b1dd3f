package index

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestChunks: however a file is cut into pieces, the entries are the same.
func TestChunks(t *testing.T) {
	s := newSession(t, t.TempDir(), "s")
	for i := range 12 {
		s.prompt(fmt.Sprint("prompt ", i, strings.Repeat(" word", i*7)))
		s.append("\n")
		if i%3 == 0 {
			s.append(`{"type":"noise","x":"` + strings.Repeat("z", 300) + `"}` + "\n")
		}
	}
	base, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tail := range []string{"", `{"type":"user","torn`, `{"type":"user","uuid":"w","message":{"content":"whole"}}`} {
		if err := os.WriteFile(s.path, append(base, tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := openPlain(s.path)
		if err != nil {
			t.Fatal(err)
		}
		p := &parser{redact: func(s string) string { return s }, words: map[string]struct{}{}, copies: map[string]int{}}
		read := func(size int64) (offsets []int64, end int64) {
			for from := int64(0); from < f.Size(); from += size {
				c := p.parse(t.Context(), f, from, min(from+size, f.Size()), f.Size(), from == 0)
				if c.err != nil {
					t.Fatal(c.err)
				}
				for _, e := range c.entries {
					offsets = append(offsets, e.offset)
				}
				end = max(end, c.end)
			}
			return offsets, end
		}
		want, wantEnd := read(f.Size())
		if len(want) < 12 || wantEnd < int64(len(base)) {
			t.Fatalf("%d entries up to %d of %d", len(want), wantEnd, f.Size())
		}
		for size := int64(1); size < 500; size++ {
			if got, end := read(size); fmt.Sprint(got) != fmt.Sprint(want) || end != wantEnd {
				t.Fatalf("in pieces of %d: %v to %d; want %v to %d", size, got, end, want, wantEnd)
			}
		}
		f.Close()
	}
}

// TestManyChunks: one transcript that several workers parse, with sessions of one
// record around it, more than may be open at a time.
func TestManyChunks(t *testing.T) {
	dir := t.TempDir()
	var sources []Source
	for i := range 2*batchFiles + 7 {
		s := newSession(t, dir, fmt.Sprint("small", i))
		s.prompt("small words")
		sources = append(sources, s.source("p"))
	}
	big := newSession(t, dir, "big")
	filler := strings.Repeat("z", chunkBytes/16)
	var want []string
	for i := range 64 {
		want = append(want, big.prompt(fmt.Sprintf("large words number%d", i)))
		big.append(`{"type":"noise","x":"` + filler + `"}` + "\n")
	}
	x := open(t, Options{Workers: 4})
	r := update(t, x, append(sources, big.source("p"))...)
	if r.Entries != len(want)+len(sources) || r.Malformed != 0 || len(r.Unread) != 0 {
		t.Errorf("%+v", r)
	}
	for i := range want {
		first(t, x, fmt.Sprint("number", i), want[i])
	}
	// Turns follow each other over the pieces.
	rows, err := x.db.Query("SELECT id FROM entry WHERE id >> ? = (SELECT id FROM source WHERE session = 'big') ORDER BY offset", srcShift)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for n := 1; rows.Next(); n++ {
		var id rowID
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		if id.turn() != n || id.role() != Prompt {
			t.Fatalf("record %d is in turn %d", n, id.turn())
		}
	}
}
