package agentmem

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/memory"
	"mem/core/settings"
)

// BenchmarkReview compares a memory of 200 topics with its snapshot as an editor does after
// a key was pressed: 20 topics differ, one is open.
func BenchmarkReview(b *testing.B) {
	top, home := b.TempDir(), b.TempDir()
	old := time.Now().Add(-time.Hour)
	body := strings.Repeat("A line of what the agent learnt about the project.\n", 40)
	for _, dir := range []string{".claude/agent-memory", SnapshotsDir} {
		at := filepath.Join(top, filepath.FromSlash(dir), "reviewer")
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.Fatal(err)
		}
		files := map[string]string{ManifestName: updated}
		for i := range 200 {
			name := fmt.Sprintf("topic-%d", i)
			text := topicText(name, body)
			if i < 20 && dir == SnapshotsDir {
				text += "\n## More\n\nNews.\n"
			}
			files[name+".md"] = text
			files["MEMORY.md"] += entryOf(name)
		}
		for name, text := range files {
			name = filepath.Join(at, name)
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
			if err := os.Chtimes(name, old, old); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := os.Remove(filepath.Join(top, ".claude", "agent-memory", "reviewer", ManifestName)); err != nil {
		b.Fatal(err)
	}
	env := settings.Env{Home: home, Cwd: top, StateDir: filepath.Join(home, "state"), CacheDir: filepath.Join(home, "cache"), ConfigDir: filepath.Join(home, "config"),
		ManagedSettings: filepath.Join(home, "none.json")}
	s, err := Open(memory.Options{Env: env, Project: top}, "reviewer")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	over := map[string]string{"topic-100.md": topicText("topic-100", body+"Typed.\n")}
	for b.Loop() {
		r, err := s.Review(context.Background(), over)
		if err != nil || len(r.Files) < 21 {
			b.Fatal(len(r.Files), err)
		}
	}
}
