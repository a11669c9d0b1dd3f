package memdir

import (
	"cmp"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Buffer is a file as an editor has it open, saved or not.
type Buffer struct {
	Text    string
	Version int32 // of the document, as the editor counts
	// ModTime is when the text last changed, for readers that sort by it. It need
	// not tell two texts apart.
	ModTime time.Time
}

// Overlay gives what base contains with open buffers in place of its files, as a
// source of Views. buffers are keyed by slash-separated paths inside base; they
// are taken as they are at the call, base is looked at as it is read.
//
// An open buffer is an existing file, also where base has none and in folders
// that base does not have (editors keep a created file in a buffer until it is
// saved), and it stands in place of a file or a link of its name. Folders are
// base's: a buffer whose name is a folder there, or that lies behind a link or
// below a file, is not seen, as the file itself would not be. Neither is one whose
// path fs.ValidPath refuses. Paths are compared byte by byte: where the file
// system does not, whoever made them out of the editor's names has to take the
// file's own spelling.
//
// The file info of a buffer has the Buffer in its Sys. The cache compares texts by
// it, so that Views of an overlay and of its base may share one Cache, and no
// version or time can make one text pass for another; they then take turns in
// remembering the files that are open, at the cost of parsing these.
func Overlay(base fs.FS, buffers map[string]Buffer) fs.FS {
	o := &overlay{base: base, files: map[string]Buffer{}, below: map[string]map[string]bool{}}
	for p, b := range buffers {
		if p != "." && fs.ValidPath(p) && o.admits(p) {
			b.ModTime = b.ModTime.Round(0) // a reading of the monotonic clock is no part of a file's time
			o.files[p] = b
		}
	}
	for _, p := range slices.Collect(maps.Keys(o.files)) {
		for child := p; child != "."; child = path.Dir(child) {
			dir := path.Dir(child)
			if o.below[dir] == nil {
				o.below[dir] = map[string]bool{}
			}
			o.below[dir][path.Base(child)] = true
		}
	}
	for dir := range o.below {
		delete(o.files, dir) // one buffer's name is the folder of another
	}
	return o
}

type overlay struct {
	base  fs.FS
	files map[string]Buffer
	below map[string]map[string]bool // names in each folder that holds buffers, at any depth
}

var (
	_ fs.ReadDirFS  = (*overlay)(nil)
	_ fs.StatFS     = (*overlay)(nil)
	_ fs.ReadLinkFS = (*overlay)(nil)
)

// admits reports whether a file could stand at p in base. What cannot be looked
// at is left to whoever reads it.
func (o *overlay) admits(p string) bool {
	if info, err := lstat(o.base, p); err == nil && info.IsDir() {
		return false
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if info, err := lstat(o.base, dir); err == nil && !info.IsDir() {
			return false
		}
	}
	return true
}

// Open opens a buffer, or what base has.
func (o *overlay) Open(name string) (fs.File, error) {
	if b, ok := o.files[name]; ok {
		return &bufferFile{bufferInfo{path.Base(name), b}, strings.NewReader(b.Text)}, nil
	}
	if o.below[name] == nil {
		return o.base.Open(name)
	}
	info, err := o.Lstat(name)
	if err != nil {
		return nil, err
	}
	entries, err := o.ReadDir(name)
	if err != nil {
		return nil, err
	}
	return &folderFile{info, entries}, nil
}

// ReadDir lists a folder of base and the buffers in it.
func (o *overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	if _, ok := o.files[name]; ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	entries, err := fs.ReadDir(o.base, name)
	names := o.below[name]
	if names == nil || err != nil && !isNotExist(err) {
		return entries, err
	}
	entries = slices.Clone(entries) // base may keep its own
	for child := range names {
		at, found := slices.BinarySearchFunc(entries, child, func(e fs.DirEntry, n string) int { return cmp.Compare(e.Name(), n) })
		if found && entries[at].IsDir() {
			continue
		}
		p := path.Join(name, child)
		entry := fs.FileInfoToDirEntry(folderInfo(child))
		if b, ok := o.files[p]; ok {
			entry = fs.FileInfoToDirEntry(bufferInfo{child, b})
		}
		if found {
			entries[at] = entry
		} else {
			entries = slices.Insert(entries, at, entry)
		}
	}
	return entries, nil
}

// Lstat looks at a name without following a link.
func (o *overlay) Lstat(name string) (fs.FileInfo, error) {
	if b, ok := o.files[name]; ok {
		return bufferInfo{path.Base(name), b}, nil
	}
	info, err := lstat(o.base, name)
	if err != nil && isNotExist(err) && o.below[name] != nil {
		return folderInfo(path.Base(name)), nil
	}
	return info, err
}

// Stat looks at a name, following the links of base. Without it fs.Stat would open
// a folder, and list it for that.
func (o *overlay) Stat(name string) (fs.FileInfo, error) {
	if b, ok := o.files[name]; ok {
		return bufferInfo{path.Base(name), b}, nil
	}
	info, err := fs.Stat(o.base, name)
	if err != nil && isNotExist(err) && o.below[name] != nil {
		return folderInfo(path.Base(name)), nil
	}
	return info, err
}

// ReadLink reads a link of base that no buffer stands in place of.
func (o *overlay) ReadLink(name string) (string, error) {
	if _, ok := o.files[name]; ok {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return fs.ReadLink(o.base, name)
}

// bufferInfo is a buffer as a file. Its Sys is the Buffer.
type bufferInfo struct {
	name string
	buf  Buffer
}

func (i bufferInfo) Name() string       { return i.name }
func (i bufferInfo) Size() int64        { return int64(len(i.buf.Text)) }
func (i bufferInfo) Mode() fs.FileMode  { return 0o600 }
func (i bufferInfo) ModTime() time.Time { return i.buf.ModTime }
func (i bufferInfo) IsDir() bool        { return false }
func (i bufferInfo) Sys() any           { return i.buf }

// folderInfo is a folder that only buffers are in.
type folderInfo string

func (i folderInfo) Name() string       { return string(i) }
func (i folderInfo) Size() int64        { return 0 }
func (i folderInfo) Mode() fs.FileMode  { return fs.ModeDir | 0o700 }
func (i folderInfo) ModTime() time.Time { return time.Time{} }
func (i folderInfo) IsDir() bool        { return true }
func (i folderInfo) Sys() any           { return nil }

// bufferFile is a buffer, opened.
type bufferFile struct {
	info bufferInfo
	*strings.Reader
}

func (f *bufferFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *bufferFile) Close() error               { return nil }

// folderFile is a folder with buffers in it, opened.
type folderFile struct {
	info fs.FileInfo
	rest []fs.DirEntry
}

func (f *folderFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *folderFile) Close() error               { return nil }

func (f *folderFile) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.Name(), Err: fs.ErrInvalid}
}

// ReadDir gives the next n entries, or all that are left where n is not positive.
func (f *folderFile) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(f.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(f.rest) {
		n = len(f.rest)
	}
	out := slices.Clone(f.rest[:n])
	f.rest = f.rest[n:]
	return out, nil
}
