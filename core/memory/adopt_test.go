package memory

import (
	"encoding/json"
	"fmt"
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
	moved, err := m.Moved(t.Context(), MovedOptions{})
	if err != nil || len(moved) != 0 { // another name, and no files to compare
		t.Errorf("%+v, %v", moved, err)
	}
}

// TestAdoptShowsNoSecret: a project whose path, branch and files hold secrets is offered, taken over and
// given back without one being shown, unless a person asks for it; its id names it.
func TestAdoptShowsNoSecret(t *testing.T) {
	for _, token := range []string{"ghp_" + "1B4nK7qXw9RtYp2LmZc8VdHs5JfGa3TeUoQi", "AKIA" + "QYLPMN5HFIQR7XYA"} {
		t.Run(token[:4], func(t *testing.T) {
			w, _, now := movedWorld(t)
			if err := os.RemoveAll(filepath.Dir(w.dir)); err != nil {
				t.Fatal(err)
			}
			before := filepath.Join(filepath.Dir(now), token, filepath.Base(now))
			folder := filepath.Join(w.opt.Env.Home, ".claude", "projects", project.Slug(before))
			w.dir = folder
			row := `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":"u1","timestamp":"2026-11-30T08:00:00.000Z","cwd":%q,"sessionId":"s1","version":"1","gitBranch":"b/%s"}` + "\n"
			tool := `{"parentUuid":"u1","isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":%q}}]},"uuid":"u%d","cwd":%q,"sessionId":"s1"}` + "\n"
			said := fmt.Sprintf(row, before, token)
			for i, name := range []string{"main.go", "cache.go"} {
				said += fmt.Sprintf(tool, before+"/"+name, i+2, before)
				w.dir = now
				w.put(name, "x")
			}
			w.dir = now
			w.put(".git/HEAD", "ref: refs/heads/main\n")
			w.put(".git/config", "[core]\n")
			w.put(".git/objects/x", "")
			w.put(".git/refs/heads/b/"+token, "0123456789012345678901234567890123456789\n")
			w.dir = folder
			w.put("s1.jsonl", said)
			w.dir = filepath.Join(folder, "memory")
			w.put("MEMORY.md", "# Memory\n\n- [A](a.md) — x\n")
			w.put("a.md", "---\nname: a\n---\n\ntext\n")
			w.put("b-"+token+".md", "text\n")
			m := w.open()
			bare := token[4:] // the folder of the client has other signs
			clean := func(what string, v any, err error) {
				t.Helper()
				b, _ := json.Marshal(v)
				if text := fmt.Sprintf("%s %+v %v", b, v, err); strings.Contains(text, bare) {
					t.Errorf("%s shows the secret: %s", what, text)
				}
			}
			words := m.MovedWords(t.Context())
			clean("the offer", words, nil)
			start, err := m.SessionStart(t.Context())
			clean("the start of a conversation", start, err)
			list, err := m.Moved(t.Context(), MovedOptions{})
			clean("the list", list, err)
			if len(list) != 1 || len(words) != 1 || !strings.Contains(words[0], "mem-mcp adopt "+list[0].ID) {
				t.Fatalf("%+v\n%v", list, words)
			}
			if all := fmt.Sprint(list[0].Why); !strings.Contains(all, "its branch") {
				t.Errorf("the branch is no evidence: %v", all)
			}
			if whole, err := m.Moved(t.Context(), MovedOptions{ShowSecrets: true}); err != nil || whole[0].Root != before || whole[0].ID != list[0].ID {
				t.Errorf("%+v %v", whole, err)
			}
			for _, old := range []string{filepath.Join(before, "nothing"), filepath.Join(now, token), strings.Repeat("0", 8)} {
				got, err := m.Adopt(t.Context(), AdoptOptions{Old: old})
				if err == nil {
					t.Errorf("%s: %+v", old, got)
				}
				clean("an error", got, err)
			}
			if _, err := m.Adopt(t.Context(), AdoptOptions{Old: filepath.Join(before, "nothing"), ShowSecrets: true}); err == nil || !strings.Contains(err.Error(), token) {
				t.Errorf("asked for: %v", err)
			}
			got, err := m.Adopt(t.Context(), AdoptOptions{Old: list[0].ID})
			if err != nil {
				t.Fatal(err)
			}
			clean("what was taken over", got, err)
			clean("its words", got.Words(), nil)
			left := 0
			for _, f := range got.Files {
				if f.Action == transcript.TakenLeft {
					left++
				}
			}
			if got.Change == "" || left != 1 || len(got.Sessions.Sessions) != 1 {
				t.Errorf("%+v", got)
			}
			history, err := m.History(t.Context(), HistoryOptions{})
			clean("the history", history, err)
			undone, err := m.Undo(t.Context(), got.ID)
			clean("the undo", undone, err)
			if err != nil || !strings.Contains(fmt.Sprint(undone.Notes), "no longer listed") {
				t.Errorf("%+v %v", undone, err)
			}
		})
	}
}
