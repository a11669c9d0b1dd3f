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
		return false, err
	}
	h.file = f
	return h.flock()
}

// create makes the lock file where there is none. It appears in its place whole: locked,
// with our process in it, and a time that counts as no consolidation, so that neither a
// process that comes at the same moment nor a crash takes it for what it is not.
func (h *Held) create() (again bool, err error) {
	temp := ".mem-" + rand.Text()[:13] + "-0.tmp" // as the store names such files, which cleans up after a crash
	f, err := h.root.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false, err
	}
	h.file = f
	defer func() { err = errors.Join(err, h.root.Remove(temp)); h.lock.at("create: temp removed") }()
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
	err = h.root.Link(temp, LockName)
	if errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	if err != nil { // a file system without hard links
		return h.createPlain()
	}
	h.lock.at("create: linked")
	return h.isPlace()
}

// createPlain is create where there are no hard links: for a moment the file is empty.
func (h *Held) createPlain() (again bool, err error) {
	if err := h.drop(); err != nil {
		return false, err
	}
	f, err := h.root.OpenFile(LockName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	h.file = f
	if err := h.root.Chtimes(LockName, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
		return false, err
	}
	return h.flock()
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
