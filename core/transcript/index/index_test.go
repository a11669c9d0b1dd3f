package index

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	goleak.VerifyTestMain(m)
}

// session writes records the way a client does.
type session struct {
	t    testing.TB
	path string
	id   string
	n    int
	at   time.Time
}

var start = time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)

func newSession(t testing.TB, dir, id string) *session {
	return &session{t: t, path: filepath.Join(dir, id+".jsonl"), id: id, at: start}
}

func (s *session) source(project string) Source {
	return Source{Path: s.path, Session: s.id, Project: project}
}

// uuid of the n-th record.
func (s *session) uuid(n int) string {
	h := fnv.New64a()
	h.Write([]byte(s.id))
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", n, h.Sum64()&(1<<48-1))
}

func quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (s *session) append(line string) string {
	s.t.Helper()
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line); err != nil {
		s.t.Fatal(err)
	}
	return line
}

func (s *session) row(format string, args ...any) string {
	s.n++
	s.at = s.at.Add(time.Minute)
	u := s.uuid(s.n)
	tail := fmt.Sprintf(`"uuid":%q,"timestamp":%q,"cwd":"/home/dev/shop","sessionId":%q}`, u, s.at.Format("2006-01-02T15:04:05.000Z"), s.id)
	s.append(`{"parentUuid":null,"isSidechain":false,` + fmt.Sprintf(format, args...) + "," + tail + "\n")
	return u
}

func (s *session) prompt(text string) string {
	return s.row(`"type":"user","message":{"role":"user","content":%s}`, quote(text))
}

func (s *session) answer(text string) string {
	return s.row(`"message":{"id":"msg_%d","type":"message","role":"assistant","content":[{"type":"text","text":%s}]},"type":"assistant"`, s.n, quote(text))
}

func (s *session) call(name string, input any) string {
	return s.row(`"message":{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":%q,"input":%s}]},"type":"assistant"`, s.n, name, quote(input))
}

func (s *session) result(text string, failed bool) string {
	return s.row(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":%s,"is_error":%v}]},"toolUseResult":{"stdout":%s}`,
		quote(text), failed, quote("a copy that nobody indexes: "+text))
}

func open(t testing.TB, o Options) *Index {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	x, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func update(t testing.TB, x *Index, sources ...Source) Report {
	t.Helper()
	r, err := x.Update(context.Background(), sources, UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func search(t testing.TB, x *Index, q Query) Result {
	t.Helper()
	r, err := x.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if (len(r.Hits) == 0) == (r.Reason == "") {
		t.Errorf("%d hits, reason %q", len(r.Hits), r.Reason)
	}
	return r
}

func uuids(r Result) []string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, h.UUID)
	}
	return out
}

// first fails unless the best hit of a query is the record want.
func first(t *testing.T, x *Index, query, want string) Hit {
	t.Helper()
	r := search(t, x, Query{Text: query})
	if len(r.Hits) == 0 || r.Hits[0].UUID != want {
		t.Errorf("%q: the first of %d hits is not %s: %.600s", query, len(r.Hits), want, fmt.Sprintf("%+v", r))
		return Hit{}
	}
	return r.Hits[0]
}

func TestWhatIsIndexed(t *testing.T) {
	s := newSession(t, t.TempDir(), "one")
	prompt := s.prompt("Why does the nightly export fail?")
	call := s.call("Bash", map[string]any{"command": "git bisect run ./check.sh", "description": "find the commit", "nested": []any{map[string]any{"quincunx": "pomegranate"}}})
	res := s.result("start of output "+strings.Repeat("filler ", 400)+" pumpernickel "+strings.Repeat("filler ", 400)+" exit status 3: quota exceeded", false)
	answer := s.answer("The export runs out of quota.")
	s.append(`{"type":"api-request-blob","message":{"role":"user","content":"zucchini"}}` + "\n")
	s.append(`{"type":"last-prompt","lastPrompt":"zucchini","leafUuid":"x"}` + "\n")
	s.row(`"attachment":{"type":"user","content":"zucchini"},"type":"attachment","rendered":[{"content":"zucchini"}]`)
	s.row(`"type":"progress","data":{"type":"agent_progress","message":{"type":"user","message":{"role":"user","content":"zucchini"},"uuid":"x"}}`)
	s.row(`"type":"user","isMeta":true,"message":{"role":"user","content":"zucchini"}`)
	s.row(`"type":"assistant","isApiErrorMessage":true,"message":{"role":"assistant","content":[{"type":"text","text":"zucchini"}]}`)
	s.row(`"message":{"role":"assistant","content":[{"type":"thinking","thinking":"zucchini","signature":"zucchini"}]},"type":"assistant"`)
	s.prompt("<system-reminder>zucchini</system-reminder>")
	s.prompt("<local-command-caveat>zucchini</local-command-caveat>")
	command := s.prompt("<command-name>/compact</command-name>\n<command-message>zucchini</command-message>\n<command-args>keep the kohlrabi</command-args>")
	output := s.prompt("<bash-stdout>radicchio is here</bash-stdout>")
	summary := s.row(`"type":"user","isCompactSummary":true,"message":{"role":"user","content":"They looked for celeriac."}`)
	s.append(`{"type":"summary","summary":"Fixing the fennel export","leafUuid":"` + answer + `"}` + "\n")
	task := s.row(`"isSidechain":true,"type":"user","message":{"role":"user","content":"Look for salsify."}`)

	x := open(t, Options{})
	rep := update(t, x, s.source("shop"))
	if rep.Malformed != 0 || rep.Changed != 1 || len(rep.Unread) != 0 || rep.Pending != 0 {
		t.Errorf("%+v", rep)
	}
	for query, want := range map[string]struct {
		uuid string
		role Role
	}{
		"nightly":     {prompt, Prompt},
		"bisect":      {call, ToolCall},
		"pomegranate": {call, ToolCall},
		"bash":        {call, ToolCall},
		"exceeded":    {res, ToolResult},
		"kohlrabi":    {command, Prompt},
		"radicchio":   {output, ToolResult},
		"celeriac":    {summary, Summary},
		"fennel":      {answer, Summary},
		"salsify":     {task, Task},
	} {
		h := first(t, x, query, want.uuid)
		if h.Role != want.role || h.Session != "one" || h.Project != "shop" || h.Path != s.path {
			t.Errorf("%s: %+v", query, h)
		}
		if !strings.Contains(strings.ToLower(h.Snippet.Text), query) || !slices.Equal(h.Matched, []string{query}) {
			t.Errorf("%s: snippet %+v, matched %q", query, h.Snippet, h.Matched)
		}
	}
	for _, query := range []string{"zucchini", "pumpernickel", "quincunx", "copy"} {
		if r := search(t, x, Query{Text: query}); len(r.Hits) != 0 {
			t.Errorf("%s is found: %+v", query, r.Hits)
		}
	}
}
