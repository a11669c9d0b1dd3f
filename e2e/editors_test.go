package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/internal/need"
)

// session is what a script in editors saw.
type session struct {
	Error    string
	Encoding string
	// Diagnostics of the index and of the topic when they were opened, and of the
	// index after the extraction.
	Index, Topic, After []struct {
		Code, Message string
		Line          int
		Severity      int
		Tags          []int
	}
	Quickfixes, Extracts []string // titles of the actions that were offered
	Buffers              []string
	Questions            []string // that the server asked
	Undone, Alive        bool
	Hover, Definition    json.RawMessage
	Completion           json.RawMessage
}

// tooLong is a memory whose index has one line too many, and a topic of a wrong type.
func tooLong(t *testing.T, p *place) (dir, index, topic string) {
	t.Helper()
	dir = filepath.Join(p.root, "memory")
	var b strings.Builder
	b.WriteString("# Memory\n\n- [Testing](testing.md) — how we test\n")
	for i := range memdir.MaxIndexLines - 2 {
		fmt.Fprintf(&b, "- [Part %03[1]d](part-%03[1]d.md) — where part %03[1]d is kept\n", i)
		p.write(t, fmt.Sprintf("memory/part-%03d.md", i), fmt.Sprintf("---\nname: part-%03[1]d\ndescription: Where part %03[1]d is kept\ntype: reference\n---\n\nIn drawer %[1]d.\n", i))
	}
	topic = "---\nname: testing\ndescription: How we test\ntype: feedbak\n---\n\nNo mocks.\n\n**Why:** they lie.\n\n**How to apply:** start a database.\n"
	p.write(t, "memory/MEMORY.md", b.String())
	p.write(t, "memory/testing.md", topic)
	return dir, b.String(), topic
}

// drive runs an editor on a memory directory.
func drive(t *testing.T, p *place, dir, name string, args ...string) session {
	t.Helper()
	result := filepath.Join(p.root, "result.json")
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = p.root
	cmd.Env = p.with("MEM_LSP="+languageServer, "MEM_DIR="+dir, "MEM_RESULT="+result, "TERM=dumb",
		"XDG_DATA_HOME="+filepath.Join(p.root, "data"))
	var seen bytes.Buffer
	cmd.Stdout, cmd.Stderr = &seen, &seen
	runErr := cmd.Run()
	b, err := os.ReadFile(result)
	if err != nil {
		t.Fatalf("%s left no result: %v, %v\n%s", name, runErr, err, seen.String())
	}
	var s session
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if s.Error != "" {
		t.Fatalf("%s: %s\nit had seen: %s\n%s", name, s.Error, b, seen.String())
	}
	return s
}

// judge holds what an editor saw, and what is on disk afterwards, against what a
// person may expect.
func judge(t *testing.T, s session, dir, index, topic string) {
	t.Helper()
	i := slices.IndexFunc(s.Index, func(d struct {
		Code, Message string
		Line          int
		Severity      int
		Tags          []int
	}) bool {
		return d.Code == "index-too-long"
	})
	if i < 0 || s.Index[i].Line != memdir.MaxIndexLines+1 {
		t.Errorf("diagnostics of the index: %+v", s.Index)
	}
	if len(s.Topic) != 1 || s.Topic[0].Code != "type-unknown" || s.Topic[0].Line != 4 {
		t.Errorf("diagnostics of the topic: %+v", s.Topic)
	}
	for _, d := range s.After {
		if d.Code != "index-near-limit" {
			t.Errorf("left after the extraction: %+v", d)
		}
	}
	judgeFiles(t, dir, index, topic)
	if !s.Undone {
		t.Error("undo in the editor does not bring the index back")
	}
	if !s.Alive {
		t.Error("the server did not live to the end")
	}
}

// judgeFiles holds what is on disk against what a person may expect after the quick fix
// of the topic and the extraction from the index.
func judgeFiles(t *testing.T, dir, index, topic string) {
	t.Helper()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got, want := read("testing.md"), strings.Replace(topic, "feedbak", "feedback", 1); got != want {
		t.Errorf("the topic on disk:\n%s", got)
	}
	now := read(memfile.IndexName)
	if n := strings.Count(now, "\n"); n > memdir.MaxIndexLines {
		t.Errorf("the index on disk has %d lines", n)
	}
	// Every entry is in the index or in the topic that was made of the rest.
	made := ""
	for _, e := range memfile.ParseIndex(now).Entries {
		if !strings.Contains(index, "("+e.Target+")") {
			made += read(e.Target)
		}
	}
	if memfile.Parse(made).Meta().Name == "" {
		t.Errorf("the topic that was made has no name:\n%s", made)
	}
	for line := range strings.Lines(index) {
		if !strings.Contains(now, line) && !strings.Contains(made, line) {
			t.Errorf("lost: %s", line)
		}
	}
}

func TestNeovim(t *testing.T) {
	_, err := exec.LookPath("nvim")
	need.That(t, "nvim, which scripts/editors.sh installs", err)
	p := newPlace(t)
	dir, index, topic := tooLong(t, p)
	script, err := filepath.Abs("editors/nvim.lua")
	if err != nil {
		t.Fatal(err)
	}
	s := drive(t, p, dir, "nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile "+script)
	judge(t, s, dir, index, topic)
	if s.Index[0].Severity != 1 {
		t.Errorf("severity of %+v", s.Index[0])
	}
	for what, answer := range map[string]json.RawMessage{"hover": s.Hover, "definition": s.Definition, "completion": s.Completion} {
		if !strings.Contains(string(answer), "testing") {
			t.Errorf("%s: %s", what, answer)
		}
	}
}

// Emacs cannot create files by a workspace edit: it gets the text for a new buffer.
func TestEmacs(t *testing.T) {
	_, err := exec.LookPath("emacs")
	need.That(t, "emacs, which scripts/editors.sh installs", err)
	p := newPlace(t)
	dir, index, topic := tooLong(t, p)
	script, err := filepath.Abs("editors/eglot.el")
	if err != nil {
		t.Fatal(err)
	}
	s := drive(t, p, dir, "emacs", "--batch", "--eval", "(package-initialize)", "-l", script)
	judge(t, s, dir, index, topic)
}
