package store

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/text"
)

// TestWriterInPlaceKeepsItsText lets a program hold the index open, as editors
// that save in place do, while mem writes: its text must not go down with the
// file that mem replaces.
func TestWriterInPlaceKeepsItsText(t *testing.T) {
	const theirs = "- [theirs](theirs.md) — by hand\n"
	for name, flags := range map[string]int{"rewrites": os.O_WRONLY | os.O_TRUNC, "updates": os.O_RDWR, "appends": os.O_WRONLY | os.O_APPEND} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			write(t, s, memory("one", "1"))
			index := filepath.Join(s.Directory(), "MEMORY.md")
			old := readFile(t, s, "MEMORY.md")
			f, err := os.OpenFile(index, flags, 0)
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				time.Sleep(60 * time.Millisecond)
				text := theirs
				if flags&os.O_APPEND == 0 {
					text = old + theirs
				}
				_, err := f.WriteString(text[:len(text)/2])
				time.Sleep(60 * time.Millisecond)
				if err == nil {
					_, err = f.WriteString(text[len(text)/2:])
				}
				if closeErr := f.Close(); err == nil {
					err = closeErr
				}
				done <- err
			}()
			write(t, s, memory("two", "2"))
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			got := readFile(t, s, "MEMORY.md")
			for _, want := range []string{"one.md", "two.md", "theirs.md"} {
				if !strings.Contains(got, want) {
					t.Errorf("the index lost %s: %q", want, got)
				}
			}
		})
	}
}

func TestNothingGrowsPastWhatCanBeRead(t *testing.T) {
	s := open(t, func(o *Options) { o.Limits.TopicBytes = 4000 })
	write(t, s, memory("one", strings.Repeat("x", 3000)))
	before := readFile(t, s, "one.md")
	for _, f := range []change.File{
		{Path: "one.md", Kind: change.Edit, Base: before, Edits: editsTo(before, before+strings.Repeat("y", 2000))},
		{Path: "two.md", Kind: change.Create, New: strings.Repeat("y", 5000)},
		{Path: "logs/2026/11/2026-11-30.md", Kind: change.Append, New: strings.Repeat("y", 5000)},
	} {
		_, err := s.Apply(t.Context(), change.Change{Files: []change.File{f}}, How{})
		if err == nil || !strings.Contains(err.Error(), f.Path) || !strings.Contains(err.Error(), "limits.topic_bytes") {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
}

func editsTo(from, to string) []text.Edit { return newStep("", from, true, to, true).edits }

func TestLinkedFoldersAreNotWrittenTo(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	hidden := filepath.Join(s.Directory(), ".git", "hooks")
	if err := os.MkdirAll(hidden, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".git", filepath.Join(s.Directory(), "notes")); err != nil {
		t.Fatal(err)
	}
	_, err := s.Apply(t.Context(), change.Change{Files: []change.File{{Path: "notes/hooks/x.md", Kind: change.Create, New: "x"}}}, How{})
	if err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("err = %v", err)
	}
	if names, err := os.ReadDir(hidden); err != nil || len(names) > 0 {
		t.Errorf("hidden folder: %v %v", names, err)
	}
}

// forge appends a record that no mem wrote.
func forge(t *testing.T, s *Store, edit func(head map[string]any)) {
	t.Helper()
	st := newStep("x.md", "", false, "forged\n", true)
	r := Record{ID: "zzzzzzzzz0000", Time: time.Now(), Op: "write", Title: "forged"}
	_, b, _, err := encode(r, []step{st})
	if err != nil {
		t.Fatal(err)
	}
	line, payload, _ := strings.Cut(string(b), "\n")
	var head map[string]any
	if err := json.Unmarshal([]byte(line), &head); err != nil {
		t.Fatal(err)
	}
	edit(head)
	out, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	// Records start with version and id, which is how damage is skipped.
	out = append([]byte(`{"v":1,"id":"`+r.ID+`",`), out[1:]...)
	files, err := filepath.Glob(filepath.Join(s.StateDirectory(), "journal", "*"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(files[len(files)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(string(out) + "\n" + payload); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestForgedRecordsAreNotObeyed(t *testing.T) {
	path := func(p string) func(map[string]any) {
		return func(head map[string]any) { head["files"].([]any)[0].(map[string]any)["path"] = p }
	}
	for name, edit := range map[string]func(map[string]any){
		"not a memory": path("CLAUDE.md"), "hidden": path(".git/hooks/post-commit"), "no Markdown": path("x.sh"),
		"absolute": path("/tmp/abs.md"), "outside": path("../b.md"),
		"endless payload": func(head map[string]any) { head["payload"] = uint64(1<<63 - 1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			write(t, s, memory("one", "1"))
			forge(t, s, edit)
			other := reopen(t, s.Directory(), filepath.Dir(s.StateDirectory()))
			if v := view(t, other); len(v.Topics) != 1 {
				t.Errorf("topics = %v", v.Topics)
			}
			write(t, other, memory("two", "2"))
			if entries, err := os.ReadDir(s.Directory()); err != nil || len(entries) != 3 {
				t.Errorf("files = %v, %v", entries, err)
			}
			if _, err := other.Purge(t.Context()); err != nil {
				t.Errorf("purge: %v", err)
			}
		})
	}
}

func TestPipesInTheStateDirectoryHangNothing(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	hash := strings.Repeat("a", 32)
	for _, p := range []string{"journal/zzzzzzzzzzzzy.journal", "bases/" + hash} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(s.StateDirectory(), p)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(s.StateDirectory(), p), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		other := reopen(t, s.Directory(), filepath.Dir(s.StateDirectory()))
		write(t, other, memory("two", "2"))
		if _, ok := other.Base(hash); ok {
			t.Error("a pipe is a base")
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
	}
}

func TestASecretInANameIsRefused(t *testing.T) {
	scanner, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, func(o *Options) { o.Guard = scanner })
	write(t, s, memory("one", "1"))
	token := "ghp_" + strings.Repeat("a1B2c3D4", 5)[:36]
	base := readFile(t, s, "one.md")
	for _, f := range []change.File{
		{Path: token + ".md", Kind: change.Create, New: "x"},
		{Path: "one.md", Kind: change.Rename, To: "sub/" + token + ".md", Base: base},
	} {
		_, err := s.Apply(t.Context(), change.Change{Files: []change.File{f}}, How{})
		if err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", f.Kind, err)
		}
	}
}

func TestADeletedDirectoryIsTold(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	if err := os.RemoveAll(s.Directory()); err != nil {
		t.Fatal(err)
	}
	if v := view(t, s); len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "deleted by another program") {
		t.Errorf("notes = %q", v.Notes)
	}
	if r := write(t, s, memory("two", "2")); len(r.Losses) != 1 || r.Losses[0].Path != "one.md" {
		t.Errorf("losses = %+v", r.Losses)
	}
}

func TestPurgeBesideARunningStore(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	other := reopen(t, s.Directory(), filepath.Dir(s.StateDirectory()))
	if _, err := other.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := write(t, s, memory("two", "2")); r.ID == "" || len(r.Notes) > 0 {
		t.Errorf("written = %+v", r)
	}
	if events, _, err := s.History("", "", 10); err != nil || len(events) != 1 || events[0].Aborted {
		t.Errorf("history = %+v, %v", events, err)
	}
}

// TestPipeInPlaceOfATopic: a pipe that takes the place of a topic between the look at it and
// its opening is refused; the lock is not held for ever.
func TestPipeInPlaceOfATopic(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "Text.\n"))
	root, err := os.OpenRoot(s.Directory())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := openFolder(root, ".", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	at := filepath.Join(s.Directory(), "one.md")
	swap := func() error { return errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o600)) }
	for name, do := range map[string]func() error{
		"read": func() error {
			if err := swap(); err != nil {
				t.Error(err)
			}
			_, _, err := d.released("one.md", "")
			var file *memdir.FileError
			if !errors.As(err, &file) || file.Path != "one.md" {
				t.Errorf("%v", err)
			}
			return err
		},
		"sync": func() error {
			if err := swap(); err != nil {
				t.Error(err)
			}
			return d.sync("one.md")
		},
		"cut": func() error {
			d.instant = func(op, _ string) error {
				if op == "cut" {
					return swap()
				}
				return nil
			}
			defer func() { d.instant = nil }()
			return d.cutAppended("one.md", 1, "ext")
		},
	} {
		if err := errors.Join(os.RemoveAll(at), os.WriteFile(at, []byte("text"), 0o600)); err != nil {
			t.Fatal(err)
		}
		refused := make(chan error, 1)
		go func() { refused <- do() }()
		select {
		case err := <-refused:
			if err == nil {
				t.Errorf("%s: nothing is said", name)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: a pipe is waited for", name)
		}
	}
}
