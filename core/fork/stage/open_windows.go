package stage

import (
	"os"
	"syscall"
)

// openFlags open a file of the stage. Pipes have no names in folders here.
const openFlags = os.O_RDONLY

// links gives how many names an open file has.
func links(f *os.File) uint64 {
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info); err != nil {
		return 1
	}
	return uint64(info.NumberOfLinks)
}
