package transcript

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func loadAll(t *testing.T, s string) []Message {
	t.Helper()
	tr := readString(t, s, Options{})
	var out []Message
	for m, err := range Load(context.Background(), strings.NewReader(s), tr, tr.Chain(UUID{}).Rows) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func TestLoad(t *testing.T) {
	s := strings.Join([]string{
		`{"parentUuid":null,"type":"user","message":{"role":"user","content":"hel\u006co 記憶"},"uuid":"u1","timestamp":"2026-05-04T08:00:00.250Z","cwd":"/srv/work","gitBranch":"main","sessionId":"s1","version":"2.1.332","odd":{"kept":1}}`,
		`{"parentUuid":"u1","message":{"id":"m1","role":"assistant","model":"claude-test-1","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},"type":"assistant","uuid":"a1"}`,
		`{"parentUuid":"a1","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt","is_error":true}]},"uuid":"r1"}`,
		`{"parentUuid":"r1","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"b"},{"type":"image","source":{}}]},"plain"]},"uuid":"r2"}`,
		`{"parentUuid":"r2","type":"attachment","attachment":{"type":"file","path":"x"},"rendered":[{"content":"shown"},{"content":[{"type":"text","text":"too"}]}],"renderedRole":"user","uuid":"x1"}`,
		`{"parentUuid":"x1","type":"system","subtype":"notice","content":"note","uuid":"y1"}`,
		`{"parentUuid":"y1","type":"user","message":"not an object","uuid":"z1"}`,
		`{"parentUuid":"z1","type":"user","message":{"content":{"neither":1}},"uuid":"z2","timestamp":5}`,
	}, "\n") + "\n"
	got := loadAll(t, s)
	if len(got) != 8 {
		t.Fatalf("%d messages", len(got))
	}
	u := got[0]
	if u.UUID != "u1" || u.Parent != "" || u.Role != "user" || u.Text() != "hello 記憶" || u.Cwd != "/srv/work" || u.Branch != "main" ||
		u.Session != "s1" || u.Version != "2.1.332" || !u.Timestamp.Equal(time.Date(2026, 5, 4, 8, 0, 0, 250e6, time.UTC)) ||
		u.Line != 1 || !strings.Contains(string(u.Raw), `"odd":{"kept":1}`) || !u.Flags.Has(FlagPrompt) {
		t.Errorf("%+v", u)
	}
	a := got[1]
	if a.Role != "assistant" || a.ID != "m1" || a.Model != "claude-test-1" || a.Text() != "I look." || !a.Flags.Has(FlagToolUse|FlagThinking) {
		t.Errorf("%+v", a)
	}
	type short struct{ Type, Text, Name, ID, Input string }
	var blocks []short
	for _, b := range a.Content {
		blocks = append(blocks, short{b.Type, b.Text, b.Name, b.ID, string(b.Input)})
	}
	if diff := cmp.Diff([]short{{"thinking", "hm", "", "", ""}, {"text", "I look.", "", "", ""}, {"tool_use", "", "Bash", "t1", `{"command":"ls"}`}}, blocks); diff != "" {
		t.Error(diff)
	}
	if b := got[2].Content[0]; b.ID != "t1" || b.Text != "a.txt" || !b.IsError || b.Blocks != nil {
		t.Errorf("%+v", b)
	}
	if c := got[3].Content; len(c) != 2 || len(c[0].Blocks) != 2 || c[0].Blocks[0].Text != "b" || c[1].Type != "text" || c[1].Text != "plain" {
		t.Errorf("%+v", c)
	}
	if x := got[4]; x.Role != "user" || x.Subtype != "file" || x.Content[0].Text != "shown\ntoo" || string(x.Content[0].Raw) != `{"type":"file","path":"x"}` {
		t.Errorf("%+v", x)
	}
	if y := got[5]; y.Role != "system" || y.Subtype != "notice" || y.Text() != "note" {
		t.Errorf("%+v", y)
	}
	if got[6].Content != nil || got[7].Content != nil || !got[7].Timestamp.IsZero() {
		t.Error("what is not there was decoded")
	}
}

func TestLoadChangedFile(t *testing.T) {
	s := row("u1", "") + row("u2", "u1") + row("u3", "u2")
	tr := readString(t, s, Options{})
	other := row("u1", "") + row("xx", "u1") + row("u3", "u2")[:40]
	var errs []error
	for m, err := range Load(context.Background(), strings.NewReader(other), tr, []int{0, 1, 2, 9}) {
		errs = append(errs, err)
		if err != nil && m.UUID != "" {
			t.Errorf("%+v", m)
		}
	}
	if len(errs) != 4 || errs[0] != nil || !errors.Is(errs[1], ErrChanged) || !errors.Is(errs[2], ErrChanged) || errs[3] == nil {
		t.Error(errs)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range Load(ctx, strings.NewReader(s), tr, []int{0, 1}) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func TestUUID(t *testing.T) {
	for s, same := range map[string]bool{
		"0b9e8c6a-1111-4222-8333-444444444401": true, "00000000-0000-0000-0000-000000000001": true,
		"0B9E8C6A-1111-4222-8333-444444444401": false, "00000000-0000-0000-0000-000000000000": false, "u1": false,
		"0b9e8c6a-1111-4222-8333-44444444440g": false, "0b9e8c6a11114222833344444444440100000": false,
	} {
		u := ParseUUID(s)
		if u.IsZero() || (u.String() == s) != same || ParseUUID(u.String()) != u {
			t.Errorf("%s: %s", s, u)
		}
		var v UUID
		if b, err := u.MarshalText(); err != nil || v.UnmarshalText(b) != nil || v != u {
			t.Errorf("%s as text: %v", s, err)
		}
	}
	if !ParseUUID("").IsZero() || (UUID{}).String() != "" {
		t.Error("none is not none")
	}
	if ParseUUID("0B9E8C6A-1111-4222-8333-444444444401") == ParseUUID("0b9e8c6a-1111-4222-8333-444444444401") {
		t.Error("ids are compared as text, so case matters")
	}
}

func TestFileHistory(t *testing.T) {
	dir, backups := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const hash = "00112233445566"
	write(dir, "same.txt", "1")
	write(dir, "changed.txt", "22")
	write(dir, "longer.txt", "333")
	write(dir, "new.txt", "4")
	write(dir, "orphan.txt", "5")
	write(dir, "lying.txt", "6")
	write(backups, hash+"01@v2", "1")
	write(backups, hash+"02@v1", "2x")
	write(backups, hash+"03@v1", "3")
	write(backups, hash+"04@v1", "gone")
	delta := func(message, path, backup string, version string) string {
		d := strings.ReplaceAll(dir, `\`, `\\`)
		return `{"type":"file-history-delta","messageId":"` + message + `","snapshotMessageId":"u1","trackingPath":"` + path +
			`","backup":{"backupFileName":` + backup + `,"version":` + version + `,"backupTime":"2026-05-04T08:00:00.000Z","realParentDir":"` + d + `"},"timestamp":"2026-05-04T08:00:00.000Z"}` + "\n"
	}
	q := func(s string) string { return `"` + s + `"` }
	s := row("u1", "") +
		`{"type":"file-history-snapshot","messageId":"u1","snapshot":{"messageId":"u1","trackedFileBackups":{"same.txt":{"backupFileName":"` + hash + `01@v1","version":1}}},"isSnapshotUpdate":false}` + "\n" +
		row("a1", "u1") +
		delta("a1", "same.txt", q(hash+"01@v2"), "2") + delta("a1", "changed.txt", q(hash+"02@v1"), "1") + delta("a1", "longer.txt", q(hash+"03@v1"), "1") +
		delta("a1", "sub/gone.txt", q(hash+"04@v1"), "1") + delta("a1", "new.txt", "null", "1") + delta("a1", "never.txt", "null", "1") +
		delta("a1", "orphan.txt", q(hash+"99@v1"), "1") + delta("a1", "lying.txt", q("../../secret"), "1") +
		row("b1", "u1") + delta("b1", "same.txt", q(hash+"01@v9"), "9") + // a branch that was left
		`{"type":"file-history-delta","messageId":"a1","trackingPath":5}` + "\n" +
		row("u2", "a1") +
		`{"type":"file-history-snapshot","messageId":"u2","snapshot":{"messageId":"u2","trackedFileBackups":{}},"isSnapshotUpdate":false}` + "\n"
	tr := readString(t, s, Options{})
	h, err := tr.FileHistory(context.Background(), strings.NewReader(s), tr.Chain(UUID{}))
	if err != nil {
		t.Fatal(err)
	}
	if h.Records != 10 || h.Skipped != 1 || h.Problems != 1 {
		t.Errorf("%d records, %d skipped, %d problems", h.Records, h.Skipped, h.Problems)
	}
	disk := OSDisk()
	files, err := h.Compare(context.Background(), disk, backups)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range files {
		got[f.Path] = string(f.State)
		if f.Reason != "" {
			got[f.Path] += ": " + f.Reason
		}
	}
	want := map[string]string{
		"same.txt": "unchanged", "changed.txt": "changed", "longer.txt": "changed", "sub/gone.txt": "gone", "new.txt": "changed",
		"never.txt": "unchanged", "orphan.txt": "backup-missing", "lying.txt": "unknown: the name of the copy is not one that the client gives",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	if _, err := disk.Stat(dir); err == nil {
		t.Error("a folder counts as a file")
	}

	// Up to an earlier leaf there is only the first copy.
	h, err = tr.FileHistory(context.Background(), strings.NewReader(s), tr.Chain(ParseUUID("u1")))
	if err != nil || len(h.Files) != 1 || h.Files[0].Version != 1 {
		t.Errorf("%v %+v", err, h)
	}
	disk.Stat = func(string) (int64, error) { return 0, fs.ErrPermission }
	if files, err := h.Compare(context.Background(), disk, backups); err != nil || files[0].State != FileUnknown || files[0].Reason == "" {
		t.Errorf("%v %+v", err, files)
	}
	if _, err := tr.FileHistory(context.Background(), strings.NewReader(s[:300]), tr.Chain(UUID{})); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}
