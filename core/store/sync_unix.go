//go:build !windows

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openToSync is how a file is opened to make it durable: reading is enough, also
// where its mode forbids writing.
const openToSync = os.O_RDONLY

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return errors.Join(syncOpen(d), d.Close())
}

func syncOpen(d *os.File) error {
	// Some network file systems cannot sync a directory; theirs are durable.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return fmt.Errorf("syncing %s: %w", d.Name(), err)
	}
	return nil
}

// keepOwner gives f the owner of like, where that differs and may be done: a
// server that runs as root must not take people's files from them.
func keepOwner(f *os.File, like os.FileInfo) {
	st, ok := like.Sys().(*syscall.Stat_t)
	if ok && (int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid()) {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // refused to whoever may not: then the file is theirs
	}
}

// links gives how many names a file has.
func links(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
