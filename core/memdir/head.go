package memdir

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"mem/core/memfile"
	"mem/core/text"
)

// head is what was read of a file for its frontmatter.
type head struct {
	topic   *Topic
	whole   *memfile.File // all of the file, nil where less was read
	read    int64         // bytes
	hash    string        // of these
	open    bool          // whether frontmatter starts there and does not end
	changed bool          // whether somebody wrote to the file meanwhile
}

// readHead reads as much of a file as holds its frontmatter.
func readHead(src fs.FS, p string, info fs.FileInfo, scanLines int) (h head, err error) {
	file, err := src.Open(p)
	if err != nil {
		return h, err
	}
	defer file.Close()
	scratch := headBuffers.Get().(*[]byte)
	defer headBuffers.Put(scratch)
	buf := (*scratch)[:0]
	for want := headBytes; ; want *= 4 {
		buf = slices.Grow(buf, want-len(buf))
		n, err := io.ReadFull(file, buf[len(buf):want])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return h, fmt.Errorf("reading %s: %w", p, err)
		}
		buf = buf[:len(buf)+n]
		all := len(buf) < want
		f := memfile.Parse(cutAtLine(buf, all))
		h.open = f.FrontmatterOpen()
		if !all && want < maxHeadBytes && h.open {
			continue
		}
		h.topic, h.read, h.changed = topicOf(p, info, f, all, scanLines), int64(len(buf)), changedInPlace(file, info)
		if h.hash = h.topic.Hash; all {
			h.whole = f
		} else if h.changed || isNew(info) { // only then is it compared
			h.hash = text.Hash(string(buf))
		}
		return h, nil
	}
}

// headBuffers are what heads are read into; what is kept of them are copies.
var headBuffers = sync.Pool{New: func() any { b := make([]byte, 0, headBytes); return &b }}

// topicOf takes from a parsed head what a View keeps. The strings are copied, so
// that a name does not hold the whole text in memory.
func topicOf(p string, info fs.FileInfo, f *memfile.File, whole bool, scanLines int) *Topic {
	t := &Topic{Path: p, Size: info.Size(), ModTime: info.ModTime(), Meta: f.Meta().Clone(), Form: f.Form(), Problems: f.Problems, state: stateOf(info)}
	for i := range t.Problems {
		t.Problems[i].Key = strings.Clone(t.Problems[i].Key)
	}
	if whole {
		t.Hash = text.Hash(f.Text.String())
	}
	t.scanned = t.Meta
	if f.Front != nil {
		t.FrontLines = f.Text.LineAt(max(f.Front.Span.End-1, 0)) + 1
		if t.FrontLines > scanLines {
			t.scanned = memfile.Parse(f.Text.String()[:f.Text.Line(scanLines-1).End]).Meta().Clone()
		}
	}
	return t
}

// cutAtLine drops a line that was read only in part, so that half a character
// at the end is not taken for a fault of the file.
func cutAtLine(buf []byte, whole bool) string {
	if !whole {
		if i := bytes.LastIndexByte(buf, '\n'); i > 0 {
			return string(buf[:i+1])
		}
		return strings.ToValidUTF8(string(buf), "")
	}
	return string(buf)
}
