package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mem/internal/need"
)

// vscodeEnv set to anything drives VS Code: make vscode sets it, and installs before what
// is needed, which takes minutes and 1.3 GB.
const vscodeEnv = "MEM_VSCODE"

// window is what a drive of VS Code saw.
type window struct {
	Error, Server string
	// Rows of the Problems panel.
	Index, Topic, After []string
	Faded               []string // lines of the index
	Hover, Completed    string
	Completion          []string
	Quickfixes          []string
	Extracts            []string
	Fixed               string
	Undone, Alive       bool

	Lenses, LensesAfter          []string
	Review, Difference, Reviewed string // the review documents, the last after the decision
	Choices                      []string
	Question, Told, Noticed      string
	Before, Taken, Decided       map[string]string // files of the memory
	Published                    []string          // names of files in the snapshot
}

// inVSCode does the drive of a script with dir in VS Code.
func inVSCode(t *testing.T, p *place, script string, env ...string) window {
	t.Helper()
	home, err := filepath.Abs("editors/vscode")
	if err != nil {
		t.Fatal(err)
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	node := filepath.Join(home, "node_modules", "node-linux-"+arch, "bin")
	result := filepath.Join(p.root, "result.json")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(node, "node"), filepath.Join(home, script))
	c.Dir = p.root
	c.Env = append(p.with("PATH="+node+string(os.PathListSeparator)+os.Getenv("PATH"), "MEM_ROOT="+p.root, "MEM_LSP="+languageServer, "MEM_MCP="+binary, "MEM_RESULT="+result,
		"MEM_VSIX="+filepath.Join(home, "..", "..", "..", "editors", "vscode", "mem-lsp.vsix"),
		"MEM_PICTURES="+os.Getenv("MEM_PICTURES"), "XDG_DATA_HOME="+filepath.Join(p.root, "data")), env...)
	var seen bytes.Buffer
	c.Stdout, c.Stderr = &seen, &seen
	runErr := c.Run()
	b, err := os.ReadFile(result)
	if err != nil {
		t.Fatalf("VS Code left no result: %v, %v\n%s", runErr, err, seen.String())
	}
	var w window
	if err := json.Unmarshal(b, &w); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if w.Error != "" || runErr != nil {
		t.Fatalf("%v: %s\nit had seen: %s\n%s", runErr, w.Error, b, seen.String())
	}
	return w
}

func withVSCode(t *testing.T) {
	t.Helper()
	need.Asked(t, os.Getenv(vscodeEnv) != "", "make vscode drives VS Code")
	need.System(t, runtime.GOOS == "linux", "VS Code is driven on Linux")
}

// some says whether one of the texts holds all of what is wanted.
func some(texts []string, want ...string) bool {
	return slices.ContainsFunc(texts, func(s string) bool {
		return !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(s, w) })
	})
}

func TestVSCode(t *testing.T) {
	withVSCode(t)
	p := newPlace(t)
	dir, index, topic := tooLong(t, p)
	after := filepath.Join(p.root, "after")
	w := inVSCode(t, p, "alone.mjs", "MEM_DIR="+dir, "MEM_COPY="+after)
	if len(w.Index) != 3 || !some(w.Index, "index-too-long", "never see line 201", "[Ln 201, Col 1]") || !some(w.Index, "first line that is not loaded") {
		t.Errorf("problems of the index: %q", w.Index)
	}
	if len(w.Faded) != 1 || !strings.HasPrefix(w.Faded[0], "- [Part 197]") {
		t.Errorf("faded lines: %q", w.Faded)
	}
	if !strings.Contains(w.Hover, "Where part 197 is kept") {
		t.Errorf("hover: %s", w.Hover)
	}
	if !some(w.Completion, "testing.md", "feedbak") || w.Completed != "- [Testing](testing.md)" {
		t.Errorf("completions: %q, which gave %q", w.Completion, w.Completed)
	}
	if len(w.Topic) != 1 || !some(w.Topic, "type-unknown", "[Ln 4, Col 7]") {
		t.Errorf("problems of the topic: %q", w.Topic)
	}
	if want := []string{"feedback", "user", "project", "reference"}; len(w.Quickfixes) != len(want) {
		t.Errorf("quick fixes: %q", w.Quickfixes)
	} else {
		for i, typ := range want {
			if w.Quickfixes[i] != "Set the type to "+typ {
				t.Errorf("quick fix %d is %q", i, w.Quickfixes[i])
			}
		}
	}
	if want := strings.Replace(topic, "feedbak", "feedback", 1); w.Fixed != want {
		t.Errorf("the topic after the quick fix:\n%s", w.Fixed)
	}
	if !some(w.Extracts, "Move the last", "lines into a topic") {
		t.Errorf("refactorings: %q", w.Extracts)
	}
	for _, row := range w.After {
		if !strings.HasPrefix(row, "MEMORY.md") && !strings.Contains(row, "index-near-limit") {
			t.Errorf("left after the extraction: %s", row)
		}
	}
	judgeFiles(t, after, index, topic)
	if !w.Undone || !w.Alive {
		t.Errorf("undo brings the index back: %v; the drive came to its end: %v", w.Undone, w.Alive)
	}
}

// The memory of a project mostly lies in the home directory. An editor watches only the
// folder that is open, so the server asks it to look there, too.
func TestVSCodeOutside(t *testing.T) {
	withVSCode(t)
	p := newPlace(t)
	dir := p.memory(t)
	in, err := filepath.Rel(p.root, dir)
	if err != nil || strings.HasPrefix(dir, p.project) {
		t.Fatal(dir, err)
	}
	topic := "---\nname: testing\ndescription: How we test\ntype: reference\n---\n\nNo mocks.\n"
	p.write(t, "project/README.md", "# A project\n")
	p.write(t, in+"/MEMORY.md", "# Memory\n\n- [Testing](testing.md) — how we test"+strings.Repeat(", and what it is good for", 6)+"\n")
	p.write(t, in+"/testing.md", topic)
	w := inVSCode(t, p, "outside.mjs", "MEM_DIR="+dir, "MEM_FOLDER="+p.project, "MEM_TEXT="+topic)
	if !some(w.Index, "entry-too-long", "[Ln 3") || some(w.Index, "broken-link") || !strings.Contains(w.Noticed, "testing.md") || !w.Alive {
		t.Errorf("first %q, then %q; the drive came to its end: %v", w.Index, w.Noticed, w.Alive)
	}
}
