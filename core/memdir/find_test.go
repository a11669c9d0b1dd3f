package memdir

import (
	"context"
	"errors"
	"mem/core/memfile"
	"mem/internal/need"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// findScene writes empty files; a name that ends with "/" is a folder, "a -> b" a
// link at a to b.
func findScene(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		name, target, link := strings.Cut(n, " -> ")
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case link:
			need.Link(t, target, p)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(p, 0o755)
		default:
			err = os.WriteFile(p, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestContaining(t *testing.T) {
	dir := findScene(t, "plain/x.md", "m/MEMORY.md", "m/a/b/x.md", "m/logs/2026/11/2026-11-30.md", "m/logs/MEMORY.md", "m/nested/MEMORY.md",
		"folder/MEMORY.md/x.md", "link/MEMORY.md -> ../m/MEMORY.md", ".claude/projects/-work-p/memory/x.md", ".claude/projects/x/memory/x.md",
		"elsewhere/projects/-work-p/memory/sub/x.md", "projects/kernel/memory/x.md", ".claude/projects/-work-p/s.jsonl",
		"p/MEMORY.md", "p/.claude/agent-memory/critic/sub/x.md", "p/.claude/agent-memory/notes.md", "p/.claude/settings.json",
		"q/.claude/agent-memory-local/critic/", "q/.claude/agent-memory-snapshots/critic/snapshot.json", "q/.claude/agent-memory/file",
		"loop/loop -> .", "to-m -> m")
	for file, want := range map[string]string{
		"plain/x.md": "", "plain": "", "": "", "plain/MEMORY.md": "plain", "not/there/MEMORY.md": "not/there", "not/there/x.md": "",
		"m": "m", "m/MEMORY.md": "m", "m/a": "m", "m/a/b/x.md": "m", "m/a/new/x.md": "m", "m/README.md": "m", "m/.git/x": "m",
		"m/logs/2026/11/2026-11-30.md": "m", "m/logs": "m", "m/logs/MEMORY.md": "m", "m/logs/x.md": "m", "m/logs/2026/MEMORY.md": "m",
		"m/nested/x.md": "m/nested", "m/nested/../x.md": "m", "m/logsx/MEMORY.md": "m/logsx",
		"folder/x.md": "", "folder/MEMORY.md": "", "folder/MEMORY.md/x.md": "", "link/MEMORY.md": "", "link/x.md": "",
		".claude/projects/-work-p/memory": ".claude/projects/-work-p/memory", ".claude/projects/-work-p/memory/new/x.md": ".claude/projects/-work-p/memory",
		".claude/projects/x/memory/x.md": ".claude/projects/x/memory", ".claude/projects/-work-p/s.jsonl": "", ".claude/projects/-gone/memory/x.md": ".claude/projects/-gone/memory",
		"elsewhere/projects/-work-p/memory/sub/x.md": "elsewhere/projects/-work-p/memory", "projects/kernel/memory/x.md": "",
		"p/.claude/agent-memory/critic/sub/x.md": "p/.claude/agent-memory/critic", "p/.claude/agent-memory/notes.md": "p", "p/.claude/settings.json": "p",
		"q/.claude/agent-memory-local/critic/x.md": "q/.claude/agent-memory-local/critic", "q/.claude/agent-memory-snapshots/critic/snapshot.json": "q/.claude/agent-memory-snapshots/critic",
		"q/.claude/agent-memory/new": "q/.claude/agent-memory/new", "q/.claude/agent-memory": "", "q/.claude/agent-memory/file": "", "q/.claude/agent-memory/x.md": "", "q/.claude/agent-memory/.hidden": "",
		"loop/loop/loop/x.md": "", "to-m/a/x.md": "to-m",
		"m/" + strings.Repeat("d/", maxDepth) + "x.md": "m", "m/" + strings.Repeat("d/", 3*maxDepth) + "x.md": "",
	} {
		got, ok := Containing(filepath.Join(dir, file))
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got != want || ok != (want != "") {
			t.Errorf("Containing(%s) = %q, %v, want %q", file, got, ok, want)
		}
	}
	for _, file := range []string{"", "m/x.md", "MEMORY.md", dir + "/m/\x00", string(filepath.Separator), filepath.VolumeName(dir) + string(filepath.Separator) + memfile.IndexName, filepath.VolumeName(dir) + string(filepath.Separator) + "x.md"} {
		if got, ok := Containing(file); ok {
			t.Errorf("Containing(%q) = %q", file, got)
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, tc := range []struct {
		path, goos string
		want       Place
	}{
		{"/home/a/.claude/projects/-work-p/memory", "linux", "projects"},
		{"/base/projects/-work-p/memory", "linux", "projects"},
		{"/base/projects/C--work-p/memory", "linux", "projects"},
		{"/base/projects/cpp/memory", "linux", ""},
		{"/base/projects/c--/memory", "linux", ""},
		{"/base/projects/-p.q/memory", "linux", ""},
		{"/base/projects/-p/Memory", "linux", ""},
		{"/projects/-p/memory", "linux", "projects"},
		{"/p/.claude/agent-memory/critic", "linux", "agent-memory"},
		{"/.claude/agent-memory-local/critic", "linux", "agent-memory-local"},
		{"/p/.claude/agent-memory-snapshots/评审", "linux", "agent-memory-snapshots"},
		{"/p/.claude/agent-memory/critic/sub", "linux", ""},
		{"/p/.Claude/agent-memory/critic", "linux", ""},
		{"/p/agent-memory/critic", "linux", ""},
		{`C:\Users\a\.claude\projects\C--work-p\memory`, "windows", "projects"},
		{`c:\users\a\.CLAUDE/projects\x\Memory\`, "windows", "projects"},
		{`D:\p\.claude\Agent-Memory\critic`, "windows", "agent-memory"},
		{`\\host\share\.claude\agent-memory-local\critic`, "windows", "agent-memory-local"},
		{`/p\.claude\agent-memory\critic`, "linux", ""},
		{"/", "linux", ""}, {"", "linux", ""}, {"////", "linux", ""},
	} {
		if got := placeOf(tc.path, tc.goos); got != tc.want {
			t.Errorf("placeOf(%s, %s) = %q, want %q", tc.path, tc.goos, got, tc.want)
		}
	}
}

func TestFind(t *testing.T) {
	dir := findScene(t, "z/MEMORY.md", "z/logs/2026/MEMORY.md", "z/sub/x.md", "z/sub/agent/MEMORY.md", "z/.hidden/MEMORY.md", "z/node_modules/m/MEMORY.md", "z/.git/MEMORY.md",
		"z/.claude/agent-memory/critic/x.md", "logs/m/MEMORY.md", "b/.claude/projects/-p/memory/", "b/.claude/agent-memory/notes.md", "b/.claude/agent-memory-snapshots/critic/snapshot.json",
		"projects/kernel/memory/x.md", "folder/MEMORY.md/x.md", "link/MEMORY.md -> ../z/MEMORY.md", "linked -> z", "loop -> .",
		"c/.claude/projects/-p/memory -> ../../../../z", "c/.claude/projects/-q/memory/MEMORY.md -> ../../../../../z/MEMORY.md", ".config/MEMORY.md")
	find := func(root string) (dirs []string, problems map[string]string) {
		t.Helper()
		found, ps, err := Find(context.Background(), filepath.Join(dir, root))
		if err != nil {
			t.Fatal(err)
		}
		rel := func(p string) string {
			r, err := filepath.Rel(dir, p)
			if err != nil {
				t.Fatal(err)
			}
			return filepath.ToSlash(r)
		}
		for _, d := range found {
			dirs = append(dirs, rel(d))
		}
		problems = map[string]string{}
		for _, p := range ps {
			problems[rel(p.Path)] = p.Message
		}
		return dirs, problems
	}
	for root, want := range map[string][]string{
		"": {"b/.claude/agent-memory-snapshots/critic", "b/.claude/projects/-p/memory", "c/.claude/projects/-q/memory", "logs/m",
			"z", "z/.claude/agent-memory/critic", "z/sub/agent"},
		"z": {"z", "z/.claude/agent-memory/critic", "z/sub/agent"}, "z/sub": {"z", "z/sub/agent"}, "z/sub/agent": {"z/sub/agent"},
		"z/sub/x.md": {"z"}, "z/MEMORY.md": {"z"}, "z/.claude": {"z/.claude/agent-memory/critic"}, "z/.hidden": {"z/.hidden"}, "z/logs/2026": {"z"},
		"projects": nil, "projects/kernel/memory": {"projects/kernel/memory"}, "projects/kernel/memory/x.md": nil,
		"linked": {"linked", "linked/.claude/agent-memory/critic", "linked/sub/agent"}, "b/.claude/agent-memory/notes.md": nil, ".config": {".config"},
	} {
		got, _ := find(root)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("Find(%s) (-want +got):\n%s", root, d)
		}
	}
	_, problems := find("")
	want := map[string]string{
		"c/.claude/projects/-p/memory": "is a symbolic link, which is not followed. Name the folder that it leads to.",
		"folder/MEMORY.md":             "is a folder, so its folder is no memory directory. Put a plain file in its place.",
		"link/MEMORY.md":               "is a symbolic link, which mem does not follow, so its folder is no memory directory. Put a plain file in its place.",
	}
	if d := cmp.Diff(want, problems); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
}

func TestFindFails(t *testing.T) {
	dir := findScene(t, "m/MEMORY.md")
	for _, root := range []string{"", "relative", filepath.Join(dir, "gone"), filepath.Join(dir, "m", "MEMORY.md", "x")} {
		if _, _, err := Find(context.Background(), root); err == nil {
			t.Errorf("Find(%q) gives no error", root)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Find(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestFindSaysWhatItCannotRead(t *testing.T) {
	if need.AsNobody(t) {
		return
	}
	dir := findScene(t, "m/MEMORY.md", "shut/")
	if err := os.Chmod(filepath.Join(dir, "shut"), 0); err != nil {
		t.Fatal(err)
	}
	dirs, problems, err := Find(context.Background(), dir)
	if err != nil || len(dirs) != 1 || len(problems) != 1 || !strings.Contains(problems[0].Message, "permission") {
		t.Errorf("Find = %v, %v, %v", dirs, problems, err)
	}
}
