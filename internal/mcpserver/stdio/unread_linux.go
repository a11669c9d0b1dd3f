package stdio

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// unreadProbe returns a function that tells how much of what was written to out its reader has not yet taken, or nil
// where the system does not know. Clients connect a server by a pipe or, as Node does, by a pair of local sockets.
func unreadProbe(out io.Writer) func() (bytes int, ok bool) {
	file, ok := out.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil
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
		case unix.S_IFSOCK:
			request = unix.TIOCOUTQ
		}
	})
	if err != nil || request == 0 {
		return nil
	}
	return func() (bytes int, ok bool) {
		var failed error
		err := raw.Control(func(fd uintptr) { bytes, failed = unix.IoctlGetInt(int(fd), uint(request)) })
		return bytes, err == nil && failed == nil
	}
}
