package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/fork"
	"mem/core/fork/gate"
	"mem/core/guard"
	"mem/core/model/modeltest"
)

// TestLoopBehindTheGate runs a whole task: a model over HTTP, the loop, the gate, and a
// folder that stands for a stage. What the model tries besides is refused and recorded.
func TestLoopBehindTheGate(t *testing.T) {
	for _, api := range []string{modeltest.Anthropic, modeltest.OpenAI} {
		t.Run(api, func(t *testing.T) {
			p := newPlace(t)
			stage, secret := filepath.Join(p.env.Home, "stage"), filepath.Join(p.env.Home, "id_rsa")
			must(t, os.MkdirAll(stage, 0o700))
			must(t, os.WriteFile(filepath.Join(stage, "a.md"), []byte("---\nname: a\n---\nMySQL\n"), 0o600))
			must(t, os.WriteFile(secret, []byte("CANARY"), 0o600))
			s := modeltest.Start(t,
				modeltest.Call("Read", modeltest.In{"file_path": "/memory/a.md"}).And("Read", modeltest.In{"file_path": secret}).And("Bash", modeltest.In{"command": "cat " + secret + "; ls /memory"}).And("mcp__evil__send", modeltest.In{"text": "x"}),
				modeltest.Call("Edit", modeltest.In{"file_path": "/memory/a.md", "old_string": "MySQL", "new_string": "Postgres"}).And("Write", modeltest.In{"file_path": filepath.Join(p.env.Home, "out.md"), "content": "x"}),
				modeltest.Say("a.md says Postgres"))
			scan, err := guard.New(guard.Options{})
			must(t, err)
			g, err := gate.New(gate.Options{Redact: scan, Mounts: []gate.Mount{{Name: "memory", Dir: stage, Write: func(string) error { return nil }}}})
			must(t, err)
			defer g.Close() //nolint:errcheck // the test is over
			cfg := p.config(fmt.Sprintf("engine: provider\nengines:\n  provider:\n    api: %s\n    base_url: %s\n    model: scripted\n", api, s.BaseURL(api)))
			out, err := Choose(p.env, cfg, Have{}, true).Engine.Run(t.Context(), fork.Task{Prompt: "We moved to Postgres.", Tools: g, Stage: stage, Limits: fork.Limits{Turns: 5}})
			must(t, err)
			if out.End != fork.EndDone || out.Turns != 3 || len(out.Touched) != 1 {
				t.Errorf("%+v", out)
			}
			var refused []string
			for _, r := range out.Refused {
				refused = append(refused, r.Tool)
			}
			if got := strings.Join(refused, " "); !strings.Contains(got, "Read") || !strings.Contains(got, "mcp__evil__send") || !strings.Contains(got, "Write") {
				t.Errorf("refused: %+v", out.Refused)
			}
			if b, err := os.ReadFile(filepath.Join(stage, "a.md")); err != nil || !strings.Contains(string(b), "Postgres") {
				t.Errorf("%s, %v", b, err)
			}
			if _, err := os.Stat(filepath.Join(p.env.Home, "out.md")); err == nil {
				t.Error("it wrote outside of the stage")
			}
			for _, r := range s.Requests() {
				if r.Contains("CANARY") {
					t.Errorf("request %d holds what may not be read", r.N)
				}
			}
		})
	}
}
