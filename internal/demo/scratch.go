package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// scratch is the directory in which the demo lives: a home, a project with a
// linked worktree, and a second project. Nothing outside of it is touched.
type scratch struct {
	root    string
	home    string
	project string // a git checkout
	linked  string // a linked worktree of the same repository
	archive string // another project, with a long index
	outside string // where the project's own settings would like memory to be
	env     []string
}

// passed are the variables that programs need to run at all. None of the
// client's and none of ours is among them.
var passed = []string{"PATH", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT", "WINDIR", "LANG", "LC_ALL", "TZ", "GOCOVERDIR"}

func newScratch(opt Options) (*scratch, error) {
	root, err := os.MkdirTemp(opt.TempDir, "mem-demo-")
	if err != nil {
		return nil, fmt.Errorf("making a scratch directory: %w. Set TMPDIR to a directory that can be written", err)
	}
	s := &scratch{root: root}
	if err := s.fill(opt); err != nil {
		return nil, errors.Join(fmt.Errorf("filling the scratch directory: %w", err), s.remove())
	}
	return s, nil
}

func (s *scratch) fill(opt Options) error {
	real, err := filepath.EvalSymlinks(s.root) // as results will name it
	if err != nil {
		return err
	}
	s.root = real
	s.home = filepath.Join(s.root, "home")
	s.project = filepath.Join(s.root, "work", "shop")
	s.linked = filepath.Join(s.root, "work", "shop-hotfix")
	s.archive = filepath.Join(s.root, "work", "archive")
	s.outside = filepath.Join(s.root, "outside")
	s.env = environment(s.home, opt.Getenv)

	git := filepath.Join(s.project, ".git")
	worktree := filepath.Join(git, "worktrees", "shop-hotfix")
	for _, dir := range []string{s.home, filepath.Join(git, "objects"), filepath.Join(git, "refs"), worktree,
		filepath.Join(s.project, ".claude"), s.linked, filepath.Join(s.archive, ".git", "objects"), filepath.Join(s.archive, ".git", "refs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	settings, err := json.Marshal(map[string]string{"autoMemoryDirectory": s.outside})
	if err != nil {
		return err
	}
	for _, f := range []struct{ path, text string }{
		{filepath.Join(git, "HEAD"), "ref: refs/heads/main\n"},
		{filepath.Join(worktree, "HEAD"), "ref: refs/heads/hotfix\n"},
		{filepath.Join(worktree, "commondir"), "../..\n"},
		{filepath.Join(worktree, "gitdir"), filepath.Join(s.linked, ".git") + "\n"},
		{filepath.Join(s.linked, ".git"), "gitdir: " + worktree + "\n"},
		{filepath.Join(s.archive, ".git", "HEAD"), "ref: refs/heads/main\n"},
		{filepath.Join(s.project, ".claude", "settings.json"), string(settings) + "\n"},
	} {
		if err := os.WriteFile(f.path, []byte(f.text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// environment is all that a child process gets: the scratch home is its home.
func environment(home string, getenv func(string) string) []string {
	env := []string{
		"HOME=" + home,
		"USERPROFILE=" + home,
		"APPDATA=" + filepath.Join(home, "AppData", "Roaming"),
		"LOCALAPPDATA=" + filepath.Join(home, "AppData", "Local"),
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"XDG_STATE_HOME=" + filepath.Join(home, ".local", "state"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"),
		"XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
		"XDG_RUNTIME_DIR=" + filepath.Join(home, ".run"),
	}
	for _, name := range passed {
		if v := getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// removeTries is how often removing is tried: a process of a job whose record is written
// already may be about to end.
const removeTries = 20

func (s *scratch) remove() error {
	var err error
	for range removeTries {
		if err = os.RemoveAll(s.root); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("removing the scratch directory: %w. Remove %s yourself", err, s.root)
}
