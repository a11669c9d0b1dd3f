package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/settings"
)

// BenchmarkStores lists 50 agents with 200 topics each, which nothing changed since
// the last time.
func BenchmarkStores(b *testing.B) {
	home := b.TempDir()
	base := filepath.Join(home, "project")
	write := func(name, content string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for a := range 50 {
		dir := filepath.Join(base, ".claude", "agent-memory", fmt.Sprintf("agent-%d", a))
		var index strings.Builder
		for i := range 200 {
			name := fmt.Sprintf("topic-%d", i)
			fmt.Fprintf(&index, "- [Topic %d](%s.md) — what is to be known of thing %d\n", i, name, i)
			write(filepath.Join(dir, name+".md"), fmt.Sprintf("---\nname: %s\ndescription: What is to be known of thing %d\ntype: reference\n---\n\n%s\n", name, i, strings.Repeat("It stands in the drawer, on the left. ", 30)))
		}
		write(filepath.Join(dir, "MEMORY.md"), index.String())
	}
	env := settings.Env{Home: home, Cwd: base, StateDir: filepath.Join(home, "state"), ConfigDir: filepath.Join(home, "config"), ManagedSettings: filepath.Join(home, "none.json")}
	m, err := memory.Open(memory.Options{Env: env})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	var several Several
	list := func() {
		l, err := agentmem.List(context.Background(), m, agentmem.Options{Look: func(ctx context.Context, dir string) (*memdir.View, map[string]int, error) {
			return several.Look(ctx, env, base, dir)
		}})
		if err != nil || len(l.Stores) != 51 || l.Stores[50].Health.Topics != 200 {
			b.Fatal(err, len(l.Stores))
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			several = Several{}
			list()
		}
	})
	list()
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			list()
		}
	})
}
