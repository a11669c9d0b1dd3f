//go:build !windows

package term

import (
	"io"
	"os"
	"syscall"
	"time"
)

// Polled gives an input that the runtime waits for, where in is a pipe or a socket,
// and what undoes that; anything else is given as it is. Call restore when nothing is read
// any more.
//
// A read of os.Stdin keeps a thread, and what the reading goroutine woke last waits until
// the runtime notices that: 20 µs at best, and milliseconds on a busy machine. A server
// that hands on each message that it reads would lose that with each. And where the
// runtime waits, closing the input ends a read.
func Polled(in io.Reader) (polled io.Reader, restore func()) {
	nothing := func() {}
	f, ok := in.(*os.File)
	if !ok {
		return in, nothing
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		// A terminal is shared with the shell, which wants to wait; a file is never waited for.
		return in, nothing
	}
	if f.SetReadDeadline(time.Time{}) == nil {
		return in, nothing // it is waited for already
	}
	fd := f.Fd()
	if syscall.SetNonblock(int(fd), true) != nil {
		return in, nothing
	}
	p := os.NewFile(fd, f.Name())
	if p.SetReadDeadline(time.Time{}) != nil { // the runtime cannot wait for it
		_ = syscall.SetNonblock(int(fd), false)
		return in, nothing
	}
	return p, func() {
		// Others may have the same pipe open. Once it is closed here this does nothing.
		if c, err := p.SyscallConn(); err == nil {
			_ = c.Control(func(fd uintptr) { _ = syscall.SetNonblock(int(fd), false) })
		}
	}
}
