package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mem/internal/need"
)

// recording begins a recording of two entries.
func (h *home) recording(session string, words ...string) Recording {
	r := Recording{Directory: h.path("memory"), Session: session, Cwd: h.path("w"), Branch: "main", Version: "other-client 1.0"}
	for i, w := range words {
		r.Entries = append(r.Entries, Entry{Role: []string{"user", "assistant"}[i%2], Text: w, Model: []string{"", "m"}[i%2]})
	}
	r.Rand = &h.counter
	return r
}

// counter gives random numbers that are not.
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	c.n++
	for i := range p {
		p[i] = c.n
	}
	return len(p), nil
}

func (h *home) append(r Recording) *Recorded {
	h.t.Helper()
	got, err := Append(h.t.Context(), h.env, r)
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

func TestAppend(t *testing.T) {
	h := newHome(t)
	r := h.recording("s1", "hello <b>", "hi")
	r.Cwd = "/w/proj"
	r.Title = "Greeting"
	got := h.append(r)
	text, err := os.ReadFile(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	// The form is that of docs/formats.md.
	want := `{"type":"custom-title","customTitle":"Greeting","sessionId":"s1"}
{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"text","text":"hello <b>"}]},"uuid":"01010101-0101-4101-8101-010101010101","timestamp":"2026-11-30T12:00:00.000Z","cwd":"/w/proj","sessionId":"s1","version":"other-client 1.0","gitBranch":"main"}
{"parentUuid":"01010101-0101-4101-8101-010101010101","isSidechain":false,"type":"assistant","message":{"id":"msg_02020202020242028202020202020202","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":null,"stop_sequence":null,"usage":{}},"uuid":"03030303-0303-4303-8303-030303030303","timestamp":"2026-11-30T12:00:00.000Z","cwd":"/w/proj","sessionId":"s1","version":"other-client 1.0","gitBranch":"main"}
`
	if d := cmp.Diff(want, string(text)); d != "" {
		t.Error(d)
	}
	if !got.Created || got.Size != int64(len(want)) || len(got.UUIDs) != 2 || got.Session != "s1" {
		t.Errorf("%+v", got)
	}
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]os.FileMode{got.Path: 0o600, filepath.Dir(got.Path): 0o700, filepath.Dir(filepath.Dir(got.Path)): 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
	again := h.append(h.recording("s1", "more"))
	if again.Created {
		t.Error("made twice")
	}
	h.chain(got.Path, "hello <b>", "hi", "more")
}

// chain checks what a client would resume from a file of ours.
func (h *home) chain(path string, want ...string) {
	h.t.Helper()
	src, err := Open(path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer src.Close()
	tr, err := Read(h.t.Context(), src, src.Size(), Options{Strict: true})
	if err != nil {
		h.t.Fatal(err)
	}
	if n := tr.Problems.Total(); n > 0 {
		h.t.Errorf("problems: %v", tr.Problems)
	}
	var got []string
	for m, err := range Load(h.t.Context(), src, tr, tr.Chain(UUID{}).Rows) {
		if err != nil {
			h.t.Fatal(err)
		}
		text := m.Role + "?"
		if len(m.Content) > 0 {
			b := m.Content[0]
			text = b.Type
			if b.Text != "" {
				text = b.Text
			}
		}
		got = append(got, text)
	}
	if d := cmp.Diff(want, got); d != "" {
		h.t.Errorf("chain (-want +got):\n%s", d)
	}
}

func TestAppendBlocks(t *testing.T) {
	h := newHome(t)
	r := h.recording("s1", "run it")
	entries, err := ParseEntries([]byte(`[
		{"role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"running"},
			{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls","n":12345678901234567890}},{"type":"tool_use","id":"t2","name":"Bash","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"tool_result","tool_use_id":"t2","content":"b"},{"type":"text","text":"and now?"}]},
		{"role":"assistant","content":"nothing","timestamp":"2026-11-30T11:00:00+02:00"}]`))
	if err != nil {
		t.Fatal(err)
	}
	r.Entries = append(r.Entries, entries...)
	got := h.append(r)
	h.chain(got.Path, "run it", "hm", "running", "tool_use", "tool_use", "a", "b", "and now?", "nothing")
	text, err := os.ReadFile(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"n":12345678901234567890`, `"timestamp":"2026-11-30T09:00:00.000Z"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing", want)
		}
	}
	// A compaction: what was before is dropped.
	r = h.recording("s1")
	r.Entries = []Entry{{Role: "summary", Text: "they ran it"}, {Role: "user", Text: "go on"}}
	got = h.append(r)
	h.chain(got.Path, "Conversation compacted", "they ran it", "go on")
	s, err := Pick(t.Context(), h.env, FindOptions{}, "s1")
	if err != nil || s.Origin != OriginRecorded || s.Compacted != 1 || s.Turns != 3 || s.FirstPrompt != "run it" || s.Cwd != h.path("w") {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAppendIsRefused(t *testing.T) {
	h := newHome(t)
	good := h.recording("s1", "x")
	for name, change := range map[string]func(*Recording){
		"starts or ends with a dot":  func(r *Recording) { r.Session = "../../etc/passwd" },
		"it holds another character": func(r *Recording) { r.Session = "a/../../etc/passwd" },
		"stands for the newest":      func(r *Recording) { r.Session = "latest" },
		"device":                     func(r *Recording) { r.Session = "nul" },
		"no absolute path":           func(r *Recording) { r.Cwd = "proj" },
		"no entries":                 func(r *Recording) { r.Entries = nil },
		"in several calls":           func(r *Recording) { r.Entries = make([]Entry, MaxEntries+1) },
		"entry 1: role is missing":   func(r *Recording) { r.Entries = []Entry{{Text: "x"}} },
		"role system is none of":     func(r *Recording) { r.Entries = []Entry{{Role: "system", Text: "x"}} },
		"neither text nor content":   func(r *Recording) { r.Entries = []Entry{{Role: "user", Text: " \n"}} },
		"text or content":            func(r *Recording) { r.Entries = []Entry{{Role: "user", Text: "x", Content: json.RawMessage(`[]`)}} },
		"content is empty":           func(r *Recording) { r.Entries = []Entry{{Role: "user", Content: json.RawMessage(`[]`)}} },
		"no array":                   func(r *Recording) { r.Entries = []Entry{{Role: "user", Content: json.RawMessage(`{}`)}} },
		"block 1: it has no type":    func(r *Recording) { r.Entries = []Entry{{Role: "user", Content: json.RawMessage(`[{}]`)}} },
		"tool_use stands in": func(r *Recording) {
			r.Entries = []Entry{{Role: "user", Content: json.RawMessage(`[{"type":"tool_use","id":"a","name":"b","input":{}}]`)}}
		},
		"needs tool_use_id": func(r *Recording) {
			r.Entries = []Entry{{Role: "user", Content: json.RawMessage(`[{"type":"tool_result"}]`)}}
		},
		"an object as input": func(r *Recording) {
			r.Entries = []Entry{{Role: "assistant", Content: json.RawMessage(`[{"type":"tool_use","id":"a","name":"b","input":[]}]`)}}
		},
		"is no time":           func(r *Recording) { r.Entries[0].Time = "yesterday" },
		"out of bounds":        func(r *Recording) { r.Entries[0].Time = "0001-01-01T00:00:00Z" },
		"longer than":          func(r *Recording) { r.Entries[0].Text = strings.Repeat("x", MaxRow+1) },
		"searched for secrets": func(r *Recording) { r.Entries[0].Text = strings.Repeat("x ", MaxText/2+1) },
		"version or title":     func(r *Recording) { r.Title = strings.Repeat("x", 2000) },
	} {
		r := good
		r.Entries = append([]Entry(nil), good.Entries...)
		change(&r)
		if _, err := Append(t.Context(), h.env, r); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, bad := range []string{`{"role":"user","text":"x","Role":1}`, `{"role":"user","uuid":"x"}`, `[{"role":"user","parentUuid":"x"}]`} {
		if _, err := ParseEntries([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if _, err := ParseEntries([]byte(`{"role":"user","parent":"x"}`)); err == nil || !strings.Contains(err.Error(), `"parent"`) {
		t.Errorf("the key is not named: %v", err)
	}
	if _, err := ParseEntries([]byte(`[] []`)); err == nil {
		t.Error("two arrays are taken")
	}
	if left, _ := filepath.Glob(h.path("state", "mem", "*", "sessions", "*")); len(left) > 0 {
		t.Errorf("something was written: %v", left)
	}
	h.env.StateDir = ""
	if _, err := Append(t.Context(), h.env, good); !errors.Is(err, errNoState) {
		t.Errorf("without a place for state: %v", err)
	}
}

func TestAppendTakesSecretsOut(t *testing.T) {
	h := newHome(t)
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	r := h.recording("s1", "my token is "+token)
	r.Title = "about " + token
	r.Entries = append(r.Entries, Entry{Role: "assistant", Content: json.RawMessage(`[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"curl -H 'Authorization: ` + token + `'","env":["\u0067hp_0123456789abcdefghijABCDEFGHIJ012345"]}}]`)},
		Entry{Role: "user", Content: json.RawMessage(`[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + token + `"}},{"type":"text","text":"fine"}]`)})
	got := h.append(r)
	text, err := os.ReadFile(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), token); n != 1 { // in the picture, which is no text
		t.Errorf("the token is there %d times:\n%s", n, text)
	}
	if len(got.Redacted) == 0 || !strings.Contains(string(text), "[redacted github-pat]") {
		t.Errorf("%v\n%s", got.Redacted, text)
	}
	r = h.recording("s2", "my token is "+token)
	r.AllowSecrets = true
	if got = h.append(r); len(got.Redacted) != 0 {
		t.Error("taken out though it is allowed")
	}
	if text, _ = os.ReadFile(got.Path); !strings.Contains(string(text), token) {
		t.Error("missing though it is allowed")
	}
}

func TestAppendAfterACrash(t *testing.T) {
	h := newHome(t)
	got := h.append(h.recording("s1", "one", "two"))
	whole, err := os.ReadFile(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		torn string
		want []string
	}{
		"in the middle of a row":       {string(whole[:len(whole)-40]), []string{"one", "three"}},
		"before the line end":          {string(whole[:len(whole)-1]), []string{"one", "two", "three"}},
		"before anything":              {"", []string{"three"}},
		"after a line of NULs":         {string(whole) + "\x00\x00\x00", []string{"one", "two", "three"}},
		"with a long line at the end":  {string(whole) + strings.Repeat("x", 3*tailSize), []string{"one", "two", "three"}},
		"with many rows of no message": {string(whole) + strings.Repeat(jsonl("type", "mode", "uuid", "x"), 5000), []string{"one", "two", "three"}},
		"with more than is held":       {string(whole) + strings.Repeat(strings.Repeat(" ", 99)+"\n", maxTail/100+1), []string{"one", "two", "three"}},
		"with CRLF and blank lines":    {strings.ReplaceAll(string(whole), "\n", "\r\n") + "\r\n\n", []string{"one", "two", "three"}},
	} {
		h.write(got.Path, c.torn)
		h.append(h.recording("s1", "three"))
		src, err := Open(got.Path)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := Read(t.Context(), src, src.Size(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for m, err := range Load(t.Context(), src, tr, tr.Chain(UUID{}).Rows) {
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, m.Content[0].Text)
		}
		src.Close()
		if d := cmp.Diff(c.want, texts); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		after, _ := os.ReadFile(got.Path)
		if !bytes.HasPrefix(after, []byte(c.torn)) || !bytes.HasSuffix(after, []byte("}\n")) {
			t.Errorf("%s: not only appended to", name)
		}
	}
}

func TestAppendToWhatIsNoFile(t *testing.T) {
	h := newHome(t)
	got := h.append(h.recording("s1", "x"))
	dir := filepath.Dir(got.Path)
	target := h.write("target", "untouched")
	if err := os.Symlink(target, filepath.Join(dir, "link.jsonl")); err == nil {
		if _, err := Append(t.Context(), h.env, h.recording("link", "x")); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("through a link: %v", err)
		}
		if text, _ := os.ReadFile(target); string(text) != "untouched" {
			t.Error("a link was followed")
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Append(t.Context(), h.env, h.recording("dir", "x")); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Append(ctx, h.env, h.recording("s1", "y")); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v", err)
	}
	h.chain(got.Path, "x")
	if f, err := os.OpenFile(got.Path, os.O_WRONLY, 0); err == nil {
		_ = f.Truncate(MaxRecording)
		f.Close()
	}
	if _, err := Append(t.Context(), h.env, h.recording("s1", "y")); err == nil || !strings.Contains(err.Error(), "begin a new one") {
		t.Errorf("a full one: %v", err)
	}
}

func TestAppendWithoutSession(t *testing.T) {
	h := newHome(t)
	got := h.append(h.recording("", "x"))
	if len(got.Session) != 36 || ValidID(got.Session) != nil {
		t.Errorf("%q", got.Session)
	}
}

// writers is how many processes append at once in TestAppendFromManyProcesses.
const (
	writers         = 32
	writerTurns     = 8
	writerDirectory = "MEM_TEST_RECORD_IN"
)

func TestAppendFromManyProcesses(t *testing.T) {
	need.Asked(t, !testing.Short(), "starts 32 processes")
	h := newHome(t)
	var all []*exec.Cmd
	for i := range writers {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAppendingProcess$", "-test.v")
		cmd.Env = append(os.Environ(), writerDirectory+"="+h.dir, fmt.Sprintf("MEM_TEST_WRITER=%d", i))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, cmd.Stdout)
		}
	}
	s, err := Pick(t.Context(), h.env, FindOptions{}, "shared")
	if err != nil {
		t.Fatal(err)
	}
	src, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	tr, err := Read(t.Context(), src, src.Size(), Options{Strict: true})
	if err != nil || tr.Problems.Total() != 0 {
		t.Fatalf("%v, %v", tr.Problems, err)
	}
	// One chain with every row on it: nobody took the row of another one for its parent.
	if c := tr.Chain(UUID{}); len(c.Rows) != writers*writerTurns*2 || tr.Rows.Len() != writers*writerTurns*2 {
		t.Errorf("%d rows, %d of them on the chain, of %d", tr.Rows.Len(), len(c.Rows), writers*writerTurns*2)
	}
}

// TestAppendingProcess is one of those processes.
func TestAppendingProcess(t *testing.T) {
	dir := os.Getenv(writerDirectory)
	need.Asked(t, dir != "", "part of TestAppendFromManyProcesses")
	h := newHome(t)
	h.env.StateDir = filepath.Join(dir, "state", "mem")
	for i := range writerTurns {
		r := h.recording("shared", fmt.Sprint("question ", i), "answer")
		r.Directory, r.Cwd, r.Rand = filepath.Join(dir, "memory"), filepath.Join(dir, "w"), nil
		h.append(r)
	}
}

func FuzzParseEntries(f *testing.F) {
	f.Add([]byte(`[{"role":"user","content":[{"type":"text","text":"x"}]}]`))
	f.Add([]byte(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{"a":["\ud800"]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := ParseEntries(data)
		if err != nil {
			return
		}
		h := newHome(t)
		r := h.recording("s1", "x")
		r.Entries = append(r.Entries, entries...)
		got, err := Append(t.Context(), h.env, r)
		if err != nil {
			return
		}
		src, err := Open(got.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		tr, err := Read(t.Context(), src, src.Size(), Options{Strict: true})
		if err != nil || tr.Problems.Total() != 0 || tr.Rows.Len() != len(got.UUIDs) {
			t.Errorf("what was recorded reads back with %v, %v", tr.Problems, err)
		}
	})
}
