package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxLinkFile bounds `.git` files, `gitdir`, `commondir` and `HEAD`, in bytes.
// They hold one path; the longest path of any supported system is below it.
const maxLinkFile = 64 << 10

// maxGitConfig bounds the repository's `config` file, in bytes.
const maxGitConfig = 1 << 20

// repository is what discover found.
type repository struct {
	root, why              string
	top, gitDir, commonDir string
	problem                string
}

// discover finds the repository of dir, which is absolute with its symlinks
// resolved. The nearest `.git` decides, as it does for the client; only where
// there is none does dir count as part of a bare repository.
func discover(dir string) repository {
	for d := range ancestors(dir) {
		fi, err := os.Stat(filepath.Join(d, ".git"))
		switch {
		case err != nil: // none, or a link that leads nowhere: git goes on as well
		case fi.IsDir():
			return ownRepository(d)
		case fi.Mode().IsRegular():
			return linkedRepository(d)
		}
	}
	for d := range ancestors(dir) {
		if checkGitDir(d, d) == nil {
			return repository{root: d, why: "the bare git repository that holds it", gitDir: d, commonDir: d}
		}
	}
	return repository{root: dir, why: "the directory itself: there is no git repository here"}
}

// ancestors yields dir and every directory above it.
func ancestors(dir string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for yield(dir) {
			up := filepath.Dir(dir)
			if up == dir {
				return
			}
			dir = up
		}
	}
}

// ownRepository is the one of top when `top/.git` is a directory.
func ownRepository(top string) repository {
	dotGit := filepath.Join(top, ".git")
	gitDir, err := filepath.EvalSymlinks(dotGit)
	if err != nil {
		return damaged(top, fmt.Errorf("resolving it: %w", Reason(err)))
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return damaged(top, err)
	}
	if err := checkGitDir(gitDir, common); err != nil {
		return damaged(top, err)
	}
	return repository{root: top, why: "the root of its git repository", top: top, gitDir: gitDir, commonDir: common}
}

// linkedRepository is the one of top when `top/.git` is a file, which is so in
// linked worktrees, in submodules and with a separate git directory.
func linkedRepository(top string) repository {
	data, err := ReadFile(filepath.Join(top, ".git"), maxLinkFile)
	if err != nil {
		return damaged(top, Reason(err))
	}
	target, err := parseGitFile(data)
	if err != nil {
		return damaged(top, err)
	}
	gitDir, err := resolve(top, target)
	if err != nil {
		return damaged(top, fmt.Errorf("it names the git directory %s: %w", target, Reason(err)))
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return damaged(top, err)
	}
	if err := checkGitDir(gitDir, common); err != nil {
		return damaged(top, err)
	}
	if common == gitDir {
		return repository{root: top, why: "the root of its git repository (a submodule, or a separate git directory)",
			top: top, gitDir: gitDir, commonDir: common}
	}
	if err := confirmWorktree(top, gitDir, common); err != nil {
		return damaged(top, err)
	}
	root, why := mainRoot(common)
	return repository{root: root, why: why, top: top, gitDir: gitDir, commonDir: common}
}

// damaged is the answer for a `.git` that cannot be used: the directory that
// holds it keeps a memory of its own, for all its subdirectories, and nothing
// that the `.git` points at is followed.
func damaged(top string, reason error) repository {
	return repository{
		root: top,
		why:  "the directory that holds .git, which is damaged: it counts as a project of its own",
		problem: fmt.Sprintf("%s cannot be used: %v; the project is taken to be %s alone (git worktree repair, or removing .git, mends this)",
			filepath.Join(top, ".git"), reason, top),
	}
}

// confirmWorktree checks that the repository knows the worktree that claims
// it: without this a checkout could name any repository on the machine and
// read and write the memory of that one.
func confirmWorktree(top, gitDir, common string) error {
	if parent, err := filepath.EvalSymlinks(filepath.Join(common, "worktrees")); err != nil || filepath.Dir(gitDir) != parent {
		return fmt.Errorf("its git directory %s is not one of the worktrees of %s", gitDir, common)
	}
	link := filepath.Join(gitDir, "gitdir")
	back, err := readPathFile(link)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(back) {
		back = filepath.Join(gitDir, back)
	}
	holder, err := filepath.EvalSymlinks(filepath.Dir(back))
	if err != nil || filepath.Base(back) != ".git" || holder != top {
		return fmt.Errorf("the repository does not know this worktree: %s names %s", link, back)
	}
	return nil
}

// mainRoot is the root that all worktrees of a common git directory share.
func mainRoot(common string) (root, why string) {
	if filepath.Base(common) == ".git" {
		return filepath.Dir(common), "the root of the main repository of its worktree"
	}
	if top := submoduleTop(common); top != "" {
		return top, "the root of the submodule that it is a worktree of"
	}
	return common, "the bare git repository of its worktree"
}

// submoduleTop returns the checkout that a submodule's git directory names in
// `core.worktree`, when that checkout points back; "" otherwise.
func submoduleTop(common string) string {
	data, err := ReadFile(filepath.Join(common, "config"), maxGitConfig)
	if err != nil {
		return ""
	}
	top, err := resolve(common, GitConfig(string(data), "core", "worktree"))
	if err != nil {
		return ""
	}
	link, err := ReadFile(filepath.Join(top, ".git"), maxLinkFile)
	if err != nil {
		return ""
	}
	target, err := parseGitFile(link)
	if err != nil {
		return ""
	}
	if back, err := resolve(top, target); err != nil || back != common {
		return ""
	}
	return top
}

// commonDir follows `gitDir/commondir`; without that file it is gitDir.
func commonDir(gitDir string) (string, error) {
	link := filepath.Join(gitDir, "commondir")
	target, err := readPathFile(link)
	if errors.Is(err, os.ErrNotExist) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	common, err := resolve(gitDir, target)
	if err != nil {
		return "", fmt.Errorf("%s names %s: %w", link, target, Reason(err))
	}
	return common, nil
}

// checkGitDir asks what git asks of a git directory: a HEAD that can be one,
// and, in the common directory, `objects` and `refs`.
func checkGitDir(gitDir, common string) error {
	for _, name := range []string{"objects", "refs"} {
		if fi, err := os.Stat(filepath.Join(common, name)); err != nil || !fi.IsDir() {
			return fmt.Errorf("%s is not a git directory: it has no %s", common, name)
		}
	}
	head := filepath.Join(gitDir, "HEAD")
	if target, err := os.Readlink(head); err == nil && strings.HasPrefix(filepath.ToSlash(target), "refs/") {
		return nil // an old way to store a branch; the branch may not exist yet
	}
	data, err := ReadFile(head, maxLinkFile)
	if err != nil || !plausibleHead(data) {
		return fmt.Errorf("%s is not a git directory: it has no valid HEAD", gitDir)
	}
	return nil
}

// plausibleHead reports whether data is "ref: refs/…" or starts with an
// object name.
func plausibleHead(data []byte) bool {
	if ref, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		return bytes.HasPrefix(bytes.TrimLeft(ref, " \t"), []byte("refs/"))
	}
	digits := 0
	for digits < len(data) && bytes.IndexByte([]byte("0123456789abcdefABCDEF"), data[digits]) >= 0 {
		digits++
	}
	return digits >= 40 // SHA-1; SHA-256 has 64
}

// parseGitFile returns the path that a `.git` file names.
func parseGitFile(data []byte) (string, error) {
	rest, ok := bytes.CutPrefix(data, []byte("gitdir:"))
	if !ok {
		return "", errors.New(`it does not start with "gitdir:"`)
	}
	return parsePath(rest)
}

// readPathFile returns the path that a file of git holds.
func readPathFile(file string) (string, error) {
	data, err := ReadFile(file, maxLinkFile)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", file, Reason(err))
	}
	path, err := parsePath(data)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", file, err)
	}
	return path, nil
}

func parsePath(data []byte) (string, error) {
	path := string(bytes.TrimSpace(data))
	if path == "" {
		return "", errors.New("it names no path")
	}
	if strings.ContainsRune(path, 0) {
		return "", errors.New("the path in it holds a NUL byte")
	}
	return filepath.FromSlash(path), nil
}

// resolve makes target, relative to base, absolute with symlinks resolved.
// It fails when nothing is there.
func resolve(base, target string) (string, error) {
	if target == "" {
		return "", os.ErrNotExist
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(base, target)
	}
	return filepath.EvalSymlinks(target)
}

var errTooLarge = errors.New("too large")

// readAtMost reads all of r, or fails once it holds more than limit bytes: a
// file may grow after its size was asked for.
func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, errTooLarge
	}
	return data, err
}
