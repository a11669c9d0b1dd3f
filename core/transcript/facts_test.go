package transcript

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mem/core/atomicfile"
	"mem/core/transcript/transcripttest"
)

func TestFactsOfASession(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	other := h.path("w", "proj", "core")
	content := jsonl("type", "mode", "mode", "normal") +
		jsonl("parentUuid", nil, "isSidechain", false, "type", "user", "isMeta", true, "message", map[string]any{"role": "user", "content": "told by the client"},
			"uuid", id(1), "timestamp", "2026-11-20T08:00:00.000Z", "cwd", p.Root, "sessionId", id(1), "version", "2.1.300", "gitBranch", "main") +
		jsonl("parentUuid", id(1), "isSidechain", false, "type", "user", "message", map[string]any{"role": "user", "content": "<command-name>/clear</command-name>"},
			"uuid", id(2), "timestamp", "2026-11-20T08:01:00.000Z", "cwd", p.Root, "sessionId", id(1)) +
		jsonl("parentUuid", id(2), "isSidechain", false, "type", "user", "message", map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "Fix the\nbuild, please. The token is ghp_0123456789abcdefghijABCDEFGHIJ012345"}}},
			"uuid", id(3), "timestamp", "2026-11-20T08:02:00.000Z", "cwd", p.Root, "sessionId", id(1)) +
		jsonl("parentUuid", id(3), "isSidechain", false, "message", map[string]any{"id": "m", "role": "assistant", "model": "claude-x", "content": []any{map[string]any{"type": "tool_use", "id": "t", "name": "Bash", "input": map[string]any{}}}},
			"type", "assistant", "uuid", id(4), "timestamp", "2026-11-20T08:03:00.000Z", "cwd", p.Root, "sessionId", id(1)) +
		jsonl("parentUuid", id(4), "isSidechain", false, "type", "user", "message", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t", "content": "ok"}}},
			"uuid", id(5), "timestamp", "2026-11-20T08:04:00.000Z", "cwd", other, "sessionId", id(1), "version", "2.1.332", "gitBranch", "feature") +
		jsonl("parentUuid", id(5), "isSidechain", true, "type", "user", "message", map[string]any{"role": "user", "content": "to a subagent"}, "uuid", id(6), "sessionId", id(1)) +
		"{broken\n" +
		jsonl("parentUuid", nil, "logicalParentUuid", id(5), "isSidechain", false, "type", "system", "subtype", "compact_boundary", "uuid", id(7), "timestamp", "2026-11-20T08:05:00.000Z", "sessionId", id(1)) +
		jsonl("parentUuid", id(7), "isSidechain", false, "type", "user", "isCompactSummary", true, "message", map[string]any{"role": "user", "content": "what was kept"}, "uuid", id(8), "timestamp", "2026-11-20T08:06:00.000Z", "sessionId", id(1)) +
		jsonl("type", "summary", "summary", "an old summary", "leafUuid", id(5)) +
		jsonl("type", "custom-title", "customTitle", "The build 項目", "sessionId", id(1)) +
		jsonl("type", "ai-title", "aiTitle", "made by a model", "sessionId", id(1)) +
		`{"type":"user","mess`
	h.session(p.Root, id(1), content, time.Hour)
	companion := filepath.Join("home", ".claude", "projects", filepath.Base(filepath.Dir(h.find(FindOptions{}).List[0].Path)), id(1), "subagents")
	h.write(filepath.Join(companion, "agent-abc.jsonl"), chat(p.Root, "sub"))
	h.write(filepath.Join(companion, "agent-abc.meta.json"), `{"agentType":"Explore","description":"look\naround","toolUseId":1}`)
	h.write(filepath.Join(companion, "agent-odd.jsonl"), chat(p.Root, "sub"))
	h.write(filepath.Join(companion, "agent-odd.meta.json"), `[1]`)
	h.write(filepath.Join(companion, "notes.txt"), "x")
	// Older clients kept subagents beside the sessions.
	h.session(p.Root, "agent-old", strings.ReplaceAll(chat(p.Root, "sub"), `"sessionId":"s"`, `"sessionId":"`+id(1)+`"`), time.Hour)
	h.untouched()
	list := h.find(FindOptions{Project: p}).List
	if len(list) != 1 {
		t.Fatalf("%d sessions", len(list))
	}
	s := list[0]
	want := Facts{Cwd: p.Root, Cwds: []string{p.Root, other}, Branch: "feature", Title: "The build 項目",
		FirstPrompt: "Fix the build, please. The token is [redacted github-pat]",
		Start:       time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC), End: time.Date(2026, 11, 20, 8, 6, 0, 0, time.UTC),
		Turns: 1, Messages: 6, Compacted: 1, Lines: 14, Version: "2.1.332", Model: "claude-x", Waiting: true,
		Damage: "1 line malformed, 1 line truncated"}
	if d := cmp.Diff(want, s.Facts); d != "" {
		t.Errorf("facts (-want +got):\n%s", d)
	}
	var agents []string
	for _, a := range s.Subagents {
		agents = append(agents, fmt.Sprintf("%s %s %s", a.ID, a.Type, a.Description))
	}
	if d := cmp.Diff([]string{"abc Explore look around", "odd  ", "old  "}, agents); d != "" {
		t.Errorf("subagents: %s", d)
	}
}

func TestLive(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	answered, waiting := chat(p.Root, "q", "a"), chat(p.Root, "q", "a", "q")
	for _, c := range []struct {
		id, content string
		age         time.Duration
		want        bool
	}{
		{"just-now", answered, time.Minute, true},
		{"answered", answered, 3 * time.Minute, false},
		{"waiting", waiting, 10 * time.Minute, true},
		{"left", waiting, 20 * time.Minute, false},
		{"ours", answered, 48 * time.Hour, true},
		{"future", answered, -time.Hour, false},
	} {
		h.session(p.Root, c.id, c.content, c.age)
		h.vars["CLAUDE_CODE_SESSION_ID"] = "ours"
		s, err := Pick(t.Context(), h.env, FindOptions{Project: p}, c.id)
		if err != nil || s.Live != c.want || s.Live != (s.LiveWhy != "") {
			t.Errorf("%s: %+v, %v", c.id, s, err)
		}
	}
}

func TestExpiring(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	const day = 24 * time.Hour
	h.session(p.Root, "old", chat(p.Root, "x"), 40*day)
	h.session(p.Root, "soon", chat(p.Root, "x"), 27*day)
	h.session(p.Root, "new", chat(p.Root, "x"), day)
	o := FindOptions{Project: p}
	all := h.find(o)
	got := all.Expiring(h.now, 7*day)
	if len(got) != 2 || got[0].ID != "soon" || got[1].ID != "old" {
		t.Fatalf("got %v", got)
	}
	if w := ExpiryWarning(h.env, o, got); !strings.Contains(w, "2 sessions at its next start") || !strings.Contains(w, "old") || !strings.Contains(w, "archive") {
		t.Errorf("%s", w)
	}
	if w := ExpiryWarning(h.env, o, got[:1]); !strings.Contains(w, "1 session from 2026-12-03 on") {
		t.Errorf("%s", w)
	}
	h.write("home/.claude/settings.json", `{"cleanupPeriodDays": 365}`)
	if got := h.find(o).Expiring(h.now, 7*day); len(got) != 0 {
		t.Errorf("with another period: %v", got)
	}
	if w := ExpiryWarning(h.env, o, nil); w != "" {
		t.Error(w)
	}
}

// TestFactsOfWhatGrows compares facts that are continued with those of a fresh look.
func TestFactsOfWhatGrows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kinds := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 12).Draw(rt, "kinds")
		var lines []string
		for i, k := range kinds {
			// Rows that occur twice are counted once by a look at all of them, and are left out here.
			lines = append(lines, []string{
				chatOf(uint32(2*i), "/w/a", "one"), chatOf(uint32(2*i+1), "/w/b", "two", "three"), jsonl("type", "custom-title", "customTitle", "T"), jsonl("type", "ai-title", "aiTitle", "A"),
				jsonl("type", "summary", "summary", "S", "leafUuid", id(1)), "{broken\n", "\n", "\r\n", "\x00\n", "[1]\n", jsonl("type", "mode"),
				jsonl("type", "system", "subtype", "compact_boundary", "uuid", id(9+i)), strings.Repeat("x", markSize) + "\n",
			}[k])
		}
		whole := strings.Join(lines, "")
		var kept *noted
		for at := 0; at < len(whole); {
			at = rapid.IntRange(at+1, len(whole)).Draw(rt, "size")
			now := []byte(whole[:at])
			n, err := note(t.Context(), bytes.NewReader(now), int64(at), kept, nil)
			if err != nil {
				rt.Fatal(err)
			}
			fresh, err := note(t.Context(), bytes.NewReader(now), int64(at), nil, nil)
			if err != nil {
				rt.Fatal(err)
			}
			if d := cmp.Diff(fresh.facts(), n.facts()); d != "" {
				rt.Fatalf("at %d (-fresh +continued):\n%s", at, d)
			}
			kept = n
		}
	})
}

func TestFactsReadOnlyTheNewEnd(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	path := h.session(p.Root, id(1), chat(p.Root, "one", "two"), time.Hour)
	h.find(FindOptions{Project: p})
	// What was read is spoilt, but for the mark before its end: who reads it again notices.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := bytes.Repeat([]byte(" "), len(data)-markSize)
	grown := append(append(spoilt, data[len(data)-markSize:]...), chat(p.Root, "three")...)
	h.write(path, string(grown))
	s := h.find(FindOptions{Project: p}).List[0]
	if s.Turns != 2 || s.FirstPrompt != "one" || s.Damage != "" {
		t.Errorf("%+v", s.Facts)
	}
	// One that was written anew is read anew.
	h.write(path, chat(p.Root, "another", "beginning", "and", "more of", "it", "to be longer than before"))
	if s = h.find(FindOptions{Project: p}).List[0]; s.FirstPrompt != "another" || s.Turns != 3 {
		t.Errorf("%+v", s.Facts)
	}
	h.write(path, chat(p.Root, "short"))
	if s = h.find(FindOptions{Project: p}).List[0]; s.FirstPrompt != "short" || s.Turns != 1 {
		t.Errorf("%+v", s.Facts)
	}
}

func TestFactsCacheGarbage(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	h.session(p.Root, id(1), chat(p.Root, "one", "two"), time.Hour)
	want := h.find(FindOptions{Project: p}).List[0].Facts
	files, err := filepath.Glob(filepath.Join(h.env.CacheDir, factsDir, "*"+factsExt))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(good, []byte("\n\n")) || !bytes.HasPrefix(good, []byte(`{"v":1,`)) {
		t.Errorf("the cache is %q", good)
	}
	check := func(name string) {
		t.Helper()
		got := h.find(FindOptions{Project: p})
		if d := cmp.Diff(want, got.List[0].Facts); d != "" || len(got.Notes) != 0 {
			t.Errorf("%s: %s %v", name, d, got.Notes)
		}
	}
	for name, bad := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "cut": good[:len(good)/2], "flipped": bytes.Replace(good, []byte(`"turns":1`), []byte(`"turns":7`), 1),
		"later version": bytes.Replace(good, []byte(`{"v":1,`), []byte(`{"v":9,`), 1), "null": []byte("null\nnull"), "deep": bytes.Repeat([]byte("["), 1<<16),
	} {
		if bytes.Equal(bad, good) {
			t.Fatalf("%s is as before", name)
		}
		if err := os.WriteFile(files[0], bad, 0o600); err != nil {
			t.Fatal(err)
		}
		check(name)
		if back, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(back, good) {
			t.Errorf("%s: the cache was not made again: %v", name, err)
		}
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	h.mkdir(strings.TrimPrefix(files[0], h.dir+string(filepath.Separator))) // a folder in its place
	got := h.find(FindOptions{Project: p})
	if d := cmp.Diff(want, got.List[0].Facts); d != "" || len(got.Notes) != 1 {
		t.Errorf("a folder in place of the cache: %s %v", d, got.Notes)
	}
}

func TestFactsCacheForgets(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	h.session(p.Root, id(1), chat(p.Root, "one"), time.Hour)
	path := h.session(p.Root, id(2), chat(p.Root, "two"), time.Hour)
	h.find(FindOptions{Project: p})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	h.session(p.Root, id(1), chat(p.Root, "one", "more"), time.Minute)
	h.find(FindOptions{Project: p})
	if sh := shelfOf(h.env, filepath.Dir(path)); len(sh.Files) != 1 {
		t.Errorf("%v", sh.Files)
	}
	// One whose folder nobody asks for goes after a while.
	old := filepath.Join(h.env.CacheDir, factsDir, "0123"+factsExt)
	h.write(old, "x")
	h.age(old, 100*24*time.Hour)
	h.find(FindOptions{})
	if _, err := os.Stat(old); err == nil {
		t.Error("unused facts stay for ever")
	}
}

func TestFactsCacheTogether(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	for i := range 30 {
		h.session(p.Root, id(i), chat(p.Root, fmt.Sprint("prompt ", i), "answer"), time.Hour)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				s, err := Find(t.Context(), h.env, FindOptions{Project: p})
				if err != nil || len(s.List) != 30 || len(s.Notes) != 0 {
					t.Errorf("%v: %d, %v", err, len(s.List), s.Notes)
				}
			}
		})
	}
	wg.Wait()
	left, err := filepath.Glob(filepath.Join(h.env.CacheDir, factsDir, atomicfile.TempPrefix+"*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// BenchmarkFirstLook is the listing of sessions of which nothing is known yet: 20
// transcripts of 5 MB, shaped like real ones.
func BenchmarkFirstLook(b *testing.B) {
	h := newHome(b)
	p := h.repository("proj")
	var made bytes.Buffer
	if _, err := transcripttest.Write(&made, transcripttest.Options{Bytes: 5 << 20, Noise: 0.8}); err != nil {
		b.Fatal(err)
	}
	for i := range 20 {
		h.session(p.Root, id(i), chat(p.Root, "first")+made.String(), time.Hour)
	}
	b.SetBytes(20 * int64(made.Len()))
	for b.Loop() {
		if err := os.RemoveAll(h.env.CacheDir); err != nil {
			b.Fatal(err)
		}
		if s, err := Find(b.Context(), h.env, FindOptions{Project: p}); err != nil || len(s.List) != 20 {
			b.Fatal(err)
		}
	}
}

// BenchmarkGrown is the same when one of them has grown by a turn.
func BenchmarkGrown(b *testing.B) {
	h := newHome(b)
	p := h.repository("proj")
	var made bytes.Buffer
	if _, err := transcripttest.Write(&made, transcripttest.Options{Bytes: 50 << 20, Noise: 0.8}); err != nil {
		b.Fatal(err)
	}
	path := h.session(p.Root, id(1), chat(p.Root, "first")+made.String(), time.Hour)
	if _, err := Find(b.Context(), h.env, FindOptions{Project: p}); err != nil {
		b.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	n := uint32(0)
	for b.Loop() {
		n++
		if _, err := f.WriteString(chatOf(n, p.Root, "more", "answer")); err != nil {
			b.Fatal(err)
		}
		if s, err := Find(b.Context(), h.env, FindOptions{Project: p}); err != nil || len(s.List) != 1 {
			b.Fatal(err)
		}
	}
}
