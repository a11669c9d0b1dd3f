package proposal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/change"
	"mem/core/memory"
	"mem/core/settings"
)

// world is a scratch home with a memory.
type world struct {
	t    *testing.T
	base string
	dir  string
	m    *memory.Memory
	p    *Proposals
	now  time.Time
}

func openAt(base string, now func() time.Time) (*memory.Memory, error) {
	return memory.Open(memory.Options{MemoryDir: filepath.Join(base, "memory"), Env: settings.Env{
		Lookup: func(k string) (string, bool) { return "the-session", k == "MEM_SESSION_ID" },
		Home:   base, Cwd: base, StateDir: filepath.Join(base, "state"), ConfigDir: filepath.Join(base, "config"),
		ManagedSettings: filepath.Join(base, "managed.json"), Now: now,
	}})
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, base: t.TempDir(), now: time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC)}
	w.dir = filepath.Join(w.base, "memory")
	for p, s := range some() {
		w.put(p, s)
	}
	m, err := openAt(w.base, func() time.Time { return w.now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	w.m, w.p = m, Of(m)
	return w
}

func (w *world) put(p, content string) {
	w.t.Helper()
	file := filepath.Join(w.dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(p string) string {
	b, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(p)))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func topic(name, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: about %s\ntype: project\n---\n\n%s\n", name, name, body)
}

// some is a memory of ten topics.
func some() map[string]string {
	out := map[string]string{}
	index := "# Memory\n\n"
	for i := range 10 {
		name := fmt.Sprintf("t%d", i)
		out[name+".md"] = topic(name, fmt.Sprintf("Body of %s, with some text.\n\n## A\n\na of %d\n\n## B\n\nb of %d", name, i, i))
		index += fmt.Sprintf("- [%s](%s.md) — about %s\n", name, name, name)
	}
	out["MEMORY.md"] = index
	out["kept.md"] = strings.Replace(topic("kept", "stays"), "type: project", "type: project\npinned: true", 1)
	return out
}

// changeOf is what turns the memory of some into others: "" deletes.
func changeOf(to map[string]string) change.Change {
	var c change.Change
	base := some()
	for _, p := range sorted(to) {
		was, known := base[p]
		switch {
		case !known:
			c.Files = append(c.Files, change.File{Path: p, Kind: change.Create, New: to[p]})
		case to[p] == "":
			c.Files = append(c.Files, change.File{Path: p, Kind: change.Delete, Base: was})
		default:
			if f, ok := change.EditFile(p, was, change.Lines(was, to[p])); ok {
				c.Files = append(c.Files, f)
			}
		}
	}
	return c
}

func sorted(m map[string]string) []string {
	var out []string
	for p := range m {
		out = append(out, p)
	}
	for i := range out {
		for j := range i {
			if out[i] < out[j] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

// work is a result with a new topic, an edit, a deletion and a remark in the index.
func work() change.Change {
	index := some()["MEMORY.md"]
	index = strings.Replace(index, "- [t3](t3.md) — about t3\n", "", 1)
	index = strings.Replace(index, "- [t0]", "- [new](new.md) — about new\n- [t0]", 1)
	index = strings.Replace(index, "# Memory\n", "# Memory\n\nA remark.\n", 1)
	return changeOf(map[string]string{
		"new.md":    topic("new", "something new"),
		"t1.md":     strings.Replace(some()["t1.md"], "b of 1", "better b of 1", 1),
		"t3.md":     "",
		"MEMORY.md": index,
	})
}

func (w *world) settle(s Submission) *Settled {
	w.t.Helper()
	if s.Kind == "" {
		s.Kind = "dream"
	}
	if s.Title == "" {
		s.Title = "a dream"
	}
	out, err := w.p.Settle(w.t.Context(), s)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) changes() int {
	h, err := w.m.History(w.t.Context(), memory.HistoryOptions{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(h.Changes)
}
