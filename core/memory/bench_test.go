package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/memdir"
	"mem/core/settings"
)

// scratch opens a memory of n topics of the usual 2 KB.
func scratch(tb testing.TB, n int) *Memory {
	tb.Helper()
	base := tb.TempDir()
	dir := filepath.Join(base, "memory")
	if err := os.Mkdir(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	var index strings.Builder
	old := time.Now().Add(-time.Hour)
	for i := range n {
		name := fmt.Sprintf("topic-%04d.md", i)
		body := fmt.Sprintf("---\nname: topic-%04d\ndescription: part %d\ntype: project\noriginSessionId: s\n---\n\n", i, i) +
			strings.Repeat("The part is deployed on Tuesdays by the release team, since the cache needs warming.\n", 22)
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
			tb.Fatal(err)
		}
		if err := os.Chtimes(file, old, old); err != nil {
			tb.Fatal(err)
		}
		fmt.Fprintf(&index, "- [topic %d](%s) — part %d\n", i, name, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte(index.String()), 0o644); err != nil {
		tb.Fatal(err)
	}
	m, err := Open(Options{Env: settings.Env{Home: base, Cwd: base, StateDir: filepath.Join(base, "state"), ConfigDir: filepath.Join(base, "config")}, MemoryDir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = m.Close() })
	return m
}

func BenchmarkRead(b *testing.B) {
	m := scratch(b, 200)
	for i := 0; b.Loop(); i++ {
		if _, err := m.Read(b.Context(), fmt.Sprintf("topic-%04d.md", i%200), ""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEdit(b *testing.B) {
	m := scratch(b, 200)
	for i := 0; b.Loop(); i++ {
		e := Edit{Topic: fmt.Sprintf("topic-%04d.md", i%200), EditOf: memdir.EditOf{Key: "description", Value: fmt.Sprint("edited ", i)}}
		if _, err := m.Edit(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	m := scratch(b, 200)
	for i := 0; b.Loop(); i++ {
		w, err := m.Write(b.Context(), Write{Memory: memdir.Memory{Name: fmt.Sprint("new-", i), Description: "d", Type: "project", Body: "b"}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Undo(b.Context(), w.ID); err != nil {
			b.Fatal(err)
		}
	}
}
