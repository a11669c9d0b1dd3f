package sessionmem

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/text"
	"mem/core/transcript"
	"mem/internal/need"
)

func session(t *testing.T) *transcript.Session {
	t.Helper()
	return &transcript.Session{ID: "abc", Path: filepath.Join(t.TempDir(), "abc.jsonl")}
}

func TestWriteAndRead(t *testing.T) {
	x := session(t)
	if _, err := Read(x); !errors.Is(err, ErrNone) {
		t.Fatalf("before the first: %v", err)
	}
	f, err := Write(x, "one\n", "")
	if err != nil || f.Path != filepath.Join(filepath.Dir(x.Path), "abc", "session-memory", "summary.md") {
		t.Fatalf("%+v, %v", f, err)
	}
	var changed *ChangedError
	if _, err := Write(x, "two\n", ""); !errors.As(err, &changed) || changed.Current.Text != "one\n" {
		t.Errorf("without having read it: %v", err)
	}
	if _, err := Write(x, "two\n", f.Hash); err != nil {
		t.Error(err)
	}
	if _, err := Write(x, "three\n", f.Hash); !errors.As(err, &changed) {
		t.Errorf("from an older one: %v", err)
	}
	if same, err := Write(x, "two\n", "any"); err != nil || same.Text != "two\n" {
		t.Errorf("what is there already: %v", err)
	}
	got, err := Read(x)
	if err != nil || got.Text != "two\n" || got.Hash != text.Hash("two\n") || got.Modified.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	list, err := os.ReadDir(filepath.Dir(got.Path))
	if err != nil || len(list) != 1 {
		t.Errorf("left in the folder: %v, %v", list, err)
	}
	if err := os.Remove(got.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(x, "four\n", got.Hash); !errors.As(err, &changed) {
		t.Errorf("one that is gone: %v", err)
	}
}

func TestOnlyItsOwnFolderIsWritten(t *testing.T) {
	for _, name := range []string{"abc", "abc/session-memory", "abc/session-memory/summary.md"} {
		t.Run(name, func(t *testing.T) {
			x := session(t)
			outside := t.TempDir()
			if err := os.MkdirAll(filepath.Join(outside, Folder), 0o755); err != nil {
				t.Fatal(err)
			}
			target := outside
			if strings.HasSuffix(name, ".md") {
				target = filepath.Join(outside, "notes.md")
				if err := os.WriteFile(target, []byte("theirs"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			link := filepath.Join(filepath.Dir(x.Path), filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			need.Link(t, target, link)
			if _, err := Read(x); err == nil || errors.Is(err, ErrNone) {
				t.Errorf("read: %v", err)
			}
			if _, err := Write(x, "mine\n", ""); err == nil {
				t.Error("written through a link")
			}
			if b, err := os.ReadFile(filepath.Join(outside, "notes.md")); err == nil && string(b) != "theirs" {
				t.Errorf("outside: %q", b)
			}
			if _, err := os.Stat(filepath.Join(outside, Folder, Name)); err == nil {
				t.Error("a summary lies outside")
			}
		})
	}
}

func TestArchivesAndSubagentsHaveNone(t *testing.T) {
	for _, x := range []*transcript.Session{
		{ID: "a", Path: "/x/a.jsonl.gz"},
		{ID: "a", Path: "/x/a.jsonl", Facts: transcript.Facts{Agent: "b"}},
	} {
		if _, err := Write(x, "x", ""); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", x.Path, err)
		}
	}
}

func TestState(t *testing.T) {
	dir := t.TempDir()
	if s, err := LoadState(dir, "abc"); s != nil || err != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	want := State{Session: "abc", Leaf: transcript.ParseUUID("11111111-1111-4111-8111-111111111111"), Tokens: 7, Updated: time.Unix(9, 0).UTC()}
	if err := want.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := LoadState(dir, "abc")
	if err != nil || got.Leaf != want.Leaf || got.Tokens != 7 || !got.Updated.Equal(want.Updated) || got.Version != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, Folder, "abc.json"), []byte("{garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := LoadState(dir, "abc"); s != nil || err != nil {
		t.Errorf("of garbage: %+v, %v", s, err)
	}
	if _, err := LoadState(dir, "../x"); err == nil {
		t.Error("an id that leaves the folder")
	}
}
