package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/internal/need"
)

// TestKeepsModeAndOwner changes files that are not as we would make them.
func TestKeepsModeAndOwner(t *testing.T) {
	need.System(t, runtime.GOOS != "windows", "no modes there")
	s := open(t)
	write(t, s, memory("one", "1"))
	write(t, s, memory("two", "2"))
	at := func(p string) string { return filepath.Join(s.Directory(), p) }
	const uid, gid = 12345, 23456
	for p, mode := range map[string]os.FileMode{"one.md": 0o640, "MEMORY.md": 0o600, "two.md": 0o666} {
		if err := os.Chmod(at(p), mode); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 {
			if err := os.Chown(at(p), uid, gid); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(p string, mode os.FileMode) {
		t.Helper()
		info, err := os.Stat(at(p))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, want %v", p, info.Mode().Perm(), mode)
		}
		if os.Geteuid() == 0 && !ownedBy(info, uid, gid) {
			t.Errorf("%s changed its owner", p)
		}
	}
	r, err := s.Apply(t.Context(), edit(t, s, "one.md", readFile(t, s, "one.md"), "\n1\n", "\nI\n"), How{})
	if err != nil {
		t.Fatal(err)
	}
	check("one.md", 0o640)
	if _, err := s.Undo(t.Context(), r.ID, How{}); err != nil {
		t.Fatal(err)
	}
	check("one.md", 0o640)
	v := view(t, s)
	c, _, err := v.Move(t.Context(), v.Topic("two.md"), "sub/two.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), c, How{}); err != nil {
		t.Fatal(err)
	}
	check("sub/two.md", 0o666)
	check("MEMORY.md", 0o600)
}

func TestReadOnlyFileIsRefused(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	before := readFile(t, s, "one.md")
	if err := os.Chmod(filepath.Join(s.Directory(), "one.md"), 0o444); err != nil {
		t.Fatal(err)
	}
	v := view(t, s)
	for name, c := range map[string]change.Change{
		"edit":   edit(t, s, "one.md", before, "\n1\n", "\n2\n"),
		"delete": v.Delete("one.md", before),
	} {
		var file *memdir.FileError
		if _, err := s.Apply(t.Context(), c, How{}); !errors.As(err, &file) || file.Path != "one.md" || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := readFile(t, s, "one.md"); got != before || v.Index.Entry("one.md") == nil {
		t.Errorf("it changed: %q", got)
	}
}

// TestHardLink says that other names of a file do not follow.
func TestHardLink(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	before := readFile(t, s, "one.md")
	other := filepath.Join(filepath.Dir(s.Directory()), "other.md")
	if err := os.Link(filepath.Join(s.Directory(), "one.md"), other); err != nil {
		t.Fatal(err)
	}
	r, err := s.Apply(t.Context(), edit(t, s, "one.md", before, "\n1\n", "\n2\n"), How{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "hard link") {
		t.Errorf("notes %q", r.Notes)
	}
	if b, err := os.ReadFile(other); err != nil || string(b) != before {
		t.Errorf("the other name has %q, %v", b, err)
	}
}

// TestKeepsBytes merges two edits of files with all kinds of line endings.
func TestKeepsBytes(t *testing.T) {
	const topic = "---\nname: x\ndescription: d # kept\nunknown: [a,  b]\ntype: user\n---\n\nlead\n\n## A\n\nfirst\n\n## B\n\nsecond\n"
	forms := map[string]func(string) string{
		"plain":            func(s string) string { return s },
		"CRLF":             func(s string) string { return text.WithEOL(s, "\r\n") },
		"BOM":              func(s string) string { return text.BOM + s },
		"no final newline": func(s string) string { return strings.TrimRight(s, "\n") },
		"BOM, CRLF and no final newline": func(s string) string {
			return strings.TrimRight(text.BOM+text.WithEOL(s, "\r\n"), "\r\n")
		},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			write(t, s, memory("one", "1"))
			base := form(topic)
			overwrite(t, s, "x.md", base)
			index := form("# Memory\n\n- [one](one.md) — about one\n- [x](x.md)\n")
			overwrite(t, s, "MEMORY.md", index)
			rest()
			stamps := memdir.Stamp{}
			first := change.Change{Files: []change.File{replaced(t, "x.md", base, "first", "FIRST")}}
			second := change.Change{Files: []change.File{replaced(t, "x.md", base, "second", "SECOND")}}
			third, err := memdir.Edit("x.md", base, memdir.EditOf{Key: "description", Value: "e"}, memfile.FormFlat, stamps)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []change.Change{first, second, third} {
				if _, err := s.Apply(t.Context(), c, How{}); err != nil {
					t.Fatal(err)
				}
			}
			got := readFile(t, s, "x.md")
			for _, l := range []string{"modified", "originSessionId"} { // the stamps that the edit brings
				if i := strings.Index(got, l); i >= 0 {
					end := i + strings.IndexByte(got[i:], '\n') + 1
					got = got[:i] + got[end:]
				}
			}
			want := form(strings.NewReplacer("first", "FIRST", "second", "SECOND", "description: d", "description: e").Replace(topic))
			if got != want {
				t.Errorf("topic %q\nwant  %q", got, want)
			}
			write(t, s, memory("new", "n"))
			wantIndex := form("# Memory\n\n- [new](new.md) — about new\n- [one](one.md) — about one\n- [x](x.md)\n")
			if got := readFile(t, s, "MEMORY.md"); got != wantIndex {
				t.Errorf("index %q\nwant  %q", got, wantIndex)
			}
		})
	}
}

// replaced gives the edit that puts new in the place of old.
func replaced(t *testing.T, p, base, old, new string) change.File {
	t.Helper()
	at := strings.Index(base, old)
	f, ok := change.EditFile(p, base, []text.Edit{{Span: text.Span{Start: at, End: at + len(old)}, New: new}})
	if at < 0 || !ok {
		t.Fatalf("%q does not occur", old)
	}
	return f
}

// TestAppendStartsALine keeps a log entry off a line that somebody left open.
func TestAppendStartsALine(t *testing.T) {
	s := open(t)
	log := memdir.LogPath(stamp.Now)
	if err := os.MkdirAll(filepath.Join(s.Directory(), filepath.Dir(log)), 0o755); err != nil {
		t.Fatal(err)
	}
	overwrite(t, s, log, "by hand, no newline")
	r, err := s.Apply(t.Context(), memdir.Log(memdir.LogNote{Name: "n", Body: "noted"}, stamp), How{})
	if err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, s, log); !strings.HasPrefix(got, "by hand, no newline\n## 09:00:00 n\n") {
		t.Errorf("log %q", got)
	}
	if e, err := s.Event(r.ID); err != nil || !strings.Contains(e.Files[0].New, "noted") {
		t.Errorf("event %+v, %v", e, err)
	}
}

func TestOneFileTwiceIsRefused(t *testing.T) {
	s := open(t)
	for _, c := range []change.Change{
		{Files: []change.File{{Path: "a.md", Kind: change.Create, New: "1"}, {Path: "a.md", Kind: change.Create, New: "2"}}},
		{Files: []change.File{{Path: "a.md", Kind: change.Create, New: "1"}, {Path: "A.md", Kind: change.Create, New: "2"}}},
	} {
		if _, err := s.Apply(t.Context(), c, How{}); err == nil || !strings.Contains(err.Error(), "more than one part") {
			t.Errorf("err = %v", err)
		}
	}
}

// TestUndoOfAMoveKeepsLaterEdits carries them back to the old path.
func TestUndoOfAMoveKeepsLaterEdits(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "## A\n\na\n\n## B\n\nb"))
	before := readFile(t, s, "one.md")
	v := view(t, s)
	c, _, err := v.Move(t.Context(), v.Topic("one.md"), "sub/uno.md")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Apply(t.Context(), c, How{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), edit(t, s, "sub/uno.md", readFile(t, s, "sub/uno.md"), "\na\n", "\nA!\n"), How{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(t.Context(), r.ID, How{}); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, s, "one.md"); got != strings.Replace(before, "\na\n", "\nA!\n", 1) {
		t.Errorf("one.md %q", got)
	}
	if _, err := os.Stat(filepath.Join(s.Directory(), "sub/uno.md")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// TestUndoOfUndoInTheHistory tells after each which changes stand.
func TestUndoOfUndoInTheHistory(t *testing.T) {
	s := open(t)
	id := write(t, s, memory("one", "1")).ID
	for n := range 4 {
		r, err := s.Undo(t.Context(), id, How{})
		if err != nil {
			t.Fatal(err)
		}
		events, _, err := s.History("", "", 10)
		if err != nil {
			t.Fatal(err)
		}
		// The newest stands, the one before it does not, and so on.
		for i, e := range events {
			one, err := s.Event(e.ID)
			if err != nil || one.UndoneBy != e.UndoneBy || (e.UndoneBy != "") != (i%2 == 1) {
				t.Errorf("after %d: event %d is undone by %q (%q), %v", n+1, i, e.UndoneBy, one.UndoneBy, err)
			}
		}
		id = r.ID
	}
}

// TestSweep removes what a failing power supply left long ago, and keeps its text.
func TestSweep(t *testing.T) {
	now := stamp.Now
	s := open(t, func(o *Options) { o.Now = func() time.Time { return now } })
	write(t, s, memory("one", "1"))
	old, err := newID(now.Add(-48*time.Hour), "", strings.NewReader("abcd"))
	if err != nil {
		t.Fatal(err)
	}
	young, err := newID(now, "", strings.NewReader("abcd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{old, young} {
		overwrite(t, s, tempName(id, 0), "text in "+id)
		long := time.Now().Add(-48 * time.Hour)
		if err := os.Chtimes(filepath.Join(s.Directory(), tempName(id, 0)), long, long); err != nil {
			t.Fatal(err)
		}
	}
	write(t, s, memory("two", "2"))
	files := tree(t, s.Directory())
	if _, there := files[tempName(old, 0)]; there || !found(t, s, "text in "+old) {
		t.Errorf("the old one is there (%v), or its text nowhere", there)
	}
	if _, there := files[tempName(young, 0)]; !there {
		t.Error("the young one is gone")
	}
}
