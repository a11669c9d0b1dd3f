package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mem/core/fork"
	"mem/core/model"
	"mem/core/model/modeltest"
	"mem/core/settings"
	"mem/core/spend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a home with a configuration.
type place struct {
	t    *testing.T
	env  settings.Env
	vars map[string]string
}

func newPlace(t *testing.T) *place {
	home := t.TempDir()
	p := &place{t: t, vars: map[string]string{"HOME": home, "PATH": filepath.Join(home, "bin")}}
	p.env = settings.Env{Home: home, Cwd: home, ConfigDir: filepath.Join(home, "config"), StateDir: filepath.Join(home, "state"), CacheDir: filepath.Join(home, "cache"),
		Lookup: func(n string) (string, bool) { v, ok := p.vars[n]; return v, ok }}
	return p
}

func (p *place) config(text string) settings.Config {
	p.t.Helper()
	must(p.t, os.MkdirAll(p.env.ConfigDir, 0o700))
	must(p.t, os.WriteFile(p.env.ConfigFile(), []byte(text), 0o600))
	c, err := settings.LoadConfig(p.env)
	must(p.t, err)
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type silent struct{}

func (silent) Name() string { return "client's model" }
func (silent) Reply(context.Context, model.Request) (*model.Reply, error) {
	return &model.Reply{Blocks: []model.Block{{Text: "ok"}}, Stop: model.StopDone, Usage: model.Usage{Requests: 1, Input: 9}}, nil
}

func TestChoose(t *testing.T) {
	all := Have{Sampling: silent{}, Host: true}
	key := map[string]string{"ANTHROPIC_API_KEY": "sk-x"}
	for name, c := range map[string]struct {
		config    string
		vars      map[string]string
		have      Have
		automatic bool
		want      string
		words     string // in Why, Missing or Detail
		skipped   int
	}{
		"a key":                       {"", key, all, false, "provider", "claude-haiku-4-5", 0},
		"no key":                      {"", nil, all, false, "sampling", "client's model", 2},
		"no sampling":                 {"", nil, Have{Host: true}, false, "host", "first of", 3},
		"nobody":                      {"", nil, Have{}, false, "none", "first of", 4},
		"automatic, auto":             {"", key, all, true, "host", "", 3},
		"automatic, named":            {"engine: provider\n", key, all, true, "provider", "the configuration names it", 0},
		"automatic, sampling":         {"engine: sampling\n", key, all, true, "sampling", "", 0},
		"automatic, nobody":           {"", key, Have{}, true, "none", "", 4},
		"automatic, local":            {"engines:\n  provider:\n    base_url: http://127.0.0.1:1\n", nil, all, true, "host", "", 3},
		"named, no key":               {"engine: provider\n", nil, all, false, "provider", "!ANTHROPIC_API_KEY is not set", 0},
		"named, automatic, no key":    {"engine: provider\n", nil, all, true, "provider", "!ANTHROPIC_API_KEY is not set", 0},
		"named, no command":           {"engine: command\n", key, all, false, "command", "!claude is not installed", 0},
		"named, codex":                {"engine: command\nengines:\n  command:\n    name: codex\n", key, all, false, "command", "!codex cannot be confined", 0},
		"named, no sampling":          {"engine: sampling\n", key, Have{}, false, "sampling", "!declared sampling", 0},
		"named, no host":              {"engine: host\n", key, Have{}, false, "host", "!no calling agent", 0},
		"named, none":                 {"engine: none\n", key, all, false, "none", "", 0},
		"a server of this machine":    {"engines:\n  provider:\n    api: openai\n    base_url: http://localhost:9/v1\n    model: m\n", nil, all, false, "provider", "openai m at localhost:9", 0},
		"openai without a model":      {"engine: provider\nengines:\n  provider:\n    api: openai\n", map[string]string{"OPENAI_API_KEY": "k"}, all, false, "provider", "!no model is named", 0},
		"a key of another name":       {"engines:\n  provider:\n    key_env: MY_KEY\n", map[string]string{"MY_KEY": "k"}, all, false, "provider", "", 0},
		"a key command that fails":    {"engine: provider\nengines:\n  provider:\n    key_command: /nowhere/keys\n", key, all, false, "provider", "!key_command", 0},
		"inside of a forked agent":    {"", map[string]string{"ANTHROPIC_API_KEY": "k", fork.EnvInside: "1"}, all, false, "none", "", 4},
		"inside, named":               {"engine: provider\n", map[string]string{"ANTHROPIC_API_KEY": "k", fork.EnvInside: "1"}, all, false, "provider", "!may not start another", 0},
		"a remote server without key": {"engine: provider\nengines:\n  provider:\n    base_url: https://models.example\n", nil, all, false, "provider", "!there is no key", 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			for k, v := range c.vars {
				p.vars[k] = v
			}
			got := Choose(p.env, p.config(c.config), c.have, c.automatic)
			words, missing := strings.CutPrefix(c.words, "!")
			if got.Name != c.want || len(got.Skipped) != c.skipped || got.Why == "" || (got.Missing != "") != missing {
				t.Fatalf("%+v", got)
			}
			if thinks := costs(got.Name) && !missing; (got.Engine != nil) != thinks {
				t.Errorf("engine %v", got.Engine)
			}
			if !strings.Contains(got.Why+got.Detail, words) {
				t.Errorf("says %q, %q", got.Why, got.Detail)
			}
			for _, s := range got.Skipped {
				if s.Reason == "" {
					t.Errorf("%s was skipped without a reason", s.Engine)
				}
			}
		})
	}
}

// TestOnlyTheFileCounts: an engine that a flag names is not one that the file names.
func TestOnlyTheFileCounts(t *testing.T) {
	p := newPlace(t)
	p.vars["ANTHROPIC_API_KEY"] = "k"
	c := p.config("")
	must(t, c.Set("engine", "provider", "--engine"))
	if got := Choose(p.env, c, Have{}, true); got.Engine != nil || !strings.Contains(got.Missing, "only if the configuration file names it") {
		t.Errorf("%+v", got)
	}
	if got := Choose(p.env, c, Have{}, false); got.Engine == nil {
		t.Errorf("%+v", got)
	}
}

func TestAPlantedKey(t *testing.T) {
	p := newPlace(t)
	dir := filepath.Join(p.env.Home, "project", ".claude")
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"env":{"ANTHROPIC_API_KEY":"sk-theirs"}}`), 0o600))
	p.vars["CLAUDE_PROJECT_DIR"] = filepath.Dir(dir)
	p.vars["ANTHROPIC_API_KEY"] = "sk-theirs"
	if got := Choose(p.env, p.config("engine: provider\n"), Have{}, false); got.Engine != nil || !strings.Contains(got.Missing, "a repository may not name a key") || strings.Contains(got.Missing, "sk-theirs") {
		t.Errorf("%+v", got)
	}
	p.vars["ANTHROPIC_API_KEY"] = "sk-mine"
	if got := Choose(p.env, p.config("engine: provider\n"), Have{}, false); got.Engine == nil {
		t.Errorf("%+v", got)
	}
}

// notes are tools that write down what was asked.
type notes struct{ asked []string }

func (n *notes) Tools() []model.Tool {
	return []model.Tool{{Name: "Write", Description: "writes", Schema: json.RawMessage(`{"type":"object"}`)}}
}

func (n *notes) Call(_ context.Context, name string, input json.RawMessage) fork.Called {
	n.asked = append(n.asked, name+string(input))
	return fork.Called{Text: "written", Touched: []string{"a.md"}}
}

// TestOverHTTP runs a task through the loop and both APIs, and finds it in the ledger.
func TestOverHTTP(t *testing.T) {
	for _, api := range []string{modeltest.Anthropic, modeltest.OpenAI} {
		t.Run(api, func(t *testing.T) {
			s := modeltest.Start(t, modeltest.Call("Write", modeltest.In{"file_path": "/memory/a.md"}).And("Write", modeltest.In{"file_path": "/memory/b.md"}).Saying("I write."),
				modeltest.Fail(529, "overloaded").With("Retry-After", "0"), modeltest.Say("written down").Using(modeltest.Usage{Input: 50, Output: 5, CacheRead: 100}))
			p := newPlace(t)
			cfg := p.config(fmt.Sprintf("engine: provider\nengines:\n  provider:\n    api: %s\n    base_url: %s\n    model: scripted\n    price_input: 1\n    price_output: 5\n", api, s.BaseURL(api)))
			c := Choose(p.env, cfg, Have{}, true)
			if c.Engine == nil {
				t.Fatalf("%+v", c)
			}
			tools := &notes{}
			out, err := c.Engine.Run(t.Context(), fork.Task{Job: "j1", Kind: "extract", Memory: "/m", System: "sys", Prompt: "remember", Tools: tools, Limits: fork.Limits{Turns: 5}})
			must(t, err)
			if out.End != fork.EndDone || out.Text != "written down" || len(tools.asked) != 2 || out.Turns != 2 || !out.Usage.Priced {
				t.Errorf("%+v", out)
			}
			rep, err := spend.Open(p.env).Report(spend.Options{})
			must(t, err)
			if len(rep.Rows) != 1 || rep.Rows[0].Kind != "extract" || rep.Rows[0].Engine != fork.Provider || rep.Total.Tokens() != out.Usage.Tokens() {
				t.Errorf("%+v", rep)
			}
			if left := s.Left(); left != 0 {
				t.Errorf("%d steps are left", left)
			}
		})
	}
}

// TestCancelOverHTTP ends a run whose server is silent.
func TestCancelOverHTTP(t *testing.T) {
	for _, api := range []string{modeltest.Anthropic, modeltest.OpenAI} {
		s := modeltest.Start(t, modeltest.Say("a text that stops").StallAt(300))
		p := newPlace(t)
		cfg := p.config(fmt.Sprintf("engines:\n  provider:\n    api: %s\n    base_url: %s\n    model: scripted\n", api, s.BaseURL(api)))
		c := Choose(p.env, cfg, Have{}, false)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { s.Await(1); time.Sleep(100 * time.Millisecond); cancel() }() // the answer has begun
		begin := time.Now()
		out, err := c.Engine.Run(ctx, fork.Task{Prompt: "remember", Tools: &notes{}})
		must(t, err)
		if out.End != fork.EndCancelled || time.Since(begin) > time.Second || out.Usage.Requests != 1 {
			t.Errorf("%s: %+v after %s", api, out, time.Since(begin))
		}
		cancel()
	}
}

func TestBudgets(t *testing.T) {
	p := newPlace(t)
	cfg := p.config("engine: sampling\nbudgets:\n  day:\n    runs: 3\n    tokens: 1000\n  job:\n    runs: 2\n    cost: 0\n")
	run := func() *fork.Outcome {
		c := Choose(p.env, cfg, Have{Sampling: forever{}}, true)
		out, err := c.Engine.Run(t.Context(), fork.Task{Kind: "dream", Prompt: "p", Tools: &notes{}, Limits: fork.Limits{Turns: 30}})
		must(t, err)
		return out
	}
	if out := run(); out.End != fork.EndTurns || out.Turns != 2 {
		t.Errorf("the budget of the job does not hold: %+v", out)
	}
	if out := run(); out.Turns != 1 {
		t.Errorf("the budget of the day does not hold: %+v", out)
	}
	out := run()
	if out.End != fork.EndBudget || out.Turns != 0 || !strings.Contains(out.Reason, "budgets.day.runs") {
		t.Errorf("what is spent is spent again: %+v", out)
	}
	rep, err := spend.Open(p.env).Report(spend.Options{})
	must(t, err)
	if rep.Runs != 2 || rep.Calls != 3 {
		t.Errorf("%+v", rep)
	}
}

// forever writes for ever.
type forever struct{}

func (forever) Name() string { return "forever" }
func (forever) Reply(_ context.Context, r model.Request) (*model.Reply, error) {
	return &model.Reply{Stop: model.StopCalls, Usage: model.Usage{Requests: 1, Input: 10}, Blocks: []model.Block{{Call: &model.Call{Name: "Write", Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, len(r.Messages)))}}}}, nil
}

func TestNarrowing(t *testing.T) {
	got := within(fork.Limits{Turns: 5, Tokens: 100, Wall: time.Minute}, settings.BudgetsConfig{Job: settings.Budget{Tokens: 1000, Runs: 60, Cost: 1}, JobTime: time.Second}, spend.Left{Tokens: 40, Runs: -1, Cost: 0.5})
	if want := (fork.Limits{Turns: 5, Tokens: 40, Wall: time.Second, Cost: 0.5}); got != want {
		t.Errorf("%+v", got)
	}
	if got := within(fork.Limits{}, settings.BudgetsConfig{}, spend.Left{Tokens: -1, Runs: -1, Cost: -1}); got != (fork.Limits{}) {
		t.Errorf("%+v", got)
	}
}
