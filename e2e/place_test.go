package e2e

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/memfile"
)

// place is a machine of its own: a home, a client's configuration, a project.
type place struct {
	root    string
	project string
	env     []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{root: root, project: filepath.Join(root, "project")}
	for _, dir := range []string{p.project, p.state(), filepath.Join(root, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.env = []string{
		"PATH=" + os.Getenv("PATH"),
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"HOME=" + root, "USERPROFILE=" + root,
		"TMPDIR=" + filepath.Join(root, "tmp"),
		"XDG_CONFIG_HOME=" + filepath.Join(root, "config"),
		"XDG_STATE_HOME=" + p.state(),
		"XDG_CACHE_HOME=" + filepath.Join(root, "cache"),
		"CLAUDE_CONFIG_DIR=" + filepath.Join(root, "claude"),
	}
	return p
}

func (p *place) state() string { return filepath.Join(p.root, "state") }

// with gives the environment with more variables, or without those that are
// given without a value.
func (p *place) with(more ...string) []string {
	env := append([]string{}, p.env...)
	for _, v := range more {
		name, _, set := strings.Cut(v, "=")
		kept := env[:0]
		for _, e := range env {
			if !strings.HasPrefix(e, name+"=") {
				kept = append(kept, e)
			}
		}
		if env = kept; set {
			env = append(env, v)
		}
	}
	return env
}

// write puts a file below the root of the place.
func (p *place) write(t *testing.T, name, content string) {
	t.Helper()
	name = filepath.Join(p.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// memory gives the memory directory of the project, as `where` tells it.
func (p *place) memory(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(binary, "where", "--json")
	cmd.Dir, cmd.Env = p.project, p.env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("mem-mcp where: %v", err)
	}
	var where struct{ Directory string }
	if err := json.Unmarshal(out, &where); err != nil {
		t.Fatal(err)
	}
	return where.Directory
}

// entries gives the summaries of the index by the topic they link. Two entries
// for one topic are an error.
func entries(t *testing.T, directory string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(directory, memfile.IndexName))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(b)) {
		_, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "](")
		if !ok || !strings.HasPrefix(line, "- [") {
			continue
		}
		path, summary, _ := strings.Cut(rest, ") — ")
		if _, twice := all[path]; twice {
			t.Errorf("the index has two entries for %s", path)
		}
		all[path] = summary
	}
	return all
}

// topics gives the texts of the topics at the top of a memory directory. Any
// other file than the index is an error: nothing may be left behind there.
func topics(t *testing.T, directory string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(directory, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil || d.IsDir() || name == memfile.IndexName:
			return err
		case strings.HasPrefix(name, ".") || filepath.Ext(name) != ".md":
			t.Errorf("left behind: %s", path)
			return nil
		}
		b, err := os.ReadFile(path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// noTempFiles looks for what an interrupted or careless write leaves.
func (p *place) noTempFiles(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, ".tmp") || filepath.Dir(path) == filepath.Join(p.root, "tmp") {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
