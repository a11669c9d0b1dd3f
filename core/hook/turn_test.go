package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mem/core/job"
	"mem/core/transcript"
)

func TestTurnsAreRecorded(t *testing.T) {
	for _, c := range Clients {
		t.Run(c.Name, func(t *testing.T) {
			s := newScene(t)
			s.remember("x", "x", "x")
			tell := func(e Event, prompt, answer string) *Outcome {
				turn := s.turn(c.Name, e)
				turn.Prompt, turn.Answer, turn.Session = prompt, answer, "recorded-"+c.Name
				turn.Transcript = filepath.Join(s.env.Home, "its-own.json")
				if c.Reads {
					turn.Transcript = "" // it kept none
				}
				return s.run(turn)
			}
			for i := range 2 {
				prompt, answer := fmt.Sprintf("question %d", i), fmt.Sprintf("answer %d", i)
				if out := tell(Prompt, prompt, ""); len(out.Notes) > 0 {
					t.Errorf("got %v", out.Notes)
				}
				atEnd := ""
				if c.Name == "gemini-cli" {
					atEnd = prompt
				}
				if out := tell(Stop, atEnd, answer); len(out.Notes) > 0 {
					t.Errorf("got %v", out.Notes)
				}
			}
			if !slices.Equal(s.checked, []string{job.Extract, job.SessionMemory, job.Dream, job.Extract, job.SessionMemory, job.Dream}) {
				t.Errorf("checked %v", s.checked)
			}
			x, err := transcript.Pick(t.Context(), s.env, transcript.FindOptions{}, "recorded-"+c.Name)
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(x.Path)
			if err != nil {
				t.Fatal(err)
			}
			at := -1
			for _, want := range []string{"question 0", "answer 0", "question 1", "answer 1"} {
				i := strings.Index(string(b), want)
				if i <= at || strings.Count(string(b), want) != 1 {
					t.Errorf("%q stands at %d: %s", want, i, b)
				}
				at = i
			}
		})
	}
}

func TestTurnsAreNotRecorded(t *testing.T) {
	s := newScene(t)
	s.config("hooks:\n  record_turns: false\n")
	turn := s.turn("codex", Stop)
	turn.Answer = "hello"
	out := s.run(turn)
	if len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "no transcript") {
		t.Errorf("got %v", out.Notes)
	}
	turn = s.turn("claude-code", Stop)
	turn.Answer = "hello"
	s.run(turn)
	found, err := transcript.Find(t.Context(), s.env, transcript.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range found.List {
		if x.Origin != transcript.OriginClient {
			t.Errorf("recorded: %s", x.Path)
		}
	}
}

func TestRead(t *testing.T) {
	for _, tc := range []struct {
		client, payload string
		want            Turn
	}{
		{
			"claude-code", `{"session_id":"s","transcript_path":"/t/s.jsonl","cwd":"/p","hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"done","new":{"a":[1]}}`,
			Turn{Event: Stop, Session: "s", Transcript: "/t/s.jsonl", Cwd: "/p", Answer: "done", Again: true},
		},
		{"claude-code", `{"session_id":"s","hook_event_name":"PreCompact","trigger":"auto","custom_instructions":""}`, Turn{Event: PreCompact, Session: "s", Source: "auto"}},
		{"claude-code", `{"session_id":"s","hook_event_name":"PostToolBatch","agent_id":"a"}`, Turn{Event: Tools, Session: "s", Agent: "a"}},
		{
			"codex", `{"session_id":"s","transcript_path":null,"cwd":"/p","hook_event_name":"Stop","model":"m","permission_mode":"default","stop_hook_active":false,"last_assistant_message":null,"turn_id":"1"}`,
			Turn{Event: Stop, Session: "s", Cwd: "/p"},
		},
		{
			"gemini-cli", `{"session_id":"s","transcript_path":"/g/s.json","cwd":"/p","hook_event_name":"AfterAgent","timestamp":"2026-11-30T10:00:00Z","prompt":"hi","prompt_response":"hello","stop_hook_active":false}`,
			Turn{Event: Stop, Session: "s", Transcript: "/g/s.json", Cwd: "/p", Prompt: "hi", Answer: "hello"},
		},
		{"gemini-cli", `{"session_id":"s","hook_event_name":"SessionStart","source":"resume"}`, Turn{Event: SessionStart, Session: "s", Source: "resume"}},
		{"qwen-code", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"a tool said","submitted_prompt":"hi"}`, Turn{Event: Prompt, Session: "s", Prompt: "hi"}},
		// As 0.24.4 and 0.15.10 were seen to send it.
		{
			"qwen-code", `{"session_id":"s","transcript_path":"/q/s.jsonl","cwd":"/p","hook_event_name":"UserPromptSubmit","timestamp":"2026-11-30T23:13:51.088Z","permission_mode":"auto","prompt_id":"s########0","prompt":"hi","submitted_prompt":"hi"}`,
			Turn{Event: Prompt, Session: "s", Transcript: "/q/s.jsonl", Cwd: "/p", Prompt: "hi"},
		},
		{"qwen-code", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"s########1","prompt":"a tool said"}`, Turn{Event: Prompt, Session: "s"}},
		{"qwen-code", `{"session_id":"s","hook_event_name":"UserPromptSubmit","timestamp":"2026-11-30T23:14:47.908Z","prompt":"hi"}`, Turn{Event: Prompt, Session: "s", Prompt: "hi"}},
		{"qwen-code", `{"session_id":"s","hook_event_name":"Stop","timestamp":"2026-11-30T23:14:48.607Z","stop_hook_active":true,"last_assistant_message":"hello"}`, Turn{Event: Stop, Session: "s", Answer: "hello", Again: true}},
		// As 0.61.0 was seen to send it: what hooks said stands in the prompt.
		{"gemini-cli", `{"session_id":"s","hook_event_name":"BeforeAgent","prompt":"<hook_context># Memory\n\na &lt;b&gt;</hook_context>\n\nhi <hook_context> there"}`, Turn{Event: Prompt, Session: "s", Prompt: "hi <hook_context> there"}},
		{
			"gemini-cli", `{"session_id":"s","hook_event_name":"AfterAgent","prompt":"<hook_context>a</hook_context>\n\nhi<hook_context>b</hook_context>","prompt_response":"hello","stop_hook_active":false}`,
			Turn{Event: Stop, Session: "s", Prompt: "hi", Answer: "hello"},
		},
		{"gemini-cli", `{"session_id":"s","hook_event_name":"BeforeAgent","prompt":"<hook_context>never closed"}`, Turn{Event: Prompt, Session: "s", Prompt: "<hook_context>never closed"}},
		{"claude-code", `{"session_id":"s","hook_event_name":"SessionStart","cwd":"relative","transcript_path":"../x"}`, Turn{Event: SessionStart, Session: "s"}},
	} {
		if os.PathSeparator != '/' {
			tc.payload = strings.NewReplacer(`"/`, `"C:/`).Replace(tc.payload)
		}
		got, err := Read(client(t, tc.client), strings.NewReader(tc.payload))
		if err != nil {
			t.Errorf("%s: %v", tc.payload, err)
			continue
		}
		want := tc.want
		want.Name = got.Name
		got.Client = Client{}
		if os.PathSeparator != '/' {
			got.Cwd, got.Transcript = strings.TrimPrefix(got.Cwd, "C:"), strings.TrimPrefix(got.Transcript, "C:")
		}
		if fmt.Sprint(*got) != fmt.Sprint(want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", tc.payload, *got, want)
		}
	}
}

func TestReadWhatIsWrong(t *testing.T) {
	for payload, words := range map[string]string{
		"":                      "empty",
		"  \n":                  "empty",
		"{":                     "no JSON",
		"secret stuff":          "no JSON: at byte 1 of 12",
		"[]":                    "no JSON object",
		"null":                  "no hook_event_name",
		"{}":                    "no hook_event_name",
		`{"hook_event_name":7}`: "hook_event_name has the wrong type, number",
		`{"hook_event_name":"BeforeEverything\u001b[31m"}`:                           `"BeforeEverything\x1b[31m"`,
		`{"hook_event_name":"Stop"} trailing`:                                        "no JSON",
		`{"hook_event_name":"Stop","session_id":"` + strings.Repeat("x", MaxPayload): "larger than",
	} {
		_, err := Read(Clients[0], strings.NewReader(payload))
		if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: got %v, want %q", payload, err, words)
		}
	}
}
