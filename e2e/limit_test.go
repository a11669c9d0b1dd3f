package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/model/modeltest"
)

// TestAHungModelEndsByTheLimit: the process of a job whose model says nothing, or never comes to
// an end, ends by the wall limit of the configuration and is gone within 5 s of it; memory is as
// it was, and what was sent is in the ledger.
func TestAHungModelEndsByTheLimit(t *testing.T) {
	p := newPlace(t)
	s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
		if r.Turn() > 3 {
			return modeltest.Say("late").After(time.Hour)
		}
		return modeltest.Call("Write", modeltest.In{"file_path": fmt.Sprintf("/memory/n%d.md", r.Turn()), "content": lesson})
	})
	p.withModel(t, s, modeltest.Anthropic, "budgets:\n  job:\n    time: 1s\njobs:\n  session_memory:\n    enabled: false\n")
	id := "bbbbbbbb-0000-4000-8000-000000000001"
	p.hook(t, "Stop", id, p.session(t, id, "never mock the database"))
	s.Await(1)
	idle(t, time.Second+5*time.Second)
	j := p.jobs(t)[0]
	if j.State != "done" || j.Change != "" || !strings.Contains(j.Report, "time limit: it ran for 1s") {
		t.Errorf("%+v", j)
	}
	if left, err := filepath.Glob(filepath.Join(p.memory(t), "n*.md")); err != nil || len(left) > 0 {
		t.Errorf("applied: %v, %v", left, err)
	}
	var u struct {
		Total struct{ Requests int } `json:"total"`
	}
	p.json(t, &u, "usage", "--json")
	if u.Total.Requests != len(s.Requests()) {
		t.Errorf("%d requests were made, the ledger has %+v", len(s.Requests()), u)
	}
	// Its own conversation is nowhere: not among the client's transcripts, not in our state.
	err := filepath.WalkDir(p.root, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Base(name) == id+".jsonl" || !strings.HasSuffix(name, ".jsonl") {
			return err
		}
		if b, err := os.ReadFile(name); err != nil || strings.Contains(string(b), "never mock the database") || strings.Contains(name, "claude") {
			t.Errorf("%s holds a conversation: %v\n%.300s", name, err, b)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
