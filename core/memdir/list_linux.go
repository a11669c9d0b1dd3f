package memdir

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mem/core/memfile"
)

// readDir lists a folder. Its Markdown files are looked at through the open folder:
// to look at each by its whole path takes twice the time, and would see another
// folder that somebody puts in the place of this one meanwhile.
func readDir(p string) ([]fs.DirEntry, error) {
	folder, err := os.Open(p)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	entries, err := folder.ReadDir(-1)
	fd := int(folder.Fd())
	all := make([]looked, len(entries))
	for i, e := range entries {
		if e.Type().IsRegular() && memfile.IsMarkdown(e.Name()) {
			all[i].look(fd, e)
			entries[i] = &all[i]
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// looked is a regular file that was found and looked at.
type looked struct {
	fs.DirEntry
	err   error
	size  int64
	mode  fs.FileMode
	mtime time.Time
	state state
}

func (l *looked) look(fd int, e fs.DirEntry) {
	l.DirEntry = e
	var st unix.Stat_t
	if err := unix.Fstatat(fd, e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		l.err = &fs.PathError{Op: "lstat", Path: e.Name(), Err: err}
		return
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG { // it was put in the file's place just now
		l.err = &fs.PathError{Op: "lstat", Path: e.Name(), Err: fs.ErrNotExist}
		return
	}
	l.size, l.mode, l.mtime = st.Size, fs.FileMode(st.Mode&0o777), time.Unix(st.Mtim.Unix())
	l.state = state{inode: st.Ino, changed: st.Ctim.Nano()}
}

func (l *looked) Info() (fs.FileInfo, error) {
	if l.err != nil {
		return nil, l.err
	}
	return l, nil
}

func (l *looked) Size() int64        { return l.size }
func (l *looked) Mode() fs.FileMode  { return l.mode }
func (l *looked) ModTime() time.Time { return l.mtime }

// Sys gives what stateOf reads.
func (l *looked) Sys() any { return l.state }
