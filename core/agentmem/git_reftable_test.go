package agentmem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReftable: references of tables that git 2.55 wrote, with many small blocks, deletions
// and links, are what that git said of them (want). HEAD of a worktree is its own.
func TestReftable(t *testing.T) {
	t.Parallel()
	for kind, name := range map[string]int{"sha1": 20, "sha256": 32} {
		dir := filepath.Join("testdata", "reftable", kind)
		want, err := os.ReadFile(filepath.Join(dir, "want"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(want)), "\n")
		if len(lines) < 60 {
			t.Fatalf("%d references", len(lines))
		}
		for _, line := range lines {
			ref, value, _ := strings.Cut(line, " ")
			if got, err := tableRef(dir, dir, ref, name); err != nil || got != value {
				t.Errorf("%s of %s is %q %v, not %q", ref, kind, got, err, value)
			}
		}
		side := filepath.Join(dir, "worktrees", "side")
		if got, err := tableRef(side, dir, "HEAD", name); err != nil || got != "ref: refs/heads/side" {
			t.Errorf("HEAD of the worktree: %q %v", got, err)
		}
	}
}

// TestReftableHostile: a list of tables leads nowhere but to tables beside it, and what is
// damaged or missing is told.
func TestReftableHostile(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"../../secret.ref\n":        "no table",
		".hidden.ref\n":             "no table",
		"none.ref\n":                "none.ref",
		"bad.ref\n":                 "damaged",
		"new.ref\n":                 "version 3",
		strings.Repeat("x\n", 1001): "1001 tables",
	} {
		dir := t.TempDir()
		write(t, dir, "reftable/tables.list", list)
		write(t, dir, "reftable/bad.ref", "REFT\x01\x00\x10\x00"+strings.Repeat("\x00", 16)+"r\x00\xff\xff1234")
		write(t, dir, "reftable/new.ref", "REFT\x03\x00\x10\x00"+strings.Repeat("\x00", 16))
		if got, err := tableRef(dir, dir, "HEAD", 20); err == nil || got != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %q %v", list, got, err)
		}
	}
	if _, err := tableRef(t.TempDir(), "", "HEAD", 20); err == nil {
		t.Error("no list of tables is no error")
	}
}

// FuzzReftable: a table ends, whatever it holds.
func FuzzReftable(f *testing.F) {
	names, err := filepath.Glob("testdata/reftable/*/reftable/*.ref")
	if err != nil || len(names) < 4 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, n := range []int{20, 32} {
			if v, found, err := refInTable(data, "refs/heads/main", n); len(v) > len(data)*2+10 || err != nil && found {
				t.Errorf("%d bytes of %d, %v", len(v), len(data), err)
			}
		}
	})
}
