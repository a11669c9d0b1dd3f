package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"mem/core/transcript"
)

var update = flag.Bool("update", false, "write the wanted results of testdata")

var token = "ghp_" + "wJ4rT9xKq2Lm8Vb5Nc7Zd1Fg3Hs6Pa0YuEiQ"

type object = map[string]any

// session makes a transcript of rows that hang on one another.
func session(rows ...object) []byte {
	var b bytes.Buffer
	last := any(nil)
	for i, more := range rows {
		r := object{
			"uuid": fmt.Sprintf("r%d", i), "parentUuid": last, "isSidechain": false, "sessionId": "s1", "cwd": "/srv/work/garden",
			"timestamp": fmt.Sprintf("2026-05-04T08:%02d:00.000Z", i%60),
		}
		for k, v := range more {
			r[k] = v
		}
		line, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
		if _, ok := r["uuid"]; ok {
			last = r["uuid"]
		}
	}
	return b.Bytes()
}

func asked(content any) object {
	return object{"type": "user", "message": object{"role": "user", "content": content}}
}

func answer(id string, blocks ...any) object {
	return object{"type": "assistant", "message": object{"id": id, "role": "assistant", "model": "claude-test-1", "content": blocks}}
}

func open(t interface{ Fatal(...any) }, data []byte) Source {
	tr, err := transcript.Read(context.Background(), bytes.NewReader(data), int64(len(data)), transcript.Options{})
	if tr == nil {
		t.Fatal(err)
	}
	return Source{Src: bytes.NewReader(data), Transcript: tr}
}

func both(t interface {
	Fatal(...any)
	Errorf(string, ...any)
}, data []byte, o Options) (md, page string, r *Result) {
	var m, h bytes.Buffer
	r1, err := Markdown(context.Background(), &m, open(t, data), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err = HTML(context.Background(), &h, open(t, data), o)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(*r1) != fmt.Sprint(*r) {
		t.Errorf("the results differ: %+v and %+v", *r1, *r)
	}
	return m.String(), h.String(), r
}

func TestPolicy(t *testing.T) {
	_, page, _ := both(t, session(asked("hello")), Options{})
	m := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if m == nil || !strings.Contains(m[1], "default-src 'none'") || strings.Contains(m[1], "unsafe") || strings.Contains(page, "http://") || strings.Contains(page, "https://") {
		t.Errorf("%q", m)
	}
	if strings.Contains(style, "url(") || strings.Contains(style, "@import") || strings.Contains(style, "<") {
		t.Error("the style sheet loads something")
	}
}

// TestWholeConversation has two compactions: all that was said is there, once and
// in order.
func TestWholeConversation(t *testing.T) {
	boundary := func(after string, kept ...string) object {
		return object{"type": "system", "subtype": "compact_boundary", "parentUuid": nil, "logicalParentUuid": after,
			"compactMetadata": object{"trigger": "auto", "preservedMessages": object{"anchorUuid": after, "uuids": kept, "allUuids": kept}}}
	}
	summary := func(s string) object {
		return object{"type": "user", "isCompactSummary": true, "message": object{"role": "user", "content": s}}
	}
	data := session(
		asked("said 01"), answer("m1", object{"type": "text", "text": "said 02"}),
		boundary("r1"), summary("said 03"), asked("said 04"), answer("m2", object{"type": "text", "text": "said 05"}),
		boundary("r5", "r5"), summary("said 06"), asked("said 07"),
	)
	md, page, r := both(t, data, Options{})
	if r.Compactions != 2 || r.Turns != 3 || r.Rows != 9 {
		t.Errorf("%+v", r)
	}
	for _, text := range []string{md, page[strings.Index(page, "<main>"):]} {
		last := -1
		for _, n := range []int{1, 2, 3, 4, 6, 5, 7} { // what was kept stands after its anchor
			s := fmt.Sprintf("said %02d", n)
			if strings.Count(text, s) != 1 && n != 1 {
				t.Errorf("%s is there %d times", s, strings.Count(text, s))
			}
			if n == 5 {
				continue
			}
			if at := strings.LastIndex(text, s); at < last {
				t.Errorf("%s stands too early", s)
			} else {
				last = at
			}
		}
	}
	_, _, r = both(t, data, Options{OnlyChain: true})
	if r.Turns != 1 || r.Compactions != 0 {
		t.Errorf("%+v", r)
	}
}

// TestSecretIsKnownFromTheEnd has a secret that only the last message gives away.
func TestSecretIsKnownFromTheEnd(t *testing.T) {
	secret := "q8Zr2Lk7Wm4Xn9Bv3Jt6"
	data := session(asked("use "+secret), answer("m1", object{"type": "tool_use", "id": "t1", "name": "Login", "input": object{"api_key": secret}}))
	md, page, r := both(t, data, Options{})
	if strings.Contains(md, secret) || strings.Contains(page, secret) || r.Secrets != 1 {
		t.Errorf("%+v %s", r, md)
	}
	md, _, r = both(t, data, Options{ShowSecrets: true})
	if strings.Count(md, secret) < 2 || r.Secrets != 0 {
		t.Errorf("%+v %s", r, md)
	}
}

func TestLongTextIsShortened(t *testing.T) {
	data := session(asked("hello"), answer("m1", object{"type": "tool_use", "id": "t1", "name": "Bash", "input": object{}}),
		asked([]any{object{"type": "tool_result", "tool_use_id": "t1", "content": strings.Repeat("z", 3_000_000)}}))
	md, page, r := both(t, data, Options{})
	if len(md) > DefaultMaxText+5000 || len(page) > DefaultMaxText+15_000 || r.Shortened != 1 || strings.Count(md, "z")+r.Characters < 3_000_000 {
		t.Errorf("%d, %d bytes, %+v", len(md), len(page), r)
	}
	if !strings.Contains(md, "→ 3,000,000 characters") {
		t.Error("the size of the result is not told")
	}
}

// TestCases exports the reader's own cases.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../testdata/chain/*.txtar")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, f := range files {
		a, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range a.Files {
			if filepath.Ext(s.Name) != ".jsonl" {
				continue
			}
			md, page, r := both(t, s.Data, Options{Attachments: true})
			if why := unsafe(page); why != "" {
				t.Errorf("%s: %s", f, why)
			}
			if why := outsideFences(md); why != "" {
				t.Errorf("%s: %s", f, why)
			}
			if r.Rows != r.Coverage.OnChain+r.Coverage.Compacted {
				t.Errorf("%s: %+v", f, r)
			}
		}
	}
}

func TestGolden(t *testing.T) {
	data := append(session(
		asked("Mend the <gate>."),
		answer("m1", object{"type": "thinking", "thinking": "Look first."}, object{"type": "text", "text": "I look:\n\n```sh\nls <x>\n```\nNow."},
			object{"type": "tool_use", "id": "t1", "name": "Bash", "input": object{"command": "ls gate & echo"}}, object{"type": "tool_use", "id": "t2", "name": "Read", "input": object{"file_path": "a"}}),
		asked([]any{object{"type": "tool_result", "tool_use_id": "t2", "content": "no such file", "is_error": true}}),
		asked([]any{object{"type": "tool_result", "tool_use_id": "t1", "content": "hinge"}}),
		asked("Good."),
		answer("m2", object{"type": "tool_use", "id": "t3", "name": "Bash", "input": object{"command": "sleep"}}),
		object{"type": "custom-title", "uuid": nil, "customTitle": "The gate"},
	), "{\"type\":\"us\n"...)
	agent := Subagent{ID: "agent-1", Title: "Look around", Open: func(context.Context) (Source, func() error, error) {
		return open(t, session(asked("look"))), nil, nil
	}}
	lost := Subagent{ID: "agent-2", Open: func(context.Context) (Source, func() error, error) {
		return Source{}, nil, errors.New("no such file")
	}}
	md, page, _ := both(t, data, Options{Subagents: []Subagent{agent, lost}})
	page = strings.Replace(page, style, "", 1)
	page = regexp.MustCompile(`sha256-[^']*`).ReplaceAllString(page, "sha256-")
	for name, got := range map[string]string{"session.md": md, "session.html": page} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("%s differs; -update writes it:\n%s", name, got)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestFailures(t *testing.T) {
	data := session(asked("hello"))
	if _, err := HTML(context.Background(), failing{}, open(t, data), Options{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a failing writer: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Markdown(ctx, io.Discard, open(t, data), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := Markdown(context.Background(), io.Discard, Source{}, Options{}); err == nil {
		t.Error("nothing is exported")
	}
	s := open(t, data)
	s.Src = bytes.NewReader(nil)
	if r, err := HTML(context.Background(), io.Discard, s, Options{}); err != nil || r.Unreadable != 1 {
		t.Errorf("a file that is gone: %+v, %v", r, err)
	}
	if _, page, r := both(t, nil, Options{}); r.Rows != 0 || unsafe(page) != "" {
		t.Errorf("empty: %+v", r)
	}
}

func TestProgress(t *testing.T) {
	var rows []object
	for i := range 1300 {
		rows = append(rows, asked(fmt.Sprint(i)))
	}
	var last, total, times int
	o := Options{Progress: func(d, n int) {
		if d < last {
			t.Errorf("%d after %d", d, last)
		}
		last, total, times = d, n, times+1
	}}
	_, err := HTML(context.Background(), io.Discard, open(t, session(rows...)), o)
	if err != nil || last != total || total != 2600 || times < 5 {
		t.Errorf("%d of %d in %d calls, %v", last, total, times, err)
	}
}
