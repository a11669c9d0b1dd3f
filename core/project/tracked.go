package project

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// MaxIndex bounds the git index that is read, in bytes: about 600,000 files.
// A larger one counts as unreadable.
const MaxIndex = 64 << 20

// Tracked reports whether git tracks file, which must lie in the project, so
// that its content came from, or goes to, the repository. It looks at every
// index that could say so: a parent that is a tracked symlink or submodule,
// and the place that file leads to, count too. Letter case is ignored, since
// on some systems `.CLAUDE` is the same folder.
//
// An error means that the index could not be read: the caller should treat
// file as tracked. Without git nothing is tracked.
func Tracked(p Project, file string) (bool, error) {
	if p.Problem != "" {
		return false, fmt.Errorf("asking git about %s: %s", file, p.Problem)
	}
	if p.Worktree != "" {
		if found, err := trackedIn(p.Worktree, p.GitDir, file); found || err != nil {
			return found, err
		}
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false, nil // there is no file whose content could matter
	}
	holder := discover(filepath.Dir(real))
	if holder.problem != "" {
		return false, fmt.Errorf("asking git about %s: %s", file, holder.problem)
	}
	if holder.top == "" || (holder.top == p.Worktree && real == file) {
		return false, nil
	}
	if holder.commonDir != p.CommonDir && !within(holder.top, p.Dir) {
		return false, nil // the user's own repository elsewhere, linked by hand
	}
	return trackedIn(holder.top, holder.gitDir, real)
}

// trackedIn asks the index of one checkout for file or a parent of it.
func trackedIn(top, gitDir, file string) (bool, error) {
	rel, err := filepath.Rel(top, file)
	if err != nil || !within(file, top) {
		return false, nil
	}
	name := filepath.Join(gitDir, "index")
	data, err := ReadFile(name, MaxIndex)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // nothing was ever added
	}
	if err != nil {
		return false, fmt.Errorf("reading the git index %s: %w", name, Reason(err))
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return false, err
	}
	bytesOfName, err := ObjectName(common)
	if err != nil {
		return false, fmt.Errorf("reading the git index %s: %w", name, err)
	}
	names, err := indexNames(data, bytesOfName)
	if err != nil {
		return false, fmt.Errorf("reading the git index %s: %w", name, err)
	}
	wanted := map[string]bool{}
	for p := strings.ToLower(filepath.ToSlash(rel)); p != "." && p != "/"; p = path.Dir(p) {
		wanted[p] = true
	}
	for _, n := range names {
		if wanted[strings.ToLower(n)] {
			return true, nil
		}
	}
	return false, nil
}
