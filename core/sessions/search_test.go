package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/transcript/transcripttest"
)

func TestSearch(t *testing.T) {
	d := newDesk(t)
	d.put(first, talk(first, d.env.Cwd, "Why does the cache stay cold?", "Since the warmer runs after the release. Token "+token), 2*time.Hour)
	d.put(second, talk(second, d.env.Cwd, "Who owns billing?", "Ana owns it."), time.Hour)
	agent := filepath.Join(d.folder(d.env.Cwd), second, "subagents", "agent-a1.jsonl")
	d.write(agent, strings.ReplaceAll(talk(second, d.env.Cwd, "Find the owner of payroll", "Payroll belongs to Bo."), `"isSidechain":false`, `"isSidechain":true,"agentId":"a1"`), time.Hour)
	s := d.open(Options{})
	f, err := s.Search(t.Context(), SearchOptions{Query: "cold cache"})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Hits) == 0 || f.Hits[0].Session != first || f.Hits[0].UUID != uuidOf(first, 0) || f.Indexing || f.PendingBytes != 0 || f.Hits[0].Role != "prompt" {
		t.Errorf("%+v", f)
	}
	// A hit is where a session can be taken up.
	if r, err := s.Resume(t.Context(), ResumeOptions{Session: f.Hits[0].Session, At: f.Hits[0].UUID}); err != nil || len(r.Messages) != 1 {
		t.Errorf("%+v %v", r, err)
	}
	f, err = s.Search(t.Context(), SearchOptions{Query: "payroll"})
	if err != nil || len(f.Hits) == 0 || f.Hits[0].Agent != "a1" || f.Hits[0].Session != second {
		t.Errorf("%+v %v", f, err)
	}
	f, err = s.Search(t.Context(), SearchOptions{Query: "warmer", Session: "aaaa"})
	if b, _ := json.Marshal(f); err != nil || len(f.Hits) == 0 || bytes.Contains(b, []byte(token)) {
		t.Errorf("%s %v", b, err)
	}
	// What is said later is found by the next search.
	d.put(second, talk(second, d.env.Cwd, "Who owns billing?", "Ana owns it.", "And the zebra crossing?", "Bo."), time.Minute)
	if f, err = s.Search(t.Context(), SearchOptions{Query: "zebra", Roles: []string{"prompt"}, Since: "2026-11-28", Until: "2026-11-29"}); err != nil || len(f.Hits) != 1 {
		t.Errorf("%+v %v", f, err)
	}
	if f, err = s.Search(t.Context(), SearchOptions{Query: "zebra", Since: "2026-11-30T00:00:00Z"}); err != nil || len(f.Hits) != 0 {
		t.Errorf("%+v %v", f, err)
	}
	for _, tt := range []struct {
		o    SearchOptions
		want string
	}{
		{SearchOptions{Query: " "}, "query is empty"},
		{SearchOptions{Query: "x", Roles: []string{"boss"}}, "no role boss"},
		{SearchOptions{Query: "x", Since: "yesterday"}, "give a date"},
		{SearchOptions{Query: "x", Session: "zzz"}, "no session"},
	} {
		if _, err := s.Search(t.Context(), tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
}

// A search does not wait for all of a large transcript, and says so; the rest comes.
func TestSearchWhileIndexing(t *testing.T) {
	d := newDesk(t)
	var b bytes.Buffer
	if _, err := transcripttest.Write(&b, transcripttest.Options{Seed: 1, Bytes: 12 << 20}); err != nil {
		t.Fatal(err)
	}
	d.put(first, talk(first, d.env.Cwd, "Where is the zebra?", "Here.")+b.String(), time.Hour)
	s := d.open(Options{})
	f, err := s.Search(t.Context(), SearchOptions{Query: "zebra", Wait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if !f.Indexing || f.PendingBytes == 0 || !strings.Contains(strings.Join(f.Notes, " "), "still being indexed") {
		t.Errorf("%+v", f)
	}
	f, err = s.Search(t.Context(), SearchOptions{Query: "zebra", Wait: time.Minute})
	if err != nil || f.Indexing || len(f.Hits) == 0 {
		t.Errorf("%+v %v", f, err)
	}
	// Cancelled, it ends at once.
	d.put(second, talk(second, d.env.Cwd, "x", "y")+b.String(), time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	start := time.Now()
	if _, err := s.Search(ctx, SearchOptions{Query: "zebra", Wait: time.Minute}); !errors.Is(err, context.Canceled) || time.Since(start) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// What was left out is told in words, and only what there is.
func TestLeftOut(t *testing.T) {
	for want, n := range map[string][3]int{
		"":                         {},
		"1 line that is no record": {1, 0, 0},
		"2 lines that are no records, 1 entry that repeats another of the same uuid": {2, 0, 1},
		"3 records that are too long to be searched":                                 {0, 3, 0},
	} {
		if got := leftOut(n[0], n[1], n[2]); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}
