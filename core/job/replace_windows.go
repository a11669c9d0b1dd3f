package job

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// replaceFor is how long a rename is tried: Windows refuses it while a reader has the old
// file open, which takes a moment.
const replaceFor = 2 * time.Second

// replace renames a file over another one.
func replace(from, to string) error {
	for end := time.Now().Add(replaceFor); ; time.Sleep(5 * time.Millisecond) {
		err := os.Rename(from, to)
		busy := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !busy || time.Now().After(end) {
			return err
		}
	}
}
