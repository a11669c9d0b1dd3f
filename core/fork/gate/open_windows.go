package gate

import (
	"os"

	"golang.org/x/sys/windows"
)

// openFlags: os.Root opens reparse points themselves, and there are no pipes in
// folders.
const openFlags = 0

// links is the number of names that an open file has.
func links(f *os.File) (uint64, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 0, err
	}
	return uint64(info.NumberOfLinks), nil
}
