package memdir

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/memfile"
)

var noon = time.Date(2026, 1, 2, 12, 0, 5, 0, time.UTC)

func TestLogEntry(t *testing.T) {
	for _, c := range []struct {
		name string
		note LogNote
		want string
	}{
		{"a memory", LogNote{Name: "api-style", Type: "feedback", Description: "how\nto name", Body: "\nuse nouns\n\n", Origin: "s1"},
			"## 12:00:05 api-style\n\n- type: feedback\n- description: how to name\n- originSessionId: s1\n\nuse nouns\n\n"},
		{"a note", LogNote{Body: "a\r\nb"}, "## 12:00:05 note\n\na\nb\n\n"},
		{"a name alone", LogNote{Name: " a \n b "}, "## 12:00:05 a b\n\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := LogEntry(noon, c.note); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestLogWithdrawal(t *testing.T) {
	got := LogWithdrawal(noon, noon.Add(-time.Hour), "api\nstyle")
	if want := "## 12:00:05 withdrawn\n\nThe entry of 11:00:05 (api style) was taken back; do not use it.\n\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestViewLogs(t *testing.T) {
	src := fstest.MapFS{}
	for _, p := range []string{
		"logs/2026/01/2026-01-02.md", "logs/2025/12/2025-12-31.md", "logs/2026/01/2026-01-10.md",
		"logs/2026/01/notes.md", "logs/2026/01/2026-02-01.md", "logs/2026/1/2026-01-02.md", "logs/readme.txt", "logs/x/y.md", "sub/logs/topic.md", "topic.md",
	} {
		src[p] = &fstest.MapFile{Data: []byte("x")}
	}
	v := read(t, src, nil)
	var dates []string
	for _, l := range v.Logs {
		dates = append(dates, l.Date)
		if l.Path == "" || l.Size != 1 {
			t.Errorf("%+v", l)
		}
	}
	if d := cmp.Diff([]string{"2026-01-10", "2026-01-02", "2025-12-31"}, dates); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"sub/logs/topic.md", "topic.md"}, paths(v)); d != "" {
		t.Error(d)
	}
}

func FuzzLogEntry(f *testing.F) {
	f.Add("a", "user", "d", "body", "s")
	f.Add("## x\r\n", "\n", "\x00", "```\n<!--", "\u2028")
	f.Fuzz(func(t *testing.T, name, typ, description, body, origin string) {
		e := LogEntry(noon, LogNote{Name: name, Type: typ, Description: description, Body: body, Origin: origin})
		if !strings.HasPrefix(e, "## 12:00:05 ") || !strings.HasSuffix(e, "\n\n") {
			t.Fatalf("%q", e)
		}
		if h := memfile.Parse(e).Outline().Headings; len(h) == 0 || !strings.HasPrefix(h[0].Text, "12:00:05") {
			t.Fatalf("%q has headings %v", e, h)
		}
		if strings.TrimSpace(body) == body && !strings.Contains(body, "\r") && !strings.Contains(e, body) {
			t.Fatalf("the body is not in %q", e)
		}
	})
}
