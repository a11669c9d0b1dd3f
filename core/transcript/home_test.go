package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mem/core/project"
	"mem/core/settings"
)

// home is a person's machine: a client's folder, projects below "w", our state and
// cache, and a clock that stands still.
type home struct {
	t    testing.TB
	dir  string
	vars map[string]string
	now  time.Time
	env  settings.Env

	counter counter // of ids
}

func newHome(t testing.TB) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir, vars: map[string]string{}, now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	h.env = settings.Env{
		Lookup:          func(k string) (string, bool) { v, ok := h.vars[k]; return v, ok },
		Home:            filepath.Join(dir, "home"),
		Cwd:             filepath.Join(dir, "w"),
		GOOS:            runtime.GOOS,
		Now:             func() time.Time { return h.now },
		StateDir:        filepath.Join(dir, "state", "mem"),
		CacheDir:        filepath.Join(dir, "cache", "mem"),
		ConfigDir:       filepath.Join(dir, "config", "mem"),
		ManagedSettings: filepath.Join(dir, "managed.json"),
	}
	h.mkdir("home")
	h.mkdir("w")
	return h
}

func (h *home) path(elements ...string) string {
	return filepath.Join(append([]string{h.dir}, elements...)...)
}

func (h *home) mkdir(name string) string {
	h.t.Helper()
	if err := os.MkdirAll(h.path(name), 0o755); err != nil {
		h.t.Fatal(err)
	}
	return h.path(name)
}

func (h *home) write(name, content string) string {
	h.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = h.path(name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// repository makes a git repository below "w".
func (h *home) repository(name string) project.Project {
	h.t.Helper()
	h.write("w/"+name+"/.git/HEAD", "ref: refs/heads/main\n")
	h.mkdir("w/" + name + "/.git/objects")
	h.mkdir("w/" + name + "/.git/refs/heads")
	return h.project(h.path("w", name))
}

// worktree adds a linked worktree to a repository.
func (h *home) worktree(p project.Project, dir string) string {
	h.t.Helper()
	name := filepath.Base(dir)
	git := filepath.Join(p.CommonDir, "worktrees", name)
	h.write(dir+"/.git", "gitdir: "+git+"\n")
	h.write(git+"/gitdir", filepath.Join(dir, ".git")+"\n")
	h.write(git+"/commondir", "../..\n")
	h.write(git+"/HEAD", "ref: refs/heads/"+name+"\n")
	return dir
}

func (h *home) project(dir string) project.Project {
	h.t.Helper()
	p, err := project.Find(dir, h.env.ProjectOptions())
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func id(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n) }

// jsonl is one record; pairs are keys and values.
func jsonl(pairs ...any) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		v, err := marshal(pairs[i+1])
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%q:%s", pairs[i], v)
	}
	b.WriteString("}\n")
	return b.String()
}

// chat makes a transcript: prompts and answers in turn, one minute apart.
func chat(cwd string, words ...string) string { return chatOf(0xaaaaaaaa, cwd, words...) }

// chatOf is chat with other uuids.
func chatOf(n uint32, cwd string, words ...string) string {
	var b strings.Builder
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	var parent any
	for i, w := range words {
		uuid := fmt.Sprintf("%08x-0000-4000-8000-%012x", n, i+1)
		stamp := at.Add(time.Duration(i) * time.Minute).Format("2006-01-02T15:04:05.000Z")
		if i%2 == 0 {
			b.WriteString(jsonl("parentUuid", parent, "isSidechain", false, "type", "user", "message", map[string]any{"role": "user", "content": w},
				"uuid", uuid, "timestamp", stamp, "cwd", cwd, "sessionId", "s", "version", "2.1.332", "gitBranch", "main"))
		} else {
			b.WriteString(jsonl("parentUuid", parent, "isSidechain", false,
				"message", map[string]any{"id": "msg_" + uuid, "type": "message", "role": "assistant", "model": "claude-x", "content": []any{map[string]any{"type": "text", "text": w}}},
				"type", "assistant", "uuid", uuid, "timestamp", stamp, "cwd", cwd, "sessionId", "s", "version", "2.1.332", "gitBranch", "main"))
		}
		parent = uuid
	}
	return b.String()
}

// session writes a transcript of the client, last written some time ago.
func (h *home) session(cwd, id, content string, age time.Duration) string {
	h.t.Helper()
	path := h.write(filepath.Join(h.env.Home, ".claude", "projects", project.Slug(cwd), id+".jsonl"), content)
	h.age(path, age)
	return path
}

func (h *home) age(path string, age time.Duration) {
	h.t.Helper()
	if err := os.Chtimes(path, h.now.Add(-age), h.now.Add(-age)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) find(o FindOptions) *Sessions {
	h.t.Helper()
	s, err := Find(h.t.Context(), h.env, o)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func ids(s *Sessions) []string {
	list := []string{}
	for _, x := range s.List {
		list = append(list, x.ID)
	}
	return list
}

// tree is every file below a folder: its mode, time and hash.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		sum := ""
		if d.IsDir() && d.Name() == "memory" {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			h := sha256.Sum256(data)
			sum = hex.EncodeToString(h[:8])
		}
		if d.IsDir() {
			all[path] = info.Mode().String()
			return nil
		}
		all[path] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano(), info.Size(), sum)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// untouched fails the test when anything below the client's folder changes until
// its end: nothing here ever writes there. Memory is not the client's, and is left out.
func (h *home) untouched() {
	h.t.Helper()
	dir := filepath.Join(h.env.Home, ".claude")
	before := tree(h.t, dir)
	h.t.Cleanup(func() {
		after := tree(h.t, dir)
		for _, path := range slices.Sorted(maps.Keys(before)) {
			if after[path] != before[path] {
				h.t.Errorf("%s was changed: %s → %s", path, before[path], after[path])
			}
		}
		for path := range after {
			if before[path] == "" && !strings.HasPrefix(after[path], "d") {
				h.t.Errorf("%s was made", path)
			}
		}
	})
}
