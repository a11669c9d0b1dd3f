//go:build linux || darwin

package memdir

import (
	"io/fs"
	"syscall"
	"time"
)

// state tells a file from one that was put in its place with the same size and
// modification time, as cp -p and rsync -t do.
type state struct {
	inode   uint64
	changed int64 // when the inode changed last, in nanoseconds; nothing sets it back
}

func stateOf(info fs.FileInfo) state {
	switch st := info.Sys().(type) {
	case *syscall.Stat_t:
		return state{inode: st.Ino, changed: changedAt(st)}
	case state:
		return st
	}
	return state{}
}

// fresh reports whether the file changed so shortly before it was read that one
// more change may have the same time.
func (s state) fresh(readAt time.Time) bool {
	return s.changed != 0 && readAt.UnixNano()-s.changed <= int64(racy)
}

// other reports whether this is certainly another file.
func (s state) other(than state) bool {
	return s.inode != 0 && than.inode != 0 && s.inode != than.inode
}
