package workspace_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/settings"
	"mem/diagnostics"
	"mem/diagnostics/workspace"
	"mem/internal/need"
)

// TestTopicsBesideAnIndexThatCannotBeRead: an index that is too large, or no file, is
// one finding, and the topics are checked.
func TestTopicsBesideAnIndexThatCannotBeRead(t *testing.T) {
	make := map[string]func(index string) error{
		"too large": func(index string) error {
			return os.WriteFile(index, []byte(strings.Repeat("- [a](a.md) — words\n", memdir.DefaultTopicBytes/20)), 0o600)
		},
		"a folder": func(index string) error { return os.Mkdir(index, 0o700) },
		"a link":   func(index string) error { need.Link(t, "a.md", index); return nil },
	}
	for name, put := range make {
		for _, repository := range []bool{false, true} {
			dir := t.TempDir()
			if err := put(filepath.Join(dir, "MEMORY.md")); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("---\nname: a\ndescription: b\ntype: semantic\n---\n\nSee [it](MEMORY.md).\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if repository {
				if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			d, err := workspace.Open(dir, workspace.Options{Env: settings.Env{Home: t.TempDir(), Cwd: dir}})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			s, err := d.Snapshot(t.Context(), nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			r, err := d.Check(t.Context(), s, diagnostics.Scope{Late: true})
			if err != nil {
				t.Fatal(err)
			}
			var rules []string
			for _, f := range r.Findings {
				rules = append(rules, f.Path+" "+f.Rule)
			}
			want := []string{"MEMORY.md index-unreadable", "a.md type-unknown"}
			if repository { // only the index could say which files are topics
				want = want[:1]
			}
			if !slices.Equal(rules, want) {
				t.Errorf("%s: found %q, want %q", name, rules, want)
			}
			if !slices.ContainsFunc(r.Unread, func(p memdir.Problem) bool { return p.Path == "MEMORY.md" }) {
				t.Errorf("%s: not told as unread: %v", name, r.Unread)
			}
			if f, err := d.FixAll(t.Context(), s, diagnostics.FixOptions{Unsafe: true}); err != nil || slices.ContainsFunc(f.Change.Files, func(f change.File) bool { return f.Path == "MEMORY.md" }) {
				t.Errorf("%s: the index is written to: %v %v", name, f, err)
			}
		}
	}
}
