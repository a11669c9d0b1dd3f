package memdir

import (
	"bytes"
	"container/list"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"mem/core/memfile"
	"mem/core/text"
)

// Cache keeps what was parsed of files that did not change, across Views of one
// directory. It is safe for concurrent use.
type Cache struct {
	mu     sync.Mutex
	heads  map[string]cached[*Topic]
	idx    cached[*memfile.Index]
	bodies map[string]*list.Element // of bodyEntry
	recent *list.List               // newest first
	bytes  int64
	most   int64 // of bytes
}

// maxBodyBytes bounds the bodies kept. 200 topics of the usual 2 KB take 0.4 MB.
const maxBodyBytes = 8 << 20

// A modification time must be so old, when the file is read, for an equal time
// later to mean an equal file. Kernels stamp files with a clock that ticks every 1
// to 10 ms; file systems that keep whole seconds (FAT: every other one) round.
const (
	racy      = 20 * time.Millisecond
	racyWhole = 2100 * time.Millisecond
)

type stamp struct {
	size  int64
	mtime time.Time
	more  state  // what else tells files apart, where the system has it
	text  string // of an open buffer, see Overlay; comparing it costs nothing while it is the same one
}

type cached[T any] struct {
	stamp
	val T
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), mtime: info.ModTime(), more: stateOf(info)}
	if b, ok := info.Sys().(Buffer); ok {
		s.text = b.Text
	}
	return s
}

func (s stamp) trustworthy(readAt time.Time) bool {
	if s.text != "" {
		return true
	}
	if s.more.fresh(readAt) {
		return false
	}
	if s.mtime.Nanosecond() == 0 {
		return readAt.Sub(s.mtime) > racyWhole
	}
	return readAt.Sub(s.mtime) > racy
}

// NewCache makes an empty cache.
func NewCache() *Cache { return NewCacheOf(maxBodyBytes) }

// NewCacheOf makes an empty cache that keeps bodies of so many bytes at most.
// Parsed, they take about twice that in memory. It is for those who read a whole
// directory once: bodies that do not fit are read from disk a second time.
func NewCacheOf(bytes int64) *Cache {
	return &Cache{heads: map[string]cached[*Topic]{}, bodies: map[string]*list.Element{}, recent: list.New(), most: bytes}
}

// Body is one memory file, loaded whole.
type Body struct {
	Path string
	Hash string
	File *memfile.File
}

type bodyEntry struct {
	stamp
	body *Body
}

func (c *Cache) index(src fs.FS, info fs.FileInfo, limits Limits) (*memfile.Index, error) {
	c.mu.Lock()
	hit := c.idx
	c.mu.Unlock()
	if hit.val != nil && hit.stamp == stampOf(info) {
		return hit.val, nil
	}
	was := hit.stamp
	if hit.val != nil && was.size == 0 {
		was.size = int64(hit.val.Text().Len())
	}
	now := time.Now()
	content, info, err := readSettled(src, memfile.IndexName, info, limits.topicBytes(), was)
	if err != nil {
		return nil, err
	}
	x := c.ParseIndex(content)
	if st := stampOf(info); st.trustworthy(now) && int64(len(content)) == st.size {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.idx = cached[*memfile.Index]{st, x}
	}
	return x, nil
}

// ParseIndex parses the text of an index, or gives the parse of the last one
// that had this text.
func (c *Cache) ParseIndex(content string) *memfile.Index {
	hash := text.Hash(content)
	c.mu.Lock()
	last := c.idx.val
	c.mu.Unlock()
	if last != nil && last.Hash == hash {
		return last
	}
	x := memfile.ParseIndex(content)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idx = cached[*memfile.Index]{val: x} // without a stamp: known by its text only
	return x
}

// head gives the topic at p as it was read before, nil when it has changed.
func (c *Cache) head(p string, info fs.FileInfo) *Topic {
	c.mu.Lock()
	defer c.mu.Unlock()
	if hit, ok := c.heads[p]; ok && hit.stamp == stampOf(info) {
		return hit.val
	}
	return nil
}

func (c *Cache) readHead(src fs.FS, p string, info fs.FileInfo, scanLines int) (*Topic, error) {
	now := time.Now()
	t, whole, err := readHead(src, p, info, scanLines)
	if err != nil {
		return nil, err
	}
	if st := stampOf(info); st.trustworthy(now) {
		c.mu.Lock()
		c.heads[p] = cached[*Topic]{st, t}
		c.mu.Unlock()
		// Most topics are read whole for their heads; then whoever wants the body
		// need not open the file again. One of another size was changed meanwhile.
		if whole != nil && int64(whole.Text.Len()) == st.size {
			c.keep(p, bodyEntry{st, &Body{Path: p, Hash: t.Hash, File: whole}})
		}
	}
	return t, nil
}

// prune forgets the heads of files that are gone, once those are the larger part.
func (c *Cache) prune(v *View) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.heads) <= 2*len(v.Topics)+1000 {
		return
	}
	for p := range c.heads {
		if v.byPath[p] == nil {
			delete(c.heads, p)
		}
	}
}

// readHead reads as much of a file as holds its frontmatter. whole is all of it,
// nil where less was read.
func readHead(src fs.FS, p string, info fs.FileInfo, scanLines int) (t *Topic, whole *memfile.File, err error) {
	file, err := src.Open(p)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	scratch := headBuffers.Get().(*[]byte)
	defer headBuffers.Put(scratch)
	buf := (*scratch)[:0]
	for want := headBytes; ; want *= 4 {
		buf = slices.Grow(buf, want-len(buf))
		n, err := io.ReadFull(file, buf[len(buf):want])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, nil, fmt.Errorf("reading %s: %w", p, err)
		}
		buf = buf[:len(buf)+n]
		all := len(buf) < want
		f := memfile.Parse(cutAtLine(buf, all))
		if !all && want < maxHeadBytes && f.FrontmatterOpen() {
			continue
		}
		if t = topicOf(p, info, f, all, scanLines); all {
			whole = f
		}
		return t, whole, nil
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

// Load gives the memory file at p, from the cache while size and modification
// time are those it was read with.
func (c *Cache) Load(src fs.FS, p string, limits Limits) (*Body, error) {
	info, err := lstat(src, p)
	if err != nil {
		return nil, err
	}
	if why := notRegular(info); why != "" {
		return nil, &FileError{Path: p, Reason: why, Hint: "put a plain file in its place"}
	}
	if dir := linkAbove(src, p); dir != "" {
		return nil, &FileError{Path: p, Reason: "lies behind " + dir + ", which is a symbolic link", Hint: "put the folder itself there"}
	}
	st := stampOf(info)
	var was stamp
	c.mu.Lock()
	if el, ok := c.bodies[p]; ok {
		if was = el.Value.(bodyEntry).stamp; was == st {
			c.recent.MoveToFront(el)
			c.mu.Unlock()
			return el.Value.(bodyEntry).body, nil
		}
	}
	c.mu.Unlock()
	now := time.Now()
	content, info, err := readSettled(src, p, info, limits.topicBytes(), was)
	if err != nil {
		return nil, err
	}
	st = stampOf(info)
	b := &Body{Path: p, Hash: text.Hash(content), File: memfile.Parse(content)}
	if st.trustworthy(now) && int64(len(content)) == st.size {
		c.keep(p, bodyEntry{st, b})
	}
	return b, nil
}

// linkAbove gives the first folder above p that is a symbolic link, "" when there
// is none.
func linkAbove(src fs.FS, p string) string {
	for i, c := range p {
		if c != '/' {
			continue
		}
		if info, err := lstat(src, p[:i]); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return p[:i]
		}
	}
	return ""
}

func (c *Cache) keep(p string, e bodyEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.bodies[p]; ok {
		c.drop(el)
	}
	c.bodies[p] = c.recent.PushFront(e)
	c.bytes += e.size
	for c.bytes > c.most && c.recent.Len() > 1 {
		c.drop(c.recent.Back())
	}
}

func (c *Cache) drop(el *list.Element) {
	e := c.recent.Remove(el).(bodyEntry)
	delete(c.bodies, e.body.Path)
	c.bytes -= e.size
}

// How long a file that another program seems to be writing is looked at again:
// between the moments when it is emptied and when all of it is there, usually less
// than a millisecond passes.
const (
	lookAgain  = 4 * time.Millisecond
	lookAtMost = 40 * time.Millisecond
)

// readSettled reads a whole file. One that changed just now, in place, and is
// empty or shorter than it was (as was tells) may be half written: it is read
// until two reads agree. What mem writes is never seen half written, nor is it
// the same file as before.
func readSettled(src fs.FS, p string, info fs.FileInfo, limit int64, was stamp) (string, fs.FileInfo, error) {
	content, err := readLimited(src, p, info, limit)
	if err != nil || !halfWritten(info, int64(len(content)), was) {
		return content, info, err
	}
	for end := time.Now().Add(lookAtMost); time.Now().Before(end); {
		time.Sleep(lookAgain)
		if info, err = lstat(src, p); err != nil {
			return "", nil, err
		}
		if why := notRegular(info); why != "" {
			return "", nil, &FileError{Path: p, Reason: why, Hint: "put a plain file in its place"}
		}
		again, err := readLimited(src, p, info, limit)
		if err != nil || again == content {
			return again, info, err
		}
		content = again
	}
	return content, info, nil
}

func halfWritten(info fs.FileInfo, read int64, was stamp) bool {
	if _, open := info.Sys().(Buffer); open || time.Since(info.ModTime()).Abs() > racy {
		return false
	}
	read = min(read, info.Size())
	return read == 0 || read < was.size && !stateOf(info).other(was.more)
}

// readLimited reads a whole file, unless it is too large to be memory.
func readLimited(src fs.FS, p string, info fs.FileInfo, limit int64) (string, error) {
	tooLarge := &FileError{Path: p, Reason: fmt.Sprintf("has more than %d bytes and is not read as memory", limit),
		Hint: "split it, or raise limits.topic_bytes in the configuration"}
	if info.Size() > limit {
		return "", tooLarge
	}
	file, err := src.Open(p)
	if err != nil {
		return "", err
	}
	defer file.Close()
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	n, err := buf.ReadFrom(io.LimitReader(file, limit+1))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", p, err)
	}
	if n > limit {
		return "", tooLarge
	}
	return buf.String(), nil
}
