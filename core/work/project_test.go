package work

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/memory"
)

func TestProject(t *testing.T) {
	h := newHouse(t, nil)
	if _, why := h.Project(); !strings.Contains(why, "jobs.read_project") {
		t.Error(why)
	}
	env := h.Memory.Env()
	for _, dir := range []string{env.ConfigDir, env.Home, filepath.Join(env.Home, "p")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(env.ConfigFile(), []byte("jobs:\n  read_project: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, says := range map[string]string{filepath.Join(env.Home, "p"): "", env.Home: "home directory", filepath.Dir(env.Home): "home directory"} {
		m, err := memory.Open(memory.Options{Env: env, Project: dir, MemoryDir: filepath.Join(dir, "memory")})
		if err != nil {
			t.Fatal(err)
		}
		mount, why := (&House{Memory: m}).Project()
		if (why == "") != (says == "") || !strings.Contains(why, says) || why == "" && (mount.Name != "project" || mount.Write != nil || mount.Dir == "") {
			t.Errorf("%s: %+v, %q", dir, mount, why)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
