package stdio

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketRoom is what an empty local socket certainly takes, in bytes; its buffer has 208 KiB unless an administrator
// lowered it, of which the kernel's own records take a part.
const socketRoom = 16 << 10

// unreadProbe returns a function that tells how much of what was written to out its reader has not yet taken, or nil
// where the system does not know, and how many bytes out takes at once while that is none. Clients connect a server by
// a pipe or, as Node does, by a pair of local sockets.
func unreadProbe(out io.Writer) (unread func() (bytes int, ok bool), room int) {
	file, ok := out.(syscall.Conn)
	if !ok {
		return nil, 0
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, 0
	}
	request := 0
	err = raw.Control(func(fd uintptr) {
		var st unix.Stat_t
		if unix.Fstat(int(fd), &st) != nil {
			return
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFIFO:
			request = unix.TIOCINQ // FIONREAD; the same at both ends of a pipe
			if size, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil {
				room = size
			}
		case unix.S_IFSOCK:
			request, room = unix.TIOCOUTQ, socketRoom
		}
	})
	if err != nil || request == 0 {
		return nil, 0
	}
	return func() (bytes int, ok bool) {
		var failed error
		err := raw.Control(func(fd uintptr) { bytes, failed = unix.IoctlGetInt(int(fd), uint(request)) })
		return bytes, err == nil && failed == nil
	}, room
}
