package stdio

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// interruptRead and interruptWrite wake a goroutine that is blocked in a stream of the session: by a deadline where
// the stream has them, else by closing it. An *os.File without deadlines (standard input and output in blocking mode)
// is left alone: closing it would not wake anyone and can hang on Windows; such a goroutine ends with the process.
func interruptRead(in io.Reader) {
	if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		return
	}
	closeUnlessFile(in)
}

func interruptWrite(out io.Writer) {
	if d, ok := out.(interface{ SetWriteDeadline(time.Time) error }); ok && d.SetWriteDeadline(time.Unix(1, 0)) == nil {
		return
	}
	closeUnlessFile(out)
}

func closeUnlessFile(stream any) {
	if _, isFile := stream.(*os.File); isFile {
		return
	}
	if c, ok := stream.(io.Closer); ok {
		_ = c.Close() // only the waking counts
	}
}

// brokenPipe reports whether a write failed because nobody is there to read any more.
func brokenPipe(err error) bool {
	if errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ECONNRESET) {
		return true
	}
	var number syscall.Errno
	return errors.As(err, &number) && goneNumber(number)
}
