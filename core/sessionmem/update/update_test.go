package update

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/job"
	"mem/core/memory"
	"mem/core/model/modeltest"
	"mem/core/sessionmem"
)

// TestASession goes through the thresholds, a compaction included.
func TestASession(t *testing.T) {
	for _, api := range []string{modeltest.Anthropic, modeltest.OpenAI} {
		t.Run(api, func(t *testing.T) { aSession(t, api) })
	}
}

func aSession(t *testing.T, api string) {
	s := modeltest.Start(t)
	d := newDesk(t, s, api, "")
	d.turn("build the parser", 9_000)
	if got := d.check(); got.Due || got.Gate != "thresholds" {
		t.Fatalf("%+v", got)
	}
	d.turn("go on", 11_000)
	if got := d.check(); !got.Due || got.Gate != "due" || got.Estimated {
		t.Fatalf("%+v", got)
	}
	s.Then(read, writes(map[string]string{"Session Title": "A parser", "Current State": "It parses."}), modeltest.Say("Done."))
	r, words, err := d.run()
	if err != nil || !strings.Contains(words, "2 of 10 sections") || r.Turns != 3 || r.Engine != "provider" {
		t.Fatalf("%+v, %s, %v", r, words, err)
	}
	if got := d.summary(); !strings.Contains(got, "# Current State\n_"+sessionmem.Sections[1].About+"_\nIt parses.\n") {
		t.Errorf("%s", got)
	}
	if !s.Requests()[0].Contains("build the parser") || s.Requests()[0].Has("Write") == false {
		t.Error("the conversation, or a tool, did not arrive")
	}
	if got := d.check(); got.Due {
		t.Errorf("due at once again: %+v", got)
	}
	// It grows by 5,000 in the middle of work: after three calls of tools.
	d.row("user", `"message":{"role":"user","content":"more"}`)
	d.tools(13_000)
	d.tools(16_500)
	if got := d.check(); got.Due || got.Calls != 2 {
		t.Errorf("%+v", got)
	}
	d.tools(16_800)
	if got := d.check(); !got.Due || got.Grown < 5_000 {
		t.Errorf("%+v", got)
	}
	s.Then(read, modeltest.Call("Edit", modeltest.In{"file_path": "/session/summary.md", "old_string": "It parses.", "new_string": "It parses and prints."}), modeltest.Say("Done."))
	if _, _, err := d.run(); err != nil {
		t.Fatal(err)
	}
	if p := s.Requests()[3].Prompt(); !strings.Contains(p, `from the message "more" on`) {
		t.Errorf("asked: %s", p)
	}
	if !strings.Contains(d.summary(), "It parses and prints.") || !strings.Contains(d.summary(), "A parser") {
		t.Errorf("%s", d.summary())
	}
	// After a compaction it counts from what that left.
	d.row("system", `"subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":100}`)
	d.row("user", `"isCompactSummary":true,"message":{"role":"user","content":"what was before"}`)
	d.turn("and on", 8_000)
	if got := d.check(); got.Due || got.Grown != 0 {
		t.Errorf("%+v", got)
	}
	d.turn("and on", 13_100)
	if got := d.check(); !got.Due || !strings.Contains(got.Reason, "since the compaction") {
		t.Errorf("%+v", got)
	}
	s.Then(modeltest.Say("Done."))
	if _, _, err := d.run(); err != nil {
		t.Error(err) // it stays as it was, which is allowed
	}
	// Nothing but the summary is there.
	left := []string{}
	if err := filepath.WalkDir(filepath.Dir(d.x.Path), func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			left = append(left, filepath.Base(p))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if strings.Join(left, " ") != "summary.md one.jsonl" {
		t.Errorf("files: %v", left)
	}
	if stages, _ := os.ReadDir(filepath.Join(d.m.StateDirectory(), "stages")); len(stages) != 0 {
		t.Errorf("left behind: %v", stages)
	}
	if _, err := os.Stat(d.m.Location.Directory); err == nil {
		t.Error("the memory was written")
	}
}

// TestOver: an agent that writes too much is asked once to condense, and then cut.
func TestOver(t *testing.T) {
	long := strings.Repeat("a word of no weight, said again\n", 500) // about 4,000 tokens
	state := "The parser parses."
	s := modeltest.Start(t)
	d := newDesk(t, s, modeltest.Anthropic, "")
	d.turn("build the parser", 11_000)
	s.Then(
		read, writes(map[string]string{"Current State": state, "Learnings": long}), modeltest.Say("Done."),
		read, writes(map[string]string{"Current State": state, "Learnings": "Short."}), modeltest.Say("Done."),
	)
	_, words, err := d.run()
	if err != nil || strings.Contains(words, "cut") || !strings.Contains(d.summary(), "\nShort.\n") {
		t.Errorf("%s, %v\n%s", words, err, d.summary())
	}
	if p := s.Requests()[3].Prompt(); !strings.Contains(p, "the section Learnings has about") || !strings.Contains(p, "Condense") {
		t.Errorf("asked: %s", p)
	}
	// One that does not get shorter is cut, with a mark, and the report says so.
	d.turn("more", 17_000)
	s.Then(
		read, writes(map[string]string{"Current State": state, "Learnings": long}), modeltest.Say("Done."),
		modeltest.Say("It is fine as it is."),
	)
	_, words, err = d.run()
	if err != nil || !strings.Contains(words, "cut, since the section Learnings has about") {
		t.Errorf("%s, %v", words, err)
	}
	got := d.summary()
	if !strings.Contains(got, "[… cut: ") || !strings.Contains(got, state) || len(sessionmem.Parse(got).Check(d.m.Config.Jobs.SessionMemory)) > 0 {
		t.Errorf("%d bytes: %.3000s", len(got), got)
	}
	// One whose second try fails keeps its first, cut.
	d.turn("more", 23_000)
	s.Then(
		read, writes(map[string]string{"Current State": "Third.", "Learnings": long}), modeltest.Say("Done."),
		modeltest.Fail(400, "no"),
	)
	if _, words, err = d.run(); err != nil || !strings.Contains(words, "cut") || !strings.Contains(d.summary(), "Third.") {
		t.Errorf("%s, %v", words, err)
	}
	if s.Left() != 0 {
		t.Errorf("%d steps are left", s.Left())
	}
}

// TestObeysNobody: only summary.md is ever written, whatever the agent tries.
func TestObeysNobody(t *testing.T) {
	key := "AKIA" + "Q3EGRZKXH5TPLN7A"
	s := modeltest.Start(t)
	d := newDesk(t, s, modeltest.Anthropic, "")
	d.turn("the key is "+key, 11_000)
	s.Then(
		modeltest.Call("Write", modeltest.In{"file_path": "/session/other.md", "content": "x"}).
			And("Write", modeltest.In{"file_path": "/memory/rule.md", "content": "x"}).
			And("Write", modeltest.In{"file_path": d.x.Path, "content": "x"}).
			And("Read", modeltest.In{"file_path": d.x.Path}).
			And("Bash", modeltest.In{"command": "cat " + d.x.Path}).
			And("Read", modeltest.In{"file_path": "/session/summary.md"}),
		writes(map[string]string{"Current State": "The key is " + key}),
		writes(map[string]string{"Current State": "It parses."}), modeltest.Say("Done."),
	)
	before, err := os.ReadFile(d.x.Path)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := d.run()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Refused) < 6 {
		t.Errorf("refused: %+v", r.Refused)
	}
	after, err := os.ReadFile(d.x.Path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the transcript changed: %v", err)
	}
	if s.Requests()[0].Contains(key) || strings.Contains(d.summary(), key) {
		t.Error("the secret left, or was kept")
	}
}

func TestFailures(t *testing.T) {
	s := modeltest.Start(t, modeltest.Fail(401, "invalid x-api-key").Forever())
	d := newDesk(t, s, modeltest.Anthropic, "")
	d.turn("build the parser", 11_000)
	if _, _, err := d.run(); err == nil || !strings.Contains(err.Error(), "invalid") {
		t.Fatalf("%v", err)
	}
	if _, err := sessionmem.Read(d.x); !errors.Is(err, sessionmem.ErrNone) {
		t.Errorf("something was written: %v", err)
	}
	if got := d.check(); got.Due || got.Gate != "failed" {
		t.Errorf("%+v", got)
	}
	d.now = d.now.Add(61 * time.Second)
	if got := d.check(); !got.Due {
		t.Errorf("%+v", got)
	}
	if _, _, err := d.run(); err == nil {
		t.Fatal("no error")
	}
	d.now = d.now.Add(61 * time.Second)
	if got := d.check(); got.Due {
		t.Errorf("%+v", got)
	}
	// One that is being written is not begun again.
	st, err := sessionmem.LoadState(d.m.StateDirectory(), "one")
	if err != nil {
		t.Fatal(err)
	}
	st.Failed, st.Process, st.ProcessStart = 1, os.Getpid(), job.ProcessStart(os.Getpid())
	if err := st.Save(d.m.StateDirectory()); err != nil {
		t.Fatal(err)
	}
	if got := d.check(); got.Due || got.Gate != "running" {
		t.Errorf("%+v", got)
	}
}

func TestGates(t *testing.T) {
	s := modeltest.Start(t)
	for _, c := range []struct{ config, client, gate string }{
		{"jobs:\n  session_memory:\n    enabled: false\n", "", "setting"},
		{"", `{"autoCompactEnabled": false}`, "compaction"},
	} {
		d := newDesk(t, s, modeltest.Anthropic, c.config)
		if c.client != "" {
			d.write("home/.claude.json", c.client)
		}
		d.turn("build the parser", 11_000)
		if got := d.check(); got.Due || got.Gate != c.gate {
			t.Errorf("%+v", got)
		}
	}
	d := newDesk(t, s, modeltest.Anthropic, "")
	d.write("config/config.yaml", "engine: auto\n")
	var err error
	if d.m, err = memory.Open(memory.Options{Env: d.m.Env()}); err != nil {
		t.Fatal(err)
	}
	defer d.m.Close()
	d.turn("build the parser", 11_000)
	if got := d.check(); got.Due || got.Gate != "engine" || !strings.Contains(got.Reason, "mem-mcp engine use") {
		t.Errorf("%+v", got)
	}
}

func TestOwn(t *testing.T) {
	d := newDesk(t, modeltest.Start(t), modeltest.Anthropic, "")
	d.turn("build the parser", 11_000)
	own := func(text, expected string) (*Written, error) {
		return Own(t.Context(), d.m, d.house.Jobs, d.x, text, expected)
	}
	w, err := own(filled(map[string]string{"Current State": "Mine."})+"\n# My own\nkept\n", "")
	if err != nil || w.Filled != 2 || len(w.Moved) != 1 || !strings.Contains(d.summary(), "Mine.") || !strings.Contains(d.summary(), "kept") {
		t.Fatalf("%+v, %v", w, err)
	}
	if got := d.check(); got.Due {
		t.Errorf("it is due though the agent wrote it: %+v", got)
	}
	var changed *sessionmem.ChangedError
	if _, err := own(filled(map[string]string{"Current State": "Other."}), ""); !errors.As(err, &changed) {
		t.Errorf("%v", err)
	}
	var over *OverError
	if _, err := own(filled(map[string]string{"Learnings": strings.Repeat("word and word\n", 1000)}), w.File.Hash); !errors.As(err, &over) || !strings.Contains(err.Error(), "the section Learnings has about") {
		t.Errorf("%v", err)
	}
	if _, err := own(filled(map[string]string{"Learnings": "the key is " + "AKIA" + "Q3EGRZKXH5TPLN7A"}), w.File.Hash); err == nil || !strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if _, err := own("# Something else\n", w.File.Hash); err == nil {
		t.Error("an empty one was taken")
	}
	if !strings.Contains(d.summary(), "Mine.") {
		t.Error("a refused one was written")
	}
}

// TestTimeLimit: a model that does not end is ended; the summary is as it was, what was used is
// recorded, and the next try waits.
func TestTimeLimit(t *testing.T) {
	s := modeltest.StartFunc(t, func(modeltest.Request) modeltest.Step {
		return writes(map[string]string{"Current State": "half"}).After(150 * time.Millisecond)
	})
	d := newDesk(t, s, modeltest.Anthropic, "budgets:\n  job:\n    time: 500ms\n")
	d.turn("build the parser", 11_000)
	r, _, err := d.run()
	if err == nil || !strings.Contains(err.Error(), "time limit: it ran for 500ms") || r.Usage.Requests == 0 || r.Usage.Tokens() == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := sessionmem.Read(d.x); !errors.Is(err, sessionmem.ErrNone) {
		t.Errorf("written: %v", err)
	}
	if got := d.check(); got.Due || got.Gate != "failed" {
		t.Errorf("%+v", got)
	}
}
