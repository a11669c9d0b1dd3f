package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestShelf: hits of several memories stand in one list, each with its store; what is
// deleted is no longer found, and one that cannot be read is told.
func TestShelf(t *testing.T) {
	w := newWorld(t)
	w.opt.MemoryDir = ""
	put := func(dir, name, body string) string {
		t.Helper()
		file := filepath.Join(dir, name+".md")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, fmt.Appendf(nil, "---\nname: %s\ndescription: About %s\ntype: project\n---\n\n%s\n", name, name, body), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	var all []*Memory
	for _, name := range []string{"agent/a/user", "agent/b/user", "agent/c/user"} {
		w.opt.Store = name
		all = append(all, w.open())
	}
	put(all[0].Location.Directory, "deploys", "We deploy on Mondays, deploy by deploy.")
	gone := put(all[1].Location.Directory, "other", "Once, a deploy failed.")
	put(all[1].Location.Directory, "lunch", "At noon.")
	var s Shelf
	search := func(o SearchOptions) []string {
		t.Helper()
		f, err := s.Search(t.Context(), all, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.Stores, []string{"agent/a/user", "agent/b/user"}) {
			t.Errorf("searched %q", f.Stores)
		}
		var hits []string
		for _, h := range f.Hits {
			hits = append(hits, h.Store+" "+h.Path+" "+h.Name)
		}
		return hits
	}
	if got := search(SearchOptions{Query: "deploy"}); !slices.Equal(got, []string{"agent/a/user deploys.md deploys", "agent/b/user other.md other"}) {
		t.Errorf("hits %q", got)
	}
	if got := search(SearchOptions{Query: "deploy", Limit: 1, Cursor: "1"}); !slices.Equal(got, []string{"agent/b/user other.md other"}) {
		t.Errorf("the second page: %q", got)
	}
	if got := search(SearchOptions{Query: "deploy", Type: "user"}); len(got) != 0 {
		t.Errorf("of another type: %q", got)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if got := search(SearchOptions{Query: "deploy"}); len(got) != 1 {
		t.Errorf("after a deletion: %q", got)
	}
	if _, err := s.Search(t.Context(), all, SearchOptions{}); err == nil {
		t.Error("an empty query is taken")
	}
	many := slices.Repeat(all, MaxShelf)
	f, err := s.Search(t.Context(), many, SearchOptions{Query: "deploy"})
	if err != nil || len(f.Hits) != 1 || !strings.Contains(strings.Join(f.Notes, " "), "128 more stores were not searched") {
		t.Errorf("%+v, %v", f, err)
	}
	if err := os.RemoveAll(all[2].Location.Directory); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(all[2].Location.Directory), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(all[2].Location.Directory, []byte("no folder"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Search(t.Context(), all, SearchOptions{Query: "deploy"}); err != nil || !strings.Contains(strings.Join(f.Notes, " "), "agent/c/user was not searched") {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestOffHoldsForStores(t *testing.T) {
	w := newWorld(t)
	w.opt.MemoryDir, w.opt.Store = "", "agent/a/user"
	w.vars["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
	c, err := w.open().SessionStart(t.Context())
	if err != nil || c.Text != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestFoldersBesideAreBounded: however many are named, the context tells of few.
func TestFoldersBesideAreBounded(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	b.WriteString("stores:\n")
	for i := range 20 {
		fmt.Fprintf(&b, "  s%02d: ~/%s/%d\n", i, strings.Repeat("long", 40), i)
	}
	if err := os.MkdirAll(w.opt.Env.ConfigDir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.opt.Env.ConfigFile(), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := w.open().SessionStart(t.Context())
	if err != nil || strings.Count(c.Text, "\n- `extra/") != maxBeside || !strings.Contains(c.Text, "10 more: memory_stores") {
		t.Errorf("%v\n%s", err, c.Text)
	}
}
