package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/memory"
	"mem/core/transcript"
)

// TestNoResultHoldsASecret puts a secret wherever a transcript, its subagents, its session memory and
// its file history can have one, and looks at everything that every operation gives.
func TestNoResultHoldsASecret(t *testing.T) {
	d := newDesk(t)
	parent, n := "null", 0
	var b strings.Builder
	row := func(side bool, kind, rest string) {
		uuid, cwd := uuidOf(first, n), d.env.Cwd
		if n > 0 {
			cwd = filepath.Join(cwd, token)
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":%v,"type":%q,%s,"uuid":%q,"timestamp":"2026-11-29T10:%02d:00.000Z","cwd":%q,"sessionId":%q,"version":"v %s","gitBranch":"b-%s"}`+"\n",
			parent, side, kind, rest, uuid, n, cwd, first, token, token)
		parent, n = fmt.Sprintf("%q", uuid), n+1
	}
	said := func(role, content string) string {
		return fmt.Sprintf(`"message":{"role":%q,"id":"m%d","model":"model %s","content":%s}`, role, n, token, content)
	}
	everything := func(side bool) {
		row(side, "user", said("user", `"needle `+token+`"`))
		row(side, "assistant", said("assistant", `[{"type":"thinking","thinking":"needle `+token+`","signature":"`+token+`"}]`))
		row(side, "assistant", said("assistant", `[{"type":"text","text":"needle `+token+`"}]`))
		row(side, "assistant", said("assistant", fmt.Sprintf(`[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"needle %s","key %s":["%s"]}}]`, n, token, token, token)))
		row(side, "user", said("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":[{"type":"text","text":"needle %s"}]}]`, n-1, token)))
		row(side, "assistant", said("assistant", `[{"type":"text","text":"On."}]`))
		row(side, "attachment", `"attachment":{"type":"file","filename":"needle `+token+`"},"rendered":[{"content":"needle `+token+`"}]`)
		row(side, "system", `"subtype":"info","content":"needle `+token+`"`)
	}
	everything(false)
	row(false, "system", `"subtype":"compact_boundary","content":"Compacted `+token+`","compactMetadata":{"trigger":"auto `+token+`"}`)
	row(false, "user", `"isCompactSummary":true,`+said("user", `"needle: the summary has `+token+`"`))
	everything(false)
	for _, rest := range []string{
		`"type":"custom-title","customTitle":"needle ` + token + `","sessionId":"` + first + `"`,
		`"type":"ai-title","aiTitle":"needle ` + token + `","sessionId":"` + first + `"`,
		`"type":"summary","summary":"needle ` + token + `","leafUuid":"` + uuidOf(first, 0) + `"`,
		`"type":"file-history-snapshot","messageId":"` + uuidOf(first, n-8) + `","snapshot":{"messageId":"` + uuidOf(first, n-8) + `","trackedFileBackups":{"/gone/` + token + `":{"backupFileName":"0123456789abcdef@v1","version":1,"backupTime":"2026-11-29T10:00:00.000Z"}},"timestamp":"2026-11-29T10:00:00.000Z"},"isSnapshotUpdate":false`,
	} {
		b.WriteString("{" + rest + "}\n")
	}
	path := d.put(first, b.String(), 28*24*time.Hour)
	beside := strings.TrimSuffix(path, ".jsonl")
	b.Reset()
	parent = "null"
	everything(true)
	agent := strings.ReplaceAll(b.String(), `"isSidechain":true`, `"isSidechain":true,"agentId":"deadbeef"`)
	d.write(filepath.Join(beside, "subagents", "agent-deadbeef.jsonl"), agent, 28*24*time.Hour)
	d.write(filepath.Join(beside, "subagents", "agent-deadbeef.meta.json"), `{"agentType":"needle `+token+`","description":"needle `+token+`"}`, 28*24*time.Hour)

	// Another one has it in its directory, which is not of this project.
	elsewhere := filepath.Join(d.env.Home, token)
	d.put(second, talk(second, elsewhere, "needle elsewhere", "Yes."), time.Hour)

	s := d.open(Options{Version: "test"})
	found := 0
	check := func(what string, v any, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		text, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		found += strings.Count(text, "needle")
		for rest := text; ; {
			i := strings.Index(rest, token)
			if i < 0 {
				break
			}
			t.Errorf("%s shows a secret: …%s…", what, rest[max(0, i-120):min(len(rest), i+len(token)+20)])
			rest = rest[i+len(token):]
		}
	}
	ctx := t.Context()
	l, err := s.List(ctx, ListOptions{})
	check("the list", l, err)
	l, err = s.ListAll(ctx, ListOptions{})
	check("the whole list", l, err)
	for _, format := range Formats {
		for _, agent := range []string{"", "deadbeef"} {
			for cursor := ""; ; {
				r, err := s.Resume(ctx, ResumeOptions{Session: first, Agent: agent, Format: format, Include: Includes, Budget: 4000, Cursor: cursor})
				check("resume "+format+" "+agent, r, err)
				if err != nil || r.NextCursor == "" {
					break
				}
				cursor = r.NextCursor
			}
		}
		r, err := s.Resume(ctx, ResumeOptions{Session: first, At: uuidOf(first, 5), Format: format, Include: Includes})
		check("resume before the compaction "+format, r, err)
	}
	f, err := s.Search(ctx, SearchOptions{Query: "needle", Limit: 50, Wait: time.Minute})
	check("search", f, err)
	if err == nil && len(f.Hits) < 10 {
		t.Errorf("%d hits", len(f.Hits))
	}
	f, err = s.Search(ctx, SearchOptions{Query: token, Wait: time.Minute})
	if err == nil {
		f.Query, f.Unknown = "", nil // what was asked for comes back as it is
		for i := range f.Hits {
			f.Hits[i].Matched = nil
		}
		f.Ignored, f.Corrected = nil, nil
	}
	check("search for the secret", f, err)
	for _, format := range ExportFormats {
		var out bytes.Buffer
		x, err := s.Export(ctx, &out, ExportOptions{Session: first, Format: format, Agents: true, Attachments: true})
		check("what an export tells", x, err)
		check("export "+format, out.String(), err)
		p, err := s.ExportPage(ctx, ExportOptions{Session: first, Format: format, Attachments: true}, "")
		check("page of an export "+format, p, err)
	}
	other, err := s.Resume(ctx, ResumeOptions{Session: second})
	check("a session of another project", other, err)
	all, err := s.List(ctx, ListOptions{All: true})
	check("the list of all projects", all, err)
	sum, err := s.Summary(ctx, first, nil)
	check("summary", sum, err)
	d.write(filepath.Join(beside, "session-memory", "summary.md"), "# Session Title\nneedle "+token+"\n", time.Hour)
	sum, err = s.Summary(ctx, first, nil)
	check("session memory", sum, err)
	r, err := s.Resume(ctx, ResumeOptions{Session: first, Budget: 2500, Include: Includes})
	check("resume with the session memory", r, err)
	a, err := s.Archive(ctx, ArchiveOptions{})
	check("archive", a, err)
	if found < 50 {
		t.Errorf("the results hold %d of the texts beside the secret", found)
	}
	if r, err := d.open(Options{ShowSecrets: true}).Resume(ctx, ResumeOptions{Session: first, Format: "brief"}); err != nil || !strings.Contains(r.Text, token) {
		t.Errorf("who asks for secrets gets none: %v", err)
	}
}

// TestNoPathHoldsASecret: where the directory of a project has a secret, so has the client's folder for it, with other
// signs in the place of some. No result names either, and no error.
func TestNoPathHoldsASecret(t *testing.T) {
	d := newDesk(t)
	d.env.Cwd = filepath.Join(d.env.Home, token, "project")
	if err := os.MkdirAll(d.env.Cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	path := d.put(first, talk(first, d.env.Cwd, "Where is the zebra?", "Here."), 28*24*time.Hour)
	beside := strings.TrimSuffix(path, ".jsonl")
	d.write(filepath.Join(beside, "session-memory", "summary.md"), "# Session Title\nzebra\n", time.Hour)
	d.write(filepath.Join(beside, "subagents", "agent-deadbeef.jsonl"), talk(first, d.env.Cwd, "zebra"), time.Hour)
	d.put("notes", "no records\n", time.Hour)
	old := filepath.Join(d.env.Home, token+"x", "before")
	d.write(filepath.Join(d.folder(old), second+".jsonl"), talk(second, old, "Where was the zebra?", "There."), time.Hour)
	s := d.open(Options{Version: "test"})
	if _, err := s.m.Adopt(t.Context(), memory.AdoptOptions{Old: old}); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for what, do := range map[string]func(*Sessions) (any, error){
		"list":     func(s *Sessions) (any, error) { return s.List(ctx, ListOptions{}) },
		"list all": func(s *Sessions) (any, error) { return s.ListAll(ctx, ListOptions{All: true}) },
		"resume":   func(s *Sessions) (any, error) { return s.Resume(ctx, ResumeOptions{Session: first, Format: "brief"}) },
		"resume of an agent": func(s *Sessions) (any, error) {
			return s.Resume(ctx, ResumeOptions{Session: first, Agent: "deadbeef", Format: "brief"})
		},
		"resume of what was taken over": func(s *Sessions) (any, error) { return s.Resume(ctx, ResumeOptions{Session: second, Format: "brief"}) },
		"search":                        func(s *Sessions) (any, error) { return s.Search(ctx, SearchOptions{Query: "zebra", Wait: time.Minute}) },
		"export":                        func(s *Sessions) (any, error) { return s.Export(ctx, io.Discard, ExportOptions{Session: first}) },
		"page":                          func(s *Sessions) (any, error) { return s.ExportPage(ctx, ExportOptions{Session: first}, "") },
		"summary":                       func(s *Sessions) (any, error) { return s.Summary(ctx, first, nil) },
		"archive":                       func(s *Sessions) (any, error) { return s.Archive(ctx, ArchiveOptions{Every: true}) },
		"append": func(s *Sessions) (any, error) {
			return s.Append(ctx, AppendOptions{Entries: []transcript.Entry{{Role: "user", Text: "zebra"}}})
		},
		"no session":    func(s *Sessions) (any, error) { return s.Resume(ctx, ResumeOptions{Session: "zzz"}) },
		"no transcript": func(s *Sessions) (any, error) { return s.Resume(ctx, ResumeOptions{Session: "notes"}) },
		"no agent":      func(s *Sessions) (any, error) { return s.Resume(ctx, ResumeOptions{Session: first, Agent: token}) },
	} {
		got, err := do(d.open(Options{Version: "test"}))
		b, marshalErr := json.Marshal(got)
		if marshalErr != nil {
			t.Fatal(marshalErr)
		}
		text := fmt.Sprintf("%s %v", b, err)
		if i := strings.Index(text, token[4:]); i >= 0 {
			t.Errorf("%s shows a secret: …%s", what, text[max(0, i-160):i+60])
		}
		if (err != nil) != strings.HasPrefix(what, "no ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	l, err := d.open(Options{ShowSecrets: true}).List(ctx, ListOptions{})
	if err != nil || l.Project != d.env.Cwd || len(l.Sessions) == 0 || !strings.Contains(l.Sessions[len(l.Sessions)-1].Path, token[4:]) {
		t.Errorf("asked for: %+v %v", l, err)
	}
}
