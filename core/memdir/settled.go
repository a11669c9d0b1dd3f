package memdir

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"mem/core/memfile"
)

// How long a file that another program seems to be writing is looked at again:
// between the moments when it is emptied and when all of it is there, usually less
// than a millisecond passes.
const (
	lookAgain  = 4 * time.Millisecond
	lookAtMost = 40 * time.Millisecond
	// viewPatience bounds what all files of one View together are waited for: a
	// program that fills a directory may keep hundreds half written.
	viewPatience = 5 * lookAtMost
)

// patience is how long may still be waited. One may be used by several readers.
type patience struct{ left atomic.Int64 }

func newPatience(d time.Duration) *patience {
	p := &patience{}
	p.left.Store(int64(d))
	return p
}

// wait waits for the time between two looks. It reports whether there was some left.
func (p *patience) wait() bool {
	if p.left.Add(-int64(lookAgain)) < 0 {
		return false
	}
	time.Sleep(lookAgain)
	return true
}

// readSettled reads a whole file. One that changed just now, in place, and is
// empty or shorter than it was (as was tells), or that changed while it was read, may
// be half written: it is read until two reads agree. What mem writes is never seen
// half written, nor is it the same file as before.
func readSettled(src fs.FS, p string, info fs.FileInfo, limit int64, was stamp) (string, fs.FileInfo, error) {
	content, changed, err := readLimited(src, p, info, limit)
	if err != nil || !changed && !halfWritten(info, int64(len(content)), was) {
		return content, info, err
	}
	for some := newPatience(lookAtMost); some.wait(); {
		if info, err = lookOnce(src, p); err != nil {
			return "", nil, err
		}
		again, changed, err := readLimited(src, p, info, limit)
		if err != nil || again == content && !changed {
			return again, info, err
		}
		content = again
	}
	return content, info, nil
}

// readSettledHead is readSettled for the head of a file. A new file whose
// frontmatter is not closed may be half written, too.
func readSettledHead(src fs.FS, p string, info fs.FileInfo, scanLines int, was stamp, some *patience) (*Topic, *memfile.File, fs.FileInfo, error) {
	h, err := readHead(src, p, info, scanLines)
	if err != nil || !h.changed && !halfWritten(info, h.read, was) && !(h.open && isNew(info)) {
		return h.topic, h.whole, info, err
	}
	for mine := newPatience(lookAtMost); mine.wait() && some.wait(); {
		if info, err = lookOnce(src, p); err != nil {
			return nil, nil, nil, err
		}
		again, err := readHead(src, p, info, scanLines)
		if err != nil || again.hash == h.hash && !again.changed {
			return again.topic, again.whole, info, err
		}
		h = again
	}
	return h.topic, h.whole, info, nil
}

func lookOnce(src fs.FS, p string) (fs.FileInfo, error) {
	info, err := lstat(src, p)
	if err != nil {
		return nil, err
	}
	if why := notRegular(info); why != "" {
		return nil, &FileError{Path: p, Reason: why, Hint: "put a plain file in its place"}
	}
	return info, nil
}

func isNew(info fs.FileInfo) bool {
	_, open := info.Sys().(Buffer)
	return !open && time.Since(info.ModTime()).Abs() <= racy
}

func halfWritten(info fs.FileInfo, read int64, was stamp) bool {
	if !isNew(info) {
		return false
	}
	read = min(read, info.Size())
	return read == 0 || read < was.size && !stateOf(info).other(was.more)
}

// changedInPlace reports whether an open file, which was read, is one that somebody
// wrote to since it was looked at. A file that took its place is read whole, and the
// next look tells it apart.
func changedInPlace(file fs.File, info fs.FileInfo) bool {
	now, err := file.Stat()
	return err == nil && !stateOf(now).other(stateOf(info)) &&
		(now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()))
}

// readLimited reads a whole file, unless it is too large to be memory. changed
// tells whether somebody wrote to it meanwhile.
func readLimited(src fs.FS, p string, info fs.FileInfo, limit int64) (content string, changed bool, err error) {
	tooLarge := &FileError{Path: p, Reason: fmt.Sprintf("has more than %d bytes and is not read as memory", limit),
		Hint: "split it, or raise limits.topic_bytes in the configuration"}
	if info.Size() > limit {
		return "", false, tooLarge
	}
	if b, open := info.Sys().(Buffer); open {
		return b.Text, false, nil // it is at hand, and never changes
	}
	file, err := src.Open(p)
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	n, err := buf.ReadFrom(io.LimitReader(file, limit+1))
	if err != nil {
		return "", false, fmt.Errorf("reading %s: %w", p, err)
	}
	if n > limit {
		return "", false, tooLarge
	}
	return buf.String(), changedInPlace(file, info), nil
}
