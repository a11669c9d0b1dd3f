// Package project says which project a directory belongs to: the git root
// that all worktrees of a repository share, found without running git, and
// the slug under which the client keeps that project's files.
//
// It reads `.git` files, `commondir`, `gitdir` and the git index, and nothing
// else. Whatever it finds there is a claim of the checkout: a worktree link
// that the main repository does not confirm is not followed.
package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Options carries what comes from outside the file system.
type Options struct {
	Home string // home directory, for "~/" and for the warning; "" when unknown
	Cwd  string // what relative paths are relative to
	GOOS string // as runtime.GOOS; "" counts as a system with "/" paths
}

// Project is where a directory belongs. The zero value is no project.
type Project struct {
	Asked string `json:"asked"` // the directory as it was given
	Dir   string `json:"dir"`   // the same, absolute, symlinks resolved
	Root  string `json:"root"`  // the directory whose slug keys the memory
	Why   string `json:"why"`   // in words, how Root was found

	// Worktree is the top directory of the checkout that holds Dir; "" where
	// there is no git or only a bare repository.
	Worktree string `json:"worktree,omitempty"`
	// GitDir is the git directory of that checkout (it holds the index), and
	// CommonDir the one that all its worktrees share. Both are "" without git
	// and where Problem is set.
	GitDir    string `json:"gitDir,omitempty"`
	CommonDir string `json:"commonDir,omitempty"`
	// Problem says why a `.git` that is there cannot be used; "" normally.
	Problem string `json:"problem,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
}

// Slug returns the folder name of the project's root below `projects/`.
func (p Project) Slug() string { return Slug(p.Root) }

// Find resolves dir, which may be relative to opt.Cwd or start with "~/", and
// finds its project. It fails when dir is empty, missing or no directory;
// a damaged repository is no failure: see Project.Problem.
func Find(dir string, opt Options) (Project, error) {
	p := Project{Asked: dir}
	abs, err := Absolute(dir, opt)
	if err != nil {
		return p, fmt.Errorf("finding the project: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return p, fmt.Errorf("finding the project of %s: %w: name an existing directory with --project", abs, Reason(err))
	}
	fi, err := os.Stat(real)
	if err != nil {
		return p, fmt.Errorf("finding the project of %s: %w: name a readable directory with --project", abs, Reason(err))
	}
	if !fi.IsDir() {
		return p, fmt.Errorf("finding the project of %s: it is not a directory: name the directory that holds it with --project", abs)
	}
	p.Dir = real

	g := discover(real)
	p.Root, p.Why, p.Problem = g.root, g.why, g.problem
	p.Worktree, p.GitDir, p.CommonDir = g.top, g.gitDir, g.commonDir
	p.Warnings = p.warnings(opt)
	return p, nil
}

func (p Project) warnings(opt Options) []string {
	var w []string
	if p.Problem != "" {
		w = append(w, p.Problem)
	}
	home := opt.Home
	if home != "" {
		if r, err := filepath.EvalSymlinks(home); err == nil {
			home = r
		}
	}
	switch {
	case isFilesystemRoot(p.Root):
		w = append(w, fmt.Sprintf("the project is the root of the file system (%s): everything without a project of its own shares its memory; start in a project directory or name one with --project", p.Root))
	case home != "" && SamePath(opt.GOOS, p.Root, home):
		w = append(w, fmt.Sprintf("the project is the home directory (%s): everything below it without a project of its own shares its memory; start in a project directory or name one with --project", p.Root))
	}
	return w
}

// Absolute makes path absolute and clean: "~" and "~/" mean opt.Home, and a
// relative path is taken from opt.Cwd. It does not touch the file system.
func Absolute(path string, opt Options) (string, error) {
	switch {
	case path == "":
		return "", errors.New("no directory was given and the working directory is unknown: name one with --project")
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("%q holds a NUL byte: no file can have that name", path)
	case path == "~" || strings.HasPrefix(path, "~/") || (opt.GOOS == "windows" && strings.HasPrefix(path, `~\`)):
		if opt.Home == "" {
			return "", fmt.Errorf("%q names the home directory, which is unknown: set HOME or give an absolute path", path)
		}
		return filepath.Join(opt.Home, path[1:]), nil
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	case opt.Cwd == "" || !filepath.IsAbs(opt.Cwd):
		return "", fmt.Errorf("%q is relative and the working directory is unknown: give an absolute path", path)
	}
	return filepath.Join(opt.Cwd, path), nil
}

// SamePath reports whether two absolute paths are spelled alike. On Windows
// both separators are the same and the drive letter has no case; the rest is
// compared exactly, since a volume can be case-sensitive.
func SamePath(goos, a, b string) bool {
	return spelling(goos, a) == spelling(goos, b)
}

func spelling(goos, p string) string {
	if goos != "windows" {
		return filepath.Clean(p)
	}
	p = strings.ReplaceAll(p, "/", `\`)
	if len(p) >= 2 && p[1] == ':' {
		p = strings.ToUpper(p[:1]) + p[1:]
	}
	if len(p) > 3 {
		p = strings.TrimRight(p, `\`)
	}
	return p
}

func isFilesystemRoot(p string) bool {
	return p == filepath.Dir(p)
}

// within reports whether path is dir or lies below it; both are clean.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// ReadFile reads a regular file of at most limit bytes. A pipe, a device or a
// directory is refused without being opened, so that reading never blocks.
func ReadFile(path string, limit int64) ([]byte, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	tooLarge := &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d bytes", limit)}
	if fi.Size() > limit {
		return nil, tooLarge
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAtMost(f, limit)
	if errors.Is(err, errTooLarge) {
		return nil, tooLarge
	}
	return data, err
}

// Reason drops operation and path from a path error whose path the message
// around it already names.
func Reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
