package agentmem

import (
	"bytes"
	"compress/zlib"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gitSeed gives a small repository's packed objects: the index and the pack.
func gitSeed(f *testing.F) (idx, pack []byte, head string) {
	f.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, nil, ""
	}
	dir := f.TempDir()
	run := func(args ...string) string {
		f.Helper()
		c := exec.Command(git, args...)
		c.Dir = dir
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_COMMITTER_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_EMAIL=a@example.com", "SystemRoot=" + os.Getenv("SystemRoot")}
		out, err := c.CombinedOutput()
		if err != nil {
			f.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "-b", "main", ".")
	body := strings.Repeat("A line that is long enough for a difference.\n", 40)
	for i, s := range []string{body, body + "More.\n", "Before.\n" + body} {
		if err := os.WriteFile(filepath.Join(dir, "x.md"), []byte(s), 0o644); err != nil {
			f.Fatal(err)
		}
		run("add", "x.md")
		run("commit", "-qm", strings.Repeat("m", i+1))
	}
	run("gc", "-q", "--aggressive")
	names, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*.idx"))
	if err != nil || len(names) != 1 {
		f.Fatal(names, err)
	}
	if idx, err = os.ReadFile(names[0]); err != nil {
		f.Fatal(err)
	}
	if pack, err = os.ReadFile(strings.TrimSuffix(names[0], ".idx") + ".pack"); err != nil {
		f.Fatal(err)
	}
	return idx, pack, run("rev-parse", "HEAD")
}

// FuzzGitObjects: whatever lies in a repository's folder of objects, reading it ends, with
// bounded work, and never with a panic.
func FuzzGitObjects(f *testing.F) {
	idx, pack, head := gitSeed(f)
	var loose bytes.Buffer
	z := zlib.NewWriter(&loose)
	_, _ = z.Write([]byte("commit 48\x00tree 0123456789012345678901234567890123456789\n"))
	_ = z.Close()
	if head == "" {
		head = strings.Repeat("1", 40)
	}
	f.Add(idx, pack, loose.Bytes(), head, false)
	f.Add(idx, pack, loose.Bytes(), head, true)
	if len(idx) > 1200 {
		broken := bytes.Clone(idx)
		copy(broken[1100:], bytes.Repeat([]byte{0xff}, 60))
		f.Add(broken, pack, []byte("x"), head, false)
		f.Add(idx, pack[:len(pack)/2], loose.Bytes()[:5], head, false)
	}
	f.Fuzz(func(t *testing.T, idx, pack, loose []byte, head string, sha256 bool) {
		common := t.TempDir()
		if sha256 {
			write(t, common, "config", "[extensions]\n\tobjectFormat = sha256\n")
		}
		dir := filepath.Join(common, "objects", "pack")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{"pack-1.idx": idx, "pack-1.pack": pack} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		one := filepath.Join(common, "objects", "01")
		if err := os.MkdirAll(one, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(one, "23456789012345678901234567890123456789"), loose, 0o644); err != nil {
			t.Fatal(err)
		}
		o, err := openObjects(common)
		if err != nil {
			return
		}
		defer o.close()
		start := time.Now()
		for _, id := range []string{head, "0123456789012345678901234567890123456789"} {
			if _, data, err := o.read(id); err == nil && len(data) > maxObject+100 {
				t.Errorf("an object of %d bytes was read", len(data))
			}
			_ = versions(context.Background(), o, id, "", func(v version) bool { return true })
		}
		if d := time.Since(start); d > 4*maxLookBack {
			t.Errorf("it took %v", d)
		}
	})
}

// TestGitBomb: folders of a commit that hold each other many times over, which git takes
// and no disk could hold, end the search for a common version and nothing else.
func TestGitBomb(t *testing.T) {
	t.Parallel()
	ann, _ := team(t)
	ann.topic("x", "One.\n")
	ann.publish()
	blob := strings.TrimSpace(ann.git("hash-object", "-w", ".claude/agent-memory-snapshots/reviewer/x.md"))
	entry, name := "100644 blob "+blob, "x.md"
	tree := ""
	for range 7 {
		var in strings.Builder
		for i := range 30 {
			in.WriteString(entry + "\t" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + name + "\n")
		}
		c := exec.Command("git", "mktree")
		c.Dir, c.Stdin = ann.dir, strings.NewReader(in.String())
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		tree = strings.TrimSpace(string(out))
		entry, name = "040000 tree "+tree, ""
	}
	o, err := openObjects(filepath.Join(ann.dir, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	start := time.Now()
	o.until = start.Add(maxLookBack / 5)
	commit := strings.TrimSpace(ann.git("commit-tree", tree, "-m", "bomb"))
	err = versions(context.Background(), o, commit, "", func(version) bool { return true })
	if d := time.Since(start); err != nil || d > 4*maxLookBack || o.reads > maxReads+1 {
		t.Errorf("%v after %v and %d objects", err, d, o.reads)
	}
}

// FuzzPatch: a difference of a pack never makes more than it says, and never panics.
func FuzzPatch(f *testing.F) {
	f.Add([]byte("abcdef"), []byte{6, 3, 0x90, 3})
	f.Add([]byte("abcdef"), []byte{6, 3, 3, 'x', 'y', 'z'})
	f.Add([]byte{}, []byte{0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x80})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		if out, err := patch(base, delta); err == nil && len(out) > maxObject {
			t.Errorf("%d bytes", len(out))
		}
	})
}
