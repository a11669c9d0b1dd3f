package dream

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// open opens the lock file and locks it; again says that it was replaced meanwhile.
func (h *Held) open() (again bool, err error) {
	info, err := h.root.Lstat(LockName)
	if errors.Is(err, fs.ErrNotExist) {
		return h.create()
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, notRegular(filepath.Join(h.lock.Directory, LockName))
	}
	f, err := h.root.OpenFile(LockName, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, h.cannotWrite(err)
	}
	h.file = f
	h.lock.at("open: opened")
	return h.flock()
}

// cannotWrite says which lock file cannot be had, and what to do.
func (h *Held) cannotWrite(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("no dream can begin: the lock file %s cannot be written: %w. Look at its permissions and those of its directory", filepath.Join(h.lock.Directory, LockName), err)
}

// create makes the lock file where there is none. It appears in its place whole: locked,
// with our process in it, and a time that counts as no consolidation, so that neither a
// process that comes at the same moment nor a crash takes it for what it is not.
func (h *Held) create() (again bool, err error) {
	temp := ".mem-" + rand.Text()[:13] + "-0.tmp" // as the store names such files, which cleans up after a crash
	f, err := h.root.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false, h.cannotWrite(err)
	}
	h.file = f
	defer func() {
		gone := h.root.Remove(temp)
		if !errors.Is(gone, fs.ErrNotExist) { // it got its name by a rename
			err = errors.Join(err, gone)
		}
		h.lock.at("create: temp removed")
	}()
	h.lock.at("create: temp")
	if _, err := f.WriteString(strconv.Itoa(h.lock.pid())); err != nil {
		return false, err
	}
	if err := h.root.Chtimes(temp, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
		return false, err
	}
	if ok, err := flock(f); err != nil || !ok {
		h.noFlock(err)
	}
	h.lock.at("create: locked")
	switch err := h.name(temp); {
	case errors.Is(err, fs.ErrExist):
		return true, nil
	case err != nil:
		return false, err
	}
	h.lock.at("create: named")
	return h.isPlace()
}

// name gives the new file the lock file's name, which must be free: by an exclusive rename,
// by a hard link where there is none, and where a file system has neither by a look and a rename.
func (h *Held) name(temp string) error {
	dir, err := h.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	if err = h.lock.lacking("exclusive rename"); err == nil {
		err = renameNew(dir, temp, LockName)
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err = h.lock.lacking("hard link"); err == nil {
		err = h.root.Link(temp, LockName)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return h.rename(dir, temp)
}

// dirWait is how long a rename waits for the lock of the directory, which is held for as
// long as a change is being written.
const dirWait = 2 * time.Second

// rename looks and renames. The lock of the memory directory keeps processes of mem apart
// in between; another program may make its lock file just then, which is replaced: it reads
// again what it has written, as the seed has it, and finds our process. Only one that has
// read already, between our look and our rename, runs beside us.
func (h *Held) rename(dir *os.File, temp string) error {
	for end := time.Now().Add(dirWait); ; time.Sleep(5 * time.Millisecond) {
		ok, err := flock(dir)
		if err != nil { // no locks here, as noFlock tells
			break
		}
		if ok {
			defer unflock(dir)
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is being written to for more than %s, so that no dream can begin. Try again", h.lock.Directory, dirWait)
		}
	}
	if _, err := h.root.Lstat(LockName); err == nil {
		return fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	h.lock.at("create: looked")
	return h.root.Rename(temp, LockName)
}

// flock locks the open file and makes sure that it still is the lock file.
func (h *Held) flock() (again bool, err error) {
	ok, err := flock(h.file)
	if err != nil {
		h.noFlock(err)
	} else if !ok {
		busy := &BusyError{Directory: h.lock.Directory}
		if s, err := h.look(); err == nil {
			if busy.PID = holderOf(s.content); fresh(h.lock.now(), s.mtime) {
				busy.Since = s.mtime
			}
		}
		return false, busy
	}
	return h.isPlace()
}

func (h *Held) noFlock(err error) {
	if h.unlocked {
		return
	}
	h.unlocked = true
	note := "The file system has no locks between processes; the process number in " + LockName + " alone keeps a second dream away."
	if err != nil {
		note = fmt.Sprintf("%s (%v)", note, err)
	}
	h.Notes = append(h.Notes, note)
}

// isPlace reports whether the open file is no longer the one at its place.
func (h *Held) isPlace() (again bool, err error) {
	own, err := h.file.Stat()
	if err != nil {
		return false, err
	}
	there, err := h.root.Lstat(LockName)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return !os.SameFile(own, there), nil
}
