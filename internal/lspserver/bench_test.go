package lspserver

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// memory200 is an index of 200 lines over 200 topics.
func memory200() map[string]string {
	files := map[string]string{}
	var index strings.Builder
	index.WriteString("# Memory\n\n")
	kinds := []string{"user", "feedback", "project", "reference"}
	for i := range 200 {
		name := fmt.Sprintf("topic-%03d", i)
		if i < 198 {
			fmt.Fprintf(&index, "- [Topic %d](%s.md) — what topic %d is about, in a few words\n", i, name, i)
		}
		files[name+".md"] = fmt.Sprintf("---\nname: %s\ndescription: what topic %d is about\ntype: %s\n---\n\n# Topic %d\n\n**Why:** [[topic-%03d]] says so.\n\n**How to apply:** %s\n",
			name, i, kinds[i%4], i, (i+7)%200, strings.Repeat("a word or two, ", 80))
	}
	files["MEMORY.md"] = index.String()
	return files
}

// report gives the median of what was measured.
func median(b *testing.B, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(all[len(all)*95/100].Microseconds())/1000, "ms-p95")
}

func changes200(b *testing.B, e *editor, files map[string]string) {
	e.initialize(capable)
	e.open("MEMORY.md", files["MEMORY.md"])
	e.shown("MEMORY.md", 1)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if e.version%2 == 1 {
			e.edit("MEMORY.md", replace(5, 4, 5, 4, "x"))
		} else {
			e.edit("MEMORY.md", replace(5, 4, 5, 5, ""))
		}
		e.shownLast("MEMORY.md", e.version)
		took = append(took, time.Since(began))
	}
	median(b, took)
}

// shownLast is shown for the newest version only: it does not look at all others.
func (e *editor) shownLast(name string, version int) {
	u := e.uri(name)
	e.wait("diagnostics", func() bool {
		all := e.pushed[u]
		return len(all) > 0 && all[len(all)-1].Version >= version
	})
}

func BenchmarkChange(b *testing.B) {
	files := memory200()
	b.Run("broken links", func(b *testing.B) {
		broken := maps.Clone(files)
		for i := 9; i < 198; i += 10 {
			broken["MEMORY.md"] = strings.Replace(broken["MEMORY.md"], fmt.Sprintf("(topic-%03d.md)", i), fmt.Sprintf("(gone-%d.md)", i), 1)
		}
		changes200(b, startAt(b, b.TempDir(), broken), broken)
	})
	b.Run("pipe", func(b *testing.B) { changes200(b, startAt(b, b.TempDir(), files), files) })
	b.Run("stdio", func(b *testing.B) {
		e, cmd := startProcess(b, b.TempDir(), files)
		changes200(b, e, files)
		b.ReportMetric(rss(b, cmd.Process.Pid), "MB-rss")
	})
}

// rss gives the resident memory of a process, 0 where the system does not tell.
func rss(b *testing.B, pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kb, err := strconv.Atoi(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))))
			if err != nil {
				b.Fatal(err)
			}
			return float64(kb) / 1024
		}
	}
	return 0
}

func BenchmarkInitialize(b *testing.B) {
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		e, _ := startProcess(b, b.TempDir(), nil)
		e.initialize(capable)
		took = append(took, time.Since(began))
		e.quit()
	}
	median(b, took)
}

func BenchmarkPlaces(b *testing.B) {
	files := memory200()
	for _, c := range []struct {
		method string
		params string
	}{
		{"definition", `"position":{"line":100,"character":22}`},
		{"completion", `"position":{"line":100,"character":20}`},
		{"hover", `"position":{"line":100,"character":22}`},
		{"references", `"position":{"line":100,"character":22},"context":{"includeDeclaration":true}`},
		{"documentLink", `"x":0`},
		{"documentSymbol", `"x":0`},
		{"codeAction", `"range":{"start":{"line":100,"character":0},"end":{"line":100,"character":0}},"context":{"diagnostics":[]}`},
	} {
		b.Run(c.method, func(b *testing.B) {
			e := startAt(b, b.TempDir(), files)
			e.initialize(capable)
			e.open("MEMORY.md", files["MEMORY.md"])
			e.shown("MEMORY.md", 1)
			params := fmt.Sprintf(`{"textDocument":{"uri":%q},%s}`, e.uri("MEMORY.md"), c.params)
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				e.ask("textDocument/"+c.method, params, nil)
				took = append(took, time.Since(began))
			}
			median(b, took)
		})
	}
}

// Completion right after a key was pressed, which is when it is asked for.
func BenchmarkCompletionAfterChange(b *testing.B) {
	files := memory200()
	e := startAt(b, b.TempDir(), files)
	e.initialize(capable)
	e.open("MEMORY.md", files["MEMORY.md"])
	e.shown("MEMORY.md", 1)
	params := fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":100,"character":20}}`, e.uri("MEMORY.md"))
	var took []time.Duration
	for b.Loop() {
		if e.version%2 == 1 {
			e.edit("MEMORY.md", replace(100, 18, 100, 18, "x"))
		} else {
			e.edit("MEMORY.md", replace(100, 18, 100, 19, ""))
		}
		began := time.Now()
		e.ask("textDocument/completion", params, nil)
		took = append(took, time.Since(began))
	}
	median(b, took)
}

// BenchmarkFirstPublishLens asks for the lenses of a memory of 200 topics that no team has
// yet, and resolves them, as an editor does after each key.
func BenchmarkFirstPublishLens(b *testing.B) {
	w, e := shared(b, unshared)
	if err := os.RemoveAll(filepath.Join(w.top, ".claude", "agent-memory-snapshots")); err != nil {
		b.Fatal(err)
	}
	files := memory200()
	old := time.Now().Add(-time.Hour)
	for p, s := range files {
		name := filepath.Join(w.dir, p)
		w.put(name, s)
		if err := os.Chtimes(name, old, old); err != nil {
			b.Fatal(err)
		}
	}
	index := files["MEMORY.md"]
	e.open("MEMORY.md", index)
	e.shown("MEMORY.md", 1)
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		e.change("MEMORY.md", index+fmt.Sprintf("\nTyped %d.\n", i))
		began := time.Now()
		if all := e.lenses(); !strings.Contains(all["publish"].Command.Title, "to the team") {
			b.Fatalf("%+v", all)
		}
		took = append(took, time.Since(began))
	}
	median(b, took)
}
