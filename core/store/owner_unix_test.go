//go:build !windows

package store

import (
	"os"
	"syscall"
)

func ownedBy(info os.FileInfo, uid, gid uint32) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == uid && st.Gid == gid
}
