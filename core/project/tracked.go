package project

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/index"
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
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // nothing was ever added
	}
	if err != nil {
		return false, fmt.Errorf("reading the git index %s: %w", name, Reason(err))
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() || fi.Size() > MaxIndex {
		return false, fmt.Errorf("reading the git index %s: it is not a regular file of at most %d bytes", name, MaxIndex)
	}
	names, err := indexNames(io.LimitReader(f, MaxIndex))
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

// indexNames returns the path of every entry of a git index. An index that
// keeps entries elsewhere (split or sparse) is an error: what it does not
// list could still be tracked.
func indexNames(r io.Reader) (names []string, err error) {
	defer func() { // the decoder is not ours, and the file is the checkout's
		if v := recover(); v != nil {
			err = fmt.Errorf("damaged: %v", v)
		}
	}()
	var idx index.Index
	if err := index.NewDecoder(bufio.NewReader(r)).Decode(&idx); err != nil {
		return nil, err
	}
	for _, e := range idx.Entries {
		names = append(names, e.Name)
	}
	return names, nil
}
