package memdir

import (
	"bytes"
	"container/list"
	"fmt"
	"io"
	"io/fs"
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
}

// maxBodyBytes bounds the bodies kept. 200 topics of the usual 2 KB take 0.4 MB.
const maxBodyBytes = 8 << 20

// racy is how old a modification time must be, when the file is read, for an
// equal time later to mean an equal file. Kernels stamp files with a clock that
// ticks every 1 to 10 ms, Windows' FAT every 2 s.
const racy = 20 * time.Millisecond

type stamp struct {
	size  int64
	mtime time.Time
}

type cached[T any] struct {
	stamp
	val T
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime()} }

func (s stamp) trustworthy(readAt time.Time) bool { return readAt.Sub(s.mtime) > racy }

// NewCache makes an empty cache.
func NewCache() *Cache {
	return &Cache{heads: map[string]cached[*Topic]{}, bodies: map[string]*list.Element{}, recent: list.New()}
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
	now := time.Now()
	content, err := readLimited(src, memfile.IndexName, info, limits.topicBytes())
	if err != nil {
		return nil, err
	}
	x := memfile.ParseIndex(content)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idx = cached[*memfile.Index]{}
	if st := stampOf(info); st.trustworthy(now) && int64(len(content)) == st.size {
		c.idx = cached[*memfile.Index]{st, x}
	}
	return x, nil
}

func (c *Cache) head(src fs.FS, p string, info fs.FileInfo) (*Topic, error) {
	st := stampOf(info)
	c.mu.Lock()
	hit, ok := c.heads[p]
	c.mu.Unlock()
	if ok && hit.stamp == st {
		return hit.val, nil
	}
	now := time.Now()
	t, err := readHead(src, p, info)
	if err != nil {
		return nil, err
	}
	if st.trustworthy(now) {
		c.mu.Lock()
		c.heads[p] = cached[*Topic]{st, t}
		c.mu.Unlock()
	}
	return t, nil
}

// readHead reads as much of a file as holds its frontmatter.
func readHead(src fs.FS, p string, info fs.FileInfo) (*Topic, error) {
	file, err := src.Open(p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var buf []byte
	for want := int64(headBytes); ; want *= 4 {
		part, err := io.ReadAll(io.LimitReader(file, want-int64(len(buf))))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p, err)
		}
		buf = append(buf, part...)
		whole := int64(len(buf)) < want
		f := memfile.Parse(cutAtLine(buf, whole))
		if !whole && f.Front != nil && !f.Front.Closed && want < 1<<20 {
			continue
		}
		t := &Topic{Path: p, Size: info.Size(), ModTime: info.ModTime(), Meta: f.Meta(), Form: f.Form(), Problems: f.Problems}
		if whole {
			t.Hash = text.Hash(string(buf))
		}
		t.scanned = t.Meta
		if f.Front != nil {
			t.FrontLines = f.Text.LineAt(max(f.Front.Span.End-1, 0)) + 1
			if t.FrontLines > MaxScanLines {
				t.scanned = memfile.Parse(f.Text.String()[:f.Text.Line(MaxScanLines-1).End]).Meta()
			}
		}
		return t, nil
	}
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
	st := stampOf(info)
	c.mu.Lock()
	if el, ok := c.bodies[p]; ok && el.Value.(bodyEntry).stamp == st {
		c.recent.MoveToFront(el)
		c.mu.Unlock()
		return el.Value.(bodyEntry).body, nil
	}
	c.mu.Unlock()
	now := time.Now()
	content, err := readLimited(src, p, info, limits.topicBytes())
	if err != nil {
		return nil, err
	}
	b := &Body{Path: p, Hash: text.Hash(content), File: memfile.Parse(content)}
	if st.trustworthy(now) && int64(len(content)) == st.size {
		c.keep(p, bodyEntry{st, b})
	}
	return b, nil
}

func (c *Cache) keep(p string, e bodyEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.bodies[p]; ok {
		c.drop(el)
	}
	c.bodies[p] = c.recent.PushFront(e)
	c.bytes += e.size
	for c.bytes > maxBodyBytes && c.recent.Len() > 1 {
		c.drop(c.recent.Back())
	}
}

func (c *Cache) drop(el *list.Element) {
	e := c.recent.Remove(el).(bodyEntry)
	delete(c.bodies, e.body.Path)
	c.bytes -= e.size
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
