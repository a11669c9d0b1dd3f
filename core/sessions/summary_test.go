package sessions

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"mem/core/sessionmem"
)

func TestSummary(t *testing.T) {
	d := newDesk(t)
	plain := talk(first, d.env.Cwd, "x", "y")
	d.put(first, plain, time.Hour)
	compacted := talk(second, d.env.Cwd, "x", "y") +
		`{"parentUuid":null,"logicalParentUuid":"` + uuidOf(second, 1) + `","type":"system","subtype":"compact_boundary","uuid":"bbbbbbbb-0000-4000-8000-0000000000b0","timestamp":"2026-11-29T11:00:00Z","cwd":"` + d.env.Cwd + `","sessionId":"` + second + `","compactMetadata":{"trigger":"manual","preTokens":10}}` + "\n" +
		`{"parentUuid":"bbbbbbbb-0000-4000-8000-0000000000b0","isSidechain":false,"isCompactSummary":true,"type":"user","message":{"role":"user","content":"We warmed the cache with ` + token + `."},"uuid":"bbbbbbbb-0000-4000-8000-0000000000b1","timestamp":"2026-11-29T11:00:01Z","cwd":"` + d.env.Cwd + `","sessionId":"` + second + `","version":"2.1.332"}` + "\n"
	d.put(second, compacted, time.Hour)
	s := d.open(Options{})
	got, err := s.Summary(t.Context(), second, nil)
	if err != nil || !strings.HasPrefix(got.Text, "We warmed the cache with ") || strings.Contains(got.Text, token) || got.From != FromCompaction {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := s.Summary(t.Context(), first, nil); !errors.Is(err, ErrNoSummary) {
		t.Errorf("%v", err)
	}
	// A session memory goes first.
	x, err := s.pick(t.Context(), second, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := sessionmem.Write(x.Session, "# Current State\nthe cache is warm, "+token+"\n", "")
	if err != nil {
		t.Fatal(err)
	}
	got, err = s.Summary(t.Context(), second, nil)
	if err != nil || got.From != FromMemory || !strings.Contains(got.Text, "the cache is warm") || strings.Contains(got.Text, token) || got.Hash != f.Hash || got.Path != f.Path {
		t.Errorf("%+v %v", got, err)
	}
}

func TestResumeHasTheSessionMemory(t *testing.T) {
	d := newDesk(t)
	var long strings.Builder
	for i := range 60 {
		long.WriteString(fmt.Sprintf("step %d %s ", i, strings.Repeat("and on ", 40)))
	}
	var said []string
	for range 12 {
		said = append(said, long.String(), "Done. "+long.String())
	}
	d.put(first, talk(first, d.env.Cwd, said...), time.Hour)
	s := d.open(Options{})
	x, err := s.pick(t.Context(), first, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := ResumeOptions{Session: first, Format: "brief", Budget: 4000}
	if r, err := s.Resume(t.Context(), o); err != nil || r.Memory != nil {
		t.Fatalf("without one: %+v, %v", r, err)
	}
	f, err := sessionmem.Write(x.Session, "# Current State\nhalf way, "+token+"\n"+strings.Repeat("more of it\n", 2000), "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Resume(t.Context(), o)
	if err != nil || r.Memory == nil || !strings.Contains(r.Memory.Text, "half way") || strings.Contains(r.Memory.Text, token) {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Tokens+r.Memory.Tokens > 4000 || r.Memory.Path != f.Path {
		t.Errorf("%d and %d tokens of 4000, %s", r.Tokens, r.Memory.Tokens, r.Memory.Path)
	}
	if !strings.Contains(strings.Join(r.Notes, " "), "shortened by") {
		t.Errorf("notes %q", r.Notes)
	}
	o.Cursor = r.NextCursor
	if r, err := s.Resume(t.Context(), o); err != nil || r.Memory != nil {
		t.Errorf("on a later page: %+v, %v", r, err)
	}
	// One from before the compaction says less than that does.
	compacted := talk(second, d.env.Cwd, said...) +
		`{"parentUuid":null,"logicalParentUuid":"` + uuidOf(second, 1) + `","type":"system","subtype":"compact_boundary","uuid":"bbbbbbbb-0000-4000-8000-0000000000b0","timestamp":"2026-11-29T11:00:00Z","cwd":"` + d.env.Cwd + `","sessionId":"` + second + `","compactMetadata":{"trigger":"manual","preTokens":10}}` + "\n" +
		strings.ReplaceAll(talk("cccccccc-0000-4000-8000-000000000003", d.env.Cwd, said...), `"parentUuid":null`, `"parentUuid":"bbbbbbbb-0000-4000-8000-0000000000b0"`)
	d.put(second, compacted, time.Hour)
	x, err = s.pick(t.Context(), second, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err = sessionmem.Write(x.Session, "# Current State\nold\n", "")
	if err != nil {
		t.Fatal(err)
	}
	before := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	if err := os.Chtimes(f.Path, before, before); err != nil {
		t.Fatal(err)
	}
	r, err = s.Resume(t.Context(), ResumeOptions{Session: second, Format: "brief", Budget: 4000})
	if err != nil || r.Memory != nil || !strings.Contains(strings.Join(r.Notes, " "), "older than the last compaction") {
		t.Errorf("%+v, %v", r, err)
	}
}
