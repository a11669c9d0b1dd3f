package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"mem/core/memdir"
)

// folder is an open directory inside the memory directory. All names used with
// it are single elements, so nothing leads out of it.
type folder struct {
	root    *os.Root // of this folder alone
	file    *os.File
	path    string // slash-separated, "." for the memory directory itself
	limit   int64  // bytes of the largest file that is read
	instant instant
}

func openFolder(root *os.Root, dir string, create bool, in instant) (*folder, error) {
	if err := noLinks(root, dir); err != nil {
		return nil, err
	}
	if create && dir != "." {
		if err := makeFolder(root, dir, in); err != nil {
			return nil, fmt.Errorf("creating the folder %s: %w", dir, err)
		}
	}
	sub, err := root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f, err := sub.Open(".")
	if err != nil {
		return nil, errors.Join(err, sub.Close())
	}
	return &folder{root: sub, file: f, path: dir, limit: memdir.DefaultTopicBytes, instant: in}, nil
}

// noLinks refuses a folder that lies behind a symbolic link: links inside of the
// memory directory could lead into hidden folders, and Views do not follow them.
func noLinks(root *os.Root, dir string) error {
	for p := dir; p != "." && p != "/"; p = path.Dir(p) {
		info, err := root.Lstat(p)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &memdir.FileError{Path: p, Reason: "is a symbolic link, which mem does not follow", Hint: "put a folder in its place, or choose another path"}
		}
	}
	return nil
}

// makeFolder makes a folder and those above it, durably.
func makeFolder(root *os.Root, dir string, in instant) error {
	if info, err := root.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := path.Dir(dir)
	if parent != "." {
		if err := makeFolder(root, parent, in); err != nil {
			return err
		}
	}
	if err := in.at("mkdir", dir); err != nil {
		return err
	}
	if err := root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	p, err := root.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(syncOpen(p), p.Close())
}

// at gives the path of a name, as messages call it.
func (d *folder) at(name string) string { return path.Join(d.path, name) }

func (d *folder) failed(doing, name string, err error) error {
	return fmt.Errorf("%s %s: %w", doing, d.at(name), err)
}

// read gives a regular file's content and info; exists is false when there is
// none. Anything else under that name is a *memdir.FileError.
func (d *folder) read(name string) (content string, info os.FileInfo, exists bool, err error) {
	if err := d.instant.at("read", name); err != nil {
		return "", nil, false, d.failed("reading", name, err)
	}
	info, err = d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, false, nil
	}
	if err != nil {
		return "", nil, false, d.failed("reading", name, err)
	}
	if why := d.notPlain(name, info); why != nil {
		return "", nil, false, why
	}
	f, err := d.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, false, nil
	}
	if err != nil {
		return "", nil, false, err
	}
	b := make([]byte, 0, info.Size()+1) // one more, so that its end is seen
	for err == nil && int64(len(b)) <= d.limit {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		var n int
		n, err = f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
	}
	if err == io.EOF {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", nil, false, d.failed("reading", name, err)
	}
	return string(b), info, true, nil
}

// open opens a file for reading. A pipe that took its place is not waited for: whoever
// reads here may hold the lock.
func (d *folder) open(name string) (*os.File, error) {
	f, err := memdir.Open(d.root, name)
	var pipe *memdir.FileError
	switch {
	case errors.As(err, &pipe):
		pipe.Path = d.at(name)
		return nil, pipe
	case err != nil:
		return nil, d.failed("reading", name, err)
	}
	return f, nil
}

// notPlain says why a file is none that mem reads and writes, nil when it is one.
func (d *folder) notPlain(name string, info os.FileInfo) error {
	bad := func(what, hint string) error {
		return &memdir.FileError{Path: d.at(name), Reason: what, Hint: hint}
	}
	const replace = "put a plain file in its place, or choose another name"
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return bad("is a symbolic link, which mem does not follow", replace)
	case info.IsDir():
		return bad("is a folder", replace)
	case !info.Mode().IsRegular():
		return bad("is not a regular file", replace)
	case info.Size() > d.limit:
		return bad(fmt.Sprintf("has %d bytes, more than the %d that a memory file may have", info.Size(), d.limit), "split it, or raise limits.topic_bytes in the configuration")
	}
	return nil
}

// Another program that rewrites a file in place is seen half way. What was read
// of a file that changed this recently is read again until it rests.
const (
	fresh      = 20 * time.Millisecond
	restFor    = 4 * time.Millisecond
	restWithin = 100 * time.Millisecond
	// writersWithin is how long a program that has a file open may go on writing
	// to it. Programs that save a file take milliseconds.
	writersWithin = time.Second
)

// isFresh reports whether a file changed so recently that its writer may not be
// done, and that an equal modification time need not mean equal content.
func isFresh(info os.FileInfo) bool {
	age := time.Since(info.ModTime())
	return age < fresh && age > -fresh
}

// settled reads a file again until it stays the same, and has text again where
// it was found empty: a writer in place empties it first.
func (d *folder) settled(name, content string) (string, error) {
	for start := time.Now(); time.Since(start) < restWithin; {
		time.Sleep(restFor)
		now, _, exists, err := d.read(name)
		if err != nil {
			return "", err
		}
		if !exists || (now == content && now != "") {
			return content, nil
		}
		content = now
	}
	return content, nil
}

// released waits until no other program has a file open for writing, where the
// system tells, and gives what it holds then. busy is true when one still has.
func (d *folder) released(name, content string) (_ string, busy bool, err error) {
	f, err := d.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return content, false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	waited := false
	for start := time.Now(); ; waited = true {
		some, known := writers(f)
		if !known || !some {
			break
		}
		if time.Since(start) > writersWithin {
			return content, true, nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	if !waited {
		return content, false, nil
	}
	now, _, exists, err := d.read(name)
	if err != nil || !exists {
		return content, false, err
	}
	return now, false, nil
}

// appendTo adds text to the end of a file. When it fails, the file is as it was.
func (d *folder) appendTo(name, content string) error {
	if err := d.instant.at("open", name); err != nil {
		return d.failed("appending to", name, err)
	}
	before, err := d.root.Lstat(name)
	created := errors.Is(err, fs.ErrNotExist)
	if err == nil {
		if why := d.notPlain(name, before); why != nil {
			return why
		}
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|memdir.NoWait, 0o666)
	if err != nil {
		return d.failed("appending to", name, err)
	}
	info, err := f.Stat()
	n := 0
	switch {
	case err != nil:
	case !created && !os.SameFile(before, info):
		err = errors.New("another program replaced it at this moment; try again")
	default:
		if n, err = writeText(f, content, name, d.instant); err == nil {
			err = syncFile(f, name, d.instant)
		}
	}
	if err != nil && n > 0 {
		// What is there in part is taken back, unless somebody wrote behind it.
		if now, statErr := f.Stat(); statErr == nil && now.Size() == info.Size()+int64(n) {
			err = errors.Join(err, f.Truncate(info.Size()))
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		return nil
	}
	err = d.failed("appending to", name, err)
	if now, statErr := d.root.Lstat(name); created && statErr == nil && now.Size() == 0 {
		err = errors.Join(err, d.remove(name))
	}
	return err
}

// cutAppended takes back an append, unless somebody wrote behind it.
func (d *folder) cutAppended(name string, offset int64, content string) error {
	have, _, exists, err := d.read(name)
	if err != nil || !exists || have[min(int(offset), len(have)):] != content {
		return err
	}
	if offset == 0 {
		return d.remove(name)
	}
	if err := d.instant.at("cut", name); err != nil {
		return d.failed("cutting", name, err)
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|memdir.NoWait, 0)
	if err != nil {
		return d.failed("cutting", name, err)
	}
	return errors.Join(f.Truncate(offset), f.Close())
}

// writeText writes content, in tests in two parts with an instant between them.
func writeText(f *os.File, content, name string, in instant) (n int, err error) {
	if err := in.at("write", name); err != nil {
		return 0, err
	}
	if in != nil {
		half := len(content) / 2
		if n, err = f.WriteString(content[:half]); err != nil {
			return n, err
		}
		if err := in.at("write rest", name); err != nil {
			return n, err
		}
		content = content[half:]
	}
	m, err := f.WriteString(content)
	return n + m, err
}

func syncFile(f *os.File, name string, in instant) error {
	if err := in.at("sync", name); err != nil {
		return err
	}
	return f.Sync()
}

// sync makes a file durable that was written without.
func (d *folder) sync(name string) error {
	f, err := d.root.OpenFile(name, openToSync|memdir.NoWait, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody removed it since
	}
	if err != nil {
		return d.failed("syncing", name, err)
	}
	if err := errors.Join(syncFile(f, name, d.instant), f.Close()); err != nil {
		return d.failed("syncing", name, err)
	}
	return nil
}

// syncNames makes the names in the folder durable.
func (d *folder) syncNames() error {
	if err := d.instant.at("sync folder", d.path); err != nil {
		return fmt.Errorf("syncing the folder %s: %w", d.path, err)
	}
	return syncOpen(d.file)
}

func (d *folder) close() error { return errors.Join(d.file.Close(), d.root.Close()) }

// names lists the folder.
func (d *folder) names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}
