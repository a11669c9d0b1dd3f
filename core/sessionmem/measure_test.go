package sessionmem

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"mem/core/settings"
	"mem/core/transcript"
)

// script writes a transcript: each line is a row of a conversation.
type script struct {
	b    strings.Builder
	last string
	n    int
}

func (s *script) row(kind, rest string) string {
	s.n++
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", s.n)
	parent := "null"
	if s.last != "" {
		parent = `"` + s.last + `"`
	}
	fmt.Fprintf(&s.b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":%q,"timestamp":"2026-01-01T00:00:%02dZ","sessionId":"s","cwd":"/p","version":"1",%s}`+"\n", parent, kind, id, s.n%60, rest)
	s.last = id
	return id
}

func (s *script) prompt(text string) string {
	return s.row("user", fmt.Sprintf(`"message":{"role":"user","content":%q}`, text))
}

// answer has a text or calls of tools, and the tokens of its request.
func (s *script) answer(tokens int, calls ...string) string {
	content := `{"type":"text","text":"so"}`
	for _, c := range calls {
		content += fmt.Sprintf(`,{"type":"tool_use","id":%q,"name":"Read","input":{}}`, c)
	}
	return s.row("assistant", fmt.Sprintf(`"message":{"id":"m%d","role":"assistant","content":[%s],"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d}}`, s.n, content, tokens/2, tokens/4, tokens-tokens/2-tokens/4))
}

func (s *script) result(call string) string {
	return s.row("user", fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]}`, call))
}

// compact adds a boundary with its summary.
func (s *script) compact() string {
	s.n++
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", s.n)
	fmt.Fprintf(&s.b, `{"parentUuid":null,"logicalParentUuid":%q,"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":100},"uuid":%q,"timestamp":"2026-01-01T00:01:00Z","sessionId":"s","cwd":"/p","version":"1"}`+"\n", s.last, id)
	s.last = id
	s.row("user", `"isCompactSummary":true,"message":{"role":"user","content":"what was before"}`)
	return id
}

func (s *script) take(t *testing.T, st *State) Measure {
	t.Helper()
	src := strings.NewReader(s.b.String())
	tr, err := transcript.Read(context.Background(), src, int64(src.Len()), transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Take(context.Background(), src, tr, tr.Chain(transcript.UUID{}), st)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var seed = settings.Default().Jobs.SessionMemory

func TestThresholds(t *testing.T) {
	s := &script{}
	s.prompt("build it")
	s.answer(9_000)
	if d := Decide(seed, nil, s.take(t, nil)); d.Due || !strings.Contains(d.Reason, "9000 tokens, and the first summary is written at 10000") || d.Estimated {
		t.Errorf("below the first threshold: %+v", d)
	}
	s.prompt("go on")
	s.answer(12_000, "a", "b")
	m := s.take(t, nil)
	if d := Decide(seed, nil, m); !d.Due || d.Calls != 2 || d.Tokens != 12_000 {
		t.Errorf("at the first threshold: %+v", d)
	}
	st := &State{Session: "s", Leaf: m.Leaf, Tokens: m.Tokens, Boundary: m.Boundary, Updated: time.Unix(1, 0)}
	s.result("a")
	s.result("b")
	s.answer(16_000, "c")
	if d := Decide(seed, st, s.take(t, st)); d.Due || d.Grown != 4_000 {
		t.Errorf("4,000 more: %+v", d)
	}
	s.result("c")
	s.answer(18_000, "d")
	if d := Decide(seed, st, s.take(t, st)); d.Due || d.Calls != 2 || !strings.Contains(d.Reason, "in the middle of its work") {
		t.Errorf("6,000 more and two calls in the middle of work: %+v", d)
	}
	s.result("d")
	if m := s.take(t, st); m.Pause {
		t.Errorf("a result that waits for an answer is no pause: %+v", m)
	}
	s.answer(18_500, "e")
	if d := Decide(seed, st, s.take(t, st)); !d.Due || d.Calls != 3 {
		t.Errorf("three calls: %+v", d)
	}
	s.result("e")
	done := s.answer(19_000)
	m = s.take(t, st)
	if d := Decide(seed, st, m); !d.Due || !m.Pause || m.Leaf != transcript.ParseUUID(done) {
		t.Errorf("a pause: %+v, %+v", d, m)
	}
	st2 := &State{Session: "s", Leaf: m.Leaf, Tokens: m.Tokens, Updated: time.Unix(1, 0)}
	s.prompt("more")
	s.answer(25_000)
	if d := Decide(seed, st2, s.take(t, st2)); !d.Due || d.Calls != 0 || !strings.Contains(d.Reason, "pauses") {
		t.Errorf("5,000 more and a pause without any call: %+v", d)
	}
}

func TestAfterACompactionTheBaselineStartsAnew(t *testing.T) {
	s := &script{}
	s.prompt("build it")
	s.answer(100_000)
	m := s.take(t, nil)
	st := &State{Session: "s", Leaf: m.Leaf, Tokens: m.Tokens, Updated: time.Unix(1, 0)}
	boundary := s.compact()
	s.answer(20_000)
	m = s.take(t, st)
	if m.Boundary != transcript.ParseUUID(boundary) || m.Baseline != 20_000 || m.Reached {
		t.Fatalf("measured %+v", m)
	}
	if d := Decide(seed, st, m); d.Due || d.Grown != 0 || !strings.Contains(d.Reason, "since the compaction") {
		t.Errorf("right after it: %+v", d)
	}
	s.prompt("go on")
	s.answer(26_000)
	if d := Decide(seed, st, s.take(t, st)); !d.Due || d.Grown != 6_000 {
		t.Errorf("6,000 later: %+v", d)
	}
}

func TestTokensAreEstimatedWhereNobodyTells(t *testing.T) {
	s := &script{}
	s.prompt(strings.Repeat("word ", 12_000))
	s.row("assistant", `"message":{"role":"assistant","content":"so"}`)
	m := s.take(t, nil)
	if !m.Estimated || m.Tokens < 14_000 || m.Tokens > 16_000 {
		t.Fatalf("measured %+v", m)
	}
	if d := Decide(seed, nil, m); !d.Due || !d.Estimated || !strings.Contains(d.Reason, "about ") {
		t.Errorf("decided %+v", d)
	}
}

func TestNothingToMeasure(t *testing.T) {
	s := &script{}
	s.prompt("hello")
	m := s.take(t, nil)
	if m.Pause || m.Calls != 0 || m.Tokens > 100 {
		t.Errorf("measured %+v", m)
	}
}
