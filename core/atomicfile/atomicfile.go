// Package atomicfile puts files in place whole: a reader sees the old one or the new
// one, whatever ends the writer, and also on Windows, where a file that somebody reads
// cannot be replaced at that moment.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Durability says what a failure of the machine may take.
type Durability bool

// A file that is Quick may be lost with the machine, and is then the old one or empty; a
// Durable one is on the disk when it has been written, its name included.
const (
	Quick   Durability = false
	Durable Durability = true
)

// TempPrefix and TempExt are how the names of files begin and end that are being written.
// A writer that is killed leaves one, for its owner to sweep.
const (
	TempPrefix = ".mem-"
	TempExt    = ".tmp"
)

// Write replaces the file at path, or creates it, with the mode given. Its folder must be
// there. After an error the file is as it was.
func Write(path string, content []byte, mode fs.FileMode, d Durability) error {
	return WriteFrom(path, mode, d, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

// WriteFrom does as Write with what write writes to the file that is to be the new one.
func WriteFrom(path string, mode fs.FileMode, d Durability, write func(*os.File) error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, TempPrefix+"*"+TempExt) // made with mode 0600
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil && d == Durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if d == Durable {
		syncFolder(dir)
	}
	return nil
}

// syncFolder makes a new name last. Not every system can: then the system decides when.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Rename gives a file another name, in place of the file that has it.
func Rename(from, to string) error {
	return patiently(func() error { return os.Rename(from, to) })
}

// RenameIn does so within a root.
func RenameIn(root *os.Root, from, to string) error {
	return patiently(func() error { return root.Rename(from, to) })
}

// RemoveIn removes a name within a root.
func RemoveIn(root *os.Root, name string) error {
	return patiently(func() error { return root.Remove(name) })
}

// patience is how long a step is tried that Windows refuses while somebody has the file
// open. A reader of ours takes a moment; an index service or a virus scanner of Windows
// takes up to a second, which is why the Go command waits two as well.
const patience = 2 * time.Second

// patiently tries a step until nobody has its file open.
func patiently(step func() error) error {
	wait := time.Millisecond
	for end := time.Now().Add(patience); ; wait = min(2*wait, 50*time.Millisecond) {
		err := step()
		if err == nil || !busy(err) || time.Now().After(end) {
			return err
		}
		time.Sleep(wait)
	}
}
