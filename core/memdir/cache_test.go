package memdir

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"mem/core/text"
)

// counting is a source that counts what is opened, and can fail.
type counting struct {
	fs.FS
	mu     sync.Mutex
	opens  map[string]int
	looks  map[string]int // without following a link
	onOpen func(name string)
	fail   map[string]error
}

func (c *counting) Open(name string) (fs.File, error) {
	c.mu.Lock()
	if c.opens == nil {
		c.opens = map[string]int{}
	}
	c.opens[name]++
	err := c.fail[name]
	c.mu.Unlock()
	if c.onOpen != nil {
		c.onOpen(name)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return c.FS.Open(name)
}

func (c *counting) Lstat(name string) (fs.FileInfo, error) {
	c.mu.Lock()
	if c.looks == nil {
		c.looks = map[string]int{}
	}
	c.looks[name]++
	c.mu.Unlock()
	return fs.Lstat(c.FS, name)
}
func (c *counting) ReadLink(name string) (string, error) { return fs.ReadLink(c.FS, name) }

// opened counts the opens of names that start so.
func (c *counting) opened(prefix string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for name, k := range c.opens {
		if strings.HasPrefix(name, prefix) {
			n += k
		}
	}
	return n
}

func (c *counting) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opens = nil
}

func TestCacheReadsWhatChanged(t *testing.T) {
	mem := files(map[string]string{"MEMORY.md": "- [A](a.md)\n", "a.md": topic("a", "user"), "b.md": topic("b", "user")})
	src := &counting{FS: mem}
	cache := NewCache()
	v := read(t, src, cache)
	if _, err := v.LoadPath("a.md"); err != nil {
		t.Fatal(err)
	}
	src.reset()

	w := read(t, src, cache)
	if w.Topic("a.md") != v.Topic("a.md") || w.Index != v.Index {
		t.Error("what did not change is parsed once")
	}
	if _, err := w.LoadPath("a.md"); err != nil {
		t.Fatal(err)
	}
	if n := src.opened("a.md") + src.opened("b.md") + src.opened("MEMORY.md"); n != 0 {
		t.Errorf("%d files were read again: %v", n, src.opens)
	}

	mem["a.md"] = &fstest.MapFile{Data: []byte(topic("A", "user")), ModTime: time.Unix(1_700_000_001, 0)}
	mem["MEMORY.md"] = &fstest.MapFile{Data: []byte("- [A](a.md) — new\n"), ModTime: mem["MEMORY.md"].ModTime}
	w = read(t, src, cache)
	if w.Topic("a.md").Meta.Name != "A" || v.Topic("a.md").Meta.Name != "a" {
		t.Error("a new time is a new file, and an old View stays as it was")
	}
	if w.Index.Entry("a.md").Summary != "new" {
		t.Error("a new size is a new file")
	}
	if b, err := w.LoadPath("a.md"); err != nil || b.File.Value("name") != "A" {
		t.Error(b, err)
	}
	if src.opened("b.md") != 0 {
		t.Error("b.md did not change")
	}
	delete(mem, "b.md")
	if w = read(t, src, cache); w.Topic("b.md") != nil {
		t.Error("b.md is gone")
	}
}

// A check of a directory opens each of its files once: the body of a topic that was
// read whole for its head is kept. What is larger, or more than fits, is read again.
func TestBodiesAreReadWithHeads(t *testing.T) {
	long := topic("long", "user") + strings.Repeat("more of it\n", headBytes/10)
	mem := files(map[string]string{"a.md": topic("a", "user"), "b.md": topic("b", "user"), "long.md": long, "empty.md": ""})
	for _, c := range []struct {
		cache *Cache
		want  map[string]int
	}{
		{NewCache(), map[string]int{"a.md": 1, "b.md": 1, "empty.md": 1, "long.md": 2}},
		{NewCacheOf(1), map[string]int{"a.md": 2, "b.md": 2, "empty.md": 2, "long.md": 2}},
	} {
		src := &counting{FS: mem}
		v := read(t, src, c.cache)
		for range 2 {
			for _, topic := range v.Topics {
				b, err := v.Load(topic)
				if err != nil {
					t.Fatal(err)
				}
				if want := string(mem[topic.Path].Data); b.File.Text.String() != want || b.Hash != text.Hash(want) || topic.Hash != "" && topic.Hash != b.Hash {
					t.Errorf("%s: %+v", topic.Path, b)
				}
			}
			if c.cache.most == 1 {
				break
			}
		}
		for p, n := range c.want {
			if src.opens[p] != n {
				t.Errorf("keeping %d bytes: %s was opened %d times, want %d", c.cache.most, p, src.opens[p], n)
			}
		}
	}
}

// A file that changed just now may change again without a new time: it is not
// trusted.
func TestCacheDoesNotTrustFreshTimes(t *testing.T) {
	for _, c := range []struct {
		name   string
		age    time.Duration
		whole  bool // the file system keeps whole seconds
		cached bool
	}{
		{"now", 0, false, false},
		{"in the future", -time.Hour, false, false},
		{"a while ago", time.Second, false, true},
		{"whole seconds, a while ago", 500 * time.Millisecond, true, false},
		{"whole seconds, long ago", 10 * time.Second, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := time.Now().Add(-c.age)
			if c.whole {
				at = at.Truncate(time.Second)
			} else if at.Nanosecond() == 0 {
				at = at.Add(-1)
			}
			mem := fstest.MapFS{"MEMORY.md": {Data: []byte("- [A](a.md)\n"), ModTime: at}, "a.md": {Data: []byte(topic("a", "user")), ModTime: at}}
			src, cache := &counting{FS: mem}, NewCache()
			load := func() {
				if _, err := read(t, src, cache).LoadPath("a.md"); err != nil {
					t.Fatal(err)
				}
			}
			load()
			src.reset()
			load()
			if got := src.opened("a.md") == 0 && src.opened("MEMORY.md") == 0; got != c.cached {
				t.Errorf("cached %v: %v", got, src.opens)
			}
		})
	}
}

func TestCacheIsBounded(t *testing.T) {
	mem := fstest.MapFS{}
	for i := range 40 {
		mem[fmt.Sprintf("t%02d.md", i)] = &fstest.MapFile{Data: []byte(strings.Repeat("x", 1<<20)), ModTime: time.Unix(1000, 1)}
	}
	src, cache := &counting{FS: mem}, NewCache()
	v := read(t, src, cache)
	for _, topic := range v.Topics {
		if _, err := v.Load(topic); err != nil {
			t.Fatal(err)
		}
	}
	if cache.bytes > maxBodyBytes || cache.recent.Len() != len(cache.bodies) || cache.recent.Len() != 8 {
		t.Errorf("%d bytes, %d bodies", cache.bytes, cache.recent.Len())
	}
	src.reset()
	for _, p := range []string{"t39.md", "t32.md"} { // the newest are kept
		if _, err := v.LoadPath(p); err != nil {
			t.Fatal(err)
		}
	}
	if src.opened("t") != 0 {
		t.Error(src.opens)
	}
	if _, err := v.LoadPath("t00.md"); err != nil || src.opened("t00.md") != 1 {
		t.Error("the oldest was dropped", err)
	}
}

func TestCacheForgetsWhatIsGone(t *testing.T) {
	cache := NewCache()
	for round := range 4 {
		mem := fstest.MapFS{}
		for i := range 600 {
			mem[fmt.Sprintf("r%d-%d.md", round, i)] = &fstest.MapFile{Data: []byte("x"), ModTime: time.Unix(1000, 1)}
		}
		read(t, mem, cache)
	}
	if n := len(cache.heads); n > 600 {
		t.Errorf("%d heads of 600 files", n)
	}
}

// Views and bodies are asked for from many places at once; run with -race.
func TestCacheConcurrently(t *testing.T) {
	mem := fstest.MapFS{}
	for i := range 30 {
		mem[fmt.Sprintf("t%02d.md", i)] = &fstest.MapFile{Data: []byte(topic(fmt.Sprint(i), "user") + strings.Repeat("x", 600<<10)), ModTime: time.Unix(1000, 1)}
	}
	mem["MEMORY.md"] = &fstest.MapFile{Data: []byte("- [A](t00.md)\n"), ModTime: time.Unix(1000, 1)}
	cache := NewCache()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				v, err := Read(context.Background(), mem, cache, Limits{})
				if err != nil || len(v.Topics) != 30 {
					t.Error(err)
					return
				}
				p := fmt.Sprintf("t%02d.md", (g*7+i)%30)
				if b, err := v.LoadPath(p); err != nil || b.Path != p || b.File.Value("type") != "user" {
					t.Error(p, err)
				}
			}
		})
	}
	wg.Wait()
	if cache.bytes > maxBodyBytes {
		t.Error(cache.bytes)
	}
}

func TestUnreadableFiles(t *testing.T) {
	mem := files(map[string]string{"MEMORY.md": "- [A](a.md)\n", "a.md": topic("a", "user"), "b.md": topic("b", "user"), "sub/c.md": "x", "logs/2026/01/2026-01-02.md": "x"})
	src := &counting{FS: mem, fail: map[string]error{"a.md": fs.ErrPermission, "sub": fs.ErrPermission, "logs/2026": fs.ErrPermission, "b.md": fs.ErrNotExist}}
	v := read(t, src, nil)
	got := problems(v)
	for _, p := range []string{"a.md", "sub", "logs/2026"} {
		if !strings.Contains(got[p], "cannot be read") || !strings.Contains(got[p], "Check its permissions") {
			t.Errorf("%s: %q", p, got[p])
		}
	}
	if len(got) != 3 || len(v.Topics) != 0 {
		t.Error("a file that vanished meanwhile is no problem:", got, paths(v))
	}

	src.fail = map[string]error{"MEMORY.md": fs.ErrPermission}
	if _, err := Read(context.Background(), src, nil, Limits{}); err == nil || !strings.Contains(err.Error(), "MEMORY.md") || !strings.Contains(err.Error(), "permissions") {
		t.Error(err)
	}
	src.fail = map[string]error{"MEMORY.md": fs.ErrNotExist} // it vanished meanwhile
	if v := read(t, src, nil); v.Index.Exists {
		t.Error("no index")
	}
	src.fail = map[string]error{".": fs.ErrPermission}
	if _, err := Read(context.Background(), src, nil, Limits{}); err == nil || !strings.Contains(err.Error(), "memory directory") {
		t.Error(err)
	}
}
