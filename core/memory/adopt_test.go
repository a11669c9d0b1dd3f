package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/project"
	"mem/core/transcript"
)

// movedWorld is a project that lies at "now" and was at "before", with a transcript.
func movedWorld(t *testing.T) (w *world, before, now string) {
	t.Helper()
	w = newWorld(t)
	base, err := filepath.EvalSymlinks(w.opt.Env.Home)
	if err != nil {
		t.Fatal(err)
	}
	before, now = filepath.Join(base, "before"), filepath.Join(base, "now")
	if err := os.Mkdir(now, 0o755); err != nil {
		t.Fatal(err)
	}
	w.opt.MemoryDir, w.opt.Project = "", now
	folder := filepath.Join(w.opt.Env.Home, ".claude", "projects", project.Slug(before))
	w.dir = folder
	w.put("s1.jsonl", `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":"u1","timestamp":"2026-11-30T08:00:00.000Z","cwd":"`+filepath.ToSlash(before)+`","sessionId":"s1","version":"1"}`+"\n")
	w.dir = filepath.Join(folder, "memory")
	return w, before, now
}

func TestAdoptAndUndo(t *testing.T) {
	w, before, now := movedWorld(t)
	w.put("MEMORY.md", "# Memory\n\n- [A](a.md) — x\n")
	w.put("a.md", "---\nname: a\n---\n\ntext\n")
	m := w.open()
	sessions := func() int {
		t.Helper()
		s, err := transcript.Find(t.Context(), w.opt.Env, transcript.FindOptions{Project: m.Location.Project})
		if err != nil {
			t.Fatal(err)
		}
		return len(s.List)
	}
	got, err := m.Adopt(t.Context(), AdoptOptions{Old: before})
	if err != nil {
		t.Fatal(err)
	}
	if got.From != before || got.To != now || got.Index.Lines == 0 || sessions() != 1 {
		t.Errorf("%+v %d", got, sessions())
	}
	if l, err := m.List(t.Context(), ListOptions{}); err != nil || len(l.Topics) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	undone, err := m.Undo(t.Context(), got.ID)
	if err != nil {
		t.Fatal(err)
	}
	if sessions() != 0 || !strings.Contains(strings.Join(undone.Notes, " "), "no longer listed") {
		t.Errorf("%d sessions, notes %v", sessions(), undone.Notes)
	}
	again, err := m.Undo(t.Context(), undone.ID)
	if err != nil || sessions() != 1 || !strings.Contains(strings.Join(again.Notes, " "), "listed for this project again") {
		t.Errorf("%v, %d sessions, %+v", err, sessions(), again)
	}
	if back, err := m.Undo(t.Context(), again.ID); err != nil || sessions() != 0 {
		t.Errorf("%v, %d sessions, %+v", err, sessions(), back)
	}
}

func TestAdoptSessionsAlone(t *testing.T) {
	w, before, _ := movedWorld(t)
	w.opt.Env.Now = func() time.Time { return time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC) }
	m := w.open()
	got, err := m.Adopt(t.Context(), AdoptOptions{Old: before})
	if err != nil || got.ID == "" || got.Change != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	undone, err := m.Undo(t.Context(), got.ID)
	if err != nil || undone.ID != "" || !strings.Contains(strings.Join(undone.Notes, " "), "no longer listed") {
		t.Errorf("%+v, %v", undone, err)
	}
	if _, err := m.Undo(t.Context(), "sessions-none"); err == nil {
		t.Error("an id that is none is undone")
	}
	moved, err := m.Moved(t.Context())
	if err != nil || len(moved) != 0 { // another name, and no files to compare
		t.Errorf("%+v, %v", moved, err)
	}
}
