package memdir

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Disk gives a memory directory on disk as a source of Views. Contents are read
// through root, so that no link leads out of the directory. Names, sizes and
// times are looked up by path, which costs a quarter: a View looks at every file,
// and a link that were put in a folder's place meanwhile would show names only.
func Disk(root *os.Root) fs.FS { return disk{root} }

type disk struct{ root *os.Root }

var (
	_ fs.ReadDirFS  = disk{}
	_ fs.StatFS     = disk{}
	_ fs.ReadLinkFS = disk{}
)

func (d disk) path(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return filepath.Join(d.root.Name(), filepath.FromSlash(name)), nil
}

// Open opens a file inside the directory.
func (d disk) Open(name string) (fs.File, error) {
	if _, err := d.path(name); err != nil {
		return nil, err
	}
	return d.root.Open(filepath.FromSlash(name))
}

// ReadDir lists a folder.
func (d disk) ReadDir(name string) ([]fs.DirEntry, error) {
	p, err := d.path(name)
	if err != nil {
		return nil, err
	}
	return readDir(p)
}

// Stat looks at a folder or file.
func (d disk) Stat(name string) (fs.FileInfo, error) {
	p, err := d.path(name)
	if err != nil {
		return nil, err
	}
	return os.Stat(p)
}

// Lstat looks at a name without following a link.
func (d disk) Lstat(name string) (fs.FileInfo, error) {
	p, err := d.path(name)
	if err != nil {
		return nil, err
	}
	return os.Lstat(p)
}

// ReadLink reads a link; nothing here follows one.
func (d disk) ReadLink(name string) (string, error) {
	if _, err := d.path(name); err != nil {
		return "", err
	}
	return d.root.Readlink(filepath.FromSlash(name))
}
