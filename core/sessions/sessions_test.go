package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mem/core/memory"
	"mem/core/transcript"
)

func TestListAndPick(t *testing.T) {
	d := newDesk(t)
	d.put(first, talk(first, d.env.Cwd, "Make the cache warm before the release", "Done."), 2*time.Hour)
	d.put(second, talk(second, d.env.Cwd, "Who owns billing?", "Ana."), time.Hour)
	other := filepath.Join(d.env.Home, "elsewhere")
	d.write(filepath.Join(d.folder(other), "cccccccc-0000.jsonl"), talk("cccccccc-0000", other, "Elsewhere", "Yes."), 3*time.Hour)
	s := d.open(Options{})
	l, err := s.List(t.Context(), ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if l.Total != 2 || l.Sessions[0].Session != second || l.Sessions[1].FirstPrompt != "Make the cache warm before the release" || l.Sessions[1].Turns != 1 {
		t.Errorf("%+v", l)
	}
	if all, err := s.List(t.Context(), ListOptions{All: true}); err != nil || all.Total != 3 || all.Project != "" {
		t.Errorf("all: %+v %v", all, err)
	}
	// Pages.
	one, err := s.List(t.Context(), ListOptions{Limit: 1})
	if err != nil || len(one.Sessions) != 1 || one.NextCursor != "1" {
		t.Errorf("%+v %v", one, err)
	}
	two, err := s.List(t.Context(), ListOptions{Limit: 1, Cursor: one.NextCursor})
	if err != nil || two.Sessions[0].Session != first || two.NextCursor != "" {
		t.Errorf("%+v %v", two, err)
	}
	for _, cursor := range []string{"x", "-1", "7"} {
		if _, err := s.List(t.Context(), ListOptions{Cursor: cursor}); err == nil || !strings.Contains(err.Error(), "cursor") {
			t.Errorf("%s: %v", cursor, err)
		}
	}
	// latest is not the session that asks.
	for own, want := range map[string]string{"": second, second: first, first: second} {
		d.vars["CLAUDE_CODE_SESSION_ID"] = own
		if r, err := s.Resume(t.Context(), ResumeOptions{Session: Latest}); err != nil || r.Session != want {
			t.Errorf("latest of %q: %+v %v", own, r, err)
		}
	}
	// One of another project by its id, with a note.
	r, err := s.Resume(t.Context(), ResumeOptions{Session: "cccc", Format: "brief"})
	if err != nil || !strings.Contains(strings.Join(r.Notes, "\n"), "not of this project") {
		t.Errorf("%+v %v", r, err)
	}
}

func TestResume(t *testing.T) {
	d := newDesk(t)
	path := d.put(first, talk(first, d.env.Cwd, "Make the cache warm; the key is "+token, "Warm.", "And now?", "Ship it."), time.Hour)
	s := d.open(Options{})
	r, err := s.Resume(t.Context(), ResumeOptions{Session: "aaaa"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Messages) != 4 || r.Coverage.OnChain != 4 || r.ResumePoint != uuidOf(first, 3) || r.Path != path || r.Secrets != 1 {
		t.Errorf("%+v", r)
	}
	b, err := json.Marshal(r)
	if err != nil || bytes.Contains(b, []byte(token)) || !bytes.Contains(b, []byte(`"messages":[{"role":"user"`)) {
		t.Errorf("%s %v", b, err)
	}
	at, err := s.Resume(t.Context(), ResumeOptions{Session: first, At: uuidOf(first, 1), Format: "brief"})
	if err != nil || at.ResumePoint != uuidOf(first, 1) || strings.Contains(at.Text, "Ship it") {
		t.Errorf("%+v %v", at, err)
	}
	shown := d.open(Options{ShowSecrets: true})
	if r, err := shown.Resume(t.Context(), ResumeOptions{Session: first, Format: "brief"}); err != nil || !strings.Contains(r.Text, token) {
		t.Errorf("a person who asks for secrets: %v", err)
	}
	for _, tt := range []struct {
		o    ResumeOptions
		want string
	}{
		{ResumeOptions{}, "session is empty"},
		{ResumeOptions{Session: "zzz"}, "no session begins with zzz"},
		{ResumeOptions{Session: path}, "no session begins with"}, // an agent names no files
		{ResumeOptions{Session: first, Format: "pdf"}, "there is no format pdf"},
		{ResumeOptions{Session: first, Include: []string{"all"}}, "all cannot be included"},
		{ResumeOptions{Session: first, Budget: 5}, "too small"},
		{ResumeOptions{Session: first, Cursor: "x"}, "cursor"},
		{ResumeOptions{Session: first, At: uuidOf(second, 0)}, "no message"},
		{ResumeOptions{Session: first, Agent: "x"}, "has no subagent x; those that it has: none"},
	} {
		if _, err := s.Resume(t.Context(), tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %s", tt.o, err, tt.want)
		}
	}
	d.put(first[:4]+"zz", talk(first[:4]+"zz", d.env.Cwd, "x", "y"), time.Hour)
	var several *transcript.AmbiguousError
	if _, err := s.Resume(t.Context(), ResumeOptions{Session: "aaaa"}); !errors.As(err, &several) || len(several.Sessions) != 2 {
		t.Errorf("%v", err)
	}
}

func TestFilesOfAPerson(t *testing.T) {
	d := newDesk(t)
	s := d.open(Options{Files: true})
	dir := filepath.Join(d.env.Cwd, "logs.d")
	d.write(filepath.Join(dir, "x.jsonl"), talk("x", "/gone", "Hello", "Hi."), time.Hour)
	d.write(filepath.Join(dir, "pretty.json"), "{\n  \"type\": \"user\"\n}\n", time.Hour)
	d.write(filepath.Join(dir, "empty.jsonl"), "", time.Hour)
	if r, err := s.Resume(t.Context(), ResumeOptions{Session: "logs.d/x.jsonl"}); err != nil || len(r.Messages) != 2 || r.Session != "x" {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := s.Resume(t.Context(), ResumeOptions{Session: "logs.d/empty.jsonl", Format: "brief"}); err != nil || !strings.Contains(strings.Join(r.Notes, " "), "no message") {
		t.Errorf("%+v %v", r, err)
	}
	for path, want := range map[string]string{"logs.d": "it is a directory", "logs.d/pretty.json": "one record on each line", "logs.d/none.jsonl": "file does not exist; transcript_list"} {
		if _, err := s.Resume(t.Context(), ResumeOptions{Session: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAppend(t *testing.T) {
	d := newDesk(t)
	d.put(first, talk(first, d.env.Cwd, "x", "y"), time.Hour)
	s := d.open(Options{Version: "test"})
	r, err := s.Append(t.Context(), AppendOptions{Title: "Warm caches", Entries: []transcript.Entry{{Role: "user", Text: "Warm it with " + token}, {Role: "assistant", Text: "Warm."}}})
	if err != nil || !r.Created || len(r.UUIDs) != 2 || len(r.Redacted) == 0 {
		t.Fatalf("%+v %v", r, err)
	}
	if _, err := s.Append(t.Context(), AppendOptions{Session: r.Session, Entries: []transcript.Entry{{Role: "user", Text: "More?"}}}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Resume(t.Context(), ResumeOptions{Session: r.Session})
	if err != nil || len(got.Messages) != 3 || got.Origin != transcript.OriginRecorded || got.Title != "Warm caches" {
		t.Errorf("%+v %v", got, err)
	}
	if f, err := s.Search(t.Context(), SearchOptions{Query: "warm"}); err != nil || len(f.Hits) == 0 {
		t.Errorf("%+v %v", f, err)
	}
	if l, err := s.List(t.Context(), ListOptions{}); err != nil || l.Total != 2 {
		t.Errorf("%+v %v", l, err)
	}
	for _, tt := range []struct {
		o    AppendOptions
		want string
	}{
		{AppendOptions{}, "nothing to record"},
		{AppendOptions{Session: "../x", Title: "x"}, "no session id"},
		{AppendOptions{Session: first, Title: "x"}, "recorded by its client"},
		{AppendOptions{Entries: []transcript.Entry{{Role: "boss", Text: "x"}}}, "role"},
	} {
		if _, err := s.Append(t.Context(), tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
}

// The pages of an export make the document, whatever the session says.
func TestExportPages(t *testing.T) {
	d := newDesk(t)
	var said []string
	for i := range 60 {
		said = append(said, fmt.Sprintf("Turn %d: %s", i, strings.Repeat("記憶は <会話> を越えて & 残る。\n", 30)))
	}
	said[7] = "The key is " + token
	path := d.put(first, talk(first, d.env.Cwd, said...), time.Hour)
	s := d.open(Options{})
	for _, format := range ExportFormats {
		var whole bytes.Buffer
		x, err := s.Export(t.Context(), &whole, ExportOptions{Session: first, Format: format})
		if err != nil || x.Turns != 30 || x.Secrets != 1 || strings.Contains(whole.String(), token) {
			t.Fatalf("%+v %v", x, err)
		}
		var text strings.Builder
		cursor, pages := "", 0
		for {
			p, err := s.ExportPage(t.Context(), ExportOptions{Session: first, Format: format}, cursor)
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := json.Marshal(p); utf8.RuneCount(b) > 25_000 || !utf8.ValidString(p.Text) {
				t.Errorf("a page of %d characters", utf8.RuneCount(b))
			}
			text.WriteString(p.Text)
			if pages++; p.NextCursor == "" {
				break
			}
			if cursor = p.NextCursor; pages == 1 { // somebody goes on with it
				d.put(first, talk(first, d.env.Cwd, append(said, "One more", "Yes.")...), time.Minute)
			}
		}
		if pages < 3 || text.String() != whole.String() {
			t.Errorf("%s: %d pages make %d bytes, not the %d of the document", format, pages, text.Len(), whole.Len())
		}
		d.put(first, talk(first, d.env.Cwd, said...), time.Hour)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	behind := fmt.Sprintf("99999999-%d", info.Size())
	for cursor, want := range map[string]string{"x": "not one of an export", "0-99999999": "shorter", behind: "behind the end"} {
		if _, err := s.ExportPage(t.Context(), ExportOptions{Session: first}, cursor); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", cursor, err)
		}
	}
	if _, err := s.Export(t.Context(), &bytes.Buffer{}, ExportOptions{Session: first, Format: "pdf"}); err == nil {
		t.Error("there is no such format")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != talk(first, d.env.Cwd, said...) {
		t.Error("the transcript was touched")
	}
}

func TestArchive(t *testing.T) {
	d := newDesk(t)
	old := d.put(first, talk(first, d.env.Cwd, "Old talk", "Yes."), 28*24*time.Hour)
	d.put(second, talk(second, d.env.Cwd, "New talk", "Yes."), time.Hour)
	s := d.open(Options{Version: "test"})
	l, err := s.List(t.Context(), ListOptions{})
	if err != nil || !strings.Contains(strings.Join(l.Notes, " "), "will delete 1 session") || l.Sessions[1].Expires == "" {
		t.Errorf("%+v %v", l, err)
	}
	a, err := s.Archive(t.Context(), ArchiveOptions{})
	if err != nil || len(a.Sessions) != 1 || a.Sessions[0].Session != first || a.Sessions[0].Action != "copied" {
		t.Fatalf("%+v %v", a, err)
	}
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resume(t.Context(), ResumeOptions{Session: first, Format: "brief"})
	if err != nil || r.Origin != transcript.OriginArchive || !strings.Contains(r.Text, "Old talk") {
		t.Errorf("%+v %v", r, err)
	}
	if f, err := s.Search(t.Context(), SearchOptions{Query: "old talk"}); err != nil || len(f.Hits) == 0 || f.Hits[0].Session != first {
		t.Errorf("%+v %v", f, err)
	}
	if a, err := s.Archive(t.Context(), ArchiveOptions{Every: true}); err != nil || len(a.Sessions) != 1 || a.Sessions[0].Session != second {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := s.Archive(t.Context(), ArchiveOptions{}); err != nil || len(a.Sessions) != 0 || !strings.Contains(strings.Join(a.Notes, " "), "No session needs a copy") {
		t.Errorf("%+v %v", a, err)
	}
}

// Results stay within what clients take, whatever sessions say.
func TestResultsAreBounded(t *testing.T) {
	d := newDesk(t)
	long := strings.Repeat("記憶<&> needle ", 300)
	for i := range 300 {
		id := fmt.Sprintf("%08d-x", i)
		d.put(id, talk(id, d.env.Cwd, long, long)+`{"type":"custom-title","customTitle":"`+strings.Repeat("&", 5000)+`","sessionId":"`+id+`"}`+"\n", time.Duration(i)*time.Minute)
	}
	for i := range 100 {
		d.put(fmt.Sprintf("dir%d", i)+"&", "no transcript", time.Hour)
	}
	s := d.open(Options{})
	l, err := s.List(t.Context(), ListOptions{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Search(t.Context(), SearchOptions{Query: "needle", Limit: 50, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Resume(t.Context(), ResumeOptions{Session: "00000007", Budget: 5000})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"list": l, "search": f, "resume": r} {
		if n := memory.Size(v); n > 45_000 {
			t.Errorf("%s has %d characters", name, n)
		}
	}
	seen := 0
	for cursor := ""; ; {
		l, err := s.List(t.Context(), ListOptions{Limit: 200, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		seen += len(l.Sessions)
		if cursor = l.NextCursor; cursor == "" {
			break
		}
	}
	if seen != l.Total {
		t.Errorf("the pages hold %d of %d sessions", seen, l.Total)
	}
}

// A project that was moved is told where its memory and sessions are.
func TestMovedIsOffered(t *testing.T) {
	d := newDesk(t)
	old := filepath.Join(d.env.Home, "before", "project")
	for _, name := range []string{"main.go", "cache.go"} {
		if err := os.WriteFile(filepath.Join(d.env.Cwd, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	row := `{"parentUuid":null,"isSidechain":false,"type":"assistant","message":{"role":"assistant","id":"m","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"%s"}}]},"uuid":"%s","timestamp":"2026-11-29T10:00:00.000Z","cwd":"%s","sessionId":"%s","version":"2.1.332"}` + "\n"
	content := talk(first, old, "Warm the cache", "Yes.")
	for i, name := range []string{"main.go", "cache.go"} {
		content += fmt.Sprintf(row, filepath.Join(old, name), uuidOf(second, i), old, first)
	}
	d.write(filepath.Join(d.folder(old), first+".jsonl"), content, time.Hour)
	s := d.open(Options{})
	moved, err := s.m.Moved(t.Context(), memory.MovedOptions{})
	if err != nil || len(moved) != 1 || moved[0].Root != old {
		t.Fatalf("%+v %v", moved, err)
	}
	l, err := s.List(t.Context(), ListOptions{})
	if err != nil || l.Total != 0 || !strings.Contains(strings.Join(l.Notes, " "), "mem-mcp adopt "+moved[0].ID) {
		t.Errorf("%+v %v", l, err)
	}
	c, err := s.m.SessionStart(t.Context())
	if err != nil || !strings.Contains(c.Text, "mem-mcp adopt "+moved[0].ID) {
		t.Errorf("%+v %v", c, err)
	}
	// The client was started here since: it made an empty memory directory and a session.
	if err := os.MkdirAll(s.m.Location.Directory, 0o755); err != nil {
		t.Fatal(err)
	}
	here := d.put(second, talk(second, d.env.Cwd, "Where is everything?", "Gone."), time.Minute)
	if l, err := s.List(t.Context(), ListOptions{}); err != nil || l.Total != 1 || !strings.Contains(strings.Join(l.Notes, " "), "mem-mcp adopt "+moved[0].ID) {
		t.Errorf("%+v %v", l, err)
	}
	if err := os.Remove(here); err != nil {
		t.Fatal(err)
	}
	if _, err := s.m.Adopt(t.Context(), memory.AdoptOptions{Old: moved[0].ID}); err != nil {
		t.Fatal(err)
	}
	if l, err := s.List(t.Context(), ListOptions{}); err != nil || l.Total != 1 || l.Sessions[0].From != old || len(l.Notes) != 0 {
		t.Errorf("%+v %v", l, err)
	}
	if c, err := s.m.SessionStart(t.Context()); err != nil || strings.Contains(c.Text, "mem-mcp adopt") {
		t.Errorf("%+v %v", c, err)
	}
}
