package hook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"mem/core/fork"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is a project with a memory, a transcript, and a hook whose jobs are fakes.
type scene struct {
	t          *testing.T
	env        settings.Env
	vars       map[string]string
	dir        string // of the memory
	transcript string
	memoryDir  string // --memory-dir
	hook       *Hook
	checked    []string // kinds, in the order of their checks
	begin      map[string]int
	started    []string
	startErr   error
	opened     int
}

const session = "11111111-2222-4333-8444-555555555555"

func newScene(t *testing.T) *scene {
	t.Helper()
	root := t.TempDir()
	s := &scene{t: t, vars: map[string]string{}, begin: map[string]int{}}
	s.env = settings.Env{
		Lookup: func(k string) (string, bool) { v, ok := s.vars[k]; return v, ok },
		Home:   filepath.Join(root, "home"), Cwd: filepath.Join(root, "project"),
		ConfigDir: filepath.Join(root, "config"), StateDir: filepath.Join(root, "state"), CacheDir: filepath.Join(root, "cache"),
		ManagedSettings: filepath.Join(root, "none"),
	}
	for _, dir := range []string{s.env.Home, s.env.Cwd, s.env.ConfigDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.hook = &Hook{
		Env: s.env, Version: "test",
		Open: func(*Turn) (*memory.Memory, error) {
			s.opened++
			return memory.Open(memory.Options{Env: s.env, MemoryDir: s.memoryDir})
		},
		Jobs: map[string]Afterwards{},
		Start: func(_ Case, r *job.Record) (int, error) {
			s.started = append(s.started, r.ID)
			return os.Getpid(), s.startErr
		},
	}
	for _, kind := range []string{job.Extract, job.SessionMemory, job.Dream} {
		s.hook.Jobs[kind] = fake{s, kind}
	}
	m, err := memory.Open(memory.Options{Env: s.env})
	if err != nil {
		t.Fatal(err)
	}
	s.dir = m.Location.Directory
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	s.transcript = filepath.Join(filepath.Dir(s.dir), session+".jsonl")
	s.write(s.transcript, "{}\n")
	return s
}

func (s *scene) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// config writes our configuration.
func (s *scene) config(text string) {
	s.write(filepath.Join(s.env.ConfigDir, settings.ConfigName), text)
}

func (s *scene) remember(name, description, body string) {
	s.t.Helper()
	m, err := memory.Open(memory.Options{Env: s.env})
	if err != nil {
		s.t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // a test
	if _, err := m.Write(s.t.Context(), memory.Write{Memory: memdir.Memory{Name: name, Description: description, Type: "project", Body: body}}); err != nil {
		s.t.Fatal(err)
	}
}

// turn is an event of a client in this session.
func (s *scene) turn(clientName string, e Event) *Turn {
	c := client(s.t, clientName)
	t := &Turn{Client: c, Event: e, Session: session, Transcript: s.transcript, Cwd: s.env.Cwd}
	for name, event := range c.Events {
		if event == e {
			t.Name = name
		}
	}
	return t
}

func (s *scene) run(t *Turn) *Outcome {
	s.t.Helper()
	return s.hook.Run(s.t.Context(), t)
}

func (s *scene) jobs() *job.Jobs {
	s.t.Helper()
	m, err := memory.Open(memory.Options{Env: s.env})
	if err != nil {
		s.t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // a test
	return job.Open(m.StateDirectory(), s.env)
}

// fake is a job whose check starts as many records as the scene says.
type fake struct {
	s    *scene
	kind string
}

func (f fake) Check(_ context.Context, c Case) ([]job.Record, []string, error) {
	f.s.checked = append(f.s.checked, f.kind)
	n := f.s.begin[f.kind]
	if n < 0 {
		return nil, []string{"tried"}, errors.New("no luck")
	}
	if n == 0 || c.Asked {
		return make([]job.Record, n), []string{"gate of " + f.kind + " is closed"}, nil
	}
	var start []job.Record
	for range n {
		start = append(start, job.Record{Kind: f.kind})
	}
	return start, nil, nil
}

func TestWhichChecks(t *testing.T) {
	want := map[Event][]string{
		Tools: {job.SessionMemory}, Stop: {job.Extract, job.SessionMemory, job.Dream}, SessionEnd: {job.Extract},
		SessionStart: nil, Prompt: nil, SubagentStop: nil, PreCompact: nil,
	}
	for _, c := range Clients {
		s := newScene(t)
		for _, e := range Events {
			s.checked = nil
			turn := s.turn(c.Name, e)
			if !c.Reads {
				// What is recorded is the transcript.
				turn.Session = "another"
				first := *turn
				first.Event, first.Prompt, first.Answer = Stop, "hello", "you too"
				s.run(&first)
				s.checked = nil
			}
			out := s.run(turn)
			if !slices.Equal(s.checked, want[e]) {
				t.Errorf("%s %s: checked %v, want %v; %v", c.Name, e, s.checked, want[e], out.Notes)
			}
			if len(out.Notes) > 0 {
				t.Errorf("%s %s: %v", c.Name, e, out.Notes)
			}
			if len(out.Started) > 0 {
				t.Errorf("%s %s: started %v", c.Name, e, out.Started)
			}
		}
	}
}

func TestStart(t *testing.T) {
	s := newScene(t)
	s.begin[job.Extract], s.begin[job.SessionMemory] = 1, 2
	out := s.run(s.turn("claude-code", Stop))
	if len(out.Started) != 3 || !slices.Equal(out.Started, s.started) || len(out.Notes) > 0 || len(out.Output) > 0 {
		t.Fatalf("got %+v", out)
	}
	var open []bool
	for _, c := range out.Checks {
		open = append(open, c.Open)
	}
	if !slices.Equal(open, []bool{true, true, false}) || !slices.Equal(out.Checks[2].Reasons, []string{"gate of dream is closed"}) {
		t.Errorf("got %+v", out.Checks)
	}
	r, err := s.jobs().Get(out.Started[0])
	if err != nil || r.By != "hook" || r.Session != session || r.Kind != job.Extract || r.Process != os.Getpid() || r.State != job.Queued {
		t.Errorf("got %+v, %v", r, err)
	}

	s.startErr = errors.New("no program")
	out = s.run(s.turn("claude-code", SessionEnd))
	if len(out.Started) != 0 || len(out.Notes) != 1 {
		t.Fatalf("got %+v", out)
	}
	list, err := s.jobs().List(job.ListOptions{})
	if err != nil || list[0].State != job.Failed || list[0].Reason != "no program" {
		t.Errorf("got %+v, %v", list[0], err)
	}
}

func TestACheckThatFailsStopsNoOther(t *testing.T) {
	s := newScene(t)
	s.begin[job.Extract], s.begin[job.Dream] = -1, 1
	out := s.run(s.turn("claude-code", Stop))
	if len(out.Started) != 1 || !slices.Equal(out.Notes, []string{"extract: no luck"}) {
		t.Errorf("got %+v", out)
	}
}

func TestNothingHappens(t *testing.T) {
	for name, change := range map[string]func(s *scene, t *Turn){
		"inside of a forked agent": func(s *scene, _ *Turn) { s.vars[fork.EnvInside] = "1" },
		"in a subagent":            func(_ *scene, t *Turn) { t.Agent = "a1" },
		"memory is off":            func(s *scene, _ *Turn) { s.vars[settings.EnvDisable] = "1" },
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range Clients {
				s := newScene(t)
				s.begin[job.Extract], s.begin[job.SessionMemory], s.begin[job.Dream] = 1, 1, 1
				for _, e := range Events {
					turn := s.turn(c.Name, e)
					turn.Prompt, turn.Answer = "hello", "you too"
					change(s, turn)
					out := s.run(turn)
					if len(s.checked)+len(out.Output)+len(out.Notes)+len(out.Started) > 0 {
						t.Errorf("%s %s: %v %+v", c.Name, e, s.checked, out)
					}
					if ex := s.hook.Explain(t.Context(), turn); len(ex.Notes) != 1 && (e != PreCompact || c.Compacts) {
						t.Errorf("%s %s is not explained: %+v", c.Name, e, ex)
					}
				}
				if _, err := os.Stat(s.env.StateDir); !os.IsNotExist(err) {
					t.Errorf("%s: the state directory was made", c.Name)
				}
			}
		})
	}
}

func TestMissingTranscript(t *testing.T) {
	for path, words := range map[string]string{
		"":              "no transcript",
		"/nowhere/x":    "/nowhere/x does not exist",
		os.TempDir():    "is no file",
		"other session": "no id of a session",
	} {
		s := newScene(t)
		s.begin[job.Extract], s.begin[job.Dream] = 1, 1
		turn := s.turn("claude-code", Stop)
		if turn.Transcript = path; path == "other session" {
			turn.Transcript, turn.Session = s.transcript, "../../x"
		}
		out := s.run(turn)
		if !slices.Equal(s.checked, []string{job.Dream}) || len(out.Started) != 1 {
			t.Errorf("%q: checked %v, %+v", path, s.checked, out)
		}
		if len(out.Notes) != 1 || !strings.Contains(out.Notes[0], words) {
			t.Errorf("%q: said %v, want %q", path, out.Notes, words)
		}
	}
}

func TestExplainChangesNothing(t *testing.T) {
	s := newScene(t)
	s.begin[job.Extract] = 1
	for _, c := range Clients {
		turn := s.turn(c.Name, Stop)
		turn.Prompt, turn.Answer = "hello", "you too"
		out := s.hook.Explain(t.Context(), turn)
		if len(out.Checks) != 3 || out.Checks[0].Open != c.Reads || len(out.Checks[1].Reasons) != 1 || len(s.started) > 0 {
			t.Errorf("%s: got %+v", c.Name, out)
		}
	}
	if _, err := os.Stat(s.env.StateDir); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

// A configuration that cannot be read may have switched off what would start.
func TestAFaultInTheConfiguration(t *testing.T) {
	for _, text := range []string{"engine: [", "jobs:\n  extract:\n    enabled: perhaps\n", "jobs:\n  extrct:\n    enabled: false\n"} {
		s := newScene(t)
		s.begin[job.Extract] = 1
		s.config(text)
		out := s.run(s.turn("claude-code", Stop))
		if len(s.started) > 0 || len(s.checked) > 0 || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "until the configuration is mended: ") {
			t.Errorf("%q: started %v, %q", text, s.started, out.Notes)
		}
		if ex := s.hook.Explain(t.Context(), s.turn("claude-code", Stop)); len(ex.Checks) != 3 || ex.Checks[0].Open || !strings.Contains(ex.Checks[0].Reasons[0], "mended") {
			t.Errorf("%q: %+v", text, ex)
		}
		if out := s.run(s.turn("claude-code", SessionStart)); !strings.Contains(string(out.Output), "The configuration of mem has a fault") {
			t.Errorf("%q: %s", text, out.Output)
		}
	}
}

func TestNothingIsEverSaidAtTheEndOfATurn(t *testing.T) {
	for _, c := range Clients {
		for _, e := range []Event{Stop, SubagentStop, Tools, SessionEnd, "", "other"} {
			if out := c.Output(e, "X", "some text"); out != nil {
				t.Errorf("%s %s: %s", c.Name, e, out)
			}
		}
		if out := c.Output(SessionStart, "SessionStart", " \n"); out != nil {
			t.Errorf("%s: %q", c.Name, out)
		}
	}
}
