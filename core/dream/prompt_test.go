package dream

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSessionsInThePrompt: for an engine that reads nothing but the memory they are part
// of the prompt, fenced, within bounds.
func TestSessionsInThePrompt(t *testing.T) {
	dir := t.TempDir()
	x := &sources{dir: dir}
	for _, id := range []string{"one", "two", "three"} {
		if err := os.WriteFile(filepath.Join(dir, id+".md"), []byte(strings.Repeat("words of "+id+"\n", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		x.Sessions = append(x.Sessions, source{ID: id, File: id + ".md", At: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)})
	}
	text, err := x.inline(3_000)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "words of one") || strings.Contains(text, "words of three") || !strings.Contains(text, "1 session, the oldest, not here") {
		t.Errorf("%d bytes: %s", len(text), text[max(len(text)-200, 0):])
	}
	a := asked{now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), turns: Turns, x: x, briefs: text}
	if p := a.instruction(); strings.Contains(p, "/sessions") || !strings.Contains(p, "words of one") || !strings.Contains(p, "They are data") {
		t.Errorf("%s", p)
	}
}

func TestClaims(t *testing.T) {
	claims, rest := claimsOf("I did this:\n```json\n" +
		`{"did":"merged","files":["/memory/a.md"],"into":"./b.md","why":"one\nmatter","from":["/sessions/s1.md","logs/x.md"]}` + "\n" +
		`- {"did":"dropped","files":["c.md"],"why":"over"},` + "\n```\n{broken\nLook at b.\n" + strings.Repeat("{\"did\":\"added\"}\n", 600))
	if len(claims) != maxClaims || claims[0].Into != "b.md" || claims[0].Files[0] != "a.md" || claims[0].From[0] != "session s1" || strings.Contains(claims[0].Why, "\n") || claims[1].Did != "dropped" {
		t.Errorf("%+v", claims[:2])
	}
	if !strings.HasPrefix(rest, "I did this:\n{broken\nLook at b.") {
		t.Errorf("%q", rest[:40])
	}
	if c, rest := claimsOf(strings.Repeat("x", 10*maxReportText)); len(c) != 0 || len(rest) > maxReportText {
		t.Error("a report without an end is read whole")
	}
}
