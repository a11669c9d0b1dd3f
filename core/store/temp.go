package store

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"mem/core/atomicfile"
)

// Names of our temporary files, which stand beside the file that they become;
// hidden names are no memory.
const (
	tempPrefix = ".mem-"
	tempSuffix = ".tmp"
)

func tempName(id string, i int) string { return tempPrefix + id + "-" + strconv.Itoa(i) + tempSuffix }

// asideName is the second temporary name of a step, used where the system
// cannot exchange two files.
func asideName(temp string) string {
	return strings.TrimSuffix(temp, tempSuffix) + "-aside" + tempSuffix
}

// tempID gives the id of the change that a temporary file belongs to.
func tempID(name string) (id string, ok bool) {
	rest, pre := strings.CutPrefix(name, tempPrefix)
	rest, suf := strings.CutSuffix(rest, tempSuffix)
	id, _, dash := strings.Cut(rest, "-")
	return id, pre && suf && dash && len(id) == idLength
}

// writeTemp writes a temporary file beside its target, with the mode and owner
// of the file it will replace, and a modification time unless at is zero. The
// caller makes it durable.
func (d *folder) writeTemp(temp, content string, like os.FileInfo, at time.Time) error {
	// One that a killed process left is of no use; its content was looked at.
	if err := d.remove(temp); err != nil {
		return err
	}
	if err := d.instant.at("open", temp); err != nil {
		return d.failed("writing", temp, err)
	}
	mode := fs.FileMode(0o666)
	if like != nil {
		mode = like.Mode().Perm()
	}
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return d.failed("writing", temp, err)
	}
	_, err = writeText(f, content, temp, d.instant)
	if err == nil && like != nil {
		err = f.Chmod(mode) // the umask had its part in the mode
		keepOwner(f, like)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(d.failed("writing", temp, err), d.remove(temp))
	}
	if !at.IsZero() {
		// A file system that cannot set times is no reason not to write.
		_ = d.root.Chtimes(temp, time.Time{}, at)
	}
	return nil
}

// swap puts temp in the place of name, and what stood there under temp. name
// must exist. It is atomic where the system can exchange two files; elsewhere
// name is never missing, and the content that was displaced is what name had
// at that moment (with links), or just before (without).
func (d *folder) swap(temp, name string) error {
	err := d.instant.at("exchange", name)
	if err == nil {
		err = exchange(d.file, temp, name)
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	aside := asideName(temp)
	err = d.instant.at("link", name)
	if err == nil {
		err = d.root.Link(name, aside)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return d.swapByCopy(temp, name)
	}
	if err := d.rename(temp, name); err != nil {
		return errors.Join(err, d.remove(aside))
	}
	if err := d.rename(aside, temp); err != nil {
		return errors.Join(err, atomicfile.RenameIn(d.root, aside, name))
	}
	return nil
}

func (d *folder) swapByCopy(temp, name string) error {
	content, info, exists, err := d.read(name)
	if err == nil && !exists {
		err = &fs.PathError{Op: "replace", Path: d.at(name), Err: fs.ErrNotExist}
	}
	if err != nil {
		return err
	}
	if err := d.writeTemp(asideName(temp), content, info, time.Time{}); err != nil {
		return err
	}
	if err := d.rename(temp, name); err != nil {
		return errors.Join(err, d.remove(asideName(temp)))
	}
	return d.rename(asideName(temp), temp)
}

// RenameNew renames a file of an open directory to a name that must be free, at once: whoever
// opens that name meets the file as it is. The error is fs.ErrExist where the name is taken
// and errors.ErrUnsupported where the system or the file system has no such rename.
func RenameNew(dir *os.File, from, to string) error { return renameNew(dir, from, to) }

// putNew gives the temporary file its name, which must be free.
func (d *folder) putNew(temp, name string) error {
	err := d.instant.at("put", name)
	if err == nil {
		err = renameNew(d.file, temp, name)
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	err = d.instant.at("link", temp)
	if err == nil {
		err = d.root.Link(temp, name)
	}
	switch {
	case err == nil:
		return d.remove(temp)
	case errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist):
		return err
	}
	// Neither an exclusive rename nor links: look, then rename.
	if _, err := d.root.Lstat(name); err == nil {
		return &fs.PathError{Op: "create", Path: d.at(name), Err: fs.ErrExist}
	}
	return d.rename(temp, name)
}

func (d *folder) rename(from, to string) error {
	if err := d.instant.at("rename", from); err != nil {
		return d.failed("renaming", from, err)
	}
	return atomicfile.RenameIn(d.root, from, to)
}

// remove deletes a name; that it is gone already is no error.
func (d *folder) remove(name string) error {
	if err := d.instant.at("remove", name); err != nil {
		return d.failed("removing", name, err)
	}
	if err := atomicfile.RemoveIn(d.root, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.failed("removing", name, err)
	}
	return nil
}
