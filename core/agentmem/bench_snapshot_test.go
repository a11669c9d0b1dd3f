package agentmem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/change"
	"mem/core/memory"
	"mem/core/project"
	"mem/core/settings"
)

// BenchmarkStatus looks at 50 agents with 200 topics each, on both sides, with hashes that
// are kept from before. The goal is 200 ms.
func BenchmarkStatus(b *testing.B) {
	top, home := b.TempDir(), b.TempDir()
	old := time.Now().Add(-time.Hour)
	body := strings.Repeat("A line of what the agent learnt about the project.\n", 40)
	for a := range 50 {
		for _, dir := range []string{".claude/agent-memory", SnapshotsDir} {
			at := filepath.Join(top, filepath.FromSlash(dir), fmt.Sprintf("agent-%d", a))
			if err := os.MkdirAll(at, 0o755); err != nil {
				b.Fatal(err)
			}
			var index strings.Builder
			for i := range 200 {
				name := fmt.Sprintf("topic-%d", i)
				index.WriteString(entryOf(name))
				if err := os.WriteFile(filepath.Join(at, name+".md"), []byte(topicText(name, body)), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			err := os.WriteFile(filepath.Join(at, "MEMORY.md"), []byte(index.String()), 0o644)
			if dir == SnapshotsDir {
				err = errors.Join(err, os.WriteFile(filepath.Join(at, ManifestName), []byte(updated), 0o644))
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = os.Chtimes(p, old, old)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	env := settings.Env{Home: home, Cwd: top, StateDir: filepath.Join(home, "state"), CacheDir: filepath.Join(home, "cache"), ConfigDir: filepath.Join(home, "config"),
		ManagedSettings: filepath.Join(home, "none.json")}
	p, err := project.Find(top, project.Options{Home: home, Cwd: top})
	if err != nil {
		b.Fatal(err)
	}
	look := func() {
		o, err := Overlook(context.Background(), memory.Options{Env: env, Project: top}, p, "", 0)
		if err != nil || len(o.Agents) != 50 || o.Agents[7].State != StateInSync {
			b.Fatal(o, err)
		}
	}
	look()
	for b.Loop() {
		look()
	}
}

// BenchmarkMerge merges 200 topics that both sides changed in another section. The goal is
// 100 ms.
func BenchmarkMerge(b *testing.B) {
	para := strings.Repeat("A line of what the agent learnt about the project.\n", 15)
	base := topicText("topic", "## One\n\n"+para+"\n## Two\n\n"+para+"\n## Three\n\n"+para)
	mine := strings.Replace(base, "## One\n\n", "## One\n\nMine.\n", 1)
	theirs := strings.Replace(base, "## Two\n\n", "## Two\n\nTheirs.\n", 1)
	for b.Loop() {
		for range 200 {
			if s, open := change.Resolve("topic.md", base, mine, theirs, nil); len(open) > 0 || !strings.Contains(s, "Theirs.") {
				b.Fatal(s, open)
			}
		}
	}
}
