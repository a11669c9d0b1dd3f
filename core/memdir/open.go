package memdir

import "os"

// Open opens the file or folder at a slash-separated path below root for
// reading. Anything else, such as a pipe that took the place of a file after that was looked
// at, is a *FileError, and is not waited for.
func Open(root *os.Root, p string) (*os.File, error) {
	f, err := root.OpenFile(p, os.O_RDONLY|NoWait, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &FileError{Path: p, Reason: notRegular(info), Hint: "put a plain file in its place"}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
