package stdio

import "syscall"

// errorNoData is ERROR_NO_DATA, "the pipe is being closed": what a write to a closed pipe returns on Windows.
const errorNoData = syscall.Errno(232)

func goneNumber(n syscall.Errno) bool { return n == syscall.ERROR_BROKEN_PIPE || n == errorNoData }
