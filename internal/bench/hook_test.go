package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// hookScene is a project with a memory and a transcript, and a session of a client whose
// hooks call mem.
type hookScene struct {
	project, transcript, empty string
	env                        []string
}

func newHookScene(tb testing.TB) *hookScene {
	tb.Helper()
	root := tb.TempDir()
	s := &hookScene{project: filepath.Join(root, "project"), empty: filepath.Join(root, "empty.exe")}
	home := filepath.Join(root, "home")
	s.env = []string{
		"HOME=" + home, "USERPROFILE=" + home, "XDG_STATE_HOME=" + filepath.Join(root, "state"), "XDG_CONFIG_HOME=" + filepath.Join(root, "config"),
		"XDG_CACHE_HOME=" + filepath.Join(root, "cache"), "PATH=" + os.Getenv("PATH"), "CLAUDE_PROJECT_DIR=" + s.project,
	}
	if out, err := exec.Command("go", "build", "-o", s.empty, "mem/internal/bench/empty").CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	for _, dir := range []string{s.project, filepath.Join(home, ".claude")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", s.project).CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	// A transcript of ten megabytes: none of it but the end is to be read.
	s.transcript = filepath.Join(home, "session.jsonl")
	var b bytes.Buffer
	parent := "null"
	for i := 0; b.Len() < 10<<20; i++ {
		uuid := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		role := []string{"user", "assistant"}[i%2]
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%q,"usage":{"input_tokens":90000}},"uuid":%q,"timestamp":"2026-11-30T10:00:00Z","cwd":%q,"sessionId":"session","version":"2.1.332"}`+"\n",
			parent, role, role, strings.Repeat("some words ", 40), uuid, s.project)
		parent = fmt.Sprintf("%q", uuid)
	}
	if err := os.WriteFile(s.transcript, b.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	// Jobs that are switched off are closed at the first gate; those that are on, at the next.
	return s
}

func (s *hookScene) config(tb testing.TB, text string) {
	tb.Helper()
	dir := filepath.Join(filepath.Dir(s.project), "config", "mem")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func (s *hookScene) run(tb testing.TB, event string) time.Duration {
	tb.Helper()
	cmd := exec.Command(binary, "hook")
	cmd.Dir, cmd.Env = s.project, s.env
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"session","transcript_path":%q,"cwd":%q,"hook_event_name":%q,"stop_hook_active":false,"last_assistant_message":"done"}`, s.transcript, s.project, event))
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil || len(out) > 0 {
		tb.Fatalf("%v: %s", err, out)
	}
	return took
}

func (s *hookScene) runEmpty(tb testing.TB) time.Duration {
	tb.Helper()
	cmd := exec.Command(s.empty)
	cmd.Dir, cmd.Env = s.project, s.env
	cmd.Stdin = strings.NewReader("{}")
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil || len(out) > 0 {
		tb.Fatalf("%v: %s", err, out)
	}
	return took
}

// off closes every gate at once.
const off = "jobs:\n  extract: {enabled: false}\n  session_memory: {enabled: false}\n  dream: {enabled: false}\n"

// counted leaves the gates open that a setting closes: the counter of turns and the
// thresholds of the session's memory close them, for which the end of the transcript is
// read.
const counted = "jobs:\n  extract: {every_turns: 1000000}\n  session_memory: {first_tokens: 100000000}\n  dream: {enabled: false}\n"

// hookBudget is what a hook whose gates are closed may cost as a whole process, beyond a
// program that links the same and does nothing.
const hookBudget = 10 * time.Millisecond

// The least of several runs is what it costs; all above is the machine's.
func TestClosedHookCostsLittle(t *testing.T) {
	s := newHookScene(t)
	for name, config := range map[string]string{"off": off, "counted": counted} {
		s.config(t, config)
		for _, event := range []string{"Stop", "PostToolBatch", "UserPromptSubmit", "SessionStart"} {
			hook, empty := time.Hour, time.Hour
			for range 25 {
				hook, empty = min(hook, s.run(t, event)), min(empty, s.runEmpty(t))
			}
			t.Logf("%s, %s: %s, a program that does nothing %s", event, name, hook, empty)
			if hook-empty > hookBudget {
				t.Errorf("%s, %s, costs %s more than a program that does nothing, at most %s is allowed", event, name, hook-empty, hookBudget)
			}
		}
	}
}

func BenchmarkHookClosed(b *testing.B) {
	s := newHookScene(b)
	s.config(b, off)
	for _, event := range []string{"Stop", "PostToolBatch"} {
		b.Run(event, func(b *testing.B) {
			var hook, empty []time.Duration
			for b.Loop() {
				hook, empty = append(hook, s.run(b, event)), append(empty, s.runEmpty(b))
			}
			b.ReportMetric(micros(median(hook)), "us-median")
			b.ReportMetric(micros(median(empty)), "us-median-empty")
			b.ReportMetric(micros(slices.Min(hook)-slices.Min(empty)), "us-least-more")
		})
	}
}
