package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"mem/core/project"
)

// File is a transcript that is open for reading.
type File struct {
	*os.File
	Size     int64 // when it was opened
	Modified time.Time
}

// OpenFile opens a transcript. Anything but a regular file is refused before it
// is opened, so that a pipe or a device never blocks.
func OpenFile(path string) (*File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, openError(path, err)
	}
	switch {
	case st.IsDir():
		return nil, fmt.Errorf("opening the transcript %s: it is a directory; name a .jsonl file in it", path)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("opening the transcript %s: it is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	if st, err = f.Stat(); err != nil {
		f.Close()
		return nil, openError(path, err)
	}
	return &File{File: f, Size: st.Size(), Modified: st.ModTime()}, nil
}

func openError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("opening the transcript %s: %w; transcript_list gives the sessions that there are", path, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("opening the transcript %s: this user may not read it: %w", path, fs.ErrPermission)
	}
	return fmt.Errorf("opening the transcript %s: %w", path, project.Reason(err))
}
