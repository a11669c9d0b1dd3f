package dream_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/dream"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/model/modeltest"
	"mem/internal/need"
)

// TestTheProjectIsReadWhereTheSettingAllows: without jobs.read_project the files of the project are
// out of reach of a dream; with it they can be read and not written, hidden ones and those
// behind links excepted.
func TestTheProjectIsReadWhereTheSettingAllows(t *testing.T) {
	for config, allowed := range map[string]bool{"": false, "jobs:\n  read_project: true\n": true} {
		s := modeltest.Start(t,
			modeltest.Call("Read", modeltest.In{"file_path": "/project/main.go"}).And("Grep", modeltest.In{"pattern": "canary-of", "path": "/project", "output_mode": "content"}).
				And("Bash", modeltest.In{"command": "cat /project/main.go /project/.env /project/link.txt"}).And("Read", modeltest.In{"file_path": "/project/../home/private.txt"}),
			modeltest.Call("Write", modeltest.In{"file_path": "/project/main.go", "content": "x"}).And("Write", modeltest.In{"file_path": "/project/new.md", "content": "x"}),
			modeltest.Say("Nothing to change."))
		h := newSleeper(t, small(), s, config)
		project := filepath.Join(h.base, "p")
		for name, text := range map[string]string{"p/main.go": "package main // canary-of-the-project\n", "p/.env": "canary-of-hidden", "home/private.txt": "canary-of-home"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(h.base, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(h.base, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		need.Link(t, filepath.Join(h.base, "home", "private.txt"), filepath.Join(project, "link.txt"))
		m, err := memory.Open(memory.Options{MemoryDir: filepath.Join(h.base, "memory"), Project: project, Env: h.Env()})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		h.Memory, h.house = m, houseOf(m, true)
		_, rec, err := h.dream(dream.Params{})
		if err != nil || rec.State != job.Done {
			t.Fatalf("%+v, %v", rec, err)
		}
		seen := map[string]bool{}
		for _, r := range s.Requests() {
			for _, c := range []string{"canary-of-the-project", "canary-of-hidden", "canary-of-home"} {
				seen[c] = seen[c] || r.Contains(c)
			}
		}
		if seen["canary-of-the-project"] != allowed || seen["canary-of-hidden"] || seen["canary-of-home"] {
			t.Errorf("%q: the model was shown %v", config, seen)
		}
		if told := strings.Contains(s.Requests()[0].Prompt(), "/project"); told != allowed {
			t.Errorf("%q: the agent is told of it: %v", config, told)
		}
		if b, err := os.ReadFile(filepath.Join(project, "main.go")); err != nil || !strings.Contains(string(b), "canary") {
			t.Errorf("%q: %s, %v", config, b, err)
		}
		if _, err := os.Lstat(filepath.Join(project, "new.md")); err == nil {
			t.Errorf("%q: it wrote into the project", config)
		}
	}
}
