package store

import (
	"os"
	"path/filepath"
	"testing"

	"mem/core/change"
)

// TestRenameByCase: a topic may get another letter case, since the name that differs by
// case only goes with the same change; beside another file it may not.
func TestRenameByCase(t *testing.T) {
	s := open(t)
	write(t, s, memory("note", "1"))
	rename := func(from, to string) error {
		_, err := s.Apply(t.Context(), change.Change{Files: []change.File{{Path: from, Kind: change.Rename, To: to, Base: readFile(t, s, from)}}}, How{})
		return err
	}
	if err := rename("note.md", "Note.md"); err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(s.Directory()); err != nil || len(names) != 2 || names[1].Name() != "Note.md" {
		t.Errorf("after it: %v %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(s.Directory(), "NOTE.md")); (err == nil) != caseless(t) {
		t.Errorf("letter case: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(s.Directory(), "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Directory(), "sub", "note.md"), []byte("Two.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := rename("sub/note.md", "note.md"); err == nil {
		t.Error("two names that differ by case only stand side by side")
	}
}

// caseless tells whether letter case does not count where these tests write. With
// caselessEnv it has to be so.
func caseless(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := os.Stat(filepath.Join(dir, "A"))
	if err != nil && os.Getenv(caselessEnv) != "" {
		t.Fatalf("letter case counts in %s", dir)
	}
	return err == nil
}
