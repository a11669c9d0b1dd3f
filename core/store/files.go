package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
)

// tempPrefix marks our temporary files; hidden names are no memory.
const tempPrefix = ".mem-"

const tempSuffix = ".tmp"

// folder is an open directory inside the memory directory. All names used with
// it are single elements, so nothing leads out of it.
type folder struct {
	root *os.Root
	file *os.File
	path string // slash-separated, "." for the memory directory itself
}

func openFolder(root *os.Root, dir string, create bool) (*folder, error) {
	if create && dir != "." {
		if err := makeFolder(root, dir); err != nil {
			return nil, fmt.Errorf("creating the folder %s: %w", dir, err)
		}
	}
	f, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	return &folder{root: root, file: f, path: dir}, nil
}

// makeFolder makes a folder and those above it, durably.
func makeFolder(root *os.Root, dir string) error {
	if info, err := root.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := path.Dir(dir)
	if parent != "." {
		if err := makeFolder(root, parent); err != nil {
			return err
		}
	}
	if err := root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	p, err := root.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(syncOpen(p), p.Close())
}

func (d *folder) at(name string) string { return path.Join(d.path, name) }

// read gives a regular file's content and info; exists is false when there is
// none. Anything else under that name is an error.
func (d *folder) read(name string) (content string, info os.FileInfo, exists bool, err error) {
	info, err = d.root.Lstat(d.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, false, nil
	}
	if err != nil {
		return "", nil, false, err
	}
	if !info.Mode().IsRegular() {
		what := "is not a regular file"
		if info.Mode()&fs.ModeSymlink != 0 {
			what = "is a symbolic link, which mem does not follow"
		} else if info.IsDir() {
			what = "is a folder"
		}
		return "", nil, false, &memdir.FileError{Path: d.at(name), Reason: what, Hint: "put a plain file in its place, or choose another name"}
	}
	if info.Size() > memdir.DefaultTopicBytes {
		return "", nil, false, &memdir.FileError{Path: d.at(name), Reason: fmt.Sprintf("has %d bytes, more than a memory file may have", info.Size()), Hint: "split it"}
	}
	f, err := d.root.Open(d.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, false, nil
	}
	if err != nil {
		return "", nil, false, err
	}
	b, err := io.ReadAll(io.LimitReader(f, memdir.DefaultTopicBytes+1))
	return string(b), info, true, errors.Join(err, f.Close())
}

// Another program that rewrites a file in place is seen half way. What was read
// of a file that changed this recently is read again until it rests.
const (
	fresh      = 20 * time.Millisecond
	restFor    = 4 * time.Millisecond
	restWithin = 100 * time.Millisecond
)

// settled reads a file again until it stays the same, and has text again where
// it was found empty: a writer in place empties it first.
func (d *folder) settled(name, content string) (string, error) {
	for start := time.Now(); time.Since(start) < restWithin; {
		time.Sleep(restFor)
		now, _, exists, err := d.read(name)
		if err != nil {
			return "", err
		}
		if !exists || (now == content && now != "") {
			return content, nil
		}
		content = now
	}
	return content, nil
}

// writeTemp writes a temporary file beside its target, with the mode and owner
// of the file it will replace.
func (d *folder) writeTemp(temp, content string, like os.FileInfo, durable bool) error {
	// One that a killed process left is of no use; its content was looked at.
	if err := d.remove(temp); err != nil {
		return err
	}
	f, err := d.root.OpenFile(d.at(temp), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, strings.NewReader(content))
	if err == nil && like != nil {
		err = f.Chmod(like.Mode().Perm())
		keepOwner(f, like)
	}
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, d.remove(temp))
	}
	return nil
}

// swapIn puts the temporary file in the place of name and gives what stood
// there. The displaced content is under the temporary name afterwards when
// held is true.
func (d *folder) swapIn(temp, name string) (displaced string, held bool, err error) {
	err = exchange(d.file, temp, name)
	switch {
	case err == nil:
		displaced, _, held, err = d.read(temp)
		return displaced, held, err
	case errors.Is(err, errors.ErrUnsupported):
		displaced, _, _, err = d.read(name)
		if err != nil {
			return "", false, err
		}
		return displaced, false, d.root.Rename(d.at(temp), d.at(name))
	}
	return "", false, err
}

// putNew gives the temporary file its name, which must be free.
func (d *folder) putNew(temp, name string) error {
	err := renameNew(d.file, temp, name)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := d.root.Link(d.at(temp), d.at(name)); err == nil {
		return d.remove(temp)
	} else if errors.Is(err, fs.ErrExist) {
		return err
	}
	// Neither an exclusive rename nor links: look, then rename.
	if _, err := d.root.Lstat(d.at(name)); err == nil {
		return &fs.PathError{Op: "create", Path: d.at(name), Err: fs.ErrExist}
	}
	return d.root.Rename(d.at(temp), d.at(name))
}

// remove deletes a name; that it is gone already is no error.
func (d *folder) remove(name string) error {
	if err := d.root.Remove(d.at(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// appendTo adds text to the end of a file with a single write.
func (d *folder) appendTo(name, content string) error {
	f, err := d.root.OpenFile(d.at(name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFile makes a file durable that was written without.
func (d *folder) syncFile(name string) error {
	f, err := d.root.Open(d.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody removed it since
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d *folder) sync() error  { return syncOpen(d.file) }
func (d *folder) close() error { return d.file.Close() }

// folders keeps the directories of one change open until it is done.
type folders struct {
	root *os.Root
	open map[string]*folder
}

func (ds *folders) of(p string, create bool) (*folder, error) {
	dir := path.Dir(p)
	if d := ds.open[dir]; d != nil {
		return d, nil
	}
	d, err := openFolder(ds.root, dir, create)
	if err != nil {
		return nil, err
	}
	ds.open[dir] = d
	return d, nil
}

// sync makes every directory that was written to durable.
func (ds *folders) sync() error {
	var err error
	for _, d := range ds.open {
		err = errors.Join(err, d.sync())
	}
	return err
}

func (ds *folders) close() {
	for _, d := range ds.open {
		_ = d.close() // opened for reading: nothing is lost
	}
}

// ownIndex names a folder above p, inside the memory directory, that is a
// memory directory of its own.
func ownIndex(root *os.Root, p string) string {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if _, err := root.Lstat(path.Join(dir, memfile.IndexName)); err == nil {
			return dir
		}
	}
	return ""
}

// otherCase gives the name in the folder that differs from name only by case.
func (d *folder) otherCase(name string) string {
	entries, err := fs.ReadDir(d.root.FS(), d.path)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.Name() != name && strings.EqualFold(e.Name(), name) {
			return e.Name()
		}
	}
	return ""
}
