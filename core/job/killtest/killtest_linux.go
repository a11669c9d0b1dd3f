package killtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Run starts a command and kills it, all threads at once, before the at-th of its system calls
// that change files below dir; 0 lets it run to its end. The call itself is not made.
func Run(cmd *exec.Cmd, dir string, at int) (Death, error) {
	type result struct {
		d   Death
		err error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // only the thread that started it may watch it; it ends with this
		w := watch{dir: dir, at: at}
		err := w.run(cmd)
		done <- result{w.death, err}
	}()
	r := <-done
	return r.d, r.err
}

type watch struct {
	dir   string
	at    int
	pid   int
	death Death
}

func (w *watch) run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
			return fmt.Errorf("%w: %v", ErrNot, err)
		}
		return err
	}
	w.pid = cmd.Process.Pid
	defer cmd.Process.Release() //nolint:errcheck // it is waited for here
	var ws unix.WaitStatus
	if _, err := wait(w.pid, &ws); err != nil {
		return err
	}
	if !ws.Stopped() {
		return fmt.Errorf("it did not stop at its start: %#x", ws)
	}
	const all = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(w.pid, all); err != nil {
		_ = unix.Kill(w.pid, unix.SIGKILL)
		return fmt.Errorf("%w: %v", ErrNot, err)
	}
	for tid, signal := w.pid, 0; ; {
		// A thread that is gone meanwhile is told of by wait.
		if err := unix.PtraceSyscall(tid, signal); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("going on: %w", err)
		}
		var over bool
		var err error
		if tid, signal, over, err = w.next(); over || err != nil {
			return err
		}
	}
}

// next waits for the next stop of a thread, and says with which signal it goes on.
func (w *watch) next() (tid, signal int, over bool, err error) {
	for {
		var ws unix.WaitStatus
		// The group holds the process and its threads, and no other child of this test.
		if tid, err = wait(-w.pid, &ws); err != nil {
			return 0, 0, errors.Is(err, unix.ECHILD), ignore(err, unix.ECHILD)
		}
		switch {
		case ws.Exited() && tid == w.pid:
			w.death.Code = ws.ExitStatus()
			return 0, 0, true, nil
		case ws.Signaled() && tid == w.pid:
			return 0, 0, true, nil
		case !ws.Stopped():
			continue // a thread ended
		case ws.StopSignal() == unix.SIGTRAP|0x80:
			if what := w.changes(tid); what != "" {
				if w.death.Seen++; w.death.Seen == w.at {
					w.death.Before = what
					if err := unix.Kill(w.pid, unix.SIGKILL); err != nil {
						return 0, 0, false, err
					}
					continue
				}
			}
			return tid, 0, false, nil
		case ws.StopSignal() == unix.SIGTRAP, ws.StopSignal() == unix.SIGSTOP:
			return tid, 0, false, nil // a thread began
		}
		return tid, int(ws.StopSignal()), false, nil
	}
}

// call is struct ptrace_syscall_info of linux/ptrace.h.
type call struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64
	args [6]uint64
	_    [16]byte // of other stops
}

const (
	getSyscallInfo = 0x420e // PTRACE_GET_SYSCALL_INFO
	entry          = 1
)

// changes says what a thread that is about to make a system call will change, "" for
// nothing below the folder.
func (w *watch) changes(tid int) string {
	var c call
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(tid), unsafe.Sizeof(c), uintptr(unsafe.Pointer(&c)), 0, 0); errno != 0 || c.op != entry {
		return ""
	}
	switch c.nr {
	case unix.SYS_OPENAT:
		if c.args[2]&(unix.O_CREAT|unix.O_TRUNC) != 0 {
			return w.named("create", tid, c.args[0], c.args[1])
		}
	case unix.SYS_MKDIRAT:
		return w.named("make folder", tid, c.args[0], c.args[1])
	case unix.SYS_UNLINKAT:
		return w.named("remove", tid, c.args[0], c.args[1])
	case unix.SYS_RENAMEAT2:
		return w.named("rename", tid, c.args[2], c.args[3])
	case unix.SYS_LINKAT:
		return w.named("link", tid, c.args[2], c.args[3])
	case unix.SYS_UTIMENSAT:
		return w.named("touch", tid, c.args[0], c.args[1])
	case unix.SYS_WRITE, unix.SYS_PWRITE64:
		return w.open("write", tid, c.args[0])
	case unix.SYS_FTRUNCATE:
		return w.open("truncate", tid, c.args[0])
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		return w.open("sync", tid, c.args[0])
	default:
		if c.nr == renameat {
			return w.named("rename", tid, c.args[2], c.args[3])
		}
	}
	return ""
}

// open is a change of an open file.
func (w *watch) open(what string, tid int, fd uint64) string {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(fd)))
	if err != nil {
		return ""
	}
	return w.below(what, name)
}

// named is a change of a file that is named relative to a folder.
func (w *watch) named(what string, tid int, folder, at uint64) string {
	name := text(tid, at)
	if !filepath.IsAbs(name) {
		of := "cwd"
		if fd := int32(folder); fd != unix.AT_FDCWD {
			of = fmt.Sprintf("fd/%d", fd)
		}
		base, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", tid, of))
		if err != nil {
			return ""
		}
		name = filepath.Join(base, name)
	}
	return w.below(what, name)
}

func (w *watch) below(what, name string) string {
	rel, err := filepath.Rel(w.dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return what + " " + rel
}

// text reads a string of a process.
func text(tid int, at uint64) string {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", tid))
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, 4096)
	n, _ := f.ReadAt(b, int64(at)) // what can be read of it is enough
	s, _, _ := strings.Cut(string(b[:n]), "\x00")
	return s
}

func wait(pid int, ws *unix.WaitStatus) (int, error) {
	for {
		tid, err := unix.Wait4(pid, ws, unix.WALL, nil)
		if !errors.Is(err, unix.EINTR) {
			return tid, err
		}
	}
}

func ignore(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}
