package gate

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"mem/core/fork/shell"
	"mem/core/memdir"
)

const (
	// maxFile is the largest file that is read: what a memory may be at most.
	maxFile = memdir.DefaultTopicBytes
	// maxEntries bounds the entries of one folder that are listed.
	maxEntries = 10000
)

// refusal is what a *shell.RefusedError says of a place.
func refusal(p place, reason string) error {
	return &shell.RefusedError{What: memdir.ShownName(p.String()), Reason: reason}
}

func pathError(op string, p place, err error) error {
	// The system's own words hold paths of this machine.
	for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, fs.ErrExist} {
		if errors.Is(err, known) {
			return &fs.PathError{Op: op, Path: p.String(), Err: known}
		}
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: p.String(), Err: err}
}

// errFolder is a folder where a file was asked for, and the other way round.
var (
	errFolder    = errors.New("is a folder")
	errNotFolder = errors.New("is not a folder")
)

const (
	linkReason    = "it is a symbolic link, and links are not followed. Use the file that it leads to, if it is open to you"
	kindReason    = "it is no regular file, so it is not opened"
	swappedReason = "it was exchanged while it was opened, so it is left alone. Try again"
)

// enter opens the folder name in parent: the very folder that Lstat saw, so that
// no link in its place, now or a moment ago, is followed.
func enter(parent *os.Root, name string, at place) (*os.Root, error) {
	seen, err := parent.Lstat(name)
	if err != nil {
		return nil, pathError("open", at, err)
	}
	switch {
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, refusal(at, linkReason)
	case !seen.IsDir():
		return nil, pathError("open", at, errNotFolder)
	}
	// With "." at its end it can only be a folder: a pipe put there meanwhile would
	// block.
	sub, err := parent.OpenRoot(name + "/.")
	if err != nil {
		return nil, pathError("open", at, err)
	}
	got, err := sub.Stat(".")
	if err != nil || !os.SameFile(seen, got) {
		sub.Close()
		return nil, refusal(at, swappedReason)
	}
	return sub, nil
}

// folder opens a folder of a mount. done closes it.
func (p place) folder() (dir *os.Root, done func(), err error) {
	dir, done = p.m.root, func() {}
	if p.rel == "." {
		return dir, done, nil
	}
	at := place{p.m, "."}
	for el := range strings.SplitSeq(p.rel, "/") {
		at = at.join(el)
		sub, err := enter(dir, el, at)
		done()
		if err != nil {
			return nil, func() {}, err
		}
		dir, done = sub, func() { sub.Close() }
	}
	return dir, done, nil
}

func (p place) parent() (dir *os.Root, name string, done func(), err error) {
	dir, done, err = place{p.m, path.Dir(p.rel)}.folder()
	return dir, path.Base(p.rel), done, err
}

// lstat looks at a file or folder. What is neither is refused.
func (p place) lstat() (fs.FileInfo, error) {
	if p.m == nil {
		return folderInfo("/"), nil
	}
	if p.rel == "." {
		info, err := p.m.root.Stat(".")
		if err != nil {
			return nil, pathError("stat", p, err)
		}
		return named{info, p.m.Name}, nil
	}
	dir, name, done, err := p.parent()
	if err != nil {
		return nil, err
	}
	defer done()
	return lstatIn(dir, name, p)
}

func lstatIn(dir *os.Root, name string, p place) (fs.FileInfo, error) {
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, pathError("stat", p, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, refusal(p, linkReason)
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, refusal(p, kindReason)
	}
	return info, nil
}

// read gives a whole file as it lies on disk.
func (p place) read() ([]byte, fs.FileInfo, error) {
	if p.m == nil || p.rel == "." {
		return nil, nil, pathError("read", p, errFolder)
	}
	dir, name, done, err := p.parent()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	return readIn(dir, name, p)
}

func readIn(dir *os.Root, name string, p place) ([]byte, fs.FileInfo, error) {
	seen, err := lstatIn(dir, name, p)
	if err != nil {
		return nil, nil, err
	}
	if seen.IsDir() {
		return nil, nil, pathError("read", p, errFolder)
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		if now, serr := dir.Lstat(name); serr == nil && !os.SameFile(seen, now) {
			return nil, nil, refusal(p, swappedReason)
		}
		return nil, nil, pathError("read", p, err)
	}
	defer f.Close()
	got, err := f.Stat()
	if err != nil {
		return nil, nil, pathError("read", p, err)
	}
	if !os.SameFile(seen, got) || !got.Mode().IsRegular() {
		return nil, nil, refusal(p, swappedReason)
	}
	if got.Size() > maxFile {
		return nil, nil, refusal(p, tooLarge(got.Size()))
	}
	// A file may grow while it is read.
	var b bytes.Buffer
	b.Grow(int(got.Size()) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, nil, pathError("read", p, err)
	}
	text := b.Bytes()
	if len(text) > maxFile {
		return nil, nil, refusal(p, tooLarge(int64(len(text))))
	}
	return text, got, nil
}

// list gives the entries of a folder by name, and how many were left out: hidden
// names, links, what is no file, what was not chosen, and those above the limit.
func (p place) list(w *world) (entries []fs.FileInfo, left int, err error) {
	if p.m == nil {
		for _, m := range w.mounts {
			entries = append(entries, folderInfo(m.Name))
		}
		sortByName(entries)
		return entries, 0, nil
	}
	dir, done, err := p.folder()
	if err != nil {
		return nil, 0, err
	}
	defer done()
	f, err := dir.Open(".")
	if err != nil {
		return nil, 0, pathError("list", p, err)
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries + 1)
	if err != nil && err != io.EOF {
		return nil, 0, pathError("list", p, err)
	}
	for i, name := range names {
		if i == maxEntries || memdir.CheckElement(name) != nil {
			left++
			continue
		}
		at := p.join(name)
		if m := p.m; m.files != nil && !m.files[at.rel] && !m.folders[at.rel] {
			left++
			continue
		}
		info, err := lstatIn(dir, name, at)
		if err != nil {
			left++
			continue
		}
		entries = append(entries, info)
	}
	sortByName(entries)
	return entries, left, nil
}

func sortByName(list []fs.FileInfo) {
	slices.SortFunc(list, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
}

// named is a file under another name.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }

// folderInfo is a folder that is on no disk: "/" and the mounts in it.
type folderInfo string

func (f folderInfo) Name() string     { return string(f) }
func (folderInfo) Size() int64        { return 0 }
func (folderInfo) Mode() fs.FileMode  { return fs.ModeDir | 0o555 }
func (folderInfo) ModTime() time.Time { return time.Time{} }
func (folderInfo) IsDir() bool        { return true }
func (folderInfo) Sys() any           { return nil }
