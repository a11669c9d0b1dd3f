package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mem/core/atomicfile"
	"mem/core/hook"
	"mem/core/memdir"
)

// maxSettings bounds a client's settings file, in bytes.
const maxSettings = 8 << 20

// clientFile is a settings file of a client.
type clientFile struct {
	path string
	// root is the project that it lies in, "" for the user's own. A checkout is not
	// trusted: nothing in it may lead elsewhere.
	root string
}

// check says why a file of a project may not be used.
func (f *clientFile) check() error {
	if f.root == "" {
		return nil
	}
	rel, err := filepath.Rel(f.root, f.path)
	if err != nil {
		return err
	}
	at := f.root
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link, and a project's links are not followed; use --scope user, or replace it", at)
		}
	}
	return nil
}

func (f *clientFile) read() (text string, exists bool, err error) {
	if err := f.check(); err != nil {
		return "", false, err
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	if !info.Mode().IsRegular() {
		return "", false, fmt.Errorf("%s is no file", f.path)
	}
	file, err := os.Open(f.path)
	if err != nil {
		return "", false, err
	}
	defer file.Close() //nolint:errcheck // read only
	b, err := io.ReadAll(io.LimitReader(file, maxSettings+1))
	if err != nil {
		return "", false, err
	}
	if len(b) > maxSettings {
		return "", false, fmt.Errorf("%s is larger than %d bytes; that is no settings file", f.path, maxSettings)
	}
	return string(b), true, nil
}

// write replaces the file as a whole, if it still is what was read. A link of the user's
// own is followed, so that settings kept in another place stay there.
func (f *clientFile) write(before, after string, existed bool) error {
	now, exists, err := f.read()
	if err != nil {
		return err
	}
	if now != before || exists != existed {
		return fmt.Errorf("%s changed meanwhile; nothing was written. Try again", f.path)
	}
	path, mode := f.path, fs.FileMode(0o600)
	if existed {
		if path, err = filepath.EvalSymlinks(f.path); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	} else {
		// A link of the user's own whose target does not exist yet stays a link, too.
		if path, err = throughLinks(path); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
	}
	return writeWhole(path, []byte(after), mode)
}

// throughLinks follows a link to what need not exist.
func throughLinks(path string) (string, error) {
	for range 40 { // as many as systems follow
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			// The folder of the link itself may be one.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: too many links", path)
}

// writeWhole writes a file that readers see as it was or as it is, never half.
func writeWhole(path string, content []byte, mode fs.FileMode) error {
	if err := atomicfile.Write(path, content, mode, atomicfile.Durable); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// keepBackups is how many backups are kept of the settings of all clients.
const keepBackups = 50

// backUp keeps settings as they were, in our state directory: beside the file a
// backup could be taken for settings, or end up in a commit.
func (a *app) backUp(c hook.Client, content string) (string, error) {
	if a.env.StateDir == "" {
		return "", errors.New("there is no place for a backup: no home directory and no XDG_STATE_HOME")
	}
	dir := filepath.Join(a.env.StateDir, "hooks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("keeping a backup: %w", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return "", fmt.Errorf("keeping a backup: %w", err)
	}
	slices.SortFunc(names, func(x, y string) int { return strings.Compare(stamp(x), stamp(y)) })
	for i := 0; i <= len(names)-keepBackups; i++ {
		_ = os.Remove(names[i])
	}
	base := c.Name + "-" + a.env.Time().UTC().Format("20060102T150405")
	for n := 0; ; n++ {
		path := filepath.Join(dir, base+".json")
		if n > 0 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.json", base, n))
		}
		if old, err := os.ReadFile(path); err == nil {
			if bytes.Equal(old, []byte(content)) {
				return path, nil
			}
			continue
		}
		return path, writeWhole(path, []byte(content), 0o600)
	}
}

// stamp is the time in the name of a backup.
func stamp(path string) string {
	name := filepath.Base(path)
	if i := strings.LastIndex(name, "-20"); i >= 0 {
		return name[i:]
	}
	return name
}

// projectRoot is the top of the checkout that the flags name: a client reads the settings
// there, not those of the repository that a worktree belongs to.
func (a *app) projectRoot() (string, error) {
	loc, err := memdir.Locate(a.env, memdir.LocateOptions{Project: a.project})
	if err != nil {
		return "", err
	}
	if loc.Project.Worktree != "" {
		return loc.Project.Worktree, nil
	}
	return loc.Project.Root, nil
}
