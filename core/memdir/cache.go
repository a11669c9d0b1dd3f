package memdir

import (
	"container/list"
	"io/fs"
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
	seen   seenIndex                // when the index was last read
	names  *names                   // of the topics of the last View that was asked for them
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

// seenIndex is what an index that was read looked like on disk. It is kept where
// the stamp of idx is not: what is too fresh for an equal stamp to mean an equal
// file still tells that another file took its place.
type seenIndex struct {
	hash string
	stamp
}

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
	hit, seen := c.idx, c.seen
	c.mu.Unlock()
	if hit.val != nil && hit.stamp == stampOf(info) {
		return hit.val, nil
	}
	was := hit.stamp
	if hit.val != nil && was.size == 0 {
		was.size = int64(hit.val.Text().Len())
		if seen.hash == hit.val.Hash {
			was.more = seen.more
		}
	}
	now := time.Now()
	content, info, err := readSettled(src, memfile.IndexName, info, limits.topicBytes(), was)
	if err != nil {
		return nil, err
	}
	x := c.ParseIndex(content)
	st := stampOf(info)
	c.mu.Lock()
	defer c.mu.Unlock()
	if st.text == "" { // of an open buffer it says nothing of the disk
		c.seen = seenIndex{x.Hash, st}
	}
	if st.trustworthy(now) && int64(len(content)) == st.size {
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

func (c *Cache) readHead(src fs.FS, p string, info fs.FileInfo, scanLines int, some *patience) (*Topic, error) {
	c.mu.Lock()
	was := c.heads[p].stamp
	c.mu.Unlock()
	now := time.Now()
	t, whole, info, err := readSettledHead(src, p, info, scanLines, was, some)
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
